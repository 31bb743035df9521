"""How well a variant of a plan explains a claimed number, by what is known of it so far."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from mlmodelscope.measure.facts import facts_of
from mlmodelscope.replicate.baseline import Baseline
from mlmodelscope.replicate.foresight import foresee
from mlmodelscope.replicate.goal import Goal
from mlmodelscope.replicate.pitfall import PITFALLS, Variant
from mlmodelscope.replicate.significance import LEVEL, Split
from mlmodelscope.replicate.trial import Trials
from mlmodelscope.statistic.population import unseen
from mlmodelscope.task.measure import Measure, Row

_EXACT = 0.8
"""How likely it is that the cause is among the variants as it is, and not only something like it."""
_LIKE_IT = 0.06
"""How far something like it is off, as a share of the gap."""
_LEAST_OFF, _MOST_OFF = 0.002, 0.01
_POINT = 10.0
"""What a hundredth of a bounded number is to one without bounds: 0.01 of a share, 0.1 dB."""
_NEARLY = 0.9
"""Share of the gap that must be closed for what is left to be no second mistake."""
_DOUBT = 0.3
"""Share of a change by which it may be another one on all samples, whatever some of them say, where it is no share of
samples: a few pictures may be alike, and a mean over classes that some of them lack is biased."""
_PAIR = 0.2
"""How much less likely two mistakes at once are than either of them would make them."""
_HELPS, _HELPS_ALONE = 0.85, 0.25
"""How often undoing one of two mistakes helps, and how often an edit does that undoes none."""
_UNKNOWN = 0.3
"""How common a pitfall is that nobody has said anything of."""
_SLIP = 0.005
"""Share of answers that differ between machines though everything is the same."""
_SURE = 4.0  # standard deviations
_GUIDED = 4.0
"""How far scores may push a variant ahead of others or back, as a logarithm."""
_SLACK = 1e-12
_TINY = 1e-300


@dataclass(frozen=True)
class Candidate:
    """A variant, and what its number on all samples will be."""

    variant: Variant
    seen: int
    gained: int
    """Samples that it has right and the plan has wrong."""
    lost: int
    expected: float
    """Its number on all samples."""
    deviation: float
    """How far that may be off; nothing once it has seen all samples."""
    evidence: float
    """Logarithm of how likely the claim is, were this what was done, times how likely it is that it was."""
    is_possible: bool
    reaches: bool
    """Whether the claimed number is its number, as far as can be said."""
    closes: float
    """Share of the gap that it closes: 1 for all of it."""
    is_near: bool
    """Whether so little is left of the gap that something like it may be the cause."""
    agreement: float | None = None
    """Share of the claimant's own answers that it gives, where they are known."""
    score_distance: float | None = None
    """How far its scores are from the claimant's, on average."""
    alike: tuple[Variant, ...] = ()
    """Other variants that gave the very same answers, to all samples that they have seen."""
    split: Split | None = None
    """What separates it from the plan, or the second of two edits from the first; known when a search has ended."""
    chance: float | None = None
    """How likely any of the variants that were tried would do as well by chance."""
    is_idle: bool = False
    """Whether it gives the same answers as what it is compared with to all samples that it has seen."""
    moved: float = 0.0
    """How far it is from what it is compared with, on the samples that it has seen."""
    spread: float = 0.0
    """Standard deviation of that, as if there were always more samples."""
    foreseen: float | None = None
    """The evidence that scores let expect; they guide the search and prove nothing."""

    @property
    def promise(self) -> float:
        """By which the next to be tried on more samples is chosen: the evidence, and what scores let expect."""
        if self.foreseen is None:
            return self.evidence
        return self.evidence + min(max(self.foreseen - self.evidence, -_GUIDED), _GUIDED)

    @property
    def is_significant(self) -> bool:
        return self.chance is not None and self.chance <= LEVEL

    @property
    def explains(self) -> bool:
        """Whether it reproduces the claimed number, with a significant paired difference."""
        return self.reaches and self.is_significant

    @property
    def changes(self) -> int:
        return self.gained + self.lost

    @property
    def pitfalls(self) -> tuple[str, ...]:
        return self.variant.pitfalls


