"""COCO's annotations: one JSON file that lists the pictures, the classes and the things in them."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from mlmodelscope.dataset.boxes import Boxes, is_finite
from mlmodelscope.dataset.coco_masks import mask_of, points_of, skeletons_of
from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.sample import Listing, NamedFile, Unlabelled
from mlmodelscope.dataset.text import read_json, read_text
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset

_LONGEST_SIDE = 65_535
"""The most that JPEG can hold."""


@dataset_format("coco", has_targets=True)
def read_coco(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """Pictures, and COCO's JSON file with boxes, masks or keypoints (`labels_url`)."""
    if labels is None:
        raise DatasetError(f"{dataset.name} names no `labels_url`: the JSON file with the annotations")
    if not source.path.is_dir():
        raise DatasetError(f"{source.name} is not a folder of images")
    data = document(labels)
    classes = listed_classes(data, labels)
    numbers = {identity: number for number, (identity, _) in enumerate(classes)}
    pictures = dict(_pictures(data, labels, dataset))
    for picture in pictures.values():
        refuse_missing(picture.sample, source, labels)
    kinds = _kinds(data, numbers) if "keypoints" in dataset.truth else {}
    _add_things(data, labels, pictures, numbers, _Parts(dataset.truth, kinds))
    skeleton = skeletons_of(data["categories"], numbers, labels.name) if "keypoints" in dataset.truth else []
    if skeleton:
        for each in pictures.values():
            each.shared["skeleton"] = skeleton
    root = str(source.path)
    samples = [
        Unlabelled(each.sample, {"file": f"{root}/{each.sample}"}, None, target=each.target)
        for each in pictures.values()
    ]
    return Listing(samples, [name for _, name in classes])


def document(file: NamedFile) -> dict[str, Any]:
    data = read_json(read_text(file), file)
    if not isinstance(data, dict) or not all(isinstance(data.get(key), list) for key in ("images", "annotations")):
        raise DatasetError(f"{file.name} is not COCO's: it has no lists `images` and `annotations`")
    return data


def listed_classes(data: dict[str, Any], file: NamedFile) -> list[tuple[int, str]]:
    """(id, name) in the order of the ids; its place there is a class's number."""
    found: dict[int, str] = {}
    listed = data.get("categories")
    for each in listed if isinstance(listed, list) else ():
        identity = whole_number(each, "id", "a category", file)
        if identity in found:
            raise DatasetError(f"{file.name} has two categories with the id {identity}")
        found[identity] = str(each.get("name", identity))
    if not found:
        raise DatasetError(f"{file.name} lists no `categories`")
    return sorted(found.items())


def _pictures(data: dict[str, Any], file: NamedFile, dataset: PlannedDataset) -> Iterator[tuple[int, Boxes]]:
    seen: set[int] = set()
    for each in data["images"]:
        identity = whole_number(each, "id", "an image", file)
        if identity in seen:
            raise DatasetError(f"{file.name} has two images with the id {identity}")
        seen.add(identity)
        name = file_name_of(each, identity, file)
        if fnmatch.fnmatchcase(name.rpartition("/")[2], dataset.include):
            yield identity, Boxes(name, _size(each, identity, file))


def _size(image: dict[str, Any], identity: int, file: NamedFile) -> tuple[int, int]:
    sides = [side for side in (image.get("height"), image.get("width")) if type(side) is int and side > 0]
    if len(sides) != 2:
        raise DatasetError(f"the image {identity} of {file.name} has no `height` and `width`")
    if max(sides) > _LONGEST_SIDE:  # masks are drawn at this size
        raise DatasetError(
            f"the image {identity} of {file.name} has a side of more than {_LONGEST_SIDE:,} pixels, by its `height` "
            "and `width`"
        )
    return sides[0], sides[1]


def file_name_of(image: dict[str, Any], identity: int, file: NamedFile) -> str:
    """Where a listed picture lies below the folder of the pictures."""
    name = image.get("file_name")
    if not isinstance(name, str) or PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
        raise DatasetError(f"the image {identity} of {file.name} has no usable `file_name`: {str(name)[:80]}")
    return name


def refuse_missing(name: str, source: NamedFile, file: NamedFile) -> None:
    """A picture that is listed and not there; one whose name no file can have is not there either."""
    try:
        is_there = (source.path / name).is_file()
    except (OSError, ValueError):
        is_there = False
    if not is_there:
        raise DatasetError(f"{file.name} lists `{name[:200]}`, which is not in {source.name}")


@dataclass(frozen=True)
class _Parts:
    """What is read of an annotation beside its box."""

    truth: Sequence[str]
    kinds: Mapping[int, int | None]
    """How many keypoints a thing of each class has, where that is listed."""

    def of(self, each: dict[str, Any], what: str, picture: Boxes, number: int) -> dict[str, Any]:
        where = f"{what} in `{picture.sample}`"
        found: dict[str, Any] = {}
        if "masks" in self.truth:
            found["masks"] = mask_of(each, where, picture.size)
        if "keypoints" in self.truth:
            found["keypoints"] = points_of(each, where, self.kinds.get(number))
        return found


def _kinds(data: dict[str, Any], numbers: dict[int, int]) -> dict[int, int | None]:
    listed = {numbers[each["id"]]: each.get("keypoints") for each in data["categories"]}
    return {number: len(names) if isinstance(names, list) else None for number, names in listed.items()}


def _add_things(
    data: dict[str, Any], file: NamedFile, pictures: dict[int, Boxes], numbers: dict[int, int], parts: _Parts
) -> None:
    seen: set[int] = set()
    known = {whole_number(each, "id", "an image", file) for each in data["images"]}
    for each in data["annotations"]:
        identity = whole_number(each, "id", "an annotation", file)
        what = f"annotation {identity}"
        if identity in seen:
            raise DatasetError(f"{file.name} has two annotations with the id {identity}")
        seen.add(identity)
        image = whole_number(each, "image_id", what, file)
        if image not in known:
            raise DatasetError(f"{what} of {file.name} is about the image {image}, which is not listed")
        if image not in pictures:  # left out by `include`
            continue
        kind = whole_number(each, "category_id", what, file)
        if kind not in numbers:
            raise DatasetError(f"{what} of {file.name} has the category {kind}, which does not exist")
        picture = pictures[image]
        _add_thing(each, what, picture, numbers[kind], parts.of(each, what, picture, numbers[kind]))


def _add_thing(each: dict[str, Any], what: str, picture: Boxes, number: int, more: dict[str, Any]) -> None:
    box = each.get("bbox")
    if not isinstance(box, list) or len(box) != 4 or not all(map(is_finite, box)):
        raise DatasetError(f"{what} in `{picture.sample}` has no `bbox` of four finite numbers: {str(box)[:80]}")
    left, top, width, height = box
    area, crowd = each.get("area"), each.get("iscrowd")
    if area is not None and not (is_finite(area) and area >= 0):
        raise DatasetError(f"{what} in `{picture.sample}` has an `area` that is not a size: {str(area)[:40]}")
    if crowd not in (None, 0, 1):
        raise DatasetError(f"{what} in `{picture.sample}` has an `iscrowd` that is neither 0 nor 1: {str(crowd)[:40]}")
    picture.add(what, (left, top, left + width, top + height), number, area, bool(crowd), **more)


def whole_number(each: Any, key: str, what: str, file: NamedFile) -> int:
    found = each.get(key) if isinstance(each, dict) else None
    if not isinstance(found, int) or isinstance(found, bool):
        raise DatasetError(f"{what} of {file.name} has no whole number as `{key}`: {str(each)[:80]}")
    return found
