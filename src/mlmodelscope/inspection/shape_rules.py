"""What shape each of ONNX's operators gives. A rule answers None where something that it needs is not known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Protocol

from mlmodelscope.inspection.window_shape import convolved, number, numbers, spread
from mlmodelscope.model_file.graph import words
from mlmodelscope.model_file.network import Layer

Whole = tuple[int, ...]
Made = Sequence[Whole | None] | None


class Known(Protocol):
    shapes: dict[str, Whole]
    values: dict[str, tuple[int | float, ...]]

    def of(self, name: str) -> Whole | None: ...
    def all(self, names: Sequence[str]) -> list[Whole] | None: ...
    def numbers(self, layer: Layer, place: int) -> Whole | None: ...


_KEEPS = words(
    """
    Relu LeakyRelu PRelu Elu Selu Celu Sigmoid HardSigmoid HardSwish Tanh Softplus Softsign Gelu QuickGelu FastGelu Mish
    ThresholdedRelu Clip Softmax LogSoftmax Hardmax Identity Dropout Cast BatchNormalization InstanceNormalization
    LayerNormalization GroupNormalization RMSNormalization SimplifiedLayerNormalization LRN LpNormalization
    MeanVarianceNormalization QuantizeLinear DequantizeLinear Erf Exp Log Sqrt Neg Abs Floor Ceil Round Reciprocal Sin
    Cos Tan Asin Acos Atan Sinh Cosh Sign Not IsNaN IsInf CumSum Trilu ScatterND ScatterElements Shrink QLinearSigmoid
    QLinearLeakyRelu QLinearSoftmax Sequence BiasGelu
    """
)
_SPREADS = words(
    """
    Add Sub Mul Div Pow Max Min Sum Mean And Or Xor Equal Greater Less GreaterOrEqual LessOrEqual Where Mod BitShift
    """
)
_REDUCES = words(
    """
    ReduceMean ReduceSum ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSum ReduceLogSumExp
    """
)


def _first(known: Known, layer: Layer) -> Whole | None:
    return known.of(layer.inputs[0]) if layer.inputs else None


def _keeps(known: Known, layer: Layer) -> Made:
    return [_first(known, layer)]


def _copies(known: Known, layer: Layer) -> Made:
    return [_first(known, layer)] * len(layer.outputs)


def broadcast(shapes: Sequence[Whole]) -> Whole | None:
    rank = max((len(shape) for shape in shapes), default=0)
    found = []
    for axis in range(-rank, 0):
        sizes = {shape[axis] for shape in shapes if len(shape) >= -axis} - {1}
        if len(sizes) > 1:
            return None
        found.append(sizes.pop() if sizes else 1)
    return tuple(found)


def _spreads(known: Known, layer: Layer) -> Made:
    shapes = known.all([name for name in layer.inputs if name])
    return None if not shapes else [broadcast(shapes)]


def _quantized_spread(known: Known, layer: Layer) -> Made:
    shapes = known.all([layer.inputs[place] for place in (0, 3) if place < len(layer.inputs)])
    return None if not shapes else [broadcast(shapes)]


def _convolution(weights: int) -> Callable[[Known, Layer], Made]:
    def rule(known: Known, layer: Layer) -> Made:
        shape = _first(known, layer)
        filters = known.of(layer.inputs[weights]) if weights < len(layer.inputs) else None
        if shape is None or filters is None or len(shape) < 3 or len(filters) != len(shape):
            return None
        places = convolved(layer, shape[2:], filters[2:])
        if places is None or shape[1] != filters[1] * number(layer, "group", 1):
            return None
        return [(shape[0], filters[0], *places)]

    return rule


def _transposed(known: Known, layer: Layer) -> Made:
    shape = _first(known, layer)
    filters = known.of(layer.inputs[1]) if len(layer.inputs) > 1 else None
    if shape is None or filters is None or len(shape) < 3 or len(filters) != len(shape):
        return None
    places = spread(layer, shape[2:], filters[2:])
    return None if places is None else [(shape[0], filters[1] * number(layer, "group", 1), *places)]


def _pooling(known: Known, layer: Layer) -> Made:
    shape, kernel = _first(known, layer), numbers(layer, "kernel_shape")
    if shape is None or kernel is None or len(shape) < 3:
        return None
    places = convolved(layer, shape[2:], kernel)
    return None if places is None else [(*shape[:2], *places)] * len(layer.outputs)


def _global(known: Known, layer: Layer) -> Made:
    shape = _first(known, layer)
    return None if shape is None or len(shape) < 3 else [(*shape[:2], *(1,) * (len(shape) - 2))]


def _global_flat(known: Known, layer: Layer) -> Made:
    """ncnn's: one number for each channel, without axes of 1."""
    shape = _first(known, layer)
    return None if shape is None or len(shape) < 3 else [shape[:2]]


