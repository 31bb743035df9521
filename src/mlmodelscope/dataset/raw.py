"""Samples that are raw values inside one large file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mlmodelscope.dataset.sample import NamedFile
from mlmodelscope.errors import DatasetError
from mlmodelscope.plan.plan import PlannedDataset


def slice_of(path: Path, offset: int, shape: list[int], element_type: str, layout: str, color: str) -> dict[str, Any]:
    """The form that the worker reads."""
    return {
        "slice": str(path),
        "offset": offset,
        "shape": shape,
        "element_type": element_type,
        "layout": layout,
        "color": color,
    }


def read_blocks(path: Path, offset: int, length: int) -> Iterator[bytes]:
    with path.open("rb", buffering=1 << 20) as file:
        file.seek(offset)
        while len(block := file.read(length)) == length and length:
            yield block


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def refuse_other_shape(file: NamedFile, shape: tuple[int, int, int], dataset: PlannedDataset) -> None:
    """Height, width and channels must be what the manifest says, where it says so."""
    if dataset.shape is not None and tuple(dataset.shape) != shape:
        raise DatasetError(
            f"{file.name} holds samples of {' x '.join(map(str, shape))}, "
            f"and {dataset.name} says {' x '.join(map(str, dataset.shape))}"
        )
