"""What is left of an uncertainty when a part of a finite population has been seen."""

from __future__ import annotations

import math

from mlmodelscope.statistic.interval import wilson
from mlmodelscope.types import Interval


def unseen(samples: int, population: int | None) -> float:
    """The share of the uncertainty that is left (finite population correction)."""
    if population is None or population <= 1:
        return 1.0
    return math.sqrt(max(0.0, (population - samples) / (population - 1)))


def narrowed(found: Interval, samples: int, population: int | None) -> Interval:
    """An interval, narrowed by the share of the population that has been seen."""
    left, value = unseen(samples, population), found.value
    if left == 0:  # an open end would not close: 0 times infinity is not a number
        return Interval(value, value, value, found.confidence)
    return Interval(value, value - (value - found.low) * left, value + (found.high - value) * left, found.confidence)


def share_interval(right: int, samples: int, population: int | None = None) -> Interval:
    """Wilson's interval of a share, narrowed the same way."""
    return narrowed(wilson(right, samples), samples, population)
