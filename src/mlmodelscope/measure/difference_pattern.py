"""What the numbers of two tensors say by themselves about the mistake between them: no format needs to be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mlmodelscope.measure.layer_values import arranged, opened

_MOST = 1 << 22
"""Numbers that are looked at: patterns show in the first rows, too."""
_FITS = 1e-3
Array = npt.NDArray[np.float64]
Pattern = tuple[str, str]

_ACTIVATIONS: Mapping[str, Callable[[Array], Array]] = {
    "Relu": lambda x: np.maximum(x, 0),
    "Relu6": lambda x: np.clip(x, 0, 6),
    "Sigmoid": lambda x: 1 / (1 + np.exp(-np.clip(x, -700, 700))),
    "Tanh": np.tanh,
    "LeakyRelu (0.01)": lambda x: np.where(x > 0, x, 0.01 * x),
    "LeakyRelu (0.1)": lambda x: np.where(x > 0, x, 0.1 * x),
    "LeakyRelu (0.2)": lambda x: np.where(x > 0, x, 0.2 * x),
    "SiLU": lambda x: x / (1 + np.exp(-np.clip(x, -700, 700))),
    "GELU (tanh)": lambda x: 0.5 * x * (1 + np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x**3))),
    "HardSwish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "Softplus": lambda x: np.logaddexp(0, x),
}


def patterns(folder: Path, pair: Mapping[str, Any]) -> list[dict[str, str]]:
    """Kinds of mistakes that fit, in words, the likeliest first."""
    one, other = opened(folder, pair["one"]), opened(folder, pair["other"])
    turned = arranged(one.shape, other) if one.size == other.size else None
    if turned is None:
        return []
    rows = max(1, _MOST // max(1, one.size // max(1, len(one)))) if one.ndim else 1
    left, right = (np.asarray(each[:rows] if each.ndim else each, np.float64) for each in (one, turned))
    if not (np.isfinite(left).all() and np.isfinite(right).all()) or not left.size:
        return []
    return [{"kind": kind, "words": words} for kind, words in _found(left, right)]


def _found(one: Array, other: Array) -> Iterator[Pattern]:
    yield from _whole(one, other)
    yield from _activated(one, other)
    yield from _by_channel(one, other)
    yield from _in_space(one, other)


def _apart(one: Array, other: Array) -> float:
    size = float(np.sqrt((other * other).sum()))
    return float(np.sqrt(((one - other) ** 2).sum())) / size if size else float("inf")


def _whole(one: Array, other: Array) -> Iterator[Pattern]:
    if not other.any():
        yield "missing layer", "B has nothing but zeros"
        return
    factor = float((one * other).sum() / (one * one).sum()) if one.any() else 0.0
    if factor and _apart(factor * one, other) < _FITS:
        yield "slope or factor", f"B is A times {factor:.6g}"
    shift = float((other - one).mean())
    if _apart(one + shift, other) < _FITS * abs(shift) / max(1e-30, float(np.abs(other).max())):
        yield "bias", f"B is A and {shift:.6g} more"


def _activated(one: Array, other: Array) -> Iterator[Pattern]:
    for name, function in _ACTIVATIONS.items():
        if _apart(function(other), one) < _FITS:
            yield "missing activation", f"{name} of B is A: B has no such activation"
        elif _apart(function(one), other) < _FITS:
            yield "extra activation", f"B is {name} of A: A has no such activation"


def _by_channel(one: Array, other: Array) -> Iterator[Pattern]:
    axes = [1, one.ndim - 1] if one.ndim > 2 else [one.ndim - 1]
    for axis in dict.fromkeys(axes):
        if one.ndim < 2 or not 1 < one.shape[axis] <= 4096 or one.size // one.shape[axis] < 2:
            continue
        mine, theirs = (np.moveaxis(each, axis, 0).reshape(each.shape[axis], -1) for each in (one, other))
        order = _order(mine, theirs)
        if order is not None:
            moved = [at for at, place in enumerate(order) if at != place]
            yield "swapped channels", f"{len(moved)} channels of axis {axis} are in another order, from {moved[0]} on"
        yield from _factors(mine, theirs, axis)


def _order(mine: Array, theirs: Array) -> list[int] | None:
    """For each channel of the second the same one of the first; None where that is no other order."""
    known = {tuple(np.round(_sums(row), 5)): at for at, row in enumerate(mine)}
    if len(known) < len(mine):
        return None
    sizes = np.array([_sums(row) for row in mine])
    scale = float(np.abs(sizes).max()) or 1.0
    order = []
    for row in theirs:
        apart = np.abs(sizes - _sums(row)).max(axis=1) / scale
        order.append(int(apart.argmin()))
        if apart.min() > _FITS or _apart(mine[order[-1]], row) > 10 * _FITS:
            return None
    return order if sorted(order) == list(range(len(mine))) and order != list(range(len(mine))) else None


def _sums(row: Array) -> Array:
    return np.array([row.mean(), row.std(), np.abs(row).mean()])


def _factors(mine: Array, theirs: Array, axis: int) -> Iterator[Pattern]:
    apart = np.abs(mine - theirs).max(axis=1)
    scale = max(1e-30, float(np.abs(theirs).max()))
    different = apart > 1e-4 * scale
    count = int(different.sum())
    if 0 < count <= len(mine) // 2:
        places = ", ".join(map(str, np.flatnonzero(different)[:5]))
        yield "other weights", f"{count} of {len(mine)} channels of axis {axis} differ ({places} …)"
    if mine.shape[1] < 4:
        return
    shifts = (theirs - mine).mean(axis=1, keepdims=True)
    if _apart(mine + shifts, theirs) < _FITS and np.abs(shifts).max() > 10 * _FITS * scale:
        yield "missing bias", f"each channel of axis {axis} is shifted by a number of its own"
        return
    center, others = mine.mean(axis=1, keepdims=True), theirs.mean(axis=1, keepdims=True)
    spread = ((mine - center) ** 2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = np.nan_to_num(((mine - center) * (theirs - others)).sum(axis=1) / spread)
    if _apart(factors[:, None] * (mine - center) + others, theirs) < _FITS:
        near = bool(np.all(np.abs(factors - 1) < 0.2))
        kind = "epsilon" if near else "normalization parameters"
        yield kind, f"each channel of axis {axis} has a factor of its own, {factors.min():.4g} to {factors.max():.4g}"


def _in_space(one: Array, other: Array) -> Iterator[Pattern]:
    if one.ndim != 4:
        return
    for axes in ((2, 3), (1, 2)):
        if one.shape[axes[0]] == one.shape[axes[1]] and _apart(np.swapaxes(one, *axes), other) < _FITS:
            yield "order of axes", "pictures lie on their side"
        for axis in axes:
            if one.shape[axis] > 2:
                for step in (-1, 1):
                    inner = [slice(None)] * 4
                    inner[axis] = slice(1, -1)
                    if _apart(np.roll(one, step, axis)[tuple(inner)], other[tuple(inner)]) < _FITS:
                        yield "padding", f"it is shifted by one along axis {axis}"
    for axes in ((2, 3), (1, 2)):
        if min(one.shape[axis] for axis in axes) > 4:
            inner = [slice(None)] * 4
            for axis in axes:
                inner[axis] = slice(2, -2)
            if _apart(one[tuple(inner)], other[tuple(inner)]) < _FITS < _apart(one, other):
                yield "padding", "the inside agrees, and the border does not"
                return