def product(left: Whole, right: Whole) -> Whole | None:
    one, other = (1, *left) if len(left) == 1 else left, (*right, 1) if len(right) == 1 else right
    if len(one) < 2 or len(other) < 2 or one[-1] != other[-2]:
        return None
    front = broadcast([one[:-2], other[:-2]])
    if front is None:
        return None
    sizes = [*([one[-2]] if len(left) > 1 else []), *([other[-1]] if len(right) > 1 else [])]
    return (*front, *sizes)


def _matmul(place: int) -> Callable[[Known, Layer], Made]:
    def rule(known: Known, layer: Layer) -> Made:
        pair = known.all([layer.inputs[0], layer.inputs[place]]) if len(layer.inputs) > place else None
        return None if pair is None else [product(pair[0], pair[1])]

    return rule


def _gemm(known: Known, layer: Layer) -> Made:
    place = 3 if layer.kind == "QGemm" else 1
    pair = known.all([layer.inputs[0], layer.inputs[place]]) if len(layer.inputs) > place else None
    if pair is None or len(pair[0]) != 2 or len(pair[1]) != 2:
        return None
    left = pair[0][::-1] if number(layer, "transA", 0) else pair[0]
    right = pair[1][::-1] if number(layer, "transB", 0) else pair[1]
    return [product(left, right)]


def _dense(known: Known, layer: Layer) -> Made:
    """Caffe's, ncnn's and MXNet's: all axes behind the first are one, and the weights are [outputs, inputs]."""
    shape = _first(known, layer)
    filters = known.of(layer.inputs[1]) if len(layer.inputs) > 1 else None
    if shape is None or filters is None or len(filters) != 2 or not shape:
        return None
    axis = number(layer, "axis", 1)
    axis = axis + len(shape) if axis < 0 else axis
    return [(*shape[:axis], filters[0])] if prod(shape[axis:]) == filters[1] else None


def _flatten(known: Known, layer: Layer) -> Made:
    shape = _first(known, layer)
    if shape is None:
        return None
    axis = number(layer, "axis", 1)
    axis = axis + len(shape) if axis < 0 else axis
    return [(prod(shape[:axis]), prod(shape[axis:]))]


def reshaped(shape: Whole, wanted: Sequence[int], zero_copies: bool = True) -> Whole | None:
    sizes = []
    for axis, size in enumerate(wanted):
        if size == 0 and zero_copies:
            if axis >= len(shape):
                return None
            sizes.append(shape[axis])
        else:
            sizes.append(size)
    if sizes.count(-1) > 1 or min(sizes, default=0) < -1:
        return None
    rest = prod(size for size in sizes if size != -1)
    if -1 in sizes:
        if rest == 0 or prod(shape) % rest:
            return None
        sizes[sizes.index(-1)] = prod(shape) // rest
    return tuple(sizes) if prod(sizes) == prod(shape) else None


def _reshape(known: Known, layer: Layer) -> Made:
    shape, wanted = _first(known, layer), known.numbers(layer, 1) or numbers(layer, "shape")
    if shape is None or wanted is None:
        return None
    return [reshaped(shape, wanted, not number(layer, "allowzero", 0))]


def _transpose(known: Known, layer: Layer) -> Made:
    shape = _first(known, layer)
    order = numbers(layer, "perm")
    if shape is None:
        return None
    order = order if order is not None else tuple(reversed(range(len(shape))))
    return [tuple(shape[axis] for axis in order)] if sorted(order) == list(range(len(shape))) else None


def _axes(known: Known, layer: Layer, rank: int) -> tuple[int, ...] | None:
    told = numbers(layer, "axes") or known.numbers(layer, 1)
    if told is None or any(not -rank <= axis < rank for axis in told):
        return None
    return tuple(axis % rank for axis in told)


