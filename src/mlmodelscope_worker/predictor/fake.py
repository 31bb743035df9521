"""A predictor without a framework: answers follow from the input's bytes alone. Most tests use it.

Its model is a JSON file: {"shape": [null, 3, 8, 8], "element_type": "float32", "classes": 10, "seed": 0}, and, to
try out accidents, {"fail_above": x} (raise when an input's mean is above x), {"die_above": x} (the process is killed)
or {"nan_above": x} (one of its scores is not a number). {"copies": true} has it run as if on a device, in three parts.
{"layers": n} lets it be profiled: so many layers, each of which calls two operators. {"sleep_s": x} takes its time.
{"levels": n} rounds its scores to so many different ones, so that there are ties. {"boxes": n} makes it a detector: so
many boxes down the diagonal, each half as wide and high as the picture (shares, y first), with scores from 0 to 1.
{"echo": true} answers with the input itself: a picture, or a map of classes.
"""

import json
import os
import signal
import time
import zlib

from ..clock import nanoseconds
from ..parameters import Integer
from .predictor import COPY_IN, COPY_OUT, RUN, Layer, ModelError, Predictor, Profile, Tensor, predictor


@predictor(packages=())
def fake(files, *, threads: Integer("Ignored; here so that plans look alike.", at_least=1) = 1):
    """Deterministic answers without any framework, for tests."""
    try:
        with open(files["graph"], "rb") as file:
            model = json.loads(file.read().decode("utf-8"))
    except OSError as error:
        raise ModelError("the fake model cannot be read: %s" % error)
    except ValueError as error:
        raise ModelError("the fake model is not JSON: %s" % error)
    if not isinstance(model, dict):
        raise ModelError("the fake model is not a JSON object")
    return Fake(model)


class Fake(Predictor):
    concurrent = True

    def __init__(self, model):
        shape = model.get("shape", [None, None, None, None])
        self._classes = model.get("classes", 10)
        self._fail_above = model.get("fail_above")
        self._die_above = model.get("die_above")
        self._nan_above = model.get("nan_above")
        self._seed = model.get("seed", 0)
        self._copies = model.get("copies", False)
        self._layers = model.get("layers", 0)
        self._sleep_s = model.get("sleep_s", 0)
        self._levels = model.get("levels")
        self.inputs = [Tensor("input", model.get("element_type", "float32"), shape)]
        self._boxes = model.get("boxes")
        self.outputs = [Tensor("logits", "float32", [shape[0], self._classes])]
        if self._boxes:
            self._found, self._classes = self._classes, self._boxes
            self.outputs = [
                Tensor("boxes", "float32", [shape[0], self._boxes, 4]),
                Tensor("scores", "float32", [shape[0], self._boxes]),
                Tensor("classes", "float32", [shape[0], self._boxes]),
            ]
        self._echoes = model.get("echo", False)
        if self._echoes:
            self.outputs = [Tensor("output", self.inputs[0].element_type, shape)]

    def run(self, tensors):
        import numpy as np

        if self._sleep_s:
            time.sleep(self._sleep_s)
        if self._echoes:
            return [tensors[0].copy()]
        scores = np.empty((len(tensors[0]), self._classes), np.float32)
        for row, sample in enumerate(tensors[0]):
            level = float(sample.mean(dtype="float64"))
            if self._fail_above is not None and level > self._fail_above:
                raise RuntimeError("the fake model fails above %s" % self._fail_above)
            if self._die_above is not None and level > self._die_above:
                os.kill(os.getpid(), signal.SIGKILL)
            seed = zlib.crc32(np.ascontiguousarray(sample), self._seed)
            # A linear congruential generator: the same numbers in every release of numpy.
            values = (seed + np.arange(1, self._classes + 1, dtype=np.uint64) * 2654435761) % 4294967296
            scores[row] = ((values * 1664525 + 1013904223) % 4294967296) / 2.0**30
            if self._levels:
                scores[row] = np.floor(scores[row] * (self._levels / 4.0))
            if self._nan_above is not None and level > self._nan_above:
                scores[row, -1] = np.nan
        return self._detected(scores) if self._boxes else [scores]

    def _detected(self, scores):
        import numpy as np

        start = np.arange(self._boxes, dtype=np.float32) / (2 * self._boxes)
        boxes = np.stack([start, start, start + 0.5, start + 0.5], axis=1)
        kinds = (np.arange(self._boxes) % self._found).astype(np.float32)
        return [np.stack([boxes] * len(scores)), scores / 4, np.stack([kinds] * len(scores))]

    def parts(self):
        if not self._copies:
            return Predictor.parts(self)
        return [(COPY_IN, _copy), (RUN, self.run), (COPY_OUT, _copy)]

    def profile(self, tensors):
        return self._profile(tensors, lambda layer: ())

    def first_profile(self, tensors):
        return self.profile(tensors)

    def library_runs(self, tensors, runs, between=None):
        return [self._profile(tensors, _halves) for _ in range(runs)]

    def _profile(self, tensors, inside):
        if not self._layers:
            return Predictor.profile(self, tensors)
        start = nanoseconds()
        self.run(tensors)
        call_ns = nanoseconds() - start
        share = call_ns // (self._layers + 1)
        layers = []
        for place in range(self._layers):
            kind = "Sum" if place % 2 else "Product"
            layer = Layer(
                "layer%d" % place,
                kind,
                share,
                [tensors[0].shape],
                start + place * share,
                memory_bytes=tensors[0].nbytes,
            )
            layer.inside = list(inside(layer))
            layers.append(layer)
        return Profile(layers, call_ns, start)


def _halves(layer):
    half = layer.duration_ns // 2
    for number in range(2):
        yield Layer("fake::operator%d" % number, "operator", half, start_ns=layer.start_ns + number * half)


def _copy(tensors):
    return [tensor.copy() for tensor in tensors]
