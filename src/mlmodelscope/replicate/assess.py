"""Which of the candidates of a search are more than a coincidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.candidate import Candidate
from mlmodelscope.replicate.goal import Goal
from mlmodelscope.replicate.race import Race
from mlmodelscope.replicate.significance import Split, Window, chance_of
from mlmodelscope.replicate.trial import Trials

_Z = NormalDist().inv_cdf(0.975)


def assess(found: Sequence[Candidate], goal: Goal, trials: Trials, race: Race) -> list[Candidate]:
    """The same candidates, each with how likely any of them would do as well by chance.

    Two edits are compared with the first of them alone, as the second must be worth its while; and with the plan, as a
    second edit may only undo what the first one spoiled. They compete with the others that were tried with the same
    first one.
    """
    families: dict[int, list[Candidate]] = {}
    for each in found:
        families.setdefault(id(each.variant.base), []).append(each)
    judged = {}
    for family in families.values():
        for each in _assess_family(family, goal, trials, race):
            judged[id(each.variant)] = each
    return [judged[id(each.variant)] for each in found]


def _assess_family(family: Sequence[Candidate], goal: Goal, trials: Trials, race: Race) -> list[Candidate]:
    base = family[0].variant.base or trials.plan
    if goal.claim.measure.needs_scores and goal.theirs is None:
        return _assess_scores(family, goal, trials, race)
    is_known = trials.is_known_everywhere(base)  # it may have been out early
    window = _window(base, goal, trials, race) if is_known else None
    splits = [_split(each, base, goal, trials, race) for each in family]
    chances = _chances(family, splits, window)
    if base is not trials.plan:
        others = [_split(each, trials.plan, goal, trials, race) for each in family]
        chances = list(map(max, chances, _chances(family, others, _window(trials.plan, goal, trials, race))))
    return [
        replace(each, split=split, chance=chance) for each, split, chance in zip(family, splits, chances, strict=True)
    ]


def _chances(family: Sequence[Candidate], splits: Sequence[Split], window: Window | None) -> list[float]:
    return [
        chance_of(split, splits, window if each.reaches else None) for each, split in zip(family, splits, strict=True)
    ]


def _split(candidate: Candidate, base: Plan, goal: Goal, trials: Trials, race: Race) -> Split:
    """The samples that only one of the two has right; or, where the claimant's answers are known, as the claimant."""
    toward = away = 0
    measure = goal.claim.measure
    order = race.baseline(candidate.variant).sampling.order[: candidate.seen]
    seen = [at for at in order if trials.is_known(base, at)]
    for at in seen:
        if goal.theirs is not None:
            theirs = goal.theirs.get(at)
            if theirs is None:
                continue
            then, now = (
                answer is not None and answer.classes[:1] == theirs.classes[:1]
                for answer in (trials.answer(base, at), trials.answer(candidate.variant.plan, at))
            )
            nears = now
        else:
            (row,), (other,) = trials.rows(base, [at]), trials.rows(candidate.variant.plan, [at])
            then, now = measure.quality(row), measure.quality(other)
            nears = (now > then) == (measure.is_better_higher == (goal.gap > 0))
        toward += then != now and nears
        away += then != now and not nears
    weight = math.exp(race.prior(candidate.variant))
    return Split(toward, away, weight, max(1, len(seen)) / race.total)


def _window(base: Plan, goal: Goal, trials: Trials, race: Race) -> Window | None:
    """By how many samples the number of this plan must change to be the claimed one."""
    measure = goal.claim.measure
    if measure.outcome is None or goal.theirs is not None:
        return None
    own = goal.own if base is trials.plan else measure.number(trials.rows(base, trials.labelled))
    slack = _Z * goal.noise
    low, high = ((edge - own) * race.total for edge in (goal.low - slack, goal.high + slack))
    return (low, high) if goal.gap > 0 else (-high, -low)


def _assess_scores(family: Sequence[Candidate], goal: Goal, trials: Trials, race: Race) -> list[Candidate]:
    """Of a number that is made of scores, no sample is right or wrong: how far it moved, set against its deviation."""
    order, measure = trials.labelled, goal.claim.measure
    weights = [math.exp(race.prior(each.variant)) for each in family]
    found = []
    for each, weight in zip(family, weights, strict=True):
        if not each.reaches or each.seen < race.total:
            found.append(each)
            continue
        before = trials.rows(each.variant.base or trials.plan, order)
        moved, spread = measure.difference(before, trials.rows(each.variant.plan, order))
        p_value = 1 - NormalDist().cdf(abs(moved) / spread)
        found.append(replace(each, chance=min(1.0, p_value * sum(weights) / weight)))
    return found
