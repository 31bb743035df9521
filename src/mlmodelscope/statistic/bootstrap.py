"""Drawing samples again: the uncertainty of a number for which there is no formula."""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Callable, Sequence
from statistics import NormalDist, stdev
from typing import TypeVar

from mlmodelscope.errors import MetricError
from mlmodelscope.types import Interval

Item = TypeVar("Item")

_MOST_DRAWN = 4_000_000
"""Rows that a bootstrap may draw altogether."""


def bootstrapped(
    rows: Sequence[Item],
    number: Callable[[Sequence[Item]], float],
    confidence: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Interval:
    """A number of these rows with its uncertainty; `bounds` is what it cannot leave."""
    value = number(rows)
    drawn = _numbers(_draw(rows, min(1000, max(100, _MOST_DRAWN // len(rows)))), number)
    if len(drawn) < 2:
        return Interval(value, *bounds, confidence)
    # The normal interval, not the percentiles: few draws know the deviation far better than their own tails.
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * stdev(drawn)
    return Interval(value, max(bounds[0], value - half), min(bounds[1], value + half), confidence)


def paired_difference(
    before: Sequence[Item], after: Sequence[Item], number: Callable[[Sequence[Item]], float]
) -> tuple[float, float]:
    """(after minus before, its standard deviation) on the same samples."""
    pairs = list(zip(before, after, strict=True))
    drawn = _numbers(
        _draw(pairs, min(100, max(20, _MOST_DRAWN // 8 // len(pairs)))),
        lambda chosen: number([row for _, row in chosen]) - number([row for row, _ in chosen]),
    )
    return number(after) - number(before), (stdev(drawn) if len(drawn) > 1 else math.inf) + 0.25 / len(pairs)


def _numbers(draws: Sequence[Sequence[Item]], number: Callable[[Sequence[Item]], float]) -> list[float]:
    """Of the draws that have one: a small draw may lack a whole class."""
    found = []
    for each in draws:
        with contextlib.suppress(MetricError):
            found.append(number(each))
    return found


def _draw(rows: Sequence[Item], times: int) -> list[list[Item]]:
    chance = random.Random(0)
    return [chance.choices(rows, k=len(rows)) for _ in range(times)]
