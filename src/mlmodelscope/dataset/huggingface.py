"""Folders as the `datasets` library of Hugging Face has them on disk: files by split, names of classes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.images import is_hidden, read_folder
from mlmodelscope.dataset.parts import inside
from mlmodelscope.dataset.sample import Listing, NamedFile, Unlabelled
from mlmodelscope.dataset.table import columns_of, samples_of
from mlmodelscope.dataset.table_rows import rows_of
from mlmodelscope.dataset.targets import class_word
from mlmodelscope.dataset.text import read_json, read_text
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset
from mlmodelscope.provision.hashing import list_files

_TABLES = (".parquet", ".csv", ".tsv", ".jsonl", ".json", ".ndjson")
_ABOUT = ("dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json")
_WORDS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test", "testing", "eval", "evaluation"),
}
_LARGEST = 16 << 20


@dataset_format("huggingface", names_classes=True)
def read_huggingface(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """A folder of Hugging Face's: Parquet, CSV or JSON Lines for each split, or pictures with a metadata file."""
    if not source.path.is_dir():
        raise DatasetError(f"{source.name} is not a folder")
    names = [name for name in list_files(source.path) if not is_hidden(name)]
    metadata = [name for name in names if PurePosixPath(name).stem == "metadata" and name.endswith(_TABLES)]
    if metadata:
        return _pictures(source, _of_split(metadata, source, dataset, by_folder=True), dataset)
    tables = [name for name in names if name.endswith(_TABLES) and PurePosixPath(name).name not in _ABOUT]
    if tables:
        return _rows(source, _of_split(tables, source, dataset), names, dataset)
    if dataset.split is None:
        return read_folder(source, labels, dataset)
    folder = next((each for each in _words(dataset.split) if (source.path / each).is_dir()), None)
    if folder is None:
        raise DatasetError(f"{source.name} holds no folder for the split `{dataset.split}`")
    return read_folder(NamedFile(source.path / folder, folder), labels, dataset)


def _rows(source: NamedFile, tables: Sequence[str], names: Sequence[str], dataset: PlannedDataset) -> list[Unlabelled]:
    columns, found = columns_of(dataset), []
    for number, name in enumerate(tables):
        some = samples_of(NamedFile(source.path / name, name), source, dataset, columns)
        if len(tables) > 1 and columns.id is None:
            some = [_renamed(each, f"{number:05d}/{each.id}") for each in some]
        found += some
    target = columns.target if isinstance(columns.target, str) else None
    classes = _class_names(source, names, target) if target is not None else []
    if not classes or any(each.word is None for each in found):
        return found
    numbers = {name: number for number, name in enumerate(classes)}
    return Listing([_numbered(each, numbers, len(classes)) for each in found], classes)


def _renamed(one: Unlabelled, name: str) -> Unlabelled:
    return Unlabelled(name, one.content, one.word, one.digest, one.target)


def _numbered(one: Unlabelled, numbers: dict[str, int], count: int) -> Unlabelled:
    word = numbers.get(one.word, one.word) if isinstance(one.word, str) else one.word
    if word == -1:
        raise DatasetError(f"`{one.id}` has the class -1: it has no label", hint="test splits are often unlabeled")
    return Unlabelled(one.id, one.content, word, one.digest, one.target)


def _class_names(source: NamedFile, names: Sequence[str], column: str) -> list[str]:
    """Of the ClassLabel that a column is, as the description of the dataset lists them."""
    for name in names:
        if PurePosixPath(name).name not in _ABOUT[:2] or (source.path / name).stat().st_size > _LARGEST:
            continue
        data = read_json(read_text(NamedFile(source.path / name, name)), NamedFile(source.path / name, name))
        entries = [data, *(data.values() if isinstance(data, dict) else [])]
        for each in entries:
            features = each.get("features") if isinstance(each, dict) else None
            feature: Any = features.get(column) if isinstance(features, dict) else None
            listed = feature.get("names") if isinstance(feature, dict) else None
            if isinstance(listed, list) and listed and all(isinstance(word, str) for word in listed):
                return list(listed)
    return []


def _of_split(names: Sequence[str], source: NamedFile, dataset: PlannedDataset, by_folder: bool = False) -> list[str]:
    """The files of the split that is asked for; where none is, there may be only one."""
    known: dict[str, list[str]] = {}
    for name in names:
        known.setdefault(_split_of(name, by_folder), []).append(name)
    wanted = dataset.split
    if wanted is None:
        if len(known) > 1:
            listed = ", ".join(sorted(known))
            raise DatasetError(f"{source.name} has several splits: {listed}", hint="`split` of the dataset chooses one")
        return sorted(names)
    for word in (wanted, *(key for key in known if wanted in _words(key))):
        if word in known:
            return _whole(known[word], source)
    raise DatasetError(f"{source.name} has no split `{wanted}`; it has {', '.join(sorted(known))}")


def _whole(names: Sequence[str], source: NamedFile) -> list[str]:
    """All pieces of `test-00000-of-00003.parquet`; fewer would be another set."""
    for name in names:
        match = re.search(r"-(\d{1,6})-of-(\d{1,6})\.", name)
        if match and len(names) != int(match[2]):
            raise DatasetError(f"`{name}` is one of {int(match[2])} pieces, and {source.name} holds {len(names)}")
    return sorted(names)


def _split_of(name: str, by_folder: bool) -> str:
    """`data/train-00000-of-00001.parquet`, `test.jsonl`, `validation/part.csv` → their split."""
    path = PurePosixPath(name)
    stem = re.sub(r"[-_.]\d{1,6}-of-\d{1,6}$", "", path.stem)
    candidates = (
        [*reversed(path.parts[:-1])] if by_folder else [stem, *re.split(r"[-_.]", stem), *reversed(path.parts[:-1])]
    )
    for word in candidates:
        for split, words in _WORDS.items():
            if word.lower() in words:
                return split
    return "all" if by_folder else stem


def _words(split: str) -> tuple[str, ...]:
    return next(((split, *words) for name, words in _WORDS.items() if split == name or split in words), (split,))


def _pictures(source: NamedFile, metadata: Sequence[str], dataset: PlannedDataset) -> list[Unlabelled]:
    """Pictures that a metadata file names, beside it."""
    columns = dataset.columns
    target = columns.target if columns is not None else "label"
    if target is None or isinstance(target, tuple):
        raise DatasetError(f"{dataset.name} does not say which column of its metadata is the class")
    found = []
    for name in metadata:
        folder = PurePosixPath(name).parent
        for row in rows_of(NamedFile(source.path / name, name), dataset):
            file = row.get("file_name")
            path = inside(NamedFile(source.path / folder, str(folder)), file, row.where)
            word = class_word([row.get(target)], row.where)[0]
            found.append(Unlabelled(str(path.relative_to(source.path)), {"file": str(path)}, word))
    return found
