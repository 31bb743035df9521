"""Percentiles of queries that wait for one another, whose intervals must be wider than those of independent ones.

When a server is nearly busy, one long queue makes many slow answers in a row: ten thousand of them may tell no more
than a few hundred that know nothing of each other. So the queries are cut into batches in the order of their arrival:
the share of a batch that is below the percentile differs from batch to batch, and by how much says how sure it is
(batch means of the indicator, with Student's t, as batches are few).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist, fmean, stdev

from mlmodelscope.statistic.interval import percentile_interval
from mlmodelscope.types import Interval

BATCHES = {20: 2.093, 10: 2.262}
"""How many, with Student's t for 95 %. Longer ones see what lasts longer; the wider interval of the two counts."""
_FEWEST = 10
"""Queries in the shortest batch."""
_MOMENTS = 12
"""Of the 20 batches, so many must hold an answer beyond the percentile: fewer bad moments tell it by chance."""


def dependent_interval(values: Sequence[float], quantile: float) -> Interval | None:
    """A percentile with its interval, values in the order of arrival; nothing where they are too few to tell."""
    count = len(values)
    if count < max(BATCHES) * _FEWEST:
        return None
    ordered = sorted(values)
    known = percentile_interval(ordered, quantile)
    spread = NormalDist().inv_cdf(0.975) * math.sqrt(quantile * (1 - quantile) / count)
    for batches, t in BATCHES.items():
        shares = _shares_below(values, known.value, batches)
        if batches == max(BATCHES) and sum(share < 1 for share in shares) < _MOMENTS:
            return None
        spread = max(spread, t * stdev(shares) * _memory(shares) / math.sqrt(batches))
    low, high = math.floor(count * (quantile - spread)), math.ceil(count * (quantile + spread))
    if low < 0 or high > count - 1:
        return None
    return Interval(known.value, ordered[low], ordered[high], 0.95)


def _memory(shares: Sequence[float]) -> float:
    """How much wider it is because a batch goes on as the one before it ended: sqrt((1 + r) / (1 - r)), at most 3."""
    centre = fmean(shares)
    whole = sum((share - centre) ** 2 for share in shares)
    if not whole:
        return 1.0
    pairs = zip(shares, shares[1:], strict=False)
    r = min(0.8, max(0.0, sum((one - centre) * (other - centre) for one, other in pairs) / whole))
    return math.sqrt((1 + r) / (1 - r))


def _shares_below(values: Sequence[float], limit: float, batches: int) -> list[float]:
    size = len(values) // batches
    return [sum(value <= limit for value in values[size * at : size * (at + 1)]) / size for at in range(batches)]
