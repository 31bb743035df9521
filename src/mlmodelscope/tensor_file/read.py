"""Tensors from a weights file, whatever wrote it, without torch or numpy, and never running what is in it."""

from __future__ import annotations

import mmap
from pathlib import Path

from mlmodelscope.errors import ArtifactError
from mlmodelscope.tensor_file.safetensors import is_safetensors, read_safetensors
from mlmodelscope.tensor_file.sharded import read_folder
from mlmodelscope.tensor_file.tensor import Tensor
from mlmodelscope.tensor_file.torch import PICKLE_START, ZIP_START, read_legacy, read_zip

__all__ = ["Tensor", "read_tensors"]

# What people hand in by mistake, by its first bytes.
_LOOKS_LIKE = {
    b"version https://git-lfs": "a Git LFS pointer; the weights themselves were not downloaded",
    b"<": "a web page; the address probably asks for a login or a click",
    b"\x89HDF": "an HDF5 file, as Keras writes it",
    b"\x1f\x8b": "gzip-compressed; unpack it first",
}


def read_tensors(path: Path, key: str | None = None) -> dict[str, Tensor]:
    """Every tensor by name. The format is told by content; `key` picks a dictionary inside a checkpoint.

    A folder is that of its one file, or of several with an index.
    """
    try:
        if path.is_dir():
            return read_folder(path, lambda file: read_tensors(file, key))
        data = _map(path)
        if is_safetensors(data):
            return read_safetensors(data, key)
        if bytes(data[:4]) == ZIP_START:
            return read_zip(path, data, key)
        if bytes(data[:1]) == PICKLE_START:
            return read_legacy(data, key)
        raise _unknown(data)
    except ArtifactError as error:
        raise ArtifactError(f"cannot read weights from {path}: {error.message}", hint=error.hint) from error


def _map(path: Path) -> memoryview:
    try:
        with path.open("rb") as file:
            # Tensors stay views into the mapping; it is unmapped when the last of them goes.
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise ArtifactError(error.strerror or str(error)) from error
    except ValueError as error:
        raise ArtifactError("the file is empty") from error


def _unknown(data: memoryview) -> ArtifactError:
    looks = [what for start, what in _LOOKS_LIKE.items() if bytes(data[: len(start)]) == start]
    return ArtifactError(
        "it is neither a torch state dict nor a safetensors file",
        hint=f"it looks like {looks[0]}" if looks else None,
    )
