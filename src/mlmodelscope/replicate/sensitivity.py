"""What each pitfall would cost a model whose manifest is right: the first paper's Table 1, for any model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

from mlmodelscope.dataset.sample import Sample
from mlmodelscope.errors import MetricError, UsageError
from mlmodelscope.plan.plan import Plan
from mlmodelscope.record.record import Record
from mlmodelscope.replicate.candidate import changes, scale_of
from mlmodelscope.replicate.pitfall import Variant
from mlmodelscope.replicate.replication import open_trials
from mlmodelscope.replicate.stratified_sampling import Sampling, by_class, by_closeness, in_one_stratum
from mlmodelscope.replicate.trial import Trials, pipeline_key
from mlmodelscope.settings import Settings
from mlmodelscope.statistic.mcnemar import mcnemar
from mlmodelscope.statistic.student import t_chance, t_quantile
from mlmodelscope.task.class_answer import ClassAnswer
from mlmodelscope.task.measure import MEASURES, Measure, Row
from mlmodelscope.task.task import task_named
from mlmodelscope.types import Interval
from mlmodelscope.watcher import Watcher

AS_IT_IS = "the manifest as it is"
_Z = NormalDist().inv_cdf(0.975)
_FIRST = 128
_LEAST = 16
"""Samples that each variant sees, however small the budget."""
_POINTS = 0.0075
"""An effect that is known so well is known well enough: three quarters of a point, or as many tenths of a decibel."""


@dataclass(frozen=True)
class Effect:
    """What a pitfall would do to a model's numbers, on the samples that the variant has an answer to."""

    variant: Variant
    samples: int
    """Samples that it has an answer to."""
    gained: int
    """Samples that it answers better than the manifest as it is."""
    lost: int
    flips: int
    """Samples whose answer is another one."""
    before: float
    """The first number, of the manifest as it is."""
    difference: Interval
    """Its change, known better than either number: it is that of the same samples."""
    p_value: float
    """How likely such a change is by chance."""
    others: Mapping[str, float]
    """The further numbers with the edit, by their names."""
    failed: int
    """Samples that the variant has no answer to, such as pictures that its decoder cannot read."""
    reason: str | None
    """Why it has none, for one of them."""
    answers: tuple[Any, ...]
    same_as: str | None = None
    """The first variant that makes the very same answers, where there is one."""
    is_idle: bool = False
    """Whether no sample gets another answer, nor is better or worse by any number."""

    @property
    def after(self) -> float:
        return self.before + self.difference.value


@dataclass(frozen=True)
class Sensitivity:
    """Every variant that could be tried, the costliest first, and the answers that they are compared with."""

    effects: tuple[Effect, ...]
    samples: tuple[Sample, ...]
    own: tuple[Any, ...]
    measures: tuple[Measure, ...]
    """The numbers that were looked at; effects are those on the first."""
    numbers: Mapping[str, Interval]
    """Of the manifest as it is, by their names."""
    impossible: dict[str, list[str]]
    """Variants that could not be tried here at all, by the reason."""

    @property
    def first(self) -> Interval:
        return self.numbers[self.measures[0].name]


def sensitivity(
    record: Record, settings: Settings, pitfalls: Iterable[str] | None = None, limit: int | None = None
) -> list[Effect]:
    """What each pitfall would cost, the manifest being right: every variant on the same samples."""
    return list(measure(record, settings, pitfalls, limit).effects)


def measure(
    record: Record,
    settings: Settings,
    pitfalls: Iterable[str] | None = None,
    limit: int | None = None,
    watcher: Watcher | None = None,
    exact: bool = True,
    budget: float | None = None,
) -> Sensitivity:
    """The same, with all answers; a limit takes so many samples, of each class its share."""
    with open_trials(record, settings, watcher or Watcher(), pitfalls) as trials:
        return measure_in(trials, limit, exact, budget)