def _squeeze(known: Known, layer: Layer) -> Made:
    shape = _first(known, layer)
    if shape is None:
        return None
    if "axes" not in layer.attributes and len(layer.inputs) < 2:
        return [tuple(size for size in shape if size != 1)]
    axes = _axes(known, layer, len(shape)) if shape else None
    if axes is None or any(shape[axis] != 1 for axis in axes):
        return None
    return [tuple(size for axis, size in enumerate(shape) if axis not in axes)]


def _unsqueeze(known: Known, layer: Layer) -> Made:
    shape, told = _first(known, layer), numbers(layer, "axes") or known.numbers(layer, 1)
    if shape is None or told is None:
        return None
    axes = _axes(known, layer, len(shape) + len(told))
    if axes is None or len(set(axes)) != len(told):
        return None
    rest = iter(shape)
    return [tuple(1 if axis in axes else next(rest) for axis in range(len(shape) + len(told)))]


def _concat(known: Known, layer: Layer) -> Made:
    shapes = known.all(layer.inputs)
    axis = number(layer, "axis", 1)
    if not shapes or len({len(shape) for shape in shapes}) != 1 or not -len(shapes[0]) <= axis < len(shapes[0]):
        return None
    axis %= len(shapes[0])
    if len({(*shape[:axis], *shape[axis + 1 :]) for shape in shapes}) != 1:
        return None
    return [(*shapes[0][:axis], sum(shape[axis] for shape in shapes), *shapes[0][axis + 1 :])]


