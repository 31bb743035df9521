"""Names of the classes that a record shows, where the model, its names and the dataset can belong together."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from mlmodelscope.dataset.classes import read_classes
from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.errors import DatasetError, MLModelScopeError, PlanError
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.plan.pairing import Classes, check_classes
from mlmodelscope.plan.plan import Plan
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.task.class_answer import CLASS_TASKS
from mlmodelscope.task.task import task_named
from mlmodelscope_worker.output.boxes import COCO_IDS

_BACKGROUND = ("background", "unlabeled", "unlabelled", "none", "")
"""How lists of classes call what is not one of them; TensorFlow's has question marks."""


def class_names(plan: Plan, outputs: int | None, artifacts: ArtifactStore, own: Sequence[str] = ()) -> list[str]:
    """Names by dataset class number, `own` being the dataset's; refused where they are not those of the outputs."""
    offset = plan.answer.label_offset
    if plan.answer.names is None:
        return list(own)
    if not task_named(plan.task).is_single:  # an output's size says nothing of the classes
        outputs = None
    names = read_classes(artifacts.fetch(plan.answer.names.url, f"sha256:{plan.answer.names.sha256}").path)
    if any(step.name == "class_ids" for step in plan.answer.steps) and len(names) >= COCO_IDS[-1]:
        first = 0 if names[0].strip("_? ").lower() in _BACKGROUND else 1
        return [names[identity - first] for identity in COCO_IDS]
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


def check_labels(plan: Plan, dataset: Dataset, outputs: int | None, names: Sequence[str], tolerant: bool) -> list[str]:
    """What may be wrong with the labels, now that the model is open; refused where it cannot be right.

    `tolerant` lets samples pass whose label none of the outputs stands for: they are wrong, and somebody asks why.
    """
    if outputs is None or plan.task not in CLASS_TASKS or "postprocess" in plan.functions:
        return []
    found = list(_out_of_range(plan, dataset, outputs, tolerant))
    own = names if plan.answer.names is not None else ()
    known = Classes(outputs, own, dataset.classes, is_listed=plan.dataset.classes is not None)
    return [*found, *check_classes(plan.model.name, plan.dataset.name, plan.answer.label_offset, known)]


def _out_of_range(plan: Plan, dataset: Dataset, outputs: int, tolerant: bool) -> list[str]:
    offset = plan.answer.label_offset
    labeled = [(sample.label, sample.id) for sample in dataset.samples if sample.label is not None]
    beyond = [(label, name) for label, name in labeled if not 0 <= label + offset < outputs]
    if not beyond:
        return []
    worst, sample = max(beyond)
    with_offset = f" and a label offset of {offset}" if offset else ""
    if not tolerant or len(beyond) == len(labeled):
        raise DatasetError(
            f"the sample `{sample}` has the class {worst}, but {plan.model.name} has {outputs} outputs{with_offset}",
            hint=_fault(plan, outputs, [label for label, _ in labeled]),
        )
    fault = _fault(plan, outputs, [label for label, _ in labeled])
    return [
        f"{len(beyond)} of {len(labeled)} samples count as wrong: {plan.model.name} has no output for their label, "
        f"such as {worst} with {outputs} outputs{with_offset}; {fault}"
    ]


def _fault(plan: Plan, outputs: int, labels: Sequence[int]) -> str:
    """Which of the manifests is to be changed, and how."""
    offset, least, most = plan.answer.label_offset, min(labels), max(labels)
    if offset and least >= 0 and most < outputs:  # without it they would all be in range
        return f"without `label_offset: {offset}` in the manifest of the model {plan.model.name}, the labels would fit"
    if least >= 1 and most + offset == outputs:
        where = f"`labels: {{offset: {plan.dataset.labels.offset + 1}}}` in the manifest of the dataset"
        return f"labels that count from 1 need {where} {plan.dataset.name}"
    return f"the classes of {plan.dataset.name} are not those that {plan.model.name} tells apart"


def known_classes(model: ModelManifest, dataset: DatasetManifest, artifacts: ArtifactStore) -> Classes:
    """The lists of classes that are on this machine already: nothing is fetched to compare them."""
    first = model.outputs[0] if model.outputs else None
    ours = _at_hand(first.features_url, first.features_checksum, artifacts) if first is not None else []
    return Classes(None, ours, _at_hand(dataset.classes_url, dataset.classes_checksum, artifacts))


def _at_hand(url: str | None, checksum: str | None, artifacts: ArtifactStore) -> list[str]:
    if url is not None and artifacts.is_at_hand(url, checksum):
        with contextlib.suppress(MLModelScopeError):  # whoever needs it says what is wrong with it
            return read_classes(artifacts.fetch(url, checksum).path)
    return []
