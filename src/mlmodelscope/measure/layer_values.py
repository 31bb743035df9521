"""Two tensors set side by side, a part at a time: how far they are apart, in whatever order their axes are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import permutations
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

_AT_ONCE = 1 << 13
"""Numbers at a time: few enough for the cache, and for one thread of a library for sums."""
_MOST_AXES = 5
_CLOSE = 1e-4
_HIDDEN = -9e3
"""A mask gives what it hides -1e9, the least float32, or -1e4 in float16: numbers below this are alike."""
Array = npt.NDArray[Any]
Part = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Apart:
    """How far the second tensor is from the first."""

    arrangement: str
    """`same`; `axes` with their order; `reshaped`; `sorted`: the same numbers in another order; `shapes`: none fits."""
    largest: float = 0.0
    """Largest absolute difference."""
    scale: float = 0.0
    """Largest absolute value of the first."""
    relative: float = 0.0
    """The largest difference, of the scale."""
    spread: float = 0.0
    """The root of the mean squared difference, of that of the first."""
    cosine: float | None = None
    not_finite: tuple[int, int] = (0, 0)
    """How many numbers are NaN or infinite in the first and in the second."""
    different_not_finite: int = 0
    """Where one of them is finite and the other one is not, or they are not finite in another way."""
    unequal: float = 0.0
    """Share of the numbers that are not the same to the bit."""
    axes: tuple[int, ...] = ()


def compare_files(folder: Path, pairs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """For each pair of files, with `one` and `other` described by file, shape and element_type."""
    return [asdict(compare(opened(folder, pair["one"]), opened(folder, pair["other"]))) for pair in pairs]


def opened(folder: Path, told: Mapping[str, Any]) -> Array:
    kind, shape = np.dtype(told["element_type"]), tuple(told["shape"])
    if not all(shape):
        return np.zeros(shape, kind)
    return np.memmap(folder / Path(told["file"]).name, kind, "r", shape=shape)  # only what is looked at is read


def compare(one: Array, other: Array) -> Apart:
    """By the arrangement of the second that is nearest to the first."""
    if one.size != other.size:
        return Apart("shapes", not_finite=(_bad(one), _bad(other)))
    best: Apart | None = None
    for name, axes, turned in _arrangements(one.shape, other):
        found = _apart(one, turned, name, axes)
        if best is None or found.spread < best.spread or (best.different_not_finite > found.different_not_finite):
            best = found
        if best.spread < _CLOSE and not best.different_not_finite:
            return best
    if one.size > 1 and one.shape != other.shape:
        found = _apart(np.sort(one, None), np.sort(other, None), "sorted", ())
        if best is None or found.spread < _CLOSE:
            best = found
    return best if best is not None else Apart("shapes", not_finite=(_bad(one), _bad(other)))


def arranged(shape: tuple[int, ...], other: Array) -> Array | None:
    """The second tensor in the first one's shape, in the likeliest way."""
    return next((turned for _, _, turned in _arrangements(shape, other)), None)


def _arrangements(shape: tuple[int, ...], other: Array) -> Iterator[tuple[str, tuple[int, ...], Array]]:
    """The second tensor in the first one's shape, the likely ways first."""
    if other.shape == shape:
        yield "same", (), other
    thin = tuple(size for size in shape if size != 1)
    narrow = other.reshape([size for size in other.shape if size != 1])
    if other.shape != shape and narrow.shape == thin:
        yield "same", (), narrow.reshape(shape)
    if 1 < narrow.ndim <= _MOST_AXES and sorted(narrow.shape) == sorted(thin):
        for axes in permutations(range(narrow.ndim)):
            if axes != tuple(range(narrow.ndim)) and tuple(narrow.shape[axis] for axis in axes) == thin:
                if shape == other.shape and not _swaps_channels(axes):
                    continue
                yield "axes", axes, narrow.transpose(axes).reshape(shape)
    if other.shape != shape and narrow.shape != thin:
        yield "reshaped", (), other.reshape(shape)


def _swaps_channels(axes: tuple[int, ...]) -> bool:
    """Whether an order is one of those between channels first and channels last: a picture that lies on its side has
    the same shape, too, and is a mistake."""
    count = len(axes)
    first_to_last = {(*range(at), *range(at + 1, count), at) for at in (0, 1)}
    last_to_first = {(*range(at), count - 1, *range(at, count - 1)) for at in (0, 1)}
    return count > 2 and axes in first_to_last | last_to_first


def _apart(one: Array, other: Array, name: str, axes: tuple[int, ...]) -> Apart:
    sums = _Sums(skips_hidden=_has_shown(one))
    for left, right in zip(_parts(one), _parts(other), strict=True):
        sums.add(left, right)
    return sums.told(name, axes)


class _Sums:
    """What is known of two tensors so far."""

    def __init__(self, skips_hidden: bool) -> None:
        self._skips_hidden = skips_hidden
        self._largest = self._scale = 0.0
        self._squares = self._own = self._theirs = self._product = 0.0
        self._bad, self._different, self._unequal, self._count = [0, 0], 0, 0, 0

    def add(self, left: Part, right: Part) -> None:
        self._count += left.size
        own, theirs = float(left @ left), float(right @ right)
        is_plain = isfinite(own) and isfinite(theirs)  # a sum with NaN or infinity in it is not finite
        if not is_plain or (self._skips_hidden and float(left.min()) < _HIDDEN):
            left, right = self._good(left, right)
            own, theirs = float(left @ left), float(right @ right)
        if not left.size:
            return
        apart = left - right
        self._unequal += int(np.count_nonzero(apart))
        self._largest = max(self._largest, float(apart.max()), -float(apart.min()))
        self._scale = max(self._scale, float(left.max()), -float(left.min()))
        self._squares += float(apart @ apart)
        self._own += own
        self._theirs += theirs
        self._product += float(left @ right)

    def _good(self, left: Part, right: Part) -> tuple[Part, Part]:
        """What can be compared: finite on both sides, and not hidden by a mask on both."""
        finite = np.isfinite(left), np.isfinite(right)
        good = finite[0] & finite[1]
        if not good.all():
            self._bad[0] += int(good.size - finite[0].sum())
            self._bad[1] += int(good.size - finite[1].sum())
            alike = (left == right) | (np.isnan(left) & np.isnan(right))
            self._different += int((~good & ~alike).sum())
        if self._skips_hidden:  # nothing else would count beside them
            good &= ~((left < _HIDDEN) & (right < _HIDDEN))
        return left[good], right[good]

    def told(self, name: str, axes: tuple[int, ...]) -> Apart:
        basis = max(self._own, self._theirs)
        return Apart(
            name,
            self._largest,
            self._scale,
            self._largest / self._scale if self._scale else (0.0 if not self._largest else float("inf")),
            (self._squares / basis) ** 0.5 if basis else 0.0,
            self._product / (self._own * self._theirs) ** 0.5 if self._own and self._theirs else None,
            (self._bad[0], self._bad[1]),
            self._different,
            self._unequal / self._count if self._count else 0.0,
            axes,
        )


def _has_shown(array: Array) -> bool:
    return any(bool((part >= _HIDDEN).any()) for part in _parts(array))


def _parts(array: Array) -> Iterator[Part]:
    """The numbers in order, some at a time, in double precision; never a copy of all of them."""
    flat = array.reshape(-1) if array.flags.c_contiguous else array.flat
    for start in range(0, array.size, _AT_ONCE):
        yield np.asarray(flat[start : start + _AT_ONCE], np.float64)


def _bad(array: Array) -> int:
    return sum(int((~np.isfinite(part)).sum()) for part in _parts(array))
