"""McNemar's exact test: whether one of two answers the same samples better."""

from __future__ import annotations

import math
from statistics import NormalDist


def mcnemar(gained: int, lost: int) -> float:
    """How likely so unequal a split is by chance."""
    split, fewer = gained + lost, min(gained, lost)
    if not split:
        return 1.0
    if split > 1000:  # the normal curve is as good, and the sum below no longer a float
        return min(1.0, 2 * NormalDist().cdf((fewer + 0.5 - split / 2) / math.sqrt(split / 4)))
    tail: float = sum(math.comb(split, k) for k in range(fewer + 1)) / 2**split
    return min(1.0, 2 * tail)
