"""Welch's test: whether the means of two small samples differ, where their variances may differ as well."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mlmodelscope.statistic.student import t_quantile
from mlmodelscope.types import Interval


@dataclass(frozen=True)
class Welch:
    difference: Interval
    """Mean of the second less that of the first, with its interval."""
    freedom: float


def welch(first: Sequence[float], second: Sequence[float], confidence: float = 0.95) -> Welch | None:
    """None where one of them has fewer than two numbers: nobody knows how far those lie apart."""
    if len(first) < 2 or len(second) < 2:
        return None
    (one, spread), (other, other_spread) = (_mean_and_error(each) for each in (first, second))
    apart, total = other - one, spread + other_spread
    if total == 0:
        return Welch(Interval(apart, apart, apart, confidence), math.inf)
    parts = spread**2 / (len(first) - 1) + other_spread**2 / (len(second) - 1)
    freedom = total**2 / parts if parts > 0 else math.inf
    # Rounded down: the interval is a little wider than it had to be, never narrower.
    quantile = t_quantile(0.5 + confidence / 2, max(1, math.floor(min(freedom, 1e9))))
    half = quantile * math.sqrt(total)
    return Welch(Interval(apart, apart - half, apart + half, confidence), freedom)


def _mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """The mean and its squared standard error."""
    mean = math.fsum(values) / len(values)
    return mean, math.fsum((each - mean) ** 2 for each in values) / (len(values) - 1) / len(values)
