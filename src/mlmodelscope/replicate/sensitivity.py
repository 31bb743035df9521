"""What each pitfall would cost a model whose manifest is right: the first paper's Table 1, for any model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mlmodelscope.evaluation import Watcher
from mlmodelscope.record.record import Record
from mlmodelscope.replicate.pitfall import Variant
from mlmodelscope.replicate.replication import open_trials
from mlmodelscope.replicate.search import stratified_order
from mlmodelscope.replicate.verdict import interval
from mlmodelscope.settings import Settings
from mlmodelscope.types import Interval


@dataclass(frozen=True)
class Effect:
    """What a pitfall would do to a model's number."""

    variant: Variant
    right: int
    samples: int
    gained: int
    lost: int
    before: Interval
    after: Interval
    same_as: str | None = None
    """The first variant that makes the very same answers, where there is one."""


def sensitivity(
    record: Record, settings: Settings, pitfalls: Iterable[str] | None = None, limit: int | None = None
) -> list[Effect]:
    """What each pitfall would cost, the manifest being right: every variant on the same samples."""
    with open_trials(record, settings, Watcher(), pitfalls) as trials:
        plan, total = trials.plan, len(trials.dataset.samples)
        chosen = sorted(stratified_order(trials.dataset, plan.seed)[: limit or total])
        trials.ask((plan, *(each.plan for each in trials.possible)), chosen)
        before = [trials.is_right(plan, at, 1) for at in chosen]
        effects, known = [], {tuple(trials.answer(plan, at) for at in chosen): "the manifest as it is"}
        for variant in trials.possible:
            after = [trials.is_right(variant.plan, at, 1) for at in chosen]
            answers = tuple(trials.answer(variant.plan, at) for at in chosen)
            same_as = known.get(answers)
            known.setdefault(answers, variant.words)
            pairs = list(zip(before, after, strict=True))
            effects.append(
                Effect(
                    variant,
                    sum(after),
                    len(chosen),
                    sum(now and not then for then, now in pairs),
                    sum(then and not now for then, now in pairs),
                    interval(sum(before), len(chosen)),
                    interval(sum(after), len(chosen)),
                    same_as,
                )
            )
    return sorted(effects, key=lambda effect: effect.right)
