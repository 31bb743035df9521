"""Whether a variant explains a claim, or only happens to come to its number.

What separates a variant from the manifest are the samples that only one of the two has right. Were the variant no
better, each of them would fall to either side by the toss of a coin (the sign test, which is McNemar's exact one). The
chance of a false cause is the chance that any of the variants that were tried would come to the claimed number like
that, with a split as telling as the one in question. So a gain of four samples by one of eighty variants counts for
little, and the same gain by the only one that could have made it counts for more. A pitfall with thirty variants must
be thirty times as sure of each of them: they share its weight. This is Bonferroni's correction with weights, computed
from what each test can attain (Westfall and Wolfinger, 1997).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

LEVEL = 0.05
"""How likely a false cause may be."""
_EXACT = 1000
"""Samples up to which coins are counted one by one; beyond, the normal curve is as good."""


@dataclass(frozen=True)
class Split:
    """The samples that separate a variant from what it is compared with."""

    toward: int
    """Those that bring the number nearer to the claim."""
    away: int
    weight: float = 1.0
    """How much of the permitted chance this variant may take, compared with others."""
    share: float = 1.0
    """Share of all samples that it has seen: the split of all of them will be the larger."""

    @property
    def size(self) -> int:
        return self.toward + self.away

    @property
    def p_value(self) -> float:
        """How likely so many on the side of the claim are, by chance."""
        return tail(self.size, self.toward)


Window = tuple[float, float]
"""By how many samples a number may rise and still be what was claimed: (at least, at most)."""


def chance_of(split: Split, tried: Iterable[Split], window: Window | None = None) -> float:
    """How likely any of the variants that were tried would be as telling by chance, and come to the claim.

    `tried` holds the split itself, too. Without a window it need not come to the claim.
    """
    level = split.p_value / split.weight
    return min(1.0, sum(_share_of(each, level * each.weight, window) for each in tried))


def _share_of(tried: Split, level: float, window: Window | None) -> float:
    size = round(tried.size / tried.share)
    if not size:
        return 0.0
    least, most = 0, size
    while least < most:  # the fewest on the side of the claim that are as telling
        middle = (least + most) // 2
        least, most = (least, middle) if tail(size, middle) <= level else (middle + 1, most)
    if tail(size, least) > level:
        return 0.0
    if window is None:
        return tail(size, least)
    first, last = (math.ceil((size + window[0]) / 2 - 1e-9), math.floor((size + window[1]) / 2 + 1e-9))
    first = max(first, least)
    return max(0.0, tail(size, first) - tail(size, last + 1)) if first <= last else 0.0


@lru_cache(maxsize=65536)
def tail(size: int, toward: int) -> float:
    """How likely at least so many of so many coins fall on one side."""
    if toward <= 0:
        return 1.0
    if toward > size:
        return 0.0
    if size > _EXACT:
        return NormalDist().cdf((size / 2 - toward + 0.5) / math.sqrt(size / 4))
    return _coins(size)[toward]


@lru_cache(maxsize=2048)
def _coins(size: int) -> tuple[float, ...]:
    found, total, all_ways = [0.0] * (size + 1), 0, 1 << size
    for heads in range(size, -1, -1):
        total += math.comb(size, heads)
        found[heads] = total / all_ways
    return tuple(found)
