"""What can be said of a claim, and how sure one can be.

    reproduced       the measured number, with its uncertainty, is not below the claim by more than the margin
    not reproduced   it is, even with its uncertainty
    undecided        the samples do not suffice; how many would is said

A number that is measured on all samples of the claim's dataset has no uncertainty of choice left: it is the claim's
number or it is not. One that is measured on some of them has the less of it the more they are (the finite population
correction). The margin is half of the claim's last digit unless it is set.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

from mlmodelscope.metric.interval import wilson
from mlmodelscope.replicate.claim import Claim
from mlmodelscope.types import Interval

Kind = Literal["reproduced", "not reproduced", "undecided"]
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Paired:
    """The claimant's own answers beside ours, sample by sample."""

    both: int
    """Samples that both have right."""
    only_ours: int
    only_theirs: int
    neither: int
    same_answer: int

    @property
    def samples(self) -> int:
        return self.both + self.only_ours + self.only_theirs + self.neither

    @property
    def p_value(self) -> float:
        """McNemar's exact test: how likely so unequal a split is, were both equally good."""
        split = self.only_ours + self.only_theirs
        if not split:
            return 1.0
        fewer = min(self.only_ours, self.only_theirs)
        tail: float = sum(math.comb(split, k) for k in range(fewer + 1)) / 2**split
        return min(1.0, 2 * tail)

    @property
    def difference(self) -> Interval:
        """Our share of right answers minus theirs."""
        n, d = self.samples, self.only_ours - self.only_theirs
        spread = math.sqrt(max(0.0, self.only_ours + self.only_theirs - d * d / n)) / n
        half = NormalDist().inv_cdf(0.5 + _CONFIDENCE / 2) * spread
        return Interval(d / n, d / n - half, d / n + half, _CONFIDENCE)


@dataclass(frozen=True)
class Verdict:
    kind: Kind
    claim: Claim
    measured: Interval
    """With the uncertainty that is left after all that is known of the dataset."""
    right: int
    samples: int
    population: int | None
    """Samples that the claim's dataset has, where that is known."""
    margin: float
    is_better: bool
    """Above the claim by more than the margin: no failure, but worth knowing."""
    needed: int | None
    """For `undecided`: how many samples would decide, if the measured share stays what it is."""
    paired: Paired | None = None

    @property
    def gap(self) -> float:
        return self.measured.value - self.claim.value


def judge(
    claim: Claim,
    right: int,
    samples: int,
    *,
    population: int | None = None,
    within: float | None = None,
    paired: Paired | None = None,
) -> Verdict:
    """The verdict on a share of right answers; `within` is the margin, as a share."""
    margin = claim.rounding if within is None else within
    measured = interval(right, samples, population)
    # Rounding to the last digit of a float must not decide anything.
    low, high = claim.value - margin - 1e-12, claim.value + margin + 1e-12
    kind: Kind
    if measured.high < low:
        kind = "not reproduced"
    elif measured.low >= low:
        kind = "reproduced"
    else:
        kind = "undecided"
    needed = _needed(claim.value, margin, right / samples, samples, population) if kind == "undecided" else None
    return Verdict(kind, claim, measured, right, samples, population, margin, measured.low > high, needed, paired)


def interval(right: int, samples: int, population: int | None = None) -> Interval:
    """Wilson's interval, narrowed by the share of the population that has been seen."""
    found = wilson(right, samples, _CONFIDENCE)
    if population is None or population <= 1:
        return found
    left = math.sqrt(max(0.0, (population - samples) / (population - 1)))
    share = found.value
    return Interval(share, share - (share - found.low) * left, share + (found.high - share) * left, _CONFIDENCE)


def _needed(claimed: float, margin: float, share: float, samples: int, population: int | None) -> int | None:
    """The least number of samples whose interval would lie on one side of the margin's edge."""
    edge = claimed - margin
    distance = abs(share - edge)
    if distance < 1e-9:
        return population
    low, high = samples, population or 1 << 32
    while low < high:
        middle = (low + high) // 2
        seen = interval(round(share * middle), middle, population)
        decided = seen.high < edge or seen.low >= edge
        low, high = (low, middle) if decided else (middle + 1, high)
    return low


def pair(ours: Sequence[tuple[bool, int | None]], theirs: Sequence[tuple[bool, int | None]]) -> Paired:
    """Two lists of (whether it is right, the answer), of the same samples in the same order."""
    counts = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    same = 0
    for (right, answer), (other_right, other) in zip(ours, theirs, strict=True):
        counts[right, other_right] += 1
        same += answer is not None and answer == other
    return Paired(counts[True, True], counts[True, False], counts[False, True], counts[False, False], same)
