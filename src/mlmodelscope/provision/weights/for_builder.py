"""Weights as a builder takes them: one safetensors file, whatever they were in, and no pickle is run on the way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from mlmodelscope.errors import ArtifactError
from mlmodelscope.plan.plan import PlannedBuilder
from mlmodelscope.tensor_file.read import read_tensors
from mlmodelscope.tensor_file.safetensors import ELEMENT_NAMES
from mlmodelscope.tensor_file.tensor import Tensor

_MOST_TIMES = 8
"""Tensors may share bytes, as tied weights do; a small file may not fill a disk by that."""


def describe(builder: PlannedBuilder) -> str:
    """What the worker is to build."""
    data = {"builder": builder.name, "architecture": builder.architecture, "options": builder.options}
    return json.dumps(data, sort_keys=True)


def is_ready(weights: Path, key: str | None) -> bool:
    """Whether a file can be used as it is; ArtifactError where it is damaged."""
    read_tensors(weights, key)
    if weights.is_dir():
        return False
    with weights.open("rb") as file:
        return file.read(9)[8:] == b"{"  # a safetensors file, for it could be read


def write_tensors(weights: Path, key: str | None, draft: Path) -> None:
    """The same tensors in one safetensors file."""
    tensors = read_tensors(weights, key)
    files = weights.rglob("*") if weights.is_dir() else [weights]
    most = _MOST_TIMES * sum(each.stat().st_size for each in files if each.is_file())
    if sum(len(each.data) for each in tensors.values()) > most:
        raise ArtifactError(
            f"its tensors stand for more than {_MOST_TIMES} times the bytes that it has, and are refused"
        )
    write_safetensors(tensors, draft)


def write_safetensors(tensors: Mapping[str, Tensor], draft: Path) -> None:
    header: dict[str, object] = {}
    position = 0
    for name, tensor in tensors.items():
        if tensor.element_type not in ELEMENT_NAMES:
            raise ArtifactError(f"tensor `{name[:80]}` is of a type that safetensors files do not have")
        end = position + len(tensor.data)
        header[name] = {
            "dtype": ELEMENT_NAMES[tensor.element_type],
            "shape": list(tensor.shape),
            "data_offsets": [position, end],
        }
        position = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with draft.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for tensor in tensors.values():
            file.write(tensor.data)
