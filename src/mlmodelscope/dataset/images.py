"""Formats whose samples are image files: `folder`, `list`, `imagenet`."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence

from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.labels import read_labels
from mlmodelscope.dataset.pattern import labels_in_names
from mlmodelscope.dataset.sample import NamedFile, Unlabelled, Word
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset
from mlmodelscope.provision.hashing import list_files

_IMAGES = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm")
_SYNSET = re.compile(r"n\d{8}")


@dataset_format("folder", names_classes=True)
def read_folder(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """A folder for each class."""
    return _in_folders(source, image_names(source, dataset))


@dataset_format("list")
def read_list(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """Images, and labels in a file or in the images' names."""
    names = image_names(source, dataset)
    if dataset.labels.pattern is not None:
        return _samples(source, names, labels_in_names(names, dataset.labels.pattern))
    if labels is None:
        raise DatasetError(f"{dataset.name} says neither `labels_url` nor `labels.pattern`, so no sample has a label")
    return _samples(source, names, read_labels(labels, dataset.labels, names))


@dataset_format("imagenet", names_classes=True)
def read_imagenet(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """ImageNet's validation set: a folder for each synset, or the original flat folder and a labels file."""
    if labels is not None or dataset.labels.pattern is not None:
        return read_list(source, labels, dataset)
    names = image_names(source, dataset)
    if all("/" not in name for name in names):
        raise DatasetError(
            f"{source.name} holds no synset folders, so the labels must come from a file",
            hint="give the source a `labels_url`: one number a line, in the order of the file names",
        )
    samples = _in_folders(source, names)
    other = next((sample.word for sample in samples if not _SYNSET.fullmatch(str(sample.word))), None)
    if other is not None:
        raise DatasetError(
            f"`{other}` is not the name of a synset such as n01440764",
            hint="name the folder that the synset folders lie in; `format: folder` takes any names",
        )
    return samples


def _in_folders(source: NamedFile, names: list[str]) -> list[Unlabelled]:
    loose = next((name for name in names if "/" not in name), None)
    if loose is not None:
        raise DatasetError(f"`{loose}` lies in no class folder", hint="use `format: list` for images without folders")
    return _samples(source, names, [name.split("/", 1)[0] for name in names])


def _samples(source: NamedFile, names: list[str], words: Sequence[Word | None]) -> list[Unlabelled]:
    root = str(source.path)
    return [Unlabelled(name, {"file": f"{root}/{name}"}, word) for name, word in zip(names, words, strict=True)]


def image_names(source: NamedFile, dataset: PlannedDataset) -> list[str]:
    if not source.path.is_dir():
        raise DatasetError(
            f"{source.name} is not a folder of images",
            hint="for an archive, name a folder in it: `archive.zip#folder/`, or `archive.zip#/` for all of it",
        )
    names = [name for name in list_files(source.path) if _is_image(name, dataset.include)]
    if not names:
        raise DatasetError(f"{source.name} holds no image whose name matches `{dataset.include}`")
    return names


def _is_image(name: str, include: str) -> bool:
    file = name.rpartition("/")[2]
    return file.lower().endswith(_IMAGES) and fnmatch.fnmatchcase(file, include) and not is_hidden(name)


def is_hidden(name: str) -> bool:
    """What systems leave behind: `._cat.jpg` is a Mac's notes about cat.jpg, not a picture."""
    return name.startswith((".", "__MACOSX/")) or "/." in name or "/__MACOSX/" in name