def measure_in(
    trials: Trials, limit: int | None = None, exact: bool = True, budget: float | None = None
) -> Sensitivity:
    """The same in trials that are open, for those who want to see more of them.

    Unless it must be exact, a variant is tried on more samples only as long as its effect is not known well enough, and
    as long as the budget lasts: so many evaluations of all samples, the manifest's own aside.
    """
    if exact and budget is not None:
        raise UsageError("every variant on every sample has no budget", hint="leave out --exact, or --budget")
    if not trials.labelled:
        raise UsageError(f"{trials.plan.dataset.name} has no labels, so nothing can be measured on it")
    known = set(trials.labelled)
    order = [at for at in by_class(trials.dataset, trials.plan.seed) if at in known]
    chosen = sorted(order[: limit or len(order)])
    measures = _measures(trials.plan)
    trials.ask([trials.plan], chosen)
    measures = _with_numbers(measures, trials.rows(trials.plan, chosen))
    own = {at: trials.answer(trials.plan, at) for at in chosen}
    is_share = measures[0].outcome is not None
    taken = set(chosen)
    sampling = (
        by_closeness(trials.dataset, own, chosen, trials.plan.seed)
        if is_share
        else in_one_stratum([at for at in order if at in taken])
    )
    # What this stack lacks is known once the model is open as the manifest says it; the others are asked.
    open_ones, seen = list(trials.possible), dict.fromkeys((each.key for each in trials.variants), 0)
    most = trials.cost.calls + budget * len(chosen) if budget is not None else math.inf
    before = 0
    for wanted in [len(chosen)] if exact else _sizes(len(chosen)):
        size = _affordable(wanted, before, most - trials.cost.calls, len(open_ones))
        if size <= before:
            break
        before = size
        trials.ask((each.plan for each in open_ones), sampling.order[:size])
        seen.update((each.key, size) for each in open_ones)
        open_ones = [each for each in open_ones if not _is_known(trials, each, sampling, size, measures[0])]
    return _collect(trials, chosen, sampling, seen, measures)


def _measures(plan: Plan) -> tuple[Measure, ...]:
    """The task's first numbers that the answers suffice for, and that the plan's rule has."""
    task = task_named(plan.task)
    known = [MEASURES[name] for name in task.headline]
    found = [
        each
        for each in known
        if each.kept_classes <= plan.answer.top_k
        and all(plan.measure.get(name) == value for name, value in getattr(each, "needs", {}).items())
    ]
    if not found:
        raise UsageError(f"nothing of {plan.task} is measured, so nothing can become better or worse")
    return tuple(found)


def _with_numbers(measures: Sequence[Measure], rows: Sequence[Row]) -> tuple[Measure, ...]:
    """Those that these samples have: without a history there is no MASE, and nothing to become better or worse."""
    found, reasons = [], []
    for each in measures:
        try:
            each.number(rows)
            found.append(each)
        except MetricError as error:
            reasons.append(error.message)
    if not found:
        raise UsageError(reasons[0])
    return tuple(found)


