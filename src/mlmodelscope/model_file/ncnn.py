"""ncnn: layers as lines of text (.param), and their weights one behind the other (.bin), without a name or a length.

Where a layer's weights begin follows from the layers before it, so a kind whose weights we do not know ends the count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from mlmodelscope.model_file.graph import Graph, Node
from mlmodelscope.model_file.limit import MAX_TENSORS, Budget, clean, damaged, listed, quote
from mlmodelscope.model_file.model_file import ModelFile, TensorInfo
from mlmodelscope.model_file.network import Known, Layer, Network, Role, Value, Weight

_MAGIC = b"7767517"
_MOST_BYTES = 1 << 26
_HALF, _BYTE, _RAW = 0x01306B47, 0x000D4B38, 0x0002C056
"""What stands before weights: float16, int8, or float32 although a table of numbers might have been."""
_TABLE_BYTES = 1024
_CHANNELS_SECOND = ("Convolution", "ConvolutionDepthWise", "Deconvolution", "DeconvolutionDepthWise", "Pooling")
_UNKNOWN_WEIGHTS = (
    *(
        "Gemm",
        "LSTM",
        "GRU",
        "RNN",
        "MultiHeadAttention",
        "DeformableConv2D",
        "Convolution3D",
        "ConvolutionDepthWise3D",
    ),
    *("Deconvolution1D", "DeconvolutionDepthWise1D", "Deconvolution3D", "DeconvolutionDepthWise3D"),
    *("Quantize", "Dequantize", "Requantize"),
)
"""Kinds whose weights stand in an order that depends on more than we read, such as the release that wrote them."""
_INT8_SCALES = 8
"""The setting that says that scales follow; which ones, releases of ncnn do not agree on."""


def is_ncnn(start: bytes) -> bool:
    return start.lstrip().startswith(_MAGIC)


def describe_ncnn(data: memoryview) -> ModelFile:
    return read_ncnn_network(data).file


def read_ncnn_network(data: memoryview, weights: memoryview | None = None) -> Network:
    lines = _read_lines(data)
    placed = _Placed(weights)
    layers = [_layer(line, placed) for line in lines]
    notes = ["its weights are in the .bin file of the same name, which must lie beside it"] if weights is None else []
    graph = Graph(
        Node(line.kind, line.bottoms, line.tops, None, "NCHW" if line.kind in _CHANNELS_SECOND else None)
        for line in lines
    )
    made = [top for line in lines for top in line.tops]
    used = {bottom for line in lines for bottom in line.bottoms}
    inputs = [
        TensorInfo(top, "float32", _input_shape(line), graph.input_layout(top, 4))
        for line in lines
        if line.kind == "Input"
        for top in line.tops
    ]
    outputs = [TensorInfo(top, "float32", None) for top in made if top not in used]
    if len(inputs) > MAX_TENSORS or len(outputs) > MAX_TENSORS:
        raise damaged("it has too many inputs or outputs")
    file = ModelFile(
        format="ncnn",
        framework="ncnn",
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        producer=None,
        version="param 7767517",
        ends_in_softmax=graph.ends_in_softmax(outputs[0].name) if outputs else None,
        labels=(),
        metadata={},
        notes=tuple(notes),
    )
    known = {tensor.name: Known("float32", tensor.shape) for tensor in inputs}
    kept = tuple(layer for layer in layers if layer.kind != "Input")
    return Network(file, kept, placed.weights, known, notes=tuple(placed.notes()))


@dataclass(frozen=True)
class _Line:
    kind: str
    name: str
    bottoms: tuple[str, ...]
    tops: tuple[str, ...]
    settings: dict[int, Value]

    def number(self, key: int, default: int = 0) -> int:
        value = self.settings.get(key, default)
        if not isinstance(value, int):
            raise damaged(f"the layer {quote(self.name)} has {value} where a whole number belongs")
        return value


def _read_lines(data: memoryview) -> list[_Line]:
    if len(data) > _MOST_BYTES:
        raise damaged(f"it has {len(data):,} bytes, far too many for a network without weights")
    lines = [line.split() for line in bytes(data).decode("utf-8", "replace").splitlines() if line.strip()]
    if not lines or lines[0] != [_MAGIC.decode()]:
        raise damaged("it does not begin with ncnn's number 7767517")
    if len(lines) < 2 or len(lines[1]) != 2 or not all(re.fullmatch(r"\d{1,9}", word) for word in lines[1]):
        raise damaged("its second line is not the number of layers and of blobs")
    budget = Budget()
    found = [_line(words, number, budget) for number, words in enumerate(lines[2:], 3)]
    if len(found) != int(lines[1][0]):
        raise damaged(f"it says {lines[1][0]} layers and has {len(found):,}: it is cut off, or was edited")
    return found


def _line(words: list[str], number: int, budget: Budget) -> _Line:
    budget.spend(1 + len(words))
    counts = words[2:4]
    if len(counts) != 2 or not all(re.fullmatch(r"\d{1,6}", word) for word in counts):
        raise damaged(f"line {number} describes no layer")
    first = 4 + int(counts[0])
    last = first + int(counts[1])
    settings: dict[int, Value] = {}
    for word in words[last:]:
        key, equals, value = word.partition("=")
        if not equals or re.fullmatch(r"-?\d{1,6}", key) is None:
            raise damaged(f"line {number} is cut off, or has a setting that is none")
        place = int(key)
        # A list is written as -23300 less its place, with its length in front.
        settings[-place - 23300 if place <= -23300 else place] = _setting(value, place <= -23300)
    if len(words) < last:
        raise damaged(f"line {number} is cut off")
    return _Line(words[0], words[1], tuple(words[4:first]), tuple(words[first:last]), settings)


def _setting(text: str, is_list: bool) -> Value:
    values: list[int] = []
    for each in text.split(",")[1 if is_list else 0 :]:
        if re.fullmatch(r"[-+]?\d{1,12}", each) is None:
            try:
                return float(each) if not is_list else text
            except ValueError:
                return text
        values.append(int(each))
    return tuple(values) if is_list or len(values) != 1 else values[0]


def _input_shape(line: _Line) -> tuple[int | None, ...] | None:
    width, height, channels = (line.number(key) for key in (0, 1, 2))
    sizes = [size for size in (channels, height, width) if size > 0]
    return (1, *sizes) if sizes else None


def _layer(line: _Line, placed: _Placed) -> Layer:
    names = tuple(placed.add(line))
    attributes = {f"{key}": value for key, value in line.settings.items()}
    return Layer(line.name, line.kind, (*line.bottoms, *names), line.tops, attributes)


@dataclass(frozen=True)
class _Part:
    """One run of numbers of a layer."""

    name: str
    shape: tuple[int, ...]
    role: Role = "parameter"
    has_mark: bool = False
    """Whether four bytes in front say what type they are."""


def _parts(line: _Line) -> list[_Part]:
    """What stands in the file of weights for a layer, in order."""
    number = line.number
    if line.kind in (*_CONVOLUTIONS, "InnerProduct", "Embed"):
        return _convolution(line)
    count = number(0)
    if line.kind == "BatchNorm":
        roles: tuple[tuple[str, Role], ...] = (
            ("weight", "parameter"),
            ("mean", "statistic"),
            ("variance", "statistic"),
            ("bias", "parameter"),
        )
        return [_Part(name, (count,), role) for name, role in roles]
    if line.kind == "Scale":
        if count < 0:  # the scale comes as an input
            return []
        return [_Part("weight", (count,)), *([_Part("bias", (count,))] if number(1) else [])]
    if line.kind in ("PReLU", "Bias"):
        return [_Part("slope" if line.kind == "PReLU" else "bias", (count,))]
    if line.kind == "MemoryData":
        shape = tuple(size for size in (number(2), number(11), number(1), number(0)) if size)
        return [_Part("data", shape, "parameter", has_mark=number(21, 1) == 0)]
    if line.kind == "Normalize":
        return [_Part("scale", (number(3),))]
    affine = {"InstanceNorm": (0, 2), "GroupNorm": (1, 3), "LayerNorm": (0, 2), "RMSNorm": (0, 2)}.get(line.kind)
    if affine is not None:
        count = number(affine[0])
        both = [_Part("weight", (count,)), _Part("bias", (count,))]
        return both[: 1 if line.kind == "RMSNorm" else 2] if number(affine[1], 1) else []
    return []


_CONVOLUTIONS = {
    "Convolution": 6,
    "ConvolutionDepthWise": 6,
    "Convolution1D": 6,
    "ConvolutionDepthWise1D": 6,
    "Deconvolution": 6,
    "DeconvolutionDepthWise": 6,
}
"""By kind: which setting is the number of weights."""


def _convolution(line: _Line) -> list[_Part]:
    number = line.number
    if number(19):  # weights come as inputs
        return []
    outputs, count = number(0), number(3 if line.kind == "Embed" else _CONVOLUTIONS.get(line.kind, 2))
    has_bias = number(5 if line.kind in _CONVOLUTIONS else 2 if line.kind == "Embed" else 1)
    parts = [_Part("weight", _weight_shape(line, outputs, count), has_mark=True)]
    parts += [_Part("bias", (outputs,))] if has_bias else []
    return parts


def _weight_shape(line: _Line, outputs: int, count: int) -> tuple[int, ...]:
    """Outputs, inputs of a group, rows, columns, where they multiply to the number that the file says."""
    if line.kind == "Embed":
        return (count // outputs, outputs) if outputs > 0 and count % outputs == 0 else (count,)
    width = line.number(1, 1) if line.kind in _CONVOLUTIONS else 1
    height = line.number(11, width) if line.kind in _CONVOLUTIONS else 1
    kernel = (width,) if line.kind.endswith("1D") else (height, width)
    if outputs <= 0 or count % (outputs * max(1, prod(kernel))):
        return (count,)
    if line.kind == "InnerProduct":
        return (outputs, count // outputs)
    inner = count // outputs // prod(kernel)
    return (outputs, inner, *kernel)


class _Placed:
    """Weights found so far, and where in the file the next ones begin."""

    def __init__(self, data: memoryview | None) -> None:
        self.weights: dict[str, Weight] = {}
        self._data = data
        self._position = 0
        self._lost: list[str] = []

    def add(self, line: _Line) -> Iterator[str]:
        if line.kind in _UNKNOWN_WEIGHTS:
            self._lost.append(line.kind)
            return
        for part in _parts(line):
            if any(size < 0 for size in part.shape):
                raise damaged(f"the layer {quote(line.name)} has a size that is none")
            name = f"{line.name}/{part.name}"
            kind, content = self._take(part) if self._data is not None and not self._lost else ("float32", None)
            self.weights[name] = Weight(name, kind, part.shape, part.role, content)
            yield name
        if line.kind in (*_CONVOLUTIONS, "InnerProduct") and line.number(_INT8_SCALES):
            self._lost.append(f"{line.kind} with int8 scales")

    def _take(self, part: _Part) -> tuple[str, memoryview | None]:
        count = prod(part.shape)
        mark = int.from_bytes(self._bytes(4), "little") if part.has_mark else 0
        if mark == _HALF:
            return "float16", self._bytes(2 * count, 4)
        if mark == _BYTE:
            return "int8", self._bytes(count, 4)
        if mark not in (0, _RAW):  # 256 numbers, and which of them each weight is
            self._bytes(_TABLE_BYTES)
            self._bytes(count, 4)
            return "float32", None
        return "float32", self._bytes(4 * count)

    def _bytes(self, size: int, align: int = 1) -> memoryview:
        assert self._data is not None
        start, self._position = self._position, self._position + size + -size % align
        if self._position > len(self._data):
            raise damaged(f"the weights end after {len(self._data):,} bytes, and the layers want more")
        return self._data[start : start + size]

    def notes(self) -> list[str]:
        told = []
        if self._lost:
            told.append(
                f"how {listed(list(dict.fromkeys(self._lost)))} store their numbers is not known here, so the weights "
                "behind the first of them are not read"
            )
        elif self._data is not None and self._position != len(self._data):
            left = len(self._data) - self._position
            told.append(f"{left:,} bytes of the weights belong to no layer: the two files may not belong together")
        return [clean(each) for each in told]
