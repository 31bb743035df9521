"""Trying variants of a plan on samples: each pipeline once, each answer kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import TracebackType
from typing import Any, Self

from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.model_file.model_file import ModelFile
from mlmodelscope.plan.plan import Plan
from mlmodelscope.provision.site import Site
from mlmodelscope.replicate.foresight import margin
from mlmodelscope.replicate.kept import KeptAnswers
from mlmodelscope.replicate.measure import Row
from mlmodelscope.replicate.pitfall import Variant
from mlmodelscope.replicate.relabel import relabelled
from mlmodelscope.worker.answers import Batch
from mlmodelscope.worker.variants import Answer, VariantWorker


def bench_key(plan: Plan) -> str:
    """Plans that one open model can serve: the same files in the same stack with the same options."""
    output = plan.output.model_dump(mode="json", exclude={"label_offset", "label_order", "names"})
    parts = (plan.model, plan.predictor, plan.stack, plan.scenario)
    return _digest([output, *(part.model_dump(mode="json") for part in parts)])


def pipeline_key(plan: Plan) -> str:
    """Plans with the same steps before the same model get the same answers from it, whatever is made of them later."""
    assert plan.input is not None
    return _digest([bench_key(plan), *(step.model_dump(mode="json") for step in plan.input.steps)])


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


@dataclass
class Cost:
    """What the trials took, to be set against evaluations of the whole dataset."""

    asked: int = 0
    """Answers that were wanted: variants times samples."""
    pipelines: int = 0
    """Of these, the ones that no other variant with the same steps had asked for already."""
    calls: int = 0
    """Calls of the model: pipelines that made the same tensors share one."""


class Trials:
    """The answers of variants to the samples of a dataset, as far as they have been asked for."""

    def __init__(
        self,
        plan: Plan,
        dataset: Dataset,
        provide: Callable[[Plan], Site],
        variants: Sequence[Variant],
        *,
        names: Sequence[str] = (),
        described: ModelFile | None = None,
        kept: KeptAnswers | None = None,
        told: Callable[[int, int], None] = lambda done, total: None,
    ) -> None:
        self.plan = plan
        self.dataset = dataset
        self.names = names
        """What the model calls its classes, by number."""
        self.described = described
        """What the model's file says of itself, where it can be read."""
        self.variants: list[Variant] = []
        self.cost = Cost()
        self.reasons: dict[str, str] = {}
        """Why a pipeline could not be tried, or not on some sample."""
        self._provide, self._kept, self._told = provide, kept, told
        self._sites: dict[str, Site] = {}
        self._plans: dict[str, dict[str, Plan]] = {}
        self._answers: dict[str, dict[int, Answer | None]] = {}
        self._impossible: set[str] = set()
        self._keys: dict[int, tuple[Plan, str]] = {}
        self._open: _OpenBench | None = None
        self._know(plan)
        self.add(variants)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._open is not None:
            self._open.worker.__exit__(kind, error, trace)
            self._open = None
        if self._kept is not None:
            self._kept.close()

    def add(self, variants: Iterable[Variant]) -> None:
        """More variants to choose from."""
        for each in variants:
            self.variants.append(each)
            self._know(each.plan)

    @property
    def possible(self) -> list[Variant]:
        """The variants that can be computed here, as far as is known."""
        self.worker_of(self.plan)
        return [each for each in self.variants if self.is_possible(each)]

    def is_possible(self, variant: Variant) -> bool:
        return self._key(variant.plan) not in self._impossible

    @cached_property
    def labelled(self) -> list[int]:
        """The samples that have a label, by number."""
        return [at for at, sample in enumerate(self.dataset.samples) if sample.label is not None]

    @cached_property
    def margins(self) -> dict[int, float | None]:
        """How far the plan's own answers put the right class ahead; they must be known for all samples."""
        return {at: margin(row) for at, row in zip(self.labelled, self.rows(self.plan, self.labelled), strict=True)}

    def give(self, answers: dict[int, Answer | None]) -> None:
        """Answers of the plan itself that are known from its record."""
        self._answers[self._key(self.plan)].update(answers)

    def ask(self, plans: Iterable[Plan], samples: Sequence[int]) -> None:
        """See to it that there are answers of these plans to these samples, where they can be computed."""
        plans = list(plans)
        self.cost.asked += len(plans) * len(samples)
        # Plans that have seen the same samples go together, so that what they share is computed once.
        needs: dict[tuple[str, tuple[int, ...]], dict[str, Plan]] = {}
        for plan in plans:
            key = self._key(plan)
            missing = tuple(at for at in samples if at not in self._answers[key])
            if missing and key not in self._impossible:
                needs.setdefault((bench_key(plan), missing), {})[key] = plan
        total, done = sum(len(missing) for _, missing in needs), 0
        for (bench, missing), wanted in sorted(needs.items()):
            for part in self._run(bench, missing, wanted):
                done += part
                self._told(done, total)

    def answer(self, plan: Plan, sample: int) -> Answer | None:
        """What a plan answers to a sample that it has been asked."""
        found = self._answers[self._key(plan)].get(sample)
        return None if found is None else relabelled(found, self.plan.output, plan.output, self.names, self.dataset)

    def is_known(self, plan: Plan, sample: int) -> bool:
        """Whether a plan has been asked about a sample."""
        return sample in self._answers[self._key(plan)]

    def rows(self, plan: Plan, samples: Sequence[int]) -> list[Row]:
        """Labels and answers; the samples must be labelled ones."""
        return [(self.dataset.samples[at].label or 0, self.answer(plan, at)) for at in samples]

    def is_right(self, plan: Plan, sample: int, k: int) -> bool:
        found = self.answer(plan, sample)
        label = self.dataset.samples[sample].label
        return found is not None and label is not None and label in found.classes[:k]

    def worker_of(self, plan: Plan) -> VariantWorker:
        """An open model with the pipelines of this plan and of all that are like it but for their steps."""
        bench = bench_key(plan)
        if self._open is None or self._open.bench != bench or self._open.plans != self._plans[bench].keys():
            if self._open is not None:
                self._open.worker.__exit__(None, None, None)
                self._open = None
            if bench not in self._sites:
                self._sites[bench] = self._provide(plan)
            worker = VariantWorker(self._sites[bench], plan, self._plans[bench])
            self._open = _OpenBench(bench, set(self._plans[bench]), worker)
            self._impossible |= worker.missing.keys()
            self.reasons |= worker.missing
        return self._open.worker

    def _key(self, plan: Plan) -> str:
        """Writing a plan down takes longer than looking an answer up; plans do not change."""
        known = self._keys.get(id(plan))
        if known is None:
            known = self._keys[id(plan)] = (plan, pipeline_key(plan))
        return known[1]

    def _know(self, plan: Plan) -> None:
        key = self._key(plan)
        self._plans.setdefault(bench_key(plan), {})[key] = plan
        if key not in self._answers:
            self._answers[key] = self._kept.of(key) if self._kept is not None else {}

    def _run(self, bench: str, missing: tuple[int, ...], wanted: dict[str, Plan]) -> Iterable[int]:
        own = bench == bench_key(self.plan)
        plan = self.plan if own else next(iter(wanted.values()))
        try:
            worker = self.worker_of(plan)
        except MLModelScopeError as error:
            if own:
                raise
            self._impossible |= wanted.keys()
            self.reasons |= dict.fromkeys(wanted, error.message)
            return
        keys = sorted(wanted.keys() - self._impossible)
        if not keys:
            return
        size = plan.scenario.batch_size
        parts = [missing[at : at + size] for at in range(0, len(missing), size)]
        batches = [Batch(index, [self.dataset.samples[at] for at in part]) for index, part in enumerate(parts)]
        self.cost.pipelines += len(keys) * len(missing)
        for found in worker.run(batches, keys):
            part = parts[found.batch.index]
            self.cost.calls += found.calls * len(part)
            self.reasons |= found.reasons
            fresh = {key: dict(zip(part, answers, strict=True)) for key, answers in found.answers.items()}
            for key, answers in fresh.items():
                self._answers[key].update(answers)
            if self._kept is not None:
                self._kept.add(fresh)
            yield len(part)


@dataclass(frozen=True)
class _OpenBench:
    """The one model that is open."""

    bench: str
    plans: set[str]
    worker: VariantWorker
