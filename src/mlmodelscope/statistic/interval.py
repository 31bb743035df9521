"""Confidence intervals."""

from __future__ import annotations

import math
from statistics import NormalDist

from mlmodelscope.errors import MetricError
from mlmodelscope.types import Interval


def wilson(successes: int, trials: int, confidence: float = 0.95) -> Interval:
    """Wilson's score interval of a proportion: honest for few trials and near 0 and 1."""
    if trials < 1:
        raise MetricError("a proportion of no trials is not a number")
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = successes / trials
    centre = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == trials else min(1.0, centre + half)
    return Interval(share, low, high, confidence)


def samples_needed(share: float, half_width: float, confidence: float = 0.95) -> int:
    """How many samples make a proportion's interval so narrow."""
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    low, high = 1, 1 << 40
    while low < high:
        middle = (low + high) // 2
        spread = share * (1 - share) / middle + z * z / (4 * middle * middle)
        if z / (1 + z * z / middle) * math.sqrt(spread) <= half_width:
            high = middle
        else:
            low = middle + 1
    return low


def percentile_interval(values: list[float], quantile: float, confidence: float = 0.95) -> Interval:
    """A percentile with the distribution-free interval from order statistics."""
    if not values:
        raise MetricError("a percentile of no values is not a number")
    ordered = sorted(values)
    count = len(ordered)
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    spread = z * math.sqrt(count * quantile * (1 - quantile))
    low = max(0, math.floor(count * quantile - spread))
    high = min(count - 1, math.ceil(count * quantile + spread))
    return Interval(_at(ordered, quantile), ordered[low], ordered[high], confidence)


def _at(ordered: list[float], quantile: float) -> float:
    position = quantile * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)
