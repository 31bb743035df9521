"""By how much two lots of times differ: a ratio with an interval that needs no bell curve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist, median

from mlmodelscope.errors import MetricError
from mlmodelscope.types import Interval

_MOST_BLOCKS = 40
_SMALLEST_BLOCK = 5
_FEWEST = 4
"""Of each: from fewer no interval of 95 % can be made."""


def block_medians(values: Sequence[float], blocks: int = _MOST_BLOCKS) -> list[float]:
    """Medians of stretches of neighbours.

    One slow moment of a machine makes many slow calls in a row: single calls are not independent of one another, and
    an interval that takes them to be so is too narrow. Stretches nearly are. A few values stand for themselves.
    """
    if len(values) < 2 * _FEWEST * _SMALLEST_BLOCK:
        return list(values)
    count = min(blocks, len(values) // _SMALLEST_BLOCK)
    edges = [round(place * len(values) / count) for place in range(count + 1)]
    return [median(values[start:end]) for start, end in zip(edges, edges[1:], strict=False)]


def ratio(first: Sequence[Sequence[float]], second: Sequence[Sequence[float]], confidence: float = 0.95) -> Interval:
    """second / first, each a list of runs in the order of time: the Hodges-Lehmann estimate and Moses' interval.

    It is the median of all quotients of a stretch of the one and a stretch of the other.
    """
    below, above = (
        [math.log(max(value, 1e-12)) for run in runs if run for value in block_medians(run)] for runs in (first, second)
    )
    if min(len(below), len(above)) < _FEWEST:
        raise MetricError(f"{min(len(below), len(above))} values are too few to compare: {_FEWEST} of each are needed")
    shifts = sorted(b - a for a in below for b in above)
    pairs = len(shifts)
    spread = NormalDist().inv_cdf(0.5 + confidence / 2) * math.sqrt(pairs * (len(below) + len(above) + 1) / 12)
    cut = max(0, math.floor(pairs / 2 - spread))
    return Interval(
        math.exp(median(shifts)), math.exp(shifts[min(cut, pairs - 1)]), math.exp(shifts[pairs - 1 - cut]), confidence
    )
