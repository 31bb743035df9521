"""Trying variants of a plan on samples: each pipeline once, each answer kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import TracebackType
from typing import Any, Self

from mlmodelscope.dataset.masks import label_rules
from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.measure.ruler import ruler
from mlmodelscope.model_file.model_file import ModelFile
from mlmodelscope.plan.plan import Plan
from mlmodelscope.provision.site import Site
from mlmodelscope.replicate.kept import KeptAnswers
from mlmodelscope.replicate.pitfall import Variant
from mlmodelscope.replicate.relabel import relabelled
from mlmodelscope.task.array_answer import ArrayAnswer
from mlmodelscope.task.measure import Row
from mlmodelscope.task.ruled import item_of
from mlmodelscope.task.shape import Named, Shape
from mlmodelscope.task.task import task_named
from mlmodelscope.worker.answers import Batch
from mlmodelscope.worker.variants import VariantWorker


def bench_key(plan: Plan) -> str:
    """Plans that one open model can serve: the same files and layers in the same stack with the same options."""
    parts = (plan.model, plan.predictor, plan.stack, plan.scenario)
    layers = [each.layer_name for each in plan.outputs]
    return _digest([layers, *(part.model_dump(mode="json") for part in parts)])


def pipeline_key(plan: Plan) -> str:
    """Plans with the same steps before and after the same model get the same answers, whatever they call them."""
    # What the ruler scores has its classes numbered in the worker already.
    renamed = {"names"} if task_named(plan.task).is_ruled else {"label_offset", "label_order", "names"}
    answer = plan.answer.model_dump(mode="json", exclude=renamed)
    layers = [each.model_dump(mode="json") for each in (*plan.inputs, *plan.outputs)]
    return _digest([bench_key(plan), answer, plan.measure, label_rules(plan.dataset), *layers])


def _content_of(answer: ArrayAnswer) -> bytes:
    """Equal for equal answers; pictures are too large to be kept as they are."""
    found = hashlib.sha256(json.dumps(answer.fields, sort_keys=True).encode())
    for name, each in sorted(answer.arrays.items()):
        found.update(f"{name} {each.element_type} {each.shape} ".encode())
        found.update(each.content)
    return found.digest()


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


@dataclass
class Cost:
    """What the trials took, to be set against evaluations of the whole dataset."""

    asked: int = 0
    """Answers that were wanted: variants times samples."""
    pipelines: int = 0
    """Of these, the ones that no other variant with the same steps had asked for already."""
    calls: float = 0
    """Calls of the model: pipelines that made the same tensors share one, prompts with the same tokens a part of it."""
    tokens: int = 0
    """Tokens that went through a language model."""


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
        self._is_ruled = task_named(plan.task).is_ruled
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
        self._answers: dict[str, dict[int, Any]] = {}
        self._impossible: set[str] = set()
        self._scores: dict[tuple[int, str, bytes], bytes | None] = {}
        """What the ruler said of an answer: variants mostly give some that others gave already."""
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
        """The samples of which something is true, by number."""
        return [at for at, sample in enumerate(self.dataset.samples) if sample.target is not None]

    def give(self, answers: dict[int, Any]) -> None:
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

    def answer(self, plan: Plan, sample: int) -> Any:
        """What a plan answers to a sample that it has been asked: the best classes, or the answer's score."""
        found = self._answers[self._key(plan)].get(sample)
        if found is None or self._is_ruled:
            return found
        return relabelled(found, self.plan.answer, plan.answer, self.names, self.dataset)

    def shapes(self, plan: Plan, sample: int, named: Named) -> Sequence[Shape]:
        """What there is to see of a plan's answer to a sample, which is asked for again: only scores are kept."""
        own, task = self.dataset.samples[sample], task_named(plan.task)
        for found in self.worker_of(plan).run([Batch(0, [own])], [self._key(plan)]):
            for answer in found.answers.get(self._key(plan), ()):
                if isinstance(answer, ArrayAnswer):
                    score = self.answer(plan, sample) if self._is_ruled else None
                    return task.shapes(task.values(own.target, answer, score), own.target, named)
        return ()

    def is_known(self, plan: Plan, sample: int) -> bool:
        """Whether a plan has been asked about a sample."""
        return sample in self._answers[self._key(plan)]

    def is_known_everywhere(self, plan: Plan) -> bool:
        """Whether a plan has been asked about all labelled samples."""
        answers = self._answers[self._key(plan)]
        return all(at in answers for at in self.labelled)

    def has_same_pipeline(self, plan: Plan, other: Plan) -> bool:
        """Whether one call answers for both plans: what differs is how its answer is read."""
        return self._key(plan) == self._key(other)

    def rows(self, plan: Plan, samples: Sequence[int]) -> list[Row]:
        """What measures are computed from; something must be true of the samples."""
        if self._is_ruled:
            return [self.answer(plan, at) for at in samples]
        answers = [self.answer(plan, at) for at in samples]
        return [
            (self.dataset.samples[at].label_for(each) or 0, each) for at, each in zip(samples, answers, strict=True)
        ]

    def is_right(self, plan: Plan, sample: int, k: int) -> bool:
        found = self.answer(plan, sample)
        label = self.dataset.samples[sample].label_for(found)
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
        own = self.plan.answer  # classes are numbered as the plan does it, and called otherwise later
        alike = plan.with_answer(names=own.names)
        if not self._is_ruled:
            alike = alike.with_answer(label_offset=own.label_offset, label_order=own.label_order)
        self._plans.setdefault(bench_key(plan), {})[key] = alike
        if key not in self._answers:
            self._answers[key] = self._kept.of(key) if self._kept is not None else {}

    def _scored(self, plan: Plan, samples: Sequence[int], answers: Sequence[Any]) -> Sequence[Any]:
        """What is kept of answers: themselves, or their scores, which are small."""
        if not self._is_ruled:
            return answers
        nothing = task_named(plan.task).nothing
        answers = [nothing if each is None else each for each in answers]
        pairs = [(at, each) for at, each in zip(samples, answers, strict=True) if each is not None]
        rule = _digest([plan.measure, label_rules(plan.dataset)])
        keys = {at: (at, rule, _content_of(each)) for at, each in pairs}
        fresh = [(at, each) for at, each in pairs if keys[at] not in self._scores]
        items = [item_of(self._target(plan, at), each) for at, each in fresh]
        for (at, _), score in zip(fresh, ruler().score(plan.task, plan.measure, items), strict=True):
            self._scores[keys[at]] = score if isinstance(score, bytes) else None
        return [None if each is None else self._scores[keys[at]] for at, each in zip(samples, answers, strict=True)]

    def _target(self, plan: Plan, sample: int) -> Any:
        """What is true of a sample, with the numbers in its mask read as the plan reads them."""
        target = self.dataset.samples[sample].target
        rules = label_rules(plan.dataset)
        if rules == label_rules(self.plan.dataset) or not isinstance(target, dict) or "mask" not in target:
            return target
        known = {name: value for name, value in (target.get("labels") or {}).items() if name == "classes"}
        return {**target, "labels": {**known, **rules}}

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
            self.cost.tokens += found.tokens
            self.reasons |= found.reasons
            fresh = {
                key: dict(zip(part, self._scored(wanted[key], part, answers), strict=True))
                for key, answers in found.answers.items()
            }
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
