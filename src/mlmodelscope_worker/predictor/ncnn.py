"""ncnn: a .param file (text) and its weights (.bin). ncnn has no batches: samples are asked in turn."""

import os
import re

from ..clock import nanoseconds
from ..parameters import Flag, Integer
from .build import tells_build
from .passed import Passed
from .predictor import Layer, ModelError, Predictor, Tensor, predictor

_MAGIC = "7767517"
_MOST_BYTES = 1 << 26
_WEIGHTS_AT = {  # by kind: which setting is the number of weights
    "Convolution": "6",
    "ConvolutionDepthWise": "6",
    "Deconvolution": "6",
    "DeconvolutionDepthWise": "6",
    "InnerProduct": "2",
}


@predictor(packages=("ncnn",))
def ncnn(
    files,
    *,
    threads: Integer("Threads inside one layer.", at_least=1, at_most=4096) = 1,
    half_precision: Flag("Whether float16 may be used where ncnn finds it faster, as it would by default.") = False,
    winograd: Flag("Whether convolutions may be computed by Winograd's method, which rounds otherwise.") = True,
):
    """ncnn models; `graph` is the .param file, `weights` the .bin file."""
    import ncnn as framework

    version = "ncnn %s" % framework.__version__
    try:
        layers = _read_layers(files["graph"])
        # ncnn takes what is missing for zeros, or reads on: an empty file is the one thing that can be seen at once.
        if "weights" not in files:
            raise ModelError("the weights (.bin) are missing")
        with open(files["weights"], "rb"):
            pass
    except (OSError, ValueError) as error:
        raise ModelError("%s cannot load the model: %s" % (version, error))
    net = framework.Net()
    net.opt.num_threads = threads
    net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = half_precision
    net.opt.use_winograd_convolution = winograd
    if net.load_param(files["graph"]) != 0:
        raise ModelError("%s cannot load the model: it does not take the .param file" % version)
    if net.load_model(files["weights"]) != 0:
        raise ModelError("%s cannot load the model: the weights do not fit the .param file, or are cut off" % version)
    return Ncnn(net, framework.Mat, layers)


class Ncnn(Predictor):
    concurrent = True  # a net is only read; each call has its own extractor

    def __init__(self, net, mat, layers):
        self._net = net
        self._mat = mat
        self._layers = layers
        made = [blob for layer in layers for blob in layer.tops]
        used = {blob for layer in layers for blob in layer.bottoms}
        self.inputs = [
            Tensor(blob, "float32", layer.shape) for layer in layers if layer.kind == "Input" for blob in layer.tops
        ]
        # ncnn knows the shapes of its outputs when they are there.
        self.outputs = [Tensor(blob, "float32", None) for blob in made if blob not in used]
        self._input_names = [tensor.name for tensor in self.inputs]
        self._output_names = [tensor.name for tensor in self.outputs]

    def run(self, tensors):
        import numpy as np

        samples = []
        for row in range(len(tensors[0])):
            extractor = self._net.create_extractor()
            self._feed(extractor, tensors, row)
            samples.append([self._extract(extractor, name) for name in self._output_names])
        return [np.stack(values) for values in zip(*samples)]

    def profile(self, tensors):
        """Each layer's share in one extractor: with all before it there, its own work is what is left to do."""
        self.run(tensors)
        layers = [layer for layer in self._layers if layer.kind != "Input"]
        spent, shapes = [0] * len(layers), [[] for _ in layers]
        blobs = {name: tensor.shape for name, tensor in zip(self._input_names, tensors)}
        for row in range(len(tensors[0])):
            extractor = self._net.create_extractor()
            extractor.set_light_mode(False)  # it would drop what a later layer does not need
            self._feed(extractor, tensors, row)
            for place, layer in enumerate(layers):
                start = nanoseconds()
                value = self._extract(extractor, layer.tops[0])
                spent[place] += nanoseconds() - start
                shapes[place] = [value.shape]
                for blob in layer.tops if layer.kind == "Split" else layer.tops[:1]:
                    blobs[blob] = (len(tensors[0]),) + value.shape
        return [
            Layer(layer.name, layer.kind, *rest, **layer.tensors(blobs))
            for layer, rest in zip(layers, zip(spent, shapes))
        ]

    def intermediates(self, tensors):
        import numpy as np

        names = [blob for layer in self._layers if layer.kind not in ("Input", "Split") for blob in layer.tops]
        samples = []
        for row in range(len(tensors[0])):
            extractor = self._net.create_extractor()
            extractor.set_light_mode(False)
            self._feed(extractor, tensors, row)
            samples.append([self._extract(extractor, name) for name in names])
        return {name: np.stack(values) for name, values in zip(names, zip(*samples))}

    def kinds(self):
        return {blob: layer.kind for layer in self._layers for blob in layer.tops}

    def layers(self, tensors):
        """Blob by blob, each extractor keeping what later layers need; one row at a time, as ncnn computes."""
        import numpy as np

        extractors = []
        for row in range(len(tensors[0])):
            extractors.append(self._net.create_extractor())
            extractors[-1].set_light_mode(False)  # it would drop what is asked for later
            self._feed(extractors[-1], tensors, row)
        for layer in self._layers:
            if layer.kind in ("Input", "Split"):
                continue
            for blob in layer.tops:
                value = np.stack([self._extract(extractor, blob) for extractor in extractors])
                yield Passed(blob, value, layer.kind, layer.name, layer.bottoms)

    def close(self):
        if self._net is not None:
            self._net.clear()
        self._net = None

    def _feed(self, extractor, tensors, row):
        for name, tensor in zip(self._input_names, tensors):
            if extractor.input(name, self._mat(tensor[row])) != 0:
                raise ModelError("ncnn does not take input `%s`" % name)

    def _extract(self, extractor, name):
        import numpy as np

        failed, value = extractor.extract(name)
        if failed != 0:
            raise RuntimeError("ncnn could not compute `%s` (%d)" % (name, failed))
        return np.array(value)


