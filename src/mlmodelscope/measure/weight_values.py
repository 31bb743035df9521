"""Two tensors of weights: the same numbers, the same in another order or precision, scaled, or others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_MOST_AXES = 5
_CLOSE = 1e-5
"""What float32 may be apart by, of the largest number, after it was computed once more or in another order."""
_STEPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float8e4m3fn": 2.0**-3, "float8e5m2": 2.0**-2}
"""Of a number of about 1: the distance to the next one, in types with few digits."""
_LEAST_SCALE = 1e-9
_MOST_ORDERED = 1 << 24
"""Numbers that are sorted to see whether they are the same in another order."""
_TELLING = 8
"""So few numbers may be scaled or in another order by chance."""


def sums(told: Mapping[str, Any], content: bytes | memoryview) -> list[float]:
    """What does not depend on the order of the axes: mean, spread, mean size, least, most."""
    values = values_of(told, content).reshape(-1)
    finite = values[np.isfinite(values)].astype(np.float64)
    if not finite.size:
        return [0.0] * 5
    return [
        float(finite.mean()),
        float(finite.std()),
        float(np.abs(finite).mean()),
        float(finite.min()),
        float(finite.max()),
    ]


def compare_weights(one: Mapping[str, Any], mine: bytes, other: Mapping[str, Any], theirs: bytes) -> dict[str, Any]:
    """What the second tensor is to the first, by the first explanation that holds."""
    first, second = values_of(one, mine), values_of(other, theirs)
    if first.size != second.size:
        return _told("shape differs")
    if not first.size:
        return _told("same")
    bad = int((~np.isfinite(first)).sum()), int((~np.isfinite(second)).sum())
    if bad[0] or bad[1]:
        same = first.shape == second.shape and bool(np.array_equal(first, second, equal_nan=True))
        return _told("same" if same else "not finite", not_finite=list(bad))
    allowed = _allowed(one, other, first, second)
    found = _in_some_arrangement(first, second, allowed)
    return found if found is not None else _related(first, second, allowed)


def values_of(told: Mapping[str, Any], content: bytes | memoryview) -> Array:
    """The numbers as floats, whatever they are stored as."""
    kind, shape = told["element_type"], tuple(told["shape"])
    if kind == "bfloat16":
        wide = np.frombuffer(content, "<u2").astype("<u4") << 16
        values: Array = wide.view("<f4")
    else:
        values = np.frombuffer(content, np.dtype(kind).newbyteorder("<"))
    values = values.reshape(shape)
    scale, zero = told.get("scale"), told.get("zero_point")
    if scale:
        axis = told.get("axis")
        form = [1] * values.ndim
        if len(scale) > 1 and axis is not None and 0 <= axis < values.ndim and values.shape[axis] == len(scale):
            form[axis] = len(scale)
        elif len(scale) > 1:
            scale, zero = scale[:1], (zero or [0])[:1]
        shift = np.asarray(zero or [0], np.float64)
        shift = shift.reshape(form) if shift.size == np.prod(form) else shift.reshape(-1)[:1]
        return (values.astype(np.float64) - shift) * np.asarray(scale, np.float64).reshape(form)
    return values if values.dtype.kind == "f" and values.dtype.itemsize >= 4 else values.astype(np.float32)


def _told(relation: str, **more: Any) -> dict[str, Any]:
    return {"relation": relation, **more}


def _allowed(one: Mapping[str, Any], other: Mapping[str, Any], first: Array, second: Array) -> float:
    """How far apart rounding explains, of the largest number."""
    found = _CLOSE
    largest = max(float(np.abs(first).max()), float(np.abs(second).max()), 1e-30)
    for told in (one, other):
        found = max(found, _STEPS.get(told["element_type"], 0.0))
        if told.get("scale"):
            found = max(found, max(told["scale"]) / largest)
    return found


def _in_some_arrangement(first: Array, second: Array, allowed: float) -> dict[str, Any] | None:
    """Equal, or equal after its axes were brought into another order."""
    scale = max(float(np.abs(first).max()), _LEAST_SCALE)
    best: tuple[float, str, tuple[int, ...], bool] | None = None
    for name, axes, turned in arrangements(first.shape, second):
        apart = np.abs(first.astype(np.float64) - turned)
        largest = float(apart.max()) / scale
        if best is None or largest < best[0]:
            best = (largest, name, axes, not apart.any())
        if largest == 0:
            break
    if best is None or best[0] > allowed:
        return None
    largest, name, axes, is_exact = best
    rounded = "" if is_exact or largest <= _CLOSE else "precision"
    return _told(name, relative=largest, axes=list(axes), rounded=rounded, exact=is_exact)


def arrangements(shape: tuple[int, ...], other: Array) -> Iterator[tuple[str, tuple[int, ...], Array]]:
    if other.shape == shape:
        yield "same", (), other
    thin = tuple(size for size in shape if size != 1)
    narrow = other.reshape([size for size in other.shape if size != 1])
    if other.shape != shape and narrow.shape == thin:
        yield "same", (), narrow.reshape(shape)
    if 1 < narrow.ndim <= _MOST_AXES and sorted(narrow.shape) == sorted(thin):
        for axes in permutations(range(narrow.ndim)):
            if axes != tuple(range(narrow.ndim)) and tuple(narrow.shape[axis] for axis in axes) == thin:
                yield "transposed", axes, narrow.transpose(axes).reshape(shape)
    if other.shape != shape and narrow.shape != thin:
        yield "reshaped", (), other.reshape(shape)


def _related(first: Array, second: Array, allowed: float) -> dict[str, Any]:
    """Scaled, in another order, or other numbers."""
    nearest: dict[str, Any] | None = None
    for name, axes, turned in arrangements(first.shape, second):
        one, other = first.astype(np.float64), turned.astype(np.float64)
        if first.size >= _TELLING:
            factor = _factor(one.reshape(-1), other.reshape(-1), allowed)
            if factor is not None:
                return _told("scaled", factor=factor, axes=list(axes))
            by_channel = _channel_factors(one, other, allowed)
            if by_channel is not None:
                return _told("scaled by channel", factors=by_channel, axes=list(axes))
            order = _order(one, other, allowed)
            if order is not None:
                return _told("permuted", axis=order, axes=list(axes))
        apart = _different(one, other)
        if nearest is None or apart["relative"] < nearest["relative"]:
            nearest = {**apart, "axes": list(axes), "arrangement": name}
    if _TELLING <= first.size <= _MOST_ORDERED:
        mine, theirs = np.sort(first, None), np.sort(second, None)
        scale = max(float(np.abs(mine).max()), _LEAST_SCALE)
        if float(np.abs(mine.astype(np.float64) - theirs).max()) <= allowed * scale:
            return _told("permuted", axis=None)
    return nearest if nearest is not None else _told("different")


def _factor(one: Array, other: Array, allowed: float) -> float | None:
    """The number that the first must be multiplied with to be the second."""
    own = float(one @ one)
    if own == 0:
        return None
    factor = float(one @ other) / own
    scale = float(np.abs(other).max())
    if scale < _LEAST_SCALE or abs(factor - 1) < allowed:
        return None
    return factor if float(np.abs(one * factor - other).max()) <= 4 * allowed * scale else None


def _channel_factors(one: Array, other: Array, allowed: float) -> list[float] | None:
    """(least, most) factor, where each output has one of its own, as a folded normalization gives them."""
    if one.ndim < 2:
        return None
    mine, theirs = outputs_first(one), outputs_first(other)
    if min(mine.shape) < 2:
        return None
    own = (mine * mine).sum(1)
    if (own == 0).any():
        return None
    factors = (mine * theirs).sum(1) / own
    apart = np.abs(mine * factors[:, None] - theirs).max(1)
    sizes = np.maximum(np.abs(theirs).max(1), 1e-6 * max(float(np.abs(theirs).max()), _LEAST_SCALE))
    return [float(factors.min()), float(factors.max())] if (apart <= 8 * allowed * sizes).all() else None


def outputs_first(values: Array) -> Array:
    """A row for each output: along the first axis, or the last one where the first is 1, as in TensorFlow Lite."""
    axis = 0 if values.shape[0] > 1 else values.ndim - 1
    return np.moveaxis(values, axis, 0).reshape(values.shape[axis], -1)


def _order(one: Array, other: Array, allowed: float) -> int | None:
    """The axis along which the same slices come in another order."""
    for axis in range(min(one.ndim, _MOST_AXES)):
        mine, theirs = (np.moveaxis(each, axis, 0).reshape(one.shape[axis], -1) for each in (one, other))
        if mine.shape[0] < 2 or (mine.shape[1] < 2 and one.ndim > 1):
            continue
        keys = [np.lexsort(np.round(each, 6).T[::-1]) for each in (mine, theirs)] if mine.shape[1] <= 1 << 16 else None
        if keys is None:
            continue
        scale = max(float(np.abs(one).max()), _LEAST_SCALE)
        if float(np.abs(mine[keys[0]] - theirs[keys[1]]).max()) <= allowed * scale:
            return axis
    return None


def _different(one: Array, other: Array) -> dict[str, Any]:
    apart = np.abs(one - other)
    scale = max(float(np.abs(one).max()), _LEAST_SCALE)
    own, theirs = float((one * one).sum()), float((other * other).sum())
    cosine = float((one * other).sum()) / (own * theirs) ** 0.5 if own and theirs else None
    return _told(
        "different",
        largest=float(apart.max()),
        relative=float(apart.max()) / scale,
        unequal=float((apart > _CLOSE * scale).mean()),
        cosine=cosine,
    )