def _split(known: Known, layer: Layer) -> Made:
    shape, axis = _first(known, layer), number(layer, "axis", 0)
    if not shape or not -len(shape) <= axis < len(shape):
        return None
    axis %= len(shape)
    parts = numbers(layer, "split") or known.numbers(layer, 1)
    if parts is None:
        count = len(layer.outputs)
        size = -(-shape[axis] // count)
        parts = (*(size,) * (count - 1), shape[axis] - size * (count - 1))
    if sum(parts) != shape[axis] or len(parts) != len(layer.outputs):
        return None
    return [(*shape[:axis], size, *shape[axis + 1 :]) for size in parts]


def _slice(known: Known, layer: Layer) -> Made:
    shape = _first(known, layer)
    starts, ends = (
        numbers(layer, name) if name in layer.attributes else known.numbers(layer, place)
        for name, place in (("starts", 1), ("ends", 2))
    )
    if shape is None or starts is None or ends is None or len(starts) != len(ends):
        return None
    told = numbers(layer, "axes") if "axes" in layer.attributes else known.numbers(layer, 3)
    steps = known.numbers(layer, 4) or (1,) * len(starts)
    if told is None and len(layer.inputs) > 3 and layer.inputs[3]:
        return None
    axes = told if told is not None else tuple(range(len(starts)))
    if len(axes) != len(starts) or len(steps) != len(starts) or any(not -len(shape) <= a < len(shape) for a in axes):
        return None
    sizes = list(shape)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        if step == 0:
            return None
        sizes[axis] = len(range(*slice(start, end, step).indices(shape[axis])))
    return [tuple(sizes)]


def _gather(known: Known, layer: Layer) -> Made:
    pair, axis = known.all(layer.inputs[:2]), number(layer, "axis", 0)
    if pair is None or len(pair) != 2 or not -len(pair[0]) <= axis < len(pair[0]):
        return None
    axis %= len(pair[0])
    return [(*pair[0][:axis], *pair[1], *pair[0][axis + 1 :])]


def _expand(known: Known, layer: Layer) -> Made:
    shape, wanted = _first(known, layer), known.numbers(layer, 1)
    return None if shape is None or wanted is None else [broadcast([shape, wanted])]


def _tile(known: Known, layer: Layer) -> Made:
    shape, times = _first(known, layer), known.numbers(layer, 1)
    if shape is None or times is None or len(times) != len(shape):
        return None
    return [tuple(size * time for size, time in zip(shape, times, strict=True))]


def _pad(known: Known, layer: Layer) -> Made:
    shape, pads = _first(known, layer), numbers(layer, "pads") or known.numbers(layer, 1)
    if shape is None or pads is None or len(pads) != 2 * len(shape) or len(layer.inputs) > 3 and layer.inputs[3]:
        return None
    return [tuple(size + pads[axis] + pads[axis + len(shape)] for axis, size in enumerate(shape))]


def _resize(known: Known, layer: Layer) -> Made:
    shape = _first(known, layer)
    if shape is None or "axes" in layer.attributes:
        return None
    sizes = known.numbers(layer, 3)
    if sizes is not None and len(sizes) == len(shape):
        return [sizes]
    place = 1 if layer.kind == "Upsample" or len(layer.inputs) == 2 else 2
    name = layer.inputs[place] if place < len(layer.inputs) else ""
    scales = known.values.get(name) or layer.attributes.get("scales")
    if not isinstance(scales, tuple) or len(scales) != len(shape):
        return None
    return [tuple(int(size * float(scale)) for size, scale in zip(shape, scales, strict=True))]


def _reduce(known: Known, layer: Layer) -> Made:
    shape = _first(known, layer)
    if shape is None:
        return None
    keeps = number(layer, "keepdims", 1)
    if "axes" not in layer.attributes and (len(layer.inputs) < 2 or not layer.inputs[1]):
        axes: tuple[int, ...] | None = tuple(range(len(shape)))
    else:
        axes = _axes(known, layer, len(shape)) if shape else None
    if axes is None:
        return None
    return [tuple(1 if axis in axes else size for axis, size in enumerate(shape) if keeps or axis not in axes)]


def _index_of(known: Known, layer: Layer) -> Made:
    shape, axis = _first(known, layer), number(layer, "axis", 0)
    if not shape or not -len(shape) <= axis < len(shape):
        return None
    axis %= len(shape)
    keeps = number(layer, "keepdims", 1)
    return [tuple(1 if each == axis else size for each, size in enumerate(shape) if keeps or each != axis)]


def _shape(known: Known, layer: Layer) -> Made:
    shape = _first(known, layer)
    return None if shape is None else [(len(shape),)]


def _filled(known: Known, layer: Layer) -> Made:
    wanted = known.numbers(layer, 0)
    return None if wanted is None else [wanted]


def _blocks(known: Known, layer: Layer) -> Made:
    shape, block = _first(known, layer), number(layer, "blocksize", 0)
    if shape is None or len(shape) != 4 or block < 1:
        return None
    count, channels, rows, columns = shape
    if layer.kind == "DepthToSpace":
        return [(count, channels // block**2, rows * block, columns * block)] if channels % block**2 == 0 else None
    return [(count, channels * block**2, rows // block, columns // block)]


RULES: dict[str, Callable[[Known, Layer], Made]] = {
    **dict.fromkeys((*_KEEPS, "Keeps"), _keeps),
    **dict.fromkeys(_SPREADS, _spreads),
    **dict.fromkeys(("QLinearAdd", "QLinearMul"), _quantized_spread),
    **dict.fromkeys(("Conv", "FusedConv", "ConvInteger"), _convolution(1)),
    "QLinearConv": _convolution(3),
    "ConvTranspose": _transposed,
    **dict.fromkeys(("MaxPool", "AveragePool", "LpPool"), _pooling),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"), _global),
    "GlobalFlat": _global_flat,
    **dict.fromkeys(("MatMul", "MatMulInteger", "DynamicQuantizeMatMul"), _matmul(1)),
    "QLinearMatMul": _matmul(3),
    **dict.fromkeys(("Gemm", "QGemm"), _gemm),
    "Dense": _dense,
    "Copies": _copies,
    "Flatten": _flatten,
    "Reshape": _reshape,
    "Transpose": _transpose,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Concat": _concat,
    "Split": _split,
    "Slice": _slice,
    "Gather": _gather,
    "Expand": _expand,
    "Tile": _tile,
    "Pad": _pad,
    **dict.fromkeys(("Resize", "Upsample"), _resize),
    **dict.fromkeys(_REDUCES, _reduce),
    **dict.fromkeys(("ArgMax", "ArgMin"), _index_of),
    "Shape": _shape,
    "ConstantOfShape": _filled,
    **dict.fromkeys(("DepthToSpace", "SpaceToDepth"), _blocks),
}
