"""Short lists of numbers that exporters compute shapes with, by `Shape`, `Gather` and the like, done beforehand."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from mlmodelscope.inspection.shape_rules import Known
from mlmodelscope.inspection.window_shape import number, numbers
from mlmodelscope.model_file.network import Layer

Values = tuple[int | float, ...]
_MOST = 1 << 12


def fold(known: Known, layer: Layer) -> None:
    """Note the numbers of what the layer gives, where they follow from numbers that are known."""
    rule = _RULES.get(layer.kind)
    if rule is None or len(layer.outputs) != 1 or layer.domain:
        return
    try:
        found = rule(known, layer)
    except (IndexError, OverflowError, ZeroDivisionError):
        return
    if found is not None and len(found) <= _MOST and all(abs(value) < 1 << 62 for value in found):
        known.values[layer.outputs[0]] = found


def _given(known: Known, layer: Layer, place: int) -> Values | None:
    return known.values.get(layer.inputs[place]) if place < len(layer.inputs) else None


def _shape(known: Known, layer: Layer) -> Values | None:
    shape = known.of(layer.inputs[0])
    if shape is None:
        return None
    start, end = number(layer, "start", 0), number(layer, "end", len(shape))
    return shape[start:end]


def _same(known: Known, layer: Layer) -> Values | None:
    return _given(known, layer, 0)


def _cast(known: Known, layer: Layer) -> Values | None:
    values = _given(known, layer, 0)
    whole = number(layer, "to", 0) in (5, 6, 7)  # int16, int32, int64
    return tuple(int(value) for value in values) if values is not None and whole else values


def _gather(known: Known, layer: Layer) -> Values | None:
    values, places = _given(known, layer, 0), known.numbers(layer, 1)
    if values is None or places is None or number(layer, "axis", 0) != 0:
        return None
    return tuple(values[place] for place in places if -len(values) <= place < len(values))


def _slice(known: Known, layer: Layer) -> Values | None:
    values = _given(known, layer, 0)
    starts = numbers(layer, "starts") or known.numbers(layer, 1)
    ends = numbers(layer, "ends") or known.numbers(layer, 2)
    steps = known.numbers(layer, 4) or (1,)
    if values is None or not starts or not ends or len(starts) != 1 or len(ends) != 1 or steps[0] == 0:
        return None
    return values[slice(starts[0], ends[0], steps[0])]


def _concat(known: Known, layer: Layer) -> Values | None:
    parts = [known.values.get(name) for name in layer.inputs]
    shapes = known.all(layer.inputs)
    if None in parts or shapes is None or any(len(shape) != 1 for shape in shapes):
        return None
    return tuple(value for part in parts if part is not None for value in part)


def _elementwise(compute: Callable[[float, float], int | float]) -> Callable[[Known, Layer], Values | None]:
    def rule(known: Known, layer: Layer) -> Values | None:
        left, right = _given(known, layer, 0), _given(known, layer, 1)
        if left is None or right is None or (len(left) != len(right) and 1 not in (len(left), len(right))):
            return None
        count = max(len(left), len(right))
        return tuple(
            compute(left[place % len(left)], right[place % len(right)])
            for place in range(count if left and right else 0)
        )

    return rule


def _divide(left: float, right: float) -> int | float:
    if isinstance(left, int) and isinstance(right, int):
        return int(left / right) if abs(left) < 1 << 50 else left // right
    return left / right


def _rounded(to: Callable[[float], int]) -> Callable[[Known, Layer], Values | None]:
    def rule(known: Known, layer: Layer) -> Values | None:
        values = _given(known, layer, 0)
        return None if values is None or not all(map(math.isfinite, values)) else tuple(map(to, values))

    return rule


def _filled(known: Known, layer: Layer) -> Values | None:
    wanted = known.numbers(layer, 0)
    if wanted is None or len(wanted) > 1 or "value" in layer.attributes:
        return None
    # The value is a tensor, which is not read: only how many there are is known, unless that is none.
    return () if wanted and wanted[0] == 0 else None


def _all_of(combine: Callable[[Sequence[float]], float]) -> Callable[[Known, Layer], Values | None]:
    def rule(known: Known, layer: Layer) -> Values | None:
        values = _given(known, layer, 0)
        return None if not values else (combine(values),)

    return rule


_RULES: dict[str, Callable[[Known, Layer], Values | None]] = {
    "Shape": _shape,
    **dict.fromkeys(("Identity", "Squeeze", "Unsqueeze", "Reshape", "Flatten"), _same),
    "Cast": _cast,
    "Gather": _gather,
    "Slice": _slice,
    "Concat": _concat,
    "Add": _elementwise(lambda left, right: left + right),
    "Sub": _elementwise(lambda left, right: left - right),
    "Mul": _elementwise(lambda left, right: left * right),
    "Div": _elementwise(_divide),
    "Floor": _rounded(math.floor),
    "Ceil": _rounded(math.ceil),
    "ConstantOfShape": _filled,
    "ReduceProd": _all_of(math.prod),
    "ReduceMax": _all_of(max),
    "ReduceMin": _all_of(min),
}
