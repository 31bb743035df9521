"""What each pitfall would cost a model whose manifest is right: the first paper's Table 1, for any model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from mlmodelscope.dataset.sample import Sample
from mlmodelscope.errors import UsageError
from mlmodelscope.metric.interval import wilson
from mlmodelscope.plan.plan import Plan
from mlmodelscope.record.record import Record
from mlmodelscope.replicate.pitfall import Variant
from mlmodelscope.replicate.replication import open_trials
from mlmodelscope.replicate.stratified_sampling import Sampling, by_class, by_closeness
from mlmodelscope.replicate.trial import Trials, pipeline_key
from mlmodelscope.replicate.verdict import Paired
from mlmodelscope.settings import Settings
from mlmodelscope.types import Interval
from mlmodelscope.watcher import Watcher
from mlmodelscope.worker.variants import Answer

AS_IT_IS = "the manifest as it is"
_Z = NormalDist().inv_cdf(0.975)
_FIRST = 128
_LEAST = 16
"""Samples that each variant sees, however small the budget."""
_POINTS = 0.0075
"""An effect that is known so well is known well enough."""


@dataclass(frozen=True)
class Estimate:
    """What a part of the samples says of all."""

    before1: float
    difference: Interval
    after5: float | None


@dataclass(frozen=True)
class Effect:
    """What a pitfall would do to a model's numbers, on the samples that the variant has an answer to."""

    variant: Variant
    top1: Paired
    """The variant's answers beside those of the manifest as it is."""
    top5: Paired | None
    """The same for the best five, where so many are kept."""
    failed: int
    """Samples that the variant has no answer to, such as pictures that its decoder cannot read."""
    reason: str | None
    """Why it has none, for one of them."""
    answers: tuple[Answer | None, ...]
    same_as: str | None = None
    """The first variant that makes the very same answers, where there is one."""
    estimate: Estimate | None = None
    """What it would be on all samples, where it has seen a part of them only."""

    @property
    def samples(self) -> int:
        return self.top1.samples

    @property
    def right(self) -> int:
        return self.top1.both + self.top1.only_ours

    @property
    def gained(self) -> int:
        return self.top1.only_ours

    @property
    def lost(self) -> int:
        return self.top1.only_theirs

    @property
    def flips(self) -> int:
        """Samples whose best class is another one."""
        return self.samples - self.top1.same_answer

    @property
    def is_idle(self) -> bool:
        """Whether no sample gets another answer, nor is right or wrong where it was not."""
        return (
            not self.failed
            and not self.flips
            and (self.top5 is None or self.top5.both + self.top5.neither == self.samples)
        )

    @property
    def before(self) -> float:
        """Share of right answers of the manifest as it is."""
        if self.estimate is not None:
            return self.estimate.before1
        return (self.top1.both + self.top1.only_theirs) / self.samples

    @property
    def after(self) -> float:
        return self.before + self.difference.value

    @property
    def after5(self) -> float | None:
        """Share of samples with the right answer among the best five."""
        if self.estimate is not None:
            return self.estimate.after5
        return (self.top5.both + self.top5.only_ours) / self.samples if self.top5 is not None else None

    @property
    def difference(self) -> Interval:
        """The change of the share of right answers, known better than either share: it is that of the same samples.

        The interval is Agresti and Min's, which takes half a sample each way for granted: that none of seventy samples
        changed does not mean that none ever will.
        """
        if self.estimate is not None:
            return self.estimate.difference
        n, gained, lost = self.samples + 2, self.gained + 0.5, self.lost + 0.5
        centre = (gained - lost) / n
        half = _Z * math.sqrt(gained + lost - (gained - lost) ** 2 / n) / n
        value = (self.gained - self.lost) / self.samples
        return Interval(value, max(-1.0, min(value, centre - half)), min(1.0, max(value, centre + half)))


