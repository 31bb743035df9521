"""What each pitfall would cost a model whose manifest is right: the first paper's Table 1, for any model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from mlmodelscope.dataset.sample import Sample
from mlmodelscope.errors import UsageError
from mlmodelscope.evaluation import Watcher
from mlmodelscope.metric.interval import wilson
from mlmodelscope.plan.plan import Plan
from mlmodelscope.record.record import Record
from mlmodelscope.replicate.pitfall import Variant
from mlmodelscope.replicate.replication import open_trials
from mlmodelscope.replicate.sampling import by_class
from mlmodelscope.replicate.trial import Trials, pipeline_key
from mlmodelscope.replicate.verdict import Paired
from mlmodelscope.settings import Settings
from mlmodelscope.types import Interval
from mlmodelscope.worker.variants import Answer

AS_IT_IS = "the manifest as it is"
_Z = NormalDist().inv_cdf(0.975)


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
    def before(self) -> Interval:
        return wilson(self.top1.both + self.top1.only_theirs, self.samples)

    @property
    def after(self) -> Interval:
        return wilson(self.right, self.samples)

    @property
    def difference(self) -> Interval:
        """The change of the share of right answers, known better than either share: it is that of the same samples.

        The interval is Agresti and Min's, which takes half a sample each way for granted: that none of seventy samples
        changed does not mean that none ever will.
        """
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
) -> Sensitivity:
    """The same, with all answers; a limit takes so many samples, of each class its share."""
    with open_trials(record, settings, watcher or Watcher(), pitfalls) as trials:
        return measure_in(trials, limit)


def measure_in(trials: Trials, limit: int | None = None) -> Sensitivity:
    """The same in trials that are open, for those who want to see more of them."""
    if not trials.labelled:
        raise UsageError(f"{trials.plan.dataset.name} has no labels, so nothing can be right or wrong")
    known = set(trials.labelled)
    order = [at for at in by_class(trials.dataset, trials.plan.seed) if at in known]
    chosen = sorted(order[: limit or len(order)])
    # What this stack lacks is known once the model is open as the manifest says it; the others are asked.
    trials.ask((trials.plan, *(each.plan for each in trials.possible)), chosen)
    return _collect(trials, chosen)


def _collect(trials: Trials, chosen: Sequence[int]) -> Sensitivity:
    own = tuple(trials.answer(trials.plan, at) for at in chosen)
    known: dict[tuple[Answer | None, ...], str] = {own: AS_IT_IS}
    impossible: dict[str, list[str]] = {}
    effects = []
    for variant in trials.variants:
        answers = tuple(trials.answer(variant.plan, at) for at in chosen)
        reason = trials.reasons.get(pipeline_key(variant.plan))
        if not any(answers):
            impossible.setdefault(reason or "it cannot be computed here", []).append(variant.words)
            continue
        same_as = known.get(answers)
        known.setdefault(answers, variant.words)
        answered = [at for at, answer in zip(chosen, answers, strict=True) if answer is not None]
        effects.append(
            Effect(
                variant,
                _pair(trials, variant.plan, answered, 1),
                _pair(trials, variant.plan, answered, 5) if trials.plan.output.top_k >= 5 else None,
                len(chosen) - len(answered),
                reason,
                answers,
                same_as,
            )
        )
    effects.sort(key=lambda effect: effect.difference.value)
    samples = tuple(trials.dataset.samples[at] for at in chosen)
    right = {k: sum(trials.is_right(trials.plan, at, k) for at in chosen) for k in (1, 5)}
    top5 = wilson(right[5], len(chosen)) if trials.plan.output.top_k >= 5 else None
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
