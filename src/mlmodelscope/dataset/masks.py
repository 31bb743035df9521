"""Masks: beside each picture one of the same name whose pixels are numbers of classes."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.images import image_names
from mlmodelscope.dataset.sample import NamedFile, Unlabelled
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset


@dataset_format("masks", has_targets=True, counts_classes=True)
def read_masks(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """Pictures, and for each a PNG of the same name whose gray levels or palette indices are numbers of classes."""
    if labels is None or not labels.path.is_dir():
        raise DatasetError(
            f"{dataset.name} names no `labels_url`: the folder with a mask for each picture",
            hint="for an archive, name a folder in it: `archive.zip#folder/`, or `archive.zip#/` for all of it",
        )
    root, shared = str(source.path), label_rules(dataset)
    found = []
    for name in image_names(source, dataset):
        mask = _renamed(str(PurePosixPath(name).with_suffix(".png")), dataset)
        path = labels.path / mask
        if not path.is_file():
            if dataset.labels.missing == "skip":
                continue
            raise DatasetError(
                f"`{name}` of {dataset.name} has no mask: {labels.name} holds no `{mask}`",
                hint="`labels: {missing: skip}` leaves such pictures out, `include` takes only some by their names",
            )
        target = {"mask": {"file": str(path)}, "name": mask, "labels": shared}
        found.append(Unlabelled(name, {"file": f"{root}/{name}"}, None, target=target))
    return found


def _renamed(name: str, dataset: PlannedDataset) -> str:
    """`aachen_000000_leftImg8bit.png` has its classes in `aachen_000000_gtFine_labelIds.png`."""
    if dataset.labels.renamed is None:
        return name
    folder, slash, file = name.rpartition("/")
    part, other = dataset.labels.renamed
    return folder + slash + file.replace(part, other)


def label_rules(dataset: PlannedDataset) -> dict[str, Any]:
    """How numbers in a mask become classes; what is not used is left out."""
    labels = dataset.labels
    found: dict[str, Any] = {}
    if labels.offset:
        found["offset"] = labels.offset
    if labels.map:
        found["map"] = sorted([int(value), number] for value, number in labels.map.items())
    if labels.other is not None:
        found["other"] = labels.other
    if labels.void:
        found["void"] = list(labels.void)
    return found
