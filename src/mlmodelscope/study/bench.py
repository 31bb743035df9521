"""A model ready to be called by a study: planned and provisioned as an evaluation would, and nothing recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.errors import PlanError
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.preparation import ask
from mlmodelscope.provision.site import Site, provision
from mlmodelscope.study.study import DEFAULT_DATASET, DEFAULT_MODEL, Request, machine_words
from mlmodelscope.worker.client import Worker


@dataclass(frozen=True)
class Bench:
    plan: Plan
    site: Site
    dataset: Dataset

    @property
    def about(self) -> str:
        packages = ", ".join(f"{name} {version}" for name, version in self.plan.stack.packages.items())
        return f"{self.plan.model.reference}; {packages}; {machine_words()}"

    def first_tensor(self) -> Tensor:
        """What the model gets for the first sample that can be prepared."""
        with Worker(self.site, self.plan) as worker:
            reasons = []
            for sample in self.dataset.samples[:32]:
                (found,) = worker.prepare([sample])
                if not isinstance(found, str):
                    return Tensor(tuple(found[0]["shape"]), found[0]["element_type"], found[1])
                reasons.append(found)
        raise PlanError(f"no sample of {self.plan.dataset.name} can be prepared: {reasons[0] if reasons else 'none'}")


@dataclass(frozen=True)
class Tensor:
    """One sample as the model gets it, without the batch axis."""

    shape: tuple[int, ...]
    element_type: str
    content: bytes


def open_bench(request: Request, **options: Any) -> Bench:
    """The request's model with its pipeline; refused where a manifest's own functions do the work."""
    dataset = request.dataset
    if dataset is None and request.model == DEFAULT_MODEL:
        dataset = DEFAULT_DATASET
    asked = ask(
        request.model,
        dataset,
        Options(**options),
        software=request.software,
        trust=request.trust,
        settings=request.settings,
        watcher=request.watcher,
    )
    plan = asked.plan()
    if plan.input is None or plan.functions:
        raise PlanError(f"{plan.model.name} prepares its samples in code of its own; this study calls the model itself")
    return Bench(plan, provision(plan, asked.artifacts), open_dataset(plan.dataset, asked.artifacts))
