"""What a variant is compared with, sample by sample: the plan, or of two edits the plan with the first of them.

Where one edit closes most of a gap, a second one changes few answers: compared with the first, its number is known from
a few samples as well as that of a single edit is. Compared with the plan, most of its difference would be the first's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.foresight import margin
from mlmodelscope.replicate.goal import Goal
from mlmodelscope.replicate.stratified_sampling import Sampling, by_class, by_closeness, in_one_stratum
from mlmodelscope.replicate.trial import Trials


@dataclass(frozen=True)
class Baseline:
    """A plan whose answers to all samples are known."""

    plan: Plan
    own: float
    """Its number."""
    sampling: Sampling
    """In which order samples are tried: those first that it answers nearly otherwise."""
    margins: Mapping[int, float | None]
    """How far its answers put the right class ahead, where that says something about the claim."""


def baseline_of(plan: Plan, goal: Goal, trials: Trials) -> Baseline:
    rows = trials.rows(plan, trials.labelled)
    own = goal.own if plan is trials.plan else goal.claim.measure.number(rows)
    is_foreseen = goal.claim.measure.is_of_the_best
    margins = {at: margin(row) for at, row in zip(trials.labelled, rows, strict=True)} if is_foreseen else {}
    return Baseline(plan, own, _sampling(plan, goal, trials), margins)


def _sampling(plan: Plan, goal: Goal, trials: Trials) -> Sampling:
    labelled, seed = trials.labelled, trials.plan.seed
    if goal.claim.measure.outcome is None:
        known = set(labelled)
        return in_one_stratum([at for at in by_class(trials.dataset, seed) if at in known])
    answers = {at: trials.answer(plan, at) for at in labelled}
    return by_closeness(trials.dataset, answers, labelled, seed)
