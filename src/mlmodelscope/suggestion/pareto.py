"""Pareto order of two numbers: how good, and at what cost."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence


def fronts(points: Sequence[tuple[float, float]]) -> list[int]:
    """Of each (goodness, cost) its front, from 1: the points that no other beats in both are the first front.

    Without them, the next front is made the same way. Equal points share a front.
    """
    order = sorted(range(len(points)), key=lambda at: (points[at][1], -points[at][0]))
    found = [0] * len(points)
    best: list[float] = []
    """Of each front the goodness of its last point, negative and so in rising order."""
    last: tuple[float, float] | None = None
    number = 0
    for at in order:
        goodness, _ = points[at]
        if points[at] != last:
            # Fronts whose best point so far is at least as good, at no higher cost, beat this one.
            number = bisect_right(best, -goodness)
            if number == len(best):
                best.append(-goodness)
            else:
                best[number] = -goodness
        last = points[at]
        found[at] = number + 1
    return found
