"""What a language model would be shown of one sample: the exact text and tokens, with nothing asked of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.dataset.sample import Sample
from mlmodelscope.errors import DatasetError, UsageError
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.preparation import Conditions, DatasetSource, ModelSource, ask
from mlmodelscope.provision.site import provision
from mlmodelscope.task.spelled import Spelled, read_spelled
from mlmodelscope.worker.client import Worker


@dataclass(frozen=True)
class Prompt:
    """The prompt of one sample."""

    plan: Plan
    sample: str
    place: int
    """Its place in the dataset, from 0."""
    samples: int
    spelled: Spelled
    plain: Mapping[str, Any]
    """The same as the worker spelled it."""


def prompt_of(
    model: ModelSource,
    dataset: DatasetSource | None,
    which: str | int,
    options: Options | None = None,
    **conditions: Unpack[Conditions],
) -> Prompt:
    """Open the model in its stack and have it spell out a sample, which is an id or a place from 0."""
    asked = ask(model, dataset, options or Options(), **conditions)
    plan = asked.plan()
    if not plan.inputs or plan.inputs[0].part != "document":
        raise UsageError(
            f"{plan.model.name} is not a language model, and only those have a prompt",
            hint="mlmodelscope show MANIFEST shows a manifest with every default",
        )
    samples = open_dataset(plan.dataset, asked.artifacts).samples
    place = _place(samples, which, plan.dataset.name)
    with Worker(provision(plan, asked.artifacts), plan) as worker:
        (found,) = worker.spell([samples[place]])
    if isinstance(found, str):
        raise DatasetError(f"there is no prompt of sample `{samples[place].id}` of {plan.dataset.name}: {found}")
    spelled = read_spelled(found)
    assert spelled is not None
    return Prompt(plan, samples[place].id, place, len(samples), spelled, found)


def _place(samples: Sequence[Sample], which: str | int, dataset: str) -> int:
    places = {each.id: place for place, each in enumerate(samples)}
    if str(which) in places:
        return places[str(which)]
    if str(which).isdecimal() and len(str(which)) < 20 and int(which) < len(samples):
        return int(which)
    raise UsageError(
        f"{dataset} has no sample `{str(which)[:200]}`",
        hint=f"a sample is its id, or its place from 0 to {len(samples) - 1}" if samples else "",
    )
