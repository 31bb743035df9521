"""A dataset manifest and a subset of it, as planned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlmodelscope.errors import UsageError
from mlmodelscope.manifest.formats import READ_BY_TASK
from mlmodelscope.manifest.schema import DatasetManifest
from mlmodelscope.plan.file import Pins, plan_file, plan_optional_file
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import PlannedDataset, PlannedSource, Subset
from mlmodelscope.task.task import task_named


def plan_dataset(dataset: DatasetManifest, options: Options, pins: Pins, task: str | None = None) -> PlannedDataset:
    """`task` is the model's, which decides what is read of the samples' truth; by default their own does."""
    task = task or dataset.task
    try:
        dataset = dataset.for_split()
    except ValueError as error:
        raise UsageError(str(error)) from None
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
                names=plan_optional_file(source.names_url, source.names_checksum, pins),
            )
            for source in dataset.sources
        ),
        include=dataset.include,
        labels=dataset.labels,
        classes=plan_optional_file(dataset.classes_url, dataset.classes_checksum, pins),
        shape=dataset.shape,
        size=dataset.size,
        truth=task_named(task).truth,
        task=(task if dataset.task == "general" else dataset.task) if dataset.format in READ_BY_TASK else "",
        columns=dataset.columns,
        header=dataset.header,
        delimiter=dataset.delimiter,
        quoting=dataset.quoting,
        element_type=dataset.element_type,
        split=dataset.split,
        answer=_answer(dataset.prompt),
        files={name: plan_file(each.url, each.checksum, pins) for name, each in sorted(dataset.files.items())},
        subset=Subset(count=options.limit, stratified=options.stratified, seed=options.seed),
    )


def _answer(prompt: Mapping[str, Any]) -> str | None:
    """The template of what is true: where choices are questions, the question is the number of the right one."""
    found = prompt.get("question" if prompt.get("varies") == "question" else "answer")
    return found if isinstance(found, str) else None
