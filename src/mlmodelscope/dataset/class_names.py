"""Names of the classes that a record shows, where the model, its names and the dataset can belong together."""

from __future__ import annotations

from mlmodelscope.dataset.classes import read_classes
from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.errors import DatasetError, PlanError
from mlmodelscope.plan.plan import Plan
from mlmodelscope.provision.artifact import ArtifactStore


def class_names(plan: Plan, dataset: Dataset, outputs: int | None, artifacts: ArtifactStore) -> list[str]:
    """Names by dataset class number; refused where names, labels and the model's outputs contradict each other."""
    offset = plan.output.label_offset
    largest = max(dataset.samples, key=lambda sample: sample.label or 0, default=None)
    if outputs is not None and largest is not None and (largest.label or 0) + offset >= outputs:
        raise DatasetError(
            f"the sample `{largest.id}` has the class {largest.label}, but {plan.model.name} has {outputs} outputs"
            + (f" and a label offset of {offset}" if offset else ""),
            hint="labels that count from 1 need `labels: {offset: 1}` in the dataset's manifest",
        )
    if plan.output.names is None:
        return dataset.classes
    names = read_classes(artifacts.fetch(plan.output.names.url, f"sha256:{plan.output.names.sha256}").path)
    if outputs is None or len(names) == outputs:
        return names[max(0, offset) :]
    if len(names) == outputs - offset:  # the file names the dataset's classes, without the background
        return names
    raise PlanError(
        f"{plan.model.name} has {outputs} outputs, but its features_url names {len(names)} classes",
        hint="a network with a background class in front needs `label_offset: 1`"
        if len(names) == outputs - 1
        else None,
    )
