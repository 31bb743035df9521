"""Doubles the batch size until that no longer pays: the optimal batch of the XSP paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

GAIN = 0.05
"""Doubling that raises throughput by no more than this does not pay."""


@dataclass(frozen=True)
class Point:
    """Samples in a second at one batch size."""

    batch_size: int
    samples_per_s: float


class TooLarge(Exception):
    """The model does not take a batch of this size."""


@dataclass(frozen=True)
class Sweep:
    points: tuple[Point, ...]
    optimal: Point
    ended: str


def sweep(try_size: Callable[[int], Point], first: int = 1, most: int = 1024, gain: float = GAIN) -> Sweep:
    """Try 1, 2, 4 …; one step beyond the size that seems best, since a single one may be slow by chance."""
    points: list[Point] = []
    size, idle = first, 0
    ended = f"{most} was the largest to try"
    while size <= most:
        try:
            points.append(try_size(size))
        except TooLarge as error:
            if not points:
                raise
            ended = str(error)
            break
        if len(points) > 1:
            pays = points[-1].samples_per_s > max(p.samples_per_s for p in points[:-1]) * (1 + gain)
            idle = 0 if pays else idle + 1
            if idle == 2:
                ended = f"doubling twice gained no more than {gain:.0%}".replace("%", " %")
                break
        size *= 2
    return Sweep(tuple(points), optimal(points, gain), ended)


def optimal(points: Sequence[Point], gain: float = GAIN) -> Point:
    """The smallest size beyond which no size that was tried is faster by more than `gain`."""
    for place, point in enumerate(points):
        if all(later.samples_per_s <= point.samples_per_s * (1 + gain) for later in points[place + 1 :]):
            return point
    raise ValueError("there is no best of nothing")
