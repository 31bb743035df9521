"""Trying variants of a plan on samples: each pipeline once, each answer kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.plan.plan import Plan
from mlmodelscope.provision.site import Site
from mlmodelscope.replicate.pitfall import Variant
from mlmodelscope.worker.client import Batch
from mlmodelscope.worker.variants import Answer, VariantWorker


def pipeline_key(plan: Plan) -> str:
    """Plans with the same steps before the model get the same answers from it, whatever is made of them later."""
    assert plan.input is not None
    text = json.dumps([step.model_dump(mode="json") for step in plan.input.steps], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass
class Cost:
    """What the trials took, to be set against evaluations of the whole dataset."""

    asked: int = 0
    """Answers that were wanted: variants times samples."""
    pipelines: int = 0
    """Of these, the ones that no other variant with the same steps had asked for already."""
    calls: int = 0
    """Calls of the model: pipelines that made the same tensors share one."""


@dataclass
class Trials:
    """The answers of variants to the samples of a dataset, as far as they have been asked for."""

    plan: Plan
    dataset: Dataset
    site: Site
    variants: Sequence[Variant]
    cost: Cost = field(default_factory=Cost)
    told: Callable[[int, int], None] = lambda done, total: None

    def __post_init__(self) -> None:
        plans = {pipeline_key(each.plan): each.plan for each in self.variants}
        self._plans = {pipeline_key(self.plan): self.plan, **plans}
        self._answers: dict[str, dict[int, Answer | None]] = {key: {} for key in self._plans}
        self._worker: VariantWorker | None = None
        self.reasons: dict[str, str] = {}
        """Why a pipeline could not be tried on a sample, for one of them."""

    def __enter__(self) -> Self:
        self._worker = VariantWorker(self.site, self.plan, self._plans)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._worker is not None:
            self._worker.__exit__(kind, error, trace)

    @property
    def possible(self) -> list[Variant]:
        """The variants that this stack can compute."""
        assert self._worker is not None
        missing = self._worker.missing
        return [each for each in self.variants if pipeline_key(each.plan) not in missing]

    def give(self, answers: dict[int, Answer | None]) -> None:
        """Answers of the plan itself that are known from its record."""
        self._answers[pipeline_key(self.plan)].update(answers)

    def ask(self, plans: Iterable[Plan], samples: Sequence[int]) -> None:
        """See to it that there are answers of these plans to these samples."""
        assert self._worker is not None
        plans = list(plans)
        self.cost.asked += len(plans) * len(samples)
        wanted = {pipeline_key(each) for each in plans}
        # Plans that have seen the same samples go together, so that what they share is computed once.
        by_need: dict[tuple[int, ...], list[str]] = {}
        for key in sorted(wanted):
            missing = tuple(at for at in samples if at not in self._answers[key])
            if missing:
                by_need.setdefault(missing, []).append(key)
        total, done = sum(len(each) for each in by_need), 0
        for missing, keys in by_need.items():
            size = self.plan.scenario.batch_size
            parts = [missing[at : at + size] for at in range(0, len(missing), size)]
            batches = [Batch(index, [self.dataset.samples[at] for at in part]) for index, part in enumerate(parts)]
            self.cost.pipelines += len(keys) * len(missing)
            for found in self._worker.run(batches, keys):
                part = parts[found.batch.index]
                self.cost.calls += found.calls
                self.reasons |= found.reasons
                for key, answers in found.answers.items():
                    self._answers[key].update(zip(part, answers, strict=True))
                done += len(part)
                self.told(done, total)

    def answer(self, plan: Plan, sample: int) -> Answer | None:
        """What a plan answers to a sample that it has been asked."""
        found = self._answers[pipeline_key(plan)][sample]
        shift = self.plan.output.label_offset - plan.output.label_offset
        if found is None or not shift:
            return found
        return Answer(tuple(number + shift for number in found.classes), found.scores)

    def is_right(self, plan: Plan, sample: int, k: int) -> bool:
        found = self.answer(plan, sample)
        label = self.dataset.samples[sample].label
        return found is not None and label is not None and label in found.classes[:k]
