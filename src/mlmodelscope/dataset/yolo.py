"""YOLO's labels: beside each picture a text file with a line for each thing, in shares of the picture."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from mlmodelscope.dataset.boxes import Boxes
from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.images import image_names
from mlmodelscope.dataset.sample import NamedFile, Unlabelled
from mlmodelscope.dataset.text import read_text
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset
from mlmodelscope_worker.pipeline.header import ImageError, size


@dataset_format("yolo", has_targets=True)
def read_yolo(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """Pictures, and for each a text file of the same name: class, center x, center y, width, height as shares."""
    if labels is None or not labels.path.is_dir():
        raise DatasetError(f"{dataset.name} names no `labels_url`: the folder with a text file for each picture")
    root, found = str(source.path), []
    for name in image_names(source, dataset):
        file = labels.path / PurePosixPath(name).with_suffix(".txt")
        found.append(Unlabelled(name, {"file": f"{root}/{name}"}, None, target=_things(source.path / name, name, file)))
    return found


def _things(picture: Path, name: str, file: Path) -> dict[str, object]:
    known = _size(picture, name)
    found = Boxes(name, known)
    if not file.exists():  # a picture without anything in it has no file
        return found.target
    for number, line in enumerate(read_text(NamedFile(file, file.name)).split("\n"), 1):
        words = line.split()
        if not words:
            continue
        what = f"line {number} of {file.name}"
        try:
            kind, *numbers = int(words[0]), *map(float, words[1:5])
        except ValueError:
            raise DatasetError(f"{what} is not a class and four numbers: {line[:80]}") from None
        if len(numbers) != 4 or kind < 0:
            raise DatasetError(f"{what} is not a class and four numbers: {line[:80]}")
        x, y, wide, high = numbers
        height, width = known
        corners = (x - wide / 2) * width, (y - high / 2) * height, (x + wide / 2) * width, (y + high / 2) * height
        found.add(what, corners, kind)
    return found.target


def _size(picture: Path, name: str) -> tuple[int, int]:
    try:
        found: tuple[int, int] | None = size(picture.read_bytes())
    except (ImageError, OSError) as error:
        raise DatasetError(f"the size of `{name}` cannot be read: {error}") from None
    if found is None:
        raise DatasetError(f"the size of `{name}` cannot be read")
    return found
