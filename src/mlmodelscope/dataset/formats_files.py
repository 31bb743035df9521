"""Formats whose samples are image files: `folder`, `list`, `imagenet`."""

from __future__ import annotations

import fnmatch
import re
from pathlib import Path

from mlmodelscope.dataset.labels import Word, read_labels
from mlmodelscope.dataset.sample import Unlabelled
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset
from mlmodelscope.provision.hashing import list_files

_IMAGES = {".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm"}


def read_folder(path: Path, labels: Path | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """A folder for each class."""
    names = image_names(path, dataset)
    loose = next((name for name in names if "/" not in name), None)
    if loose is not None:
        raise DatasetError(f"`{loose}` lies in no class folder", hint="use `format: list` for images without folders")
    return [Unlabelled(name, {"file": str(path / name)}, name.split("/", 1)[0]) for name in names]


def read_list(path: Path, labels: Path | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """Images, and labels in a file or in the images' names."""
    names = image_names(path, dataset)
    words: list[Word | None]
    if dataset.labels.pattern is not None:
        words = _labels_in_names(names, dataset.labels.pattern)
    elif labels is not None:
        found = read_labels(labels, dataset.labels, names)
        words = [found[name] if name in found else found.get(name.rpartition("/")[2]) for name in names]
    else:
        raise DatasetError(f"{dataset.name} says neither `labels_url` nor `labels.pattern`, so no sample has a label")
    return [Unlabelled(name, {"file": str(path / name)}, word) for name, word in zip(names, words, strict=True)]


def read_imagenet(path: Path, labels: Path | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """ImageNet's validation set: a folder for each synset, or the original flat folder and a labels file."""
    names = image_names(path, dataset)
    if any("/" in name for name in names):
        return read_folder(path, labels, dataset)
    if labels is None and dataset.labels.pattern is None:
        raise DatasetError(
            f"{path} holds no synset folders, so the labels must come from a file",
            hint="give the source a `labels_url`: one number a line, in the order of the file names",
        )
    return read_list(path, labels, dataset)


def image_names(path: Path, dataset: PlannedDataset) -> list[str]:
    if not path.is_dir():
        raise DatasetError(f"{path} is not a folder of images")
    names = [
        name
        for name in list_files(path)
        if fnmatch.fnmatchcase(name.rpartition("/")[2], dataset.include) and Path(name).suffix.lower() in _IMAGES
    ]
    if not names:
        raise DatasetError(f"{path} holds no image whose name matches `{dataset.include}`")
    return names


def _labels_in_names(names: list[str], pattern: str) -> list[Word | None]:
    try:
        expression = re.compile(pattern)
    except re.error as error:
        raise DatasetError(f"the label pattern `{pattern}` is not a regular expression: {error}") from None
    if expression.groups < 1:
        raise DatasetError(f"the label pattern `{pattern}` has no group that would be the label")
    words: list[Word | None] = []
    for name in names:
        match = expression.search(name)
        if match is None:
            raise DatasetError(f"the name of the sample `{name}` does not match the label pattern `{pattern}`")
        words.append(match[1])
    return words