def _affordable(wanted: int, before: int, left: float, variants: int) -> int:
    """How many samples each variant may see; a few, whatever the budget is: of nothing nothing is known."""
    return min(wanted, max(min(_LEAST, wanted), before + int(min(left, wanted * variants) // max(1, variants))))


def _sizes(total: int) -> list[int]:
    """Twice as many samples each time; a few are not worth stopping for."""
    sizes = [min(_FIRST, total)]
    while sizes[-1] < total:
        sizes.append(2 * sizes[-1] if 3 * sizes[-1] <= total else total)
    return sizes


def _is_known(trials: Trials, variant: Variant, sampling: Sampling, size: int, measure: Measure) -> bool:
    """Whether the effect is known to three quarters of a point, or to a sixth of itself."""
    seen = sampling.order[:size]
    if all(trials.answer(variant.plan, at) == trials.answer(trials.plan, at) for at in seen):
        return True  # the very same scores: nothing will come of it
    answered = [at for at in seen if trials.answer(variant.plan, at) is not None]
    if not answered:
        return False
    difference, deviation = _estimate(trials, variant.plan, sampling, answered, measure)
    return _Z * deviation <= max(_POINTS * scale_of(measure), abs(difference) / 6)


def _estimate(
    trials: Trials, plan: Plan, sampling: Sampling, seen: Sequence[int], measure: Measure
) -> tuple[float, float]:
    """(change, its standard deviation) on all samples, from some of them."""
    before, after = trials.rows(trials.plan, seen), trials.rows(plan, seen)
    if measure.outcome is not None:
        return sampling.difference(
            seen, [measure.outcome(row) for row in before], [measure.outcome(row) for row in after]
        )
    difference, spread = measure.difference(before, after)
    return difference, spread * (1 if len(seen) < len(sampling.order) else 0)


def _collect(
    trials: Trials, chosen: Sequence[int], sampling: Sampling, seen: Mapping[str, int], measures: Sequence[Measure]
) -> Sensitivity:
    own = tuple(trials.answer(trials.plan, at) for at in chosen)
    rows = trials.rows(trials.plan, chosen)
    numbers = {each.name: each.interval(rows) for each in measures}
    known: dict[tuple[Any, ...], str] = {}
    impossible: dict[str, list[str]] = {}
    effects = []
    for variant in trials.variants:
        asked = sorted(sampling.order[: seen[variant.key]])
        answers = {at: trials.answer(variant.plan, at) for at in asked}
        reason = trials.reasons.get(pipeline_key(variant.plan))
        answered = [at for at in asked if answers[at] is not None]
        if not answered:
            impossible.setdefault(reason or "it cannot be computed here", []).append(variant.words)
            continue
        key = tuple(answers.values())
        is_same = all(answers[at] == trials.answer(trials.plan, at) for at in asked)
        try:
            made = _effect(trials, variant, answered, sampling, measures, numbers, whole=len(asked) == len(chosen))
        except MetricError as error:  # such as a correlation of answers that are all equal
            impossible.setdefault(error.message, []).append(variant.words)
            continue
        failed = len(asked) - len(answered)
        effects.append(
            replace(
                made,
                failed=failed,
                reason=reason,
                answers=tuple(answers.get(at) for at in chosen),
                same_as=AS_IT_IS if is_same else known.get(key),
                is_idle=made.is_idle and not failed,
            )
        )
        known.setdefault(key, variant.words)
    sign = 1 if measures[0].is_better_higher else -1
    effects.sort(key=lambda effect: sign * effect.difference.value)
    samples = tuple(trials.dataset.samples[at] for at in chosen)
    return Sensitivity(tuple(effects), samples, own, tuple(measures), numbers, impossible)


def _effect(
    trials: Trials,
    variant: Variant,
    answered: Sequence[int],
    sampling: Sampling,
    measures: Sequence[Measure],
    numbers: Mapping[str, Interval],
    whole: bool,
) -> Effect:
    """The variant beside the manifest as it is, sample by sample."""
    first, *others = measures
    before, after = trials.rows(trials.plan, answered), trials.rows(variant.plan, answered)
    gained, lost = changes(before, after, first)
    moved = [sum(changes(before, after, each)) for each in measures]
    same = sum(_best(trials.answer(variant.plan, at)) == _best(trials.answer(trials.plan, at)) for at in answered)
    if whole:
        own, further = first.number(before), {each.name: each.number(after) for each in others}
        difference, chance = _difference(before, after, first, gained, lost)
    else:
        own = numbers[first.name].value
        value, deviation = _estimate(trials, variant.plan, sampling, answered, first)
        if first.outcome is None:
            difference, chance = _of_a_few(value, deviation, len(answered))
        else:
            difference = Interval(value, value - _Z * deviation, value + _Z * deviation)
            chance = mcnemar(gained, lost)
        further = {
            each.name: numbers[each.name].value + _estimate(trials, variant.plan, sampling, answered, each)[0]
            for each in others
        }
    flips = len(answered) - same
    idle = not flips and not any(moved)
    return Effect(
        variant, len(answered), gained, lost, flips, own, difference, chance, further, 0, None, (), None, idle
    )


def _difference(
    before: Sequence[Row], after: Sequence[Row], measure: Measure, gained: int, lost: int
) -> tuple[Interval, float]:
    """(the change of a number on the same samples, how likely it is by chance).

    For a share the interval is Agresti and Min's, which takes half a sample each way for granted: that none of seventy
    samples changed does not mean that none ever will.
    """
    if measure.outcome is None:
        return _of_a_few(*measure.difference(before, after), len(before))
    if not measure.is_better_higher:
        gained, lost = lost, gained
    n, up, down = len(before) + 2, gained + 0.5, lost + 0.5
    center = (up - down) / n
    half = _Z * math.sqrt(up + down - (up - down) ** 2 / n) / n
    value = (gained - lost) / len(before)
    interval = Interval(value, max(-1.0, min(value, center - half)), min(1.0, max(value, center + half)))
    return interval, mcnemar(gained, lost)


def _of_a_few(value: float, spread: float, count: int) -> tuple[Interval, float]:
    """(a change with its interval, how likely it is by chance) from the spread among samples that were drawn again.

    Of five pictures the normal curve would promise too much, and drawing again sees only four fifths of the variance.
    """
    if count < 2 or not math.isfinite(spread):  # one sample does not say how others move
        return Interval(value, value, value), 1.0
    freedom = count - 1
    deviation = spread * math.sqrt(count / freedom)
    half = t_quantile(0.975, freedom) * deviation
    chance = t_chance(value / deviation, freedom) if deviation else 1.0 if not value else 0.0
    return Interval(value, value - half, value + half), chance


def _best(answer: Any) -> Any:
    """What counts as the answer: the best class, or all of it."""
    return answer.classes[:1] if isinstance(answer, ClassAnswer) else answer
