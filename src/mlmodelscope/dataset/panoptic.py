"""COCO's panoptic annotations: a JSON file that lists segments, and for each picture a PNG that shows them."""

from __future__ import annotations

import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

from mlmodelscope.dataset.coco import document, file_name_of, listed_classes, refuse_missing, whole_number
from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.masks import label_rules
from mlmodelscope.dataset.sample import Listing, NamedFile, Unlabelled
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset


@dataset_format("panoptic", has_targets=True, counts_classes=True)
def read_panoptic(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """Pictures, and in the folder `labels_url` COCO's panoptic JSON file with its PNG files beside it or below."""
    if labels is None or not labels.path.is_dir():
        raise DatasetError(f"{dataset.name} names no `labels_url`: the folder with the JSON file and the PNG files")
    if not source.path.is_dir():
        raise DatasetError(f"{source.name} is not a folder of images")
    file = _only_json(labels)
    data = document(file)
    classes = listed_classes(data, file)
    pictures = dict(_names(data, file))
    numbers = {identity: number for number, (identity, _) in enumerate(classes)}
    if dataset.labels.map:  # which knows categories by their ids
        numbers = {identity: identity for identity, _ in classes}
    shared = label_rules(dataset) if dataset.labels.map else {"void": list(dataset.labels.void)}
    found: list[Unlabelled] = []
    seen: set[int] = set()
    for each in data["annotations"]:
        image = whole_number(each, "image_id", "an annotation", file)
        if image not in pictures or image in seen:
            what = "is annotated twice" if image in seen else "is not listed"
            raise DatasetError(f"the image {image} of {file.name} {what}")
        seen.add(image)
        name = pictures[image]
        if not fnmatch.fnmatchcase(name.rpartition("/")[2], dataset.include):
            continue
        refuse_missing(name, source, file)
        mask = _mask(each, name, file)
        target = {
            "mask": {"file": str(mask)},
            "name": mask.name,
            "segments": _segments(each, name, numbers, file),
            "labels": shared,
        }
        found.append(Unlabelled(name, {"file": f"{source.path}/{name}"}, None, target=target))
    _refuse_left(pictures, seen, file)
    return found if dataset.labels.map else Listing(found, [name for _, name in classes])


def _only_json(labels: NamedFile) -> NamedFile:
    found = sorted(labels.path.glob("*.json"))
    if len(found) != 1:
        raise DatasetError(f"{labels.name} should hold one JSON file and holds {len(found)}")
    return NamedFile(found[0], found[0].name)


def _names(data: dict[str, Any], file: NamedFile) -> list[tuple[int, str]]:
    found = []
    for each in data["images"]:
        identity = whole_number(each, "id", "an image", file)
        found.append((identity, file_name_of(each, identity, file)))
    if len({identity for identity, _ in found}) != len(found):
        raise DatasetError(f"{file.name} has two images with the same id")
    return found


def _mask(each: dict[str, Any], name: str, file: NamedFile) -> Path:
    told = each.get("file_name")
    if not isinstance(told, str) or PurePosixPath(told).name != told:
        raise DatasetError(f"`{name}` has no usable `file_name` of its mask in {file.name}: {str(told)[:80]}")
    for folder in (file.path.parent, file.path.parent / file.path.stem):
        try:
            if (folder / told).is_file():
                return folder / told
        except (OSError, ValueError):  # a name that no file can have
            break
    raise DatasetError(
        f"`{name}` has no mask: there is no `{told[:200]}` beside {file.name}, nor in `{file.path.stem}/`"
    )


def _segments(each: dict[str, Any], name: str, numbers: dict[int, int], file: NamedFile) -> list[list[int]]:
    """[its number in the PNG, its class] each."""
    found: dict[int, int] = {}
    listed = each.get("segments_info")
    if not isinstance(listed, list):
        raise DatasetError(f"`{name}` has no list `segments_info` in {file.name}")
    for segment in listed:
        identity = whole_number(segment, "id", f"a segment of `{name}`", file)
        kind = whole_number(segment, "category_id", f"a segment of `{name}`", file)
        if kind not in numbers:
            raise DatasetError(f"the segment {identity} of `{name}` has the category {kind}, which does not exist")
        if identity in found:
            raise DatasetError(f"`{name}` has two segments with the id {identity}")
        found[identity] = numbers[kind]
    return sorted(map(list, found.items()))


def _refuse_left(pictures: dict[int, str], seen: set[int], file: NamedFile) -> None:
    left = [name for identity, name in pictures.items() if identity not in seen]
    if left:
        raise DatasetError(f"`{left[0]}` has no annotation in {file.name}")
