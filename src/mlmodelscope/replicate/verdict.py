"""What can be said of a claim, and how sure one can be.

    reproduced       the measured number, with its uncertainty, is not worse than the claim by more than the margin
    not reproduced   it is, even with its uncertainty
    undecided        the samples do not suffice; how many would is said

A number that is measured on all samples of the claim's dataset has no uncertainty of choice left: it is the claim's
number or it is not. One that is measured on some of them has the less of it the more they are (the finite population
correction). The margin is what the claim's last digit leaves open, unless it is set.

Where the claimant's own answers are known, more can be said: McNemar's test of the samples that only one of the two has
right, and how many answers are the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

from mlmodelscope.metric.mcnemar import mcnemar
from mlmodelscope.replicate.claim import Claim
from mlmodelscope.replicate.measure import unseen
from mlmodelscope.types import Interval
from mlmodelscope.worker.variants import Answer

Kind = Literal["reproduced", "not reproduced", "undecided"]
_CONFIDENCE = 0.95
_SLACK = 1e-12
"""Rounding to the last digit of a float must not decide anything."""


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
    def agreement(self) -> float:
        return self.same_answer / self.samples

    @property
    def p_value(self) -> float:
        """McNemar's exact test: how likely so unequal a split is, were both equally good."""
        return mcnemar(self.only_ours, self.only_theirs)

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
    samples: int
    population: int | None
    """Samples that the claim's dataset has, where that is known."""
    low: float
    high: float
    """What may be measured and still be what was claimed."""
    is_better: bool
    """Better than the claim by more than the margin: no failure, but worth knowing."""
    needed: int | None
    """For `undecided`: how many samples would decide, if the measured number stays what it is."""
    paired: Paired | None = None

    @property
    def gap(self) -> float:
        return self.measured.value - self.claim.value

    @property
    def noise(self) -> float:
        """Standard deviation of the measured number as a stand-in for the claim's dataset."""
        z = NormalDist().inv_cdf(0.5 + _CONFIDENCE / 2)
        return (self.measured.high - self.measured.low) / 2 / z


def judge(
    claim: Claim,
    measured: Interval,
    samples: int,
    *,
    population: int | None = None,
    within: float | None = None,
    paired: Paired | None = None,
) -> Verdict:
    """The verdict on a number and its interval; `within` is the margin, as a share."""
    low, high = claim.low, claim.high
    if within is not None:
        low, high = claim.value - within, claim.value + within
    worse, better = _sides(measured, low, high, claim.measure.is_better_higher)
    kind: Kind = "reproduced"
    if worse == "certainly":
        kind = "not reproduced"
    elif worse == "possibly":
        kind = "undecided"
    needed = None
    if kind == "undecided":
        edge = low if claim.measure.is_better_higher else high
        needed = _needed(measured, edge, samples, population)
    return Verdict(kind, claim, measured, samples, population, low, high, better, needed, paired)


def _sides(measured: Interval, low: float, high: float, is_better_higher: bool) -> tuple[str, bool]:
    """(whether the number is worse than claimed, whether it is better for certain)."""
    if is_better_higher:
        worst, best, edge, other = measured.low, measured.high, low, high
    else:
        worst, best, edge, other = -measured.high, -measured.low, -high, -low
    if best < edge - _SLACK:
        return "certainly", False
    return ("no" if worst >= edge - _SLACK else "possibly"), worst > other + _SLACK


def _needed(measured: Interval, edge: float, samples: int, population: int | None) -> int | None:
    """The least number of samples whose interval would lie on one side of the margin's edge."""
    distance = abs(measured.value - edge)
    if distance < 1e-9:
        return population
    left = unseen(samples, population)
    if left == 0:
        return None
    half = (measured.high - measured.low) / 2 / left * math.sqrt(samples)  # of a single sample
    low, high = samples, population or 1 << 40
    while low < high:
        middle = (low + high) // 2
        decided = half / math.sqrt(middle) * unseen(middle, population) < distance
        low, high = (low, middle) if decided else (middle + 1, high)
    return low


def pair(labels: Sequence[int | None], ours: Sequence[Answer | None], theirs: Mapping[int, Answer]) -> Paired | None:
    """Our answers beside theirs, for the samples (by number) that have a label and that they answered."""
    counts = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    same = 0
    for at, other in theirs.items():
        label, mine = labels[at], ours[at]
        if label is not None:
            right = mine is not None and mine.classes[:1] == (label,)
            counts[right, other.classes[:1] == (label,)] += 1
            same += mine is not None and mine.classes[:1] == other.classes[:1]
    if not sum(counts.values()):
        return None
    return Paired(counts[True, True], counts[True, False], counts[False, True], counts[False, False], same)