@dataclass(frozen=True)
class Sensitivity:
    """Every variant that could be tried, the costliest first, and the answers that they are compared with."""

    effects: tuple[Effect, ...]
    samples: tuple[Sample, ...]
    own: tuple[Answer | None, ...]
    top1: Interval
    top5: Interval | None
    impossible: dict[str, list[str]]
    """Variants that could not be tried here at all, by the reason."""


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
        raise UsageError(f"{trials.plan.dataset.name} has no labels, so nothing can be right or wrong")
    known = set(trials.labelled)
    order = [at for at in by_class(trials.dataset, trials.plan.seed) if at in known]
    chosen = sorted(order[: limit or len(order)])
    trials.ask([trials.plan], chosen)
    own = {at: trials.answer(trials.plan, at) for at in chosen}
    sampling = by_closeness(trials.dataset, own, chosen, trials.plan.seed)
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
        open_ones = [each for each in open_ones if not _is_known(trials, each, sampling, size)]
    return _collect(trials, chosen, sampling, seen)


def _affordable(wanted: int, before: int, left: float, variants: int) -> int:
    """How many samples each variant may see; a few, whatever the budget is: of nothing nothing is known."""
    return min(wanted, max(min(_LEAST, wanted), before + int(min(left, wanted * variants) // max(1, variants))))


def _sizes(total: int) -> list[int]:
    """Twice as many samples each time; a few are not worth stopping for."""
    sizes = [min(_FIRST, total)]
    while sizes[-1] < total:
        sizes.append(2 * sizes[-1] if 3 * sizes[-1] <= total else total)
    return sizes


def _is_known(trials: Trials, variant: Variant, sampling: Sampling, size: int) -> bool:
    """Whether the effect is known to three quarters of a point, or to a sixth of itself."""
    seen = sampling.order[:size]
    if all(trials.answer(variant.plan, at) == trials.answer(trials.plan, at) for at in seen):
        return True  # the very same scores: nothing will come of it
    difference, deviation = _estimate(trials, variant.plan, sampling, seen, 1)
    return _Z * deviation <= max(_POINTS, abs(difference) / 6)


def _estimate(trials: Trials, plan: Plan, sampling: Sampling, seen: Sequence[int], k: int) -> tuple[float, float]:
    was = [trials.is_right(trials.plan, at, k) for at in seen]
    now = [trials.is_right(plan, at, k) for at in seen]
    return sampling.difference(seen, was, now)


def _collect(trials: Trials, chosen: Sequence[int], sampling: Sampling, seen: Mapping[str, int]) -> Sensitivity:
    own = tuple(trials.answer(trials.plan, at) for at in chosen)
    right = {k: sum(trials.is_right(trials.plan, at, k) for at in chosen) for k in (1, 5)}
    has5 = trials.plan.output.top_k >= 5
    known: dict[tuple[Answer | None, ...], str] = {}
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
        estimate = None
        if len(asked) < len(chosen):
            value, deviation = _estimate(trials, variant.plan, sampling, answered, 1)
            change5 = _estimate(trials, variant.plan, sampling, answered, 5)[0] if has5 else 0.0
            estimate = Estimate(
                right[1] / len(chosen),
                Interval(value, value - _Z * deviation, value + _Z * deviation),
                right[5] / len(chosen) + change5 if has5 else None,
            )
        effects.append(
            Effect(
                variant,
                _pair(trials, variant.plan, answered, 1),
                _pair(trials, variant.plan, answered, 5) if has5 else None,
                len(asked) - len(answered),
                reason,
                tuple(answers.get(at) for at in chosen),
                AS_IT_IS if is_same else known.get(key),
                estimate,
            )
        )
        known.setdefault(key, variant.words)
    effects.sort(key=lambda effect: effect.difference.value)
    samples = tuple(trials.dataset.samples[at] for at in chosen)
    top5 = wilson(right[5], len(chosen)) if has5 else None
    return Sensitivity(tuple(effects), samples, own, wilson(right[1], len(chosen)), top5, impossible)


def _pair(trials: Trials, plan: Plan, answered: Sequence[int], k: int) -> Paired:
    """The variant ("ours") beside the manifest as it is ("theirs"), sample by sample."""
    rows = [(trials.is_right(plan, at, k), trials.is_right(trials.plan, at, k)) for at in answered]
    same = sum(_best(trials.answer(plan, at)) == _best(trials.answer(trials.plan, at)) for at in answered)
    return Paired(
        both=rows.count((True, True)),
        only_ours=rows.count((True, False)),
        only_theirs=rows.count((False, True)),
        neither=rows.count((False, False)),
        same_answer=same,
    )


def _best(answer: Answer | None) -> tuple[int, ...]:
    return answer.classes[:1] if answer is not None else ()
