"""A model opened with its pipeline: from samples to answers."""

import threading

from . import pipeline
from .clock import nanoseconds
from .failure import describe_failure
from .messages import BatchAnswer
from .output.classification import Classification
from .pipeline import library
from .pipeline.header import ImageError
from .pipeline.image import Image
from .predictor import PREDICTORS, Lost, ModelError
from .predictor.predictor import pick, spell_shape
from .sample import Loader


class Session(object):
    """Everything between a sample and an answer, as one plan says it. Threads may share it."""

    def __init__(self, task):
        spec = task.input
        self.batch_size = task.batch_size
        self._load = Loader()
        self._pipeline = pipeline.Pipeline(spec["steps"])
        self._decodes = bool(spec["steps"]) and spec["steps"][0]["name"] == "decode"
        for step in spec["steps"]:  # a missing library must be known before the first sample, not at each one
            if "library" in step["parameters"]:
                library.load(step["parameters"]["library"])
        start = nanoseconds()
        self.predictor = open_predictor(task.predictor)
        self.load_ns = nanoseconds() - start
        if len(self.predictor.inputs) != 1:
            names = ", ".join(tensor.name for tensor in self.predictor.inputs)
            raise ModelError(
                "the model has %d inputs (%s), the manifest feeds one" % (len(self.predictor.inputs), names)
            )
        self._expected = self.predictor.inputs[pick(self.predictor.inputs, spec["layer_name"], "input")]
        if self._expected.element_type != spec["element_type"]:
            raise ModelError(
                "input `%s` takes %s, the manifest says %s"
                % (self._expected.name, self._expected.element_type, spec["element_type"])
            )
        self.output = pick(self.predictor.outputs, task.output["layer_name"], "output")
        self._classify = Classification(task.output)
        self._lane = threading.local()
        fixed = self._expected.shape[0] if self._expected.shape else None
        if fixed is not None and self.batch_size > fixed:
            raise ModelError("the model's batch size is fixed to %d, the plan asks for %d" % (fixed, self.batch_size))
        self._rows = fixed

    def prepare(self, sample, buffers):
        """One sample's tensor, without the batch axis."""
        return self._pipeline(self._loaded(sample, buffers)).array

    def prepare_in_steps(self, sample, buffers, mark):
        """The same, with a `mark` at the end of each step."""
        value = self._loaded(sample, buffers)
        mark("load")
        return self._pipeline.in_steps(value, mark)

    def _loaded(self, sample, buffers):
        value = self._load(sample, buffers)
        if not self._decodes and not isinstance(value, Image):
            raise ImageError("this is an encoded image: the processing must start with `decode`")
        return value

    def answer(self, samples, buffers):
        """One batch from its samples to its answers, in this thread: what a traced batch is compared with."""
        return self._predict([self.prepare(sample, buffers) for sample in samples])

    def answer_in_steps(self, samples, buffers, mark):
        """The same, with a `mark` at the end of each step; (what `answer` answers, what the predictor was given)."""
        tensors = [self.prepare_in_steps(sample, buffers, mark) for sample in samples]
        stacked = [self.stack(tensors)]
        self.predictor.check(stacked)
        mark("collate")
        outputs = self.predictor.run(stacked)
        mark("run")
        answer = outputs[self.output]
        answers = self._classify(answer[: len(tensors)] if self._rows else answer, len(tensors))
        mark("post")
        return answers, stacked

    def stack(self, tensors):
        """The batch as the framework takes it: contiguous, in memory that the next batch of this thread will reuse."""

        rows = self._rows or len(tensors)
        shape = (rows,) + tensors[0].shape
        held = getattr(self._lane, "stacked", None)
        if held is None or held.shape != shape or held.dtype != tensors[0].dtype:
            held = self._lane.stacked = aligned(shape, tensors[0].dtype)
        for row in range(rows):  # a model of fixed batch size gets its last sample repeated; those rows are dropped
            held[row] = tensors[min(row, len(tensors) - 1)]
        return held

    def infer(self, batch):
        """A prepared batch's answer, as (BatchAnswer, buffers) for the host."""
        good = self._alike(batch)
        k, run_ns, improbable, buffers, ties = 0, 0, 0, (), {}
        if good:
            try:
                run_ns, found = self._predict([batch.tensors[slot] for slot in good])
                classes, scores = self._drop_not_a_number(batch, good, found.classes, found.scores)
                k, buffers, improbable = int(classes.shape[1]), (classes, scores), found.improbable
                ties = {str(good[row]): runs for row, runs in found.ties.items()}
            except Lost:
                raise  # no fault of these samples, and the next ones would fare no better
            except BaseException as error:  # even an exit: without an answer the host would wait for ever
                for slot in good:
                    batch.errors[slot] = describe_failure(error)
        return BatchAnswer(batch.index, errors_of(batch), k, run_ns, improbable, ties=ties), buffers

    def _alike(self, batch):
        """The slots whose tensors go together; the first one sets the shape."""
        good = []
        for slot, tensor in enumerate(batch.tensors):
            if slot in batch.errors:
                continue
            if good and not alike(tensor, batch.tensors[good[0]]):
                batch.errors[slot] = "its tensor is %s, the batch has %s" % (
                    spell_tensor(tensor),
                    spell_tensor(batch.tensors[good[0]]),
                )
            else:
                good.append(slot)
        return good

    def _predict(self, tensors):
        stacked = [self.stack(tensors)]
        self.predictor.check(stacked)
        start = nanoseconds()
        outputs = self.predictor.run(stacked)
        run_ns = nanoseconds() - start
        answer = outputs[self.output]
        return run_ns, self._classify(answer[: len(tensors)] if self._rows else answer, len(tensors))

    def _drop_not_a_number(self, batch, good, classes, scores):
        bad = (scores != scores).any(axis=1)
        if not bad.any():
            return classes, scores
        for row in bad.nonzero()[0]:
            batch.errors[good[row]] = "the model answered with not-a-number"
        return classes[~bad].copy(), scores[~bad].copy()

    def close(self):
        self.predictor.close()


def errors_of(batch):
    """Why samples of a batch failed, by their places, as JSON has it."""
    return {str(slot): batch.errors[slot] for slot in sorted(batch.errors)}


def aligned(shape, dtype):
    """Memory at a multiple of 64 bytes: TensorFlow and JAX take such arrays as they are, and copy others."""
    import numpy as np

    dtype = np.dtype(dtype)
    length = dtype.itemsize
    for size in shape:
        length *= size
    raw = np.empty(length + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + length].view(dtype).reshape(shape)


def alike(tensor, other):
    return tensor.shape == other.shape and tensor.dtype == other.dtype


def spell_tensor(tensor):
    return "%s %s" % (tensor.dtype.name, spell_shape(tensor.shape))


def open_predictor(spec):
    declaration = PREDICTORS[spec.name]
    try:
        return declaration.function(spec.files, **spec.options)
    except ImportError as error:
        raise ModelError(
            "this stack cannot use %s (%s); install it with: pip install %s"
            % (spec.name, error, declaration.packages[0] if declaration.packages else spec.name)
        )
