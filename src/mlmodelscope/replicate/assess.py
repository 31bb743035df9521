"""Which of the candidates of a search are more than a coincidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.candidate import Candidate
from mlmodelscope.replicate.coincidence import Move, chance_of_move
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
    measure = goal.claim.measure
    if measure.needs_scores and measure.outcome is None and goal.theirs is None:
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
    """Of a number that is made of scores, no sample is right or wrong: how far it moved decides, and whether it came to
    the claim.
    """
    moves = [_move(each, each.moved, goal, race) for each in family]
    found = []
    for each, own in zip(family, moves, strict=True):
        chance = chance_of_move(own, moves, is_reached=each.reaches)
        if each.variant.base is not None and each.reaches:
            # A second edit may only undo what the first one spoiled.
            moved, spread = goal.claim.measure.difference(
                trials.rows(trials.plan, trials.labelled), trials.rows(each.variant.plan, trials.labelled)
            )
            whole = _move(replace(each, moved=moved, spread=spread), moved, goal, race)
            chance = max(chance, chance_of_move(whole, [whole], is_reached=True))
        found.append(replace(each, chance=chance))
    return found


def _move(candidate: Candidate, moved: float, goal: Goal, race: Race) -> Move:
    """How far a variant is from what it is compared with, and how far the claim is."""
    own = candidate.expected - moved
    slack = _Z * goal.noise
    low, high = goal.low - slack - own, goal.high + slack - own
    if goal.claim.value < own:
        low, high, moved = -high, -low, -moved
    weight = math.exp(race.prior(candidate.variant))
    return Move(moved, candidate.spread, candidate.seen, race.total, (low, high), weight)