class _LayerLine(object):
    def __init__(self, kind, name, bottoms, tops, settings):
        self.kind = kind
        self.name = name
        self.bottoms = bottoms
        self.tops = tops
        self.settings = settings
        self.shape = None
        if kind == "Input":
            sizes = [settings.get(key) for key in ("2", "11", "1", "0")]  # channels, depth, height, width
            sizes = [int(size) for size in sizes if size is not None and int(size) > 0]
            self.shape = [None] + sizes if sizes else None

    def tensors(self, blobs):
        """What is known of its inputs, with its weights, and of its outputs; nothing where a blob is not known."""
        if any(blob not in blobs for blob in self.bottoms + self.tops):
            return {}
        inputs, outputs = [blobs[blob] for blob in self.bottoms], [blobs[blob] for blob in self.tops]
        weights = self.weights()
        if weights is None and self.kind in _WEIGHTS_AT:
            return {}
        return {
            "inputs": inputs + ([weights] if weights else []),
            "outputs": outputs,
            "element_type": "float32",
        }

    def weights(self):
        """The shape of its weights, of which the .param file has the number: settings 0, 1 and 11 are the outputs and
        the window's width and height."""
        place = _WEIGHTS_AT.get(self.kind)
        try:
            count, outputs = int(self.settings[place]), int(self.settings["0"])
            if self.kind == "InnerProduct":
                return [outputs, count // outputs]
            width = int(self.settings["1"])
            height = int(self.settings.get("11", width))
            return [outputs, count // (outputs * width * height), height, width]
        except (KeyError, ValueError, ZeroDivisionError):
            return None


def _read_layers(path):
    """The .param file's lines. ncnn trusts its numbers; a wrong one is its end."""
    if os.path.getsize(path) > _MOST_BYTES:
        raise ValueError("a .param file of more than 64 MiB is none")
    with open(path, "rb") as file:
        lines = [line.split() for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()]
    if not lines or lines[0] != [_MAGIC]:
        raise ValueError("it is no .param file of ncnn: it does not start with %s" % _MAGIC)
    if len(lines) < 2 or len(lines[1]) != 2 or not all(word.isdigit() for word in lines[1]):
        raise ValueError("its second line is not the number of layers and of blobs")
    layers, blobs = [], set()
    for number, words in enumerate(lines[2:], 3):
        counts = words[2:4]
        if len(counts) != 2 or not all(word.isdigit() for word in counts) or len(words) < 4 + sum(map(int, counts)):
            raise ValueError("line %d describes no layer, or is cut off" % number)
        first, last = 4 + int(counts[0]), 4 + int(counts[0]) + int(counts[1])
        bottoms, tops = words[4:first], words[first:last]
        settings = dict(word.split("=", 1) for word in words[last:] if re.match(r"-?\d+=.", word))
        if len(settings) < len(words[last:]):  # releases before 2026 crash on it
            raise ValueError("line %d is cut off, or has a setting that is none" % number)
        if not blobs.issuperset(bottoms):
            raise ValueError("layer `%s` takes a blob that no layer before it makes" % words[1])
        blobs.update(tops)
        layers.append(_LayerLine(words[0], words[1], bottoms, tops, settings))
    if [len(layers), len(blobs)] != [int(word) for word in lines[1]]:
        raise ValueError(
            "it says %s layers and %s blobs and has %d and %d: it is cut off, or was edited"
            % (lines[1][0], lines[1][1], len(layers), len(blobs))
        )
    return layers


@tells_build("ncnn", "ncnn")
def _build():
    """ncnn keeps no list of how it was built; it tells what the processor has that its kernels are chosen by."""
    import ncnn as framework

    asked = {name[len("cpu_support_x86_") :]: name for name in dir(framework) if name.startswith("cpu_support_x86_")}
    used = [name for name, function in sorted(asked.items()) if getattr(framework, function)()]
    return {"version": framework.__version__, "used": " ".join(used)}
