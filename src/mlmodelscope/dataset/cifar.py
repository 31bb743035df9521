"""CIFAR's binary files: label bytes, then 32 × 32 pixels, one plane each for red, green and blue."""

from __future__ import annotations

import fnmatch
from pathlib import Path

from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.images import is_hidden
from mlmodelscope.dataset.raw import digest, read_blocks, refuse_other_shape, slice_of
from mlmodelscope.dataset.sample import NamedFile, Unlabelled
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset
from mlmodelscope.provision.hashing import list_files


@dataset_format("cifar10", packed=True)
def read_cifar10(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """CIFAR-10: one label byte."""
    return _read(source, dataset, label_bytes=1, classes=10)


@dataset_format("cifar100", packed=True)
def read_cifar100(source: NamedFile, labels: NamedFile | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """CIFAR-100: a coarse and a fine label byte; the fine label counts."""
    return _read(source, dataset, label_bytes=2, classes=100)


def _read(source: NamedFile, dataset: PlannedDataset, label_bytes: int, classes: int) -> list[Unlabelled]:
    refuse_other_shape(source, (32, 32, 3), dataset)
    files = _files(source, dataset)
    samples: list[Unlabelled] = []
    for file in files:
        prefix = f"{file.name.rpartition('.')[0] or file.name}/" if len(files) > 1 else ""
        samples += _read_file(file, prefix, label_bytes, classes)
    return samples


def _read_file(file: NamedFile, prefix: str, label_bytes: int, classes: int) -> list[Unlabelled]:
    length = label_bytes + 3072
    if file.path.stat().st_size % length:
        raise DatasetError(f"{file.name} is not a whole number of records of {length} bytes")
    samples = []
    for index, block in enumerate(read_blocks(file.path, 0, length)):
        name, label = f"{prefix}{index:05d}", block[label_bytes - 1]
        if label >= classes:
            raise DatasetError(f"the sample `{name}` of {file.name} has the label {label}, beyond {classes} classes")
        content = slice_of(file.path, index * length + label_bytes, [3, 32, 32], "uint8", "CHW", "RGB")
        samples.append(Unlabelled(name, content, label, digest(block[label_bytes:])))
    return samples


def _files(source: NamedFile, dataset: PlannedDataset) -> list[NamedFile]:
    """The file itself, or those of a folder: `*.bin` unless the manifest says which."""
    if source.path.is_file():
        return [source]
    include = "*.bin" if dataset.include == "*" else dataset.include
    names = [name for name in list_files(source.path) if fnmatch.fnmatchcase(Path(name).name, include)]
    files = [NamedFile(source.path / name, name) for name in names if not is_hidden(name)]
    if not files:
        raise DatasetError(f"{source.name} holds no file whose name matches `{include}`")
    return files
