"""What can be said of a claim, and how sure one can be.

    reproduced            the measured number, with its uncertainty, is the claim's within the margin
    better than claimed   it is better by more than the margin, even with its uncertainty: no failure of the model, but
                          what was measured is not what was published
    not reproduced        it is worse by more than the margin, even with its uncertainty
    undecided             the samples do not suffice, and how many would is said; or it depends on how ties are broken;
                          or the measure is biased on a part of the samples, as average precision is; or the claim
                          is about another split of the dataset

A number that is measured on all samples of the claim's dataset has no uncertainty of choice left: it is the claim's
number or it is not. One that is measured on some of them has the less of it the more they are (the finite population
correction). The margin is what the claim's last digit leaves open, unless it is set, and it is the same in both
directions.

Where several classes have the same score, which of them comes first is a convention. A claim that another convention
would have reproduced is not refuted.

Where the claimant's own answers are known, more can be said: McNemar's test of the samples that only one of the two has
right, and how many answers are the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from mlmodelscope.plan.claim import Claim
from mlmodelscope.replicate.kind import Kind
from mlmodelscope.statistic.mcnemar import mcnemar
from mlmodelscope.statistic.population import unseen
from mlmodelscope.task.class_answer import ClassAnswer
from mlmodelscope.types import Interval

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
class Tied:
    """What the number is at either end of all the ways to break ties."""

    samples: int
    """Samples of which it depends on the order of equal scores whether they count."""
    against: Interval
    """With every tie broken against the label."""
    favor: Interval
    """With every tie broken in favor of the label."""
    decides: bool = False
    """Whether the verdict would be another one at one of the ends."""


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
    needed: int | None
    """For `undecided`: how many samples would decide, if the measured number stays what it is."""
    paired: Paired | None = None
    tied: Tied | None = None
    """Where samples have tied scores."""
    stand_in: str = ""
    """The dataset that was measured, where it is not the claim's own."""
    is_other_split: bool = False
    """Whether that is another split of the claim's dataset, which decides nothing."""

    @property
    def gap(self) -> float:
        return self.measured.value - self.claim.value

    @property
    def noise(self) -> float:
        """Standard deviation of the measured number as a stand-in for the claim's dataset."""
        z = NormalDist().inv_cdf(0.5 + _CONFIDENCE / 2)
        return (self.measured.high - self.measured.low) / 2 / z

    @property
    def is_whole(self) -> bool:
        """Whether all samples of the claim's dataset were measured."""
        return self.population is not None and self.samples >= self.population

    @property
    def is_of_claim(self) -> bool:
        """Whether it is about the claim as published: measured on its own dataset, within its own last digit."""
        is_own_margin = (self.low, self.high) == (self.claim.low, self.claim.high)
        return self.claim.dataset is not None and not self.stand_in and is_own_margin

    @property
    def is_partial(self) -> bool:
        """Whether some samples were measured, of which no estimate of all can be made."""
        return not self.claim.measure.is_stable and not self.is_whole

    @property
    def counts(self) -> range | None:
        """How many of the samples would have to count for the claimed number, where that is a number of samples."""
        if self.claim.measure.outcome is None:
            return None
        first = math.ceil(self.low * self.samples - _SLACK * self.samples)
        return range(first, math.floor(self.high * self.samples + _SLACK * self.samples) + 1)

    @property
    def samples_apart(self) -> int | None:
        """How many samples more (or fewer) count than the claim leaves open; nothing where no number of them would."""
        counts = self.counts
        if not counts:
            return None
        own = round(self.measured.value * self.samples)
        return own - min(max(own, counts[0]), counts[-1])


def judge(
    claim: Claim,
    measured: Interval,
    samples: int,
    *,
    population: int | None = None,
    within: float | None = None,
    paired: Paired | None = None,
    tied: Tied | None = None,
    stand_in: str = "",
    is_other_split: bool = False,
) -> Verdict:
    """The verdict on a number and its interval; `within` is the margin, as a share."""
    low, high = claim.low, claim.high
    if within is not None:
        margin = 100 * within / claim.factor  # given as a share: of a number in dB, 0.01 is one dB
        low, high = claim.value - margin, claim.value + margin
    is_better_higher = claim.measure.is_better_higher
    kind = _kind(measured, low, high, is_better_higher)
    is_whole = population is not None and samples >= population
    if not claim.measure.is_stable and not is_whole:
        kind = "undecided"  # on a part it is biased: whatever comes out, nothing follows for all samples
    needed = _needed(measured, min((low, high), key=lambda edge: abs(measured.value - edge)), samples, population)
    needed = needed if kind == "undecided" and claim.measure.is_stable else None
    if tied is not None:
        ends = {_kind(end, low, high, is_better_higher) for end in (tied.against, tied.favor)}
        tied = replace(tied, decides=kind != "undecided" and ends != {kind})
        if tied.decides and kind != "reproduced":
            kind = "undecided"
    if is_other_split:
        kind, needed = "undecided", None  # however many samples: they are others than those of the claim
    return Verdict(
        kind, claim, measured, samples, population, low, high, needed, paired, tied, stand_in, is_other_split
    )


def _kind(measured: Interval, low: float, high: float, is_better_higher: bool) -> Kind:
    """On which side of the margin the whole interval lies."""
    if measured.high < low - _SLACK:
        return "not reproduced" if is_better_higher else "better than claimed"
    if measured.low > high + _SLACK:
        return "better than claimed" if is_better_higher else "not reproduced"
    return "reproduced" if measured.low >= low - _SLACK and measured.high <= high + _SLACK else "undecided"


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


def pair(
    labels: Sequence[int | None], ours: Sequence[ClassAnswer | None], theirs: Mapping[int, ClassAnswer]
) -> Paired | None:
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
