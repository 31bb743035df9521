"""A dataset manifest and a subset of it, as planned."""

from __future__ import annotations

from mlmodelscope.errors import UsageError
from mlmodelscope.manifest.schema import DatasetManifest
from mlmodelscope.plan.file import Pins, plan_file, plan_optional_file
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import PlannedDataset, PlannedSource, Subset
from mlmodelscope.task.task import task_named


def plan_dataset(
    dataset: DatasetManifest, options: Options, pins: Pins, truth: tuple[str, ...] | None = None
) -> PlannedDataset:
    """`truth` is what a model's task needs of the samples' truth; by default what their own task does."""
    if options.limit is not None and options.limit < 1:
        raise UsageError(f"a limit of {options.limit} leaves nothing to evaluate")
    return PlannedDataset(
        name=dataset.name,
        version=dataset.version,
        format=dataset.format,
        sources=tuple(
            PlannedSource(
                name=source.name,
                files=plan_file(source.url, source.checksum, pins),
                labels=plan_optional_file(source.labels_url, source.labels_checksum, pins),
            )
            for source in dataset.sources
        ),
        include=dataset.include,
        labels=dataset.labels,
        classes=plan_optional_file(dataset.classes_url, dataset.classes_checksum, pins),
        shape=dataset.shape,
        size=dataset.size,
        truth=task_named(dataset.task).truth if truth is None else truth,
        subset=Subset(count=options.limit, stratified=options.stratified, seed=options.seed),
    )