def prior_of(variant: Variant, variants: Mapping[str, int]) -> float:
    """Logarithm of how likely an edit is before anything is known: common pitfalls more, one of many variants less.

    `variants` says how many there are of each pitfall: a pitfall with thirty variants hits any number sooner or later.
    """
    log = (len(variant.pitfalls) - 1) * math.log(_PAIR) + math.log(variant.commonness)
    for name in variant.pitfalls:
        weight = PITFALLS[name].weight if name in PITFALLS else _UNKNOWN
        log += math.log(weight / max(1, variants.get(name, 1)))
    return log


def half_of_two(alone: Candidate, goal: Goal) -> float:
    """Logarithm of how much likelier an edit is to be one of two mistakes, by what it does alone."""
    if goal.claim.measure.outcome is None:
        return 0.0  # nearly every edit moves such a number for certain, and some move it too far
    toward = (alone.expected - goal.own) * math.copysign(1, goal.gap)
    helps = NormalDist().cdf(toward / max(alone.deviation, _LEAST_OFF))
    mixed = [share * helps + (1 - share) * (1 - helps) for share in (_HELPS, _HELPS_ALONE)]
    return math.log(mixed[0] / mixed[1])


def judge(
    variant: Variant, goal: Goal, trials: Trials, seen: Sequence[int], baseline: Baseline, prior: float = 0.0
) -> Candidate:
    """What the samples say that a variant has seen; the baseline's answers are known for all of them."""
    measure = goal.claim.measure
    before, after = trials.rows(baseline.plan, seen), trials.rows(variant.plan, seen)
    total = len(trials.labelled)
    if measure.outcome is not None:
        was, now = [measure.outcome(row) for row in before], [measure.outcome(row) for row in after]
        difference, spread = baseline.sampling.difference(seen, was, now)
        own_spread = spread
    else:
        difference, own_spread = measure.difference(before, after)
        # A change may be larger or smaller than the samples say; one that goes away from the claim never comes to it.
        if len(seen) < total and difference * (goal.claim.value - baseline.own) > 0:
            own_spread = math.hypot(own_spread, _DOUBT * difference)
        spread = own_spread * unseen(len(seen), total)
    expected = baseline.own + difference
    gained, lost = changes(trials.rows(trials.plan, seen), after, measure)
    agreement, distance, told = _agreement(after, seen, goal)
    reach = math.hypot(spread, goal.noise)
    off = max(goal.low - expected, expected - goal.high, 0.0)
    evidence = evidence_of(expected, reach, goal, total) + told + prior
    left = abs(goal.claim.value - expected)
    closes = 1 - left / abs(goal.gap) if goal.gap else 1.0
    # A second edit that moves no score makes the same tensors as the first alone.
    is_second = variant.base is not None and before != after
    foreseen = _foreseen(before, after, seen, goal, baseline)
    return Candidate(
        variant,
        len(seen),
        gained,
        lost,
        expected,
        spread,
        evidence,
        is_possible=off <= _SURE * reach + _SLACK and (variant.base is None or is_second),
        reaches=off <= NormalDist().inv_cdf(0.975) * goal.noise + _SLACK,
        closes=closes,
        is_near=closes >= _NEARLY and left <= _MOST_OFF * scale_of(measure),
        agreement=agreement,
        score_distance=distance,
        is_idle=_answered(before, measure) == _answered(after, measure),
        moved=difference,
        spread=own_spread,
        foreseen=None if foreseen is None else foreseen + told + prior,
    )


def scale_of(measure: Measure) -> float:
    """How much wider a measure goes than a share: numbers without bounds, such as decibels, go further."""
    return 1.0 if math.isfinite(measure.bounds[1] - measure.bounds[0]) else _POINT


def _answered(rows: Sequence[Row], measure: Measure) -> list[object]:
    return [spoken(row if isinstance(row, bytes) or row is None else row[1], measure) for row in rows]


