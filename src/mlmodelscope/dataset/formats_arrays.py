"""Formats whose samples are raw values in one large file: `cifar10`, `cifar100`, `mnist`, `arrays`, `rows`."""

from __future__ import annotations

import ast
import fnmatch
import hashlib
import json
import math
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from mlmodelscope.dataset.sample import Unlabelled
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset

_ITEM_TYPES = {
    "|u1": "uint8",
    "|i1": "int8",
    "<f4": "float32",
    "<f8": "float64",
    "<f2": "float16",
    "<i4": "int32",
    "<i8": "int64",
    "<i2": "int16",
    "|b1": "bool",
}
_WIDTHS = {
    "uint8": 1,
    "int8": 1,
    "bool": 1,
    "float16": 2,
    "int16": 2,
    "float32": 4,
    "int32": 4,
    "float64": 8,
    "int64": 8,
}
_INTEGERS = {"uint8": "B", "int8": "b", "int16": "<h", "int32": "<i", "int64": "<q"}


def read_cifar10(path: Path, labels: Path | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """CIFAR-10's binary files: a label byte, then 32 × 32 pixels, one plane each for red, green and blue."""
    return _read_cifar(path, dataset, label_bytes=1)


def read_cifar100(path: Path, labels: Path | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """CIFAR-100's binary files: a coarse and a fine label byte, then pixels; the fine label counts."""
    return _read_cifar(path, dataset, label_bytes=2)


def _read_cifar(path: Path, dataset: PlannedDataset, label_bytes: int) -> list[Unlabelled]:
    files = (
        [path] if path.is_file() else sorted(p for p in path.rglob("*") if fnmatch.fnmatchcase(p.name, dataset.include))
    )
    record = label_bytes + 3072
    samples = []
    for file in (file for file in files if file.is_file()):
        if file.stat().st_size % record:
            raise DatasetError(f"{file.name} is not a whole number of records of {record} bytes")
        stem = f"{file.stem}/" if len(files) > 1 else ""
        for index, block in enumerate(_blocks(file, 0, record)):
            content = _slice(file, index * record + label_bytes, [3, 32, 32], "uint8", "CHW", "RGB")
            samples.append(
                Unlabelled(f"{stem}{index:05d}", content, block[label_bytes - 1], _digest(block[label_bytes:]))
            )
    return samples


def read_mnist(path: Path, labels: Path | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """MNIST's and Fashion-MNIST's idx files: images in one, labels in the other."""
    if labels is None:
        raise DatasetError("an MNIST source needs a `labels_url`")
    count, height, width = _idx_sizes(path, 3)
    (labelled,) = _idx_sizes(labels, 1)
    if labelled != count:
        raise DatasetError(f"{labels.name} has {labelled} labels for {count} samples")
    words = labels.read_bytes()[8:]
    blocks = _blocks(path, 16, height * width)
    return [
        Unlabelled(
            f"{index:05d}",
            _slice(path, 16 + index * height * width, [height, width, 1], "uint8", "HWC", "GRAY"),
            words[index],
            _digest(block),
        )
        for index, block in enumerate(blocks)
    ]


def _idx_sizes(path: Path, dimensions: int) -> tuple[int, ...]:
    with path.open("rb") as file:
        head = file.read(4 + 4 * dimensions)
    if len(head) < 4 + 4 * dimensions or head[:4] != bytes((0, 0, 8, dimensions)):
        raise DatasetError(f"{path.name} is not an idx file of {dimensions} dimension(s) of bytes")
    sizes = struct.unpack(f">{dimensions}I", head[4:])
    if path.stat().st_size != len(head) + math.prod(sizes):
        raise DatasetError(f"{path.name} has not the size that its header promises")
    return sizes


def read_arrays(path: Path, labels: Path | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """A NumPy array of samples, and one of labels (`.npy`)."""
    if labels is None:
        raise DatasetError("an array of samples needs a `labels_url` with an array of labels")
    shape, element_type, offset = read_npy_header(path)
    if len(shape) not in (3, 4):
        raise DatasetError(f"{path.name} has the shape {list(shape)}, not samples of height x width (x channels)")
    sample_shape = [*shape[1:], 1] if len(shape) == 3 else list(shape[1:])
    planes_first = len(shape) == 4 and shape[1] in (1, 3) and shape[3] not in (1, 3)
    channels = sample_shape[0] if planes_first else sample_shape[2]
    words = read_npy_integers(labels)
    if len(words) != shape[0]:
        raise DatasetError(f"{labels.name} has {len(words)} labels for {shape[0]} samples")
    length = math.prod(sample_shape) * _WIDTHS[element_type]
    layout, color = ("CHW" if planes_first else "HWC"), ("GRAY" if channels == 1 else "RGB")
    return [
        Unlabelled(
            f"{index:05d}",
            _slice(path, offset + index * length, sample_shape, element_type, layout, color),
            words[index],
            _digest(block),
        )
        for index, block in enumerate(_blocks(path, offset, length))
    ]


def read_npy_header(path: Path) -> tuple[tuple[int, ...], str, int]:
    """(shape, element type, offset of the first value) of a `.npy` file."""
    with path.open("rb") as file:
        if file.read(6) != b"\x93NUMPY":
            raise DatasetError(f"{path.name} is not a NumPy array")
        major = file.read(2)[0]
        length = int.from_bytes(file.read(2 if major == 1 else 4), "little")
        try:
            header = ast.literal_eval(file.read(min(length, 1 << 16)).decode("latin-1").strip())
            shape, kind, fortran = tuple(header["shape"]), header["descr"], header["fortran_order"]
        except (ValueError, KeyError, SyntaxError, TypeError):
            raise DatasetError(f"{path.name} has a damaged header") from None
        offset = file.tell()
    if kind not in _ITEM_TYPES or fortran or not all(isinstance(size, int) and size >= 0 for size in shape):
        raise DatasetError(
            f"{path.name} holds `{kind}`{' in Fortran order' if fortran else ''}, which is not supported"
        )
    element_type = _ITEM_TYPES[kind]
    if path.stat().st_size - offset != math.prod(shape) * _WIDTHS[element_type]:
        raise DatasetError(f"{path.name} has not the size that its header promises")
    return shape, element_type, offset


def read_npy_integers(path: Path) -> list[int]:
    shape, element_type, offset = read_npy_header(path)
    if element_type not in _INTEGERS or len([size for size in shape if size != 1]) > 1:
        raise DatasetError(f"{path.name} is not a list of whole numbers")
    data = path.read_bytes()[offset:]
    return [value for (value,) in struct.iter_unpack(_INTEGERS[element_type], data)]


def read_rows(path: Path, labels: Path | None, dataset: PlannedDataset) -> list[Unlabelled]:
    """One large image whose rows are the samples, and a JSON list of labels."""
    if labels is None or dataset.shape is None:
        raise DatasetError("a dataset of rows needs a `labels_url` and a `shape`")
    try:
        words = json.loads(labels.read_text())
        words = [int(word) for word in words]
    except (ValueError, TypeError):
        raise DatasetError(f"{labels.name} is not a JSON list of numbers") from None
    source = hashlib.sha256(path.read_bytes()).hexdigest()
    color = "GRAY" if dataset.shape[2] == 1 else "RGB"
    return [
        Unlabelled(
            f"{index:05d}",
            {"row": str(path), "index": index, "shape": list(dataset.shape), "color": color},
            word,
            _digest(f"{source}#{index}".encode()),
        )
        for index, word in enumerate(words)
    ]


def _slice(path: Path, offset: int, shape: list[int], element_type: str, layout: str, color: str) -> dict[str, Any]:
    return {
        "slice": str(path),
        "offset": offset,
        "shape": shape,
        "element_type": element_type,
        "layout": layout,
        "color": color,
    }


def _blocks(path: Path, offset: int, length: int) -> Iterator[bytes]:
    with path.open("rb", buffering=1 << 20) as file:
        file.seek(offset)
        while len(block := file.read(length)) == length and length:
            yield block


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


Format = Callable[[Path, Path | None, PlannedDataset], list[Unlabelled]]
