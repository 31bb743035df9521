"""YOLO's labels: beside each picture a text file with a line for each thing, in shares of the picture.

Three kinds of lines are in use, and only the dataset tells them apart: a box; a box with keypoints behind it; and a
polygon, which has its box around it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from mlmodelscope.dataset.boxes import Boxes
from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.images import image_names
from mlmodelscope.dataset.sample import NamedFile, Unlabelled
from mlmodelscope.dataset.text import read_text
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset
from mlmodelscope_worker.pipeline.header import ImageError, size

_MOST_NUMBERS = 200_000
"""Of one line; real polygons have a few thousand at most."""

_MOST_CLASSES = 1_000_000


@dataset_format("yolo", has_targets=True)
def read_yolo(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """Pictures, and for each a text file of the same name: class, center x, center y, width, height as shares.

    Points of a polygon may stand in place of the box; keypoints stand behind it.
    """
    if labels is None or not labels.path.is_dir():
        raise DatasetError(f"{dataset.name} names no `labels_url`: the folder with a text file for each picture")
    root, found = str(source.path), []
    for name in image_names(source, dataset):
        file = labels.path / PurePosixPath(name).with_suffix(".txt")
        target = _things(source.path / name, name, file, dataset.truth)
        found.append(Unlabelled(name, {"file": f"{root}/{name}"}, None, target=target))
    return found


def _things(picture: Path, name: str, file: Path, truth: Sequence[str]) -> dict[str, object]:
    known = _size(picture, name)
    found = Boxes(name, known)
    if not file.exists():  # a picture without anything in it has no file
        return found.target
    for number, line in enumerate(read_text(NamedFile(file, file.name)).split("\n"), 1):
        words = line.split(None, _MOST_NUMBERS)
        if words:
            what = f"line {number} of {file.name}"
            kind, numbers = _numbers(words, what)
            box, area, more = _thing(numbers, known, what, truth)
            found.add(what, box, kind, area, **more)
    return found.target


def _numbers(words: Sequence[str], what: str) -> tuple[int, list[float]]:
    try:
        kind, numbers = int(words[0]), [float(each) for each in words[1:]]
    except ValueError:
        kind, numbers = -1, []
    if len(numbers) < 4 or not 0 <= kind < _MOST_CLASSES or not all(map(math.isfinite, numbers)):
        raise DatasetError(f"{what} is not a class and four finite numbers: {' '.join(words[:9])[:80]}")
    return kind, numbers


def _thing(
    numbers: Sequence[float], size: tuple[int, int], what: str, truth: Sequence[str]
) -> tuple[tuple[float, ...], float | None, dict[str, Any]]:
    """(its box in pixels, its area where that is not the box's, what else is known of it)."""
    height, width = size
    x, y, wide, high = numbers[:4]
    box = (x - wide / 2) * width, (y - high / 2) * height, (x + wide / 2) * width, (y + high / 2) * height
    if "keypoints" in truth:
        points = numbers[4:]
        if not points or len(points) % 3:
            raise DatasetError(
                f"{what} has {len(points)} numbers behind its box; x, y and visibility of points are needed"
            )
        return box, None, {"keypoints": _in_pixels(points, 3, size)}
    if len(numbers) == 4:
        if "masks" in truth:
            raise DatasetError(f"{what} has a box and no polygon, and the task needs masks")
        return box, None, {}
    if len(numbers) < 6 or len(numbers) % 2:
        raise DatasetError(f"{what} has {len(numbers)} numbers: a box has four, a polygon two for each point")
    polygon = _in_pixels(numbers, 2, size)
    across, down = polygon[0::2], polygon[1::2]
    around = min(across), min(down), max(across), max(down)
    return around, _area(across, down), {"masks": [polygon]} if "masks" in truth else {}


def _area(across: Sequence[float], down: Sequence[float]) -> float:
    """Of a polygon, by its corners."""
    places = range(len(across))
    return abs(sum(across[at - 1] * down[at] - across[at] * down[at - 1] for at in places)) / 2


def _in_pixels(numbers: Sequence[float], step: int, size: tuple[int, int]) -> list[float]:
    """Points whose first two of `step` numbers are shares."""
    height, width = size
    scales = (width, height, 1)[:step]
    return [each * scales[place % step] for place, each in enumerate(numbers)]


def _size(picture: Path, name: str) -> tuple[int, int]:
    try:
        found: tuple[int, int] | None = size(picture.read_bytes())
    except (ImageError, OSError) as error:
        raise DatasetError(f"the size of `{name}` cannot be read: {error}") from None
    if found is None:
        raise DatasetError(f"the size of `{name}` cannot be read")
    return found
