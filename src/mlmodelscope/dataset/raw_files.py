"""Files that each hold the values of one sample, and nothing else: features that were made beforehand."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Sequence
from typing import Any

from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.images import is_hidden
from mlmodelscope.dataset.labels import read_labels
from mlmodelscope.dataset.pattern import labels_in_names
from mlmodelscope.dataset.raw import slice_of
from mlmodelscope.dataset.sample import NamedFile, Unlabelled
from mlmodelscope.dataset.table_rows import rows_of
from mlmodelscope.dataset.targets import class_word
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset
from mlmodelscope.provision.hashing import hash_file, list_files

_WIDTHS = {"8": 1, "16": 2, "32": 4, "64": 8}
_LABEL_FILES = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".md")


@dataset_format("raw", names_classes=True)
def read_raw(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """A file of raw values for each sample (`shape`, `element_type`), and labels as for `list`."""
    if dataset.shape is None or dataset.element_type is None:
        raise DatasetError(f"{dataset.name} does not say what its files hold", hint="`shape` and `element_type` do")
    if not source.path.is_dir():
        raise DatasetError(f"{source.name} is not a folder of files")
    width = _WIDTHS[dataset.element_type.lstrip("uintfloa")]
    names = _names(source, dataset)
    expected = math.prod(dataset.shape) * width
    for name in names:
        size = (source.path / name).stat().st_size
        if size != expected:
            raise DatasetError(
                f"`{name}` has {size} bytes, and {' x '.join(map(str, dataset.shape))} values of "
                f"{dataset.element_type} take {expected}",
                hint="`include` takes only some of the files by their names, such as '*.bin'",
            )
    words = _words(names, labels, dataset)
    return [
        Unlabelled(name, _content(source, name, dataset), word, hash_file(source.path / name))
        for name, word in zip(names, words, strict=True)
    ]


def _content(source: NamedFile, name: str, dataset: PlannedDataset) -> dict[str, Any]:
    """The values as a picture where they can be one, and as the part `array` in any case."""
    shape, kind = list(dataset.shape or ()), str(dataset.element_type)
    is_picture = len(shape) == 3 and shape[2] in (1, 3)
    color = ("GRAY" if shape[2] == 1 else "RGB") if is_picture else ""
    found = slice_of(source.path / name, 0, shape, kind, "HWC" if is_picture else "", color)
    return {**found, "parts": {"array": found}}


def _names(source: NamedFile, dataset: PlannedDataset) -> list[str]:
    names = []
    for name in list_files(source.path):
        file = name.rpartition("/")[2]
        is_labels = dataset.include == "*" and file.lower().endswith(_LABEL_FILES)
        if fnmatch.fnmatchcase(file, dataset.include) and not is_labels and not is_hidden(name):
            names.append(name)
    if not names:
        raise DatasetError(f"{source.name} holds no file whose name matches `{dataset.include}`")
    return names


def _words(names: list[str], labels: NamedFile | None, dataset: PlannedDataset) -> Sequence[Any]:
    if dataset.labels.pattern is not None:
        return labels_in_names(names, dataset.labels.pattern)
    if labels is None:
        raise DatasetError(f"{dataset.name} says neither `labels_url` nor `labels.pattern`, so no sample has a label")
    columns = dataset.columns
    if columns is None or columns.file is None or columns.target is None or isinstance(columns.target, tuple):
        return read_labels(labels, dataset.labels, names)
    known: dict[str, Any] = {}
    for row in rows_of(labels, dataset, [columns.file, columns.target]):
        name = str(row.get(columns.file)).strip()
        word = class_word([row.get(columns.target)], row.where)[0]
        if known.setdefault(name, word) != word:
            raise DatasetError(f"{row.where} gives `{name[:80]}` another label than an earlier line")
    return [known.get(name, known.get(name.rpartition("/")[2])) for name in names]