def spoken(answer: Any, measure: Measure) -> object:
    """What an answer says: its classes or its choice, or all there is where the claim is about more than those."""
    if isinstance(answer, bytes) and measure.outcome is not None:
        return facts_of(answer).get("chosen"), measure.outcome(answer)
    if answer is None or isinstance(answer, bytes) or measure.needs_scores:
        return answer
    return answer.classes


def _foreseen(
    before: Sequence[Row], after: Sequence[Row], seen: Sequence[int], goal: Goal, baseline: Baseline
) -> float | None:
    """Logarithm of how likely the claim is, by what scores let expect of all samples; None where they say nothing."""
    if not goal.claim.measure.is_of_the_best:
        return None
    known = set(seen)
    total = len(baseline.margins)
    found = foresee(before, after, [far for at, far in baseline.margins.items() if at not in known])
    if found is None:
        return None
    more, off = found
    return evidence_of(baseline.own + more / total, math.hypot(off / total, goal.noise), goal, total)


def rank(candidate: Candidate) -> tuple[float, float, int, int]:
    return -candidate.evidence, candidate.score_distance or 0.0, len(candidate.pitfalls), candidate.changes


def evidence_of(expected: float, reach: float, goal: Goal, total: int) -> float:
    """Logarithm of how likely the claim is: either the variant is the cause, and its number is the claim's; or
    something like it is, and it comes near.
    """
    measure = goal.claim.measure
    # A share goes in steps of one sample: what lies within half of one is the same. Other numbers have no steps, so
    # that one of them agrees to the last printed digit, or it does not.
    step = 1 / total if measure.outcome is not None else 0.0
    least = max(reach, step / 4, (goal.high - goal.low) / 100, _TINY)
    exact = _inside(goal, expected, least, step)
    scale = scale_of(measure)
    off = min(max(_LEAST_OFF * scale, _LIKE_IT * abs(goal.gap)), _MOST_OFF * scale)
    near = _inside(goal, expected, math.hypot(least, off), step)
    likely = _EXACT * exact + (1 - _EXACT) * near
    # Beyond what a float can say, the nearer is still the likelier.
    return math.log(likely) if likely > _TINY else math.log(_TINY) - 1000 * abs(goal.claim.value - expected)


def _inside(goal: Goal, expected: float, deviation: float, step: float) -> float:
    curve = NormalDist(expected, deviation)
    width = max(goal.high - goal.low, step)
    middle = (goal.low + goal.high) / 2
    if width < deviation / 50:  # so narrow that the curve is flat over it, and a difference of two shares loses digits
        return curve.pdf(middle) * width
    return curve.cdf(middle + width / 2) - curve.cdf(middle - width / 2)


def changes(before: Sequence[Row], after: Sequence[Row], measure: Measure) -> tuple[int, int]:
    """(samples that the second answers better, those that the first does), as the measure counts them."""
    gained = lost = 0
    for then, now in zip(before, after, strict=True):
        was, is_now = measure.quality(then), measure.quality(now)
        gained += is_now > was
        lost += is_now < was
    return gained, lost


def _agreement(rows: Sequence[Row], seen: Sequence[int], goal: Goal) -> tuple[float | None, float | None, float]:
    """(share of the claimant's answers, distance of the scores, logarithm of how likely that is)."""
    if goal.theirs is None:
        return None, None, 0.0
    pairs = [(answer, goal.theirs[at]) for at, (_, answer) in zip(seen, rows, strict=True) if at in goal.theirs]
    if not pairs:
        return None, None, 0.0
    same = [(mine, other) for mine, other in pairs if mine is not None and mine.classes[:1] == other.classes[:1]]
    scored = [abs(mine.scores[0] - other.scores[0]) for mine, other in same if other.scores]
    distance = sum(scored) / len(scored) if scored else None
    others = len(pairs) - len(same)
    return len(same) / len(pairs), distance, len(same) * math.log(1 - _SLIP) + others * math.log(_SLIP)
