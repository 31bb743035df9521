"""TensorFlow Lite, written by hand: pictures are NHWC, one at a time."""

from collections import Counter
from pathlib import Path
from typing import Any, Dict, List

import numpy as np

from worker_package.predictor.nets import flatbuffer
from worker_package.predictor.nets.network import Files, Layer, Network

# What schema.fbs calls them: the operator, and the table of its options.
_CODES = {
    "add": (0, 11),
    "convolution": (3, 1),
    "depthwise": (4, 2),
    "dense": (9, 8),
    "max_pool": (17, 5),
    "relu": (19, 0),
    "relu6": (21, 0),
    "softmax": (25, 9),
    "pad": (34, 22),
    "average": (40, 27),
}
_SAME, _VALID = 0, 1
# A ReLU goes into the layer before it, as TensorFlow's converter has it: which number it has there, and in which field.
_ACTIVATIONS = {"relu": 1, "relu6": 3}
_FIELDS = {"convolution": 3, "depthwise": 4, "add": 0}
_FLOAT32, _INT32 = 0, 2


def write(network: Network, folder: Path) -> Files:
    (folder / "model.tflite").write_bytes(_Writer(network).content())
    return {"graph": str(folder / "model.tflite")}


class _Writer:
    def __init__(self, network: Network) -> None:
        self.network = network
        self.shapes = dict(network.shapes(), input=network.shape)
        self.tensors = []  # type: List[Dict[int, Any]]
        self.buffers = [{}]  # type: List[Dict[int, Any]]
        self.operators = []  # type: List[Dict[int, Any]]
        self.kinds = []  # type: List[str]
        self.places = {"input": self.tensor("input", _last(network.shape))}
        takers = Counter(name for layer in network.layers for name in layer.inputs)
        self.active = {
            layer.inputs[0]: layer
            for layer in network.layers
            if layer.kind in _ACTIVATIONS and takers[layer.inputs[0]] == 1
        }
        for layer in network.layers:
            if layer.name not in self.places:
                self.add(layer)

    def content(self) -> bytes:
        graph = {
            0: ("tables", self.tensors),
            1: ("numbers", [self.places["input"]]),
            2: ("numbers", [self.places[self.network.output]]),
            3: ("tables", self.operators),
            4: ("text", self.network.name),
        }
        codes = [{0: ("b", _CODES[kind][0]), 2: ("i", 1), 3: ("i", _CODES[kind][0])} for kind in self.kinds]
        model = {
            0: ("I", 3),
            1: ("tables", codes),
            2: ("tables", [graph]),
            3: ("text", "by hand"),
            4: ("tables", self.buffers),
        }
        return flatbuffer.write(model, b"TFL3")

    def tensor(self, name: str, shape: Any, value: Any = None) -> int:
        buffer, kind = 0, _FLOAT32
        if value is not None:
            kind = _INT32 if value.dtype == np.int32 else _FLOAT32
            buffer, shape = len(self.buffers), value.shape
            self.buffers.append({0: ("bytes", np.ascontiguousarray(value).tobytes())})
        sizes = [int(size) for size in (shape if value is not None else (1,) + tuple(shape))]
        self.tensors.append({0: ("numbers", sizes), 1: ("b", kind), 2: ("I", buffer), 3: ("text", name)})
        return len(self.tensors) - 1

    def operator(self, kind: str, inputs: List[int], output: int, options: Dict[int, Any]) -> None:
        if kind not in self.kinds:
            self.kinds.append(kind)
        said = {0: ("I", self.kinds.index(kind)), 1: ("numbers", inputs), 2: ("numbers", [output])}
        if _CODES[kind][1]:
            said.update({3: ("B", _CODES[kind][1]), 4: ("table", options)})
        self.operators.append(said)

    def add(self, layer: Layer) -> None:
        name, inputs = layer.name, [self.places[each] for each in layer.inputs]
        kind, options = layer.kind, {}  # type: Any
        if kind == "convolution":
            kind, inputs, options = self.convolution(layer, inputs)
        elif kind == "max_pool":
            options = {0: ("b", _VALID), 1: ("i", 2), 2: ("i", 2), 3: ("i", 2), 4: ("i", 2)}
        elif kind == "average":
            inputs = inputs + [self.tensor(name + "_axes", None, np.array([1, 2], np.int32))]
        elif kind == "dense":
            inputs = inputs + self.weights(name, layer.weight, layer.bias)
        elif kind == "softmax":
            options = {0: ("f", 1.0)}
        active = self.active.get(name) if kind in _FIELDS else None
        if active is not None:
            options[_FIELDS[kind]] = ("b", _ACTIVATIONS[active.kind])
            name = active.name
        self.places[name] = self.tensor(name, _last(self.shapes[name]))
        self.operator(kind, inputs, self.places[name], options)

    def weights(self, name: str, weight: np.ndarray, bias: np.ndarray) -> List[int]:
        return [self.tensor(name + "_weight", None, weight), self.tensor(name + "_bias", None, bias)]

    def convolution(self, layer: Layer, inputs: List[int]) -> Any:
        """Filters are [outputs, rows, columns, inputs], or [1, rows, columns, channels] for one channel each."""
        padding = _SAME if layer.pads == same(self.shapes[layer.inputs[0]], layer) else _VALID
        if padding == _VALID and any(layer.pads):
            inputs = [self.padded(layer, inputs[0])]
        options = {0: ("b", padding), 1: ("i", layer.stride), 2: ("i", layer.stride)}  # type: Dict[int, Any]
        if layer.groups == 1:
            options.update({4: ("i", 1), 5: ("i", 1)})
            return (
                "convolution",
                inputs + self.weights(layer.name, layer.weight.transpose(0, 2, 3, 1), layer.bias),
                options,
            )
        options.update({3: ("i", 1), 5: ("i", 1), 6: ("i", 1)})
        return "depthwise", inputs + self.weights(layer.name, layer.weight.transpose(1, 2, 3, 0), layer.bias), options

    def padded(self, layer: Layer, place: int) -> int:
        top, left, bottom, right = layer.pads
        channels, height, width = self.shapes[layer.inputs[0]]
        name = layer.name + "_padded"
        output = self.tensor(name, (height + top + bottom, width + left + right, channels))
        sizes = np.array([[0, 0], [top, bottom], [left, right], [0, 0]], np.int32)
        self.operator("pad", [place, self.tensor(name + "_sizes", None, sizes)], output, {})
        return output


def same(shape: Any, layer: Layer) -> List[int]:
    """The padding that TensorFlow calls SAME: an odd pixel goes behind."""
    totals = [
        max((-(-size // layer.stride) - 1) * layer.stride + kernel - size, 0)
        for size, kernel in zip(shape[1:], layer.kernel)
    ]
    before = [total // 2 for total in totals]
    return before + [total - front for total, front in zip(totals, before)]


def _last(shape: Any) -> Any:
    """Channels last."""
    return (shape[1], shape[2], shape[0]) if len(shape) == 3 else tuple(shape)
