"""What a model file says of itself: which format it is in is told by its content first, and by its name where the
content is too damaged to tell."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from mlmodelscope.errors import ArtifactError
from mlmodelscope.model_file.archive import ZIP_START, Archive
from mlmodelscope.model_file.model_file import ModelFile, ModelFileError
from mlmodelscope.model_file.model_format import (
    FORMATS,
    SAVED_MODEL,
    ModelFormat,
    Opened,
    format_by_content,
    format_by_name,
)
from mlmodelscope.model_file.network import Network
from mlmodelscope.model_file.weights_alone import is_index, is_weights, read_weights_network

KNOWN = tuple(each.name for each in FORMATS)
KNOWN_WEIGHTS = ("safetensors", "state dicts of PyTorch (.pt, .pth)", "shards with an index", "MXNet (.params)")
_KNOWN = f"known: {', '.join(KNOWN)}"
_KNOWN_ALL = f"{_KNOWN}, and weights alone: {', '.join(KNOWN_WEIGHTS)}"
_ARE_WEIGHTS = "it holds weights, or a pickled Python object, but no model that could be read without running it"
_SAVE_A_MODEL = "save the model with torch.jit.save or torch.export.save; a manifest takes a state dict as weights"

# What people hand in by mistake, by its first bytes.
_LOOKS_LIKE = {
    b"version https://git-lfs": "a Git LFS pointer; the model itself was not downloaded",
    b"<!doctype html": "a web page; the address probably asks for a login or a click",
    b"<html": "a web page; the address probably asks for a login or a click",
    b"\x89hdf": "an HDF5 file, as Keras writes it; save it as a SavedModel instead",
    b"\x1f\x8b": "gzip-compressed; unpack it first",
    b"b\x00c\x00n\x00": "a model of CNTK 1, which is not read; load it into CNTK 2 and save it there",
    b"\x80": "a pickle, which was not opened, because that would run it; save with torch.jit.save or torch.export.save",
}
Found = TypeVar("Found")


def describe_model(path: Path, *, weights_alone: bool = False) -> ModelFile:
    """What the file says of itself; nothing in it is run, and no framework is needed.

    A file of weights without a graph is refused, unless the caller can do with that.
    """

    def describe(kind: ModelFormat, opened: Opened) -> ModelFile:
        return kind.describe(opened)

    def refuse(given: Path) -> ModelFile:
        if weights_alone:
            return read_weights_network(given).file
        raise ModelFileError(_ARE_WEIGHTS, hint=_SAVE_A_MODEL)

    return _read(path, None, describe, refuse, lambda kind: kind.needs_weights)


def read_network(path: Path, weights: Path | None = None, key: str | None = None) -> Network:
    """Layers, weights and shapes of a model file, or of a file of weights alone.

    Weights that have a file of their own are found beside it; `weights` names another. `key` picks a dictionary of a
    checkpoint.
    """

    def read(kind: ModelFormat, opened: Opened) -> Network:
        return kind.network(opened)

    return _read(path, weights, read, lambda one: read_weights_network(one, key), lambda _: True, key)


def weights_beside(path: Path) -> Path | None:
    """The file of its weights, where the format keeps them apart and they lie where custom has them."""
    if path.is_dir():
        return None
    kind = format_by_content(map_file(path))
    return kind.find_weights(path) if kind is not None else None


def _read(
    path: Path,
    weights: Path | None,
    read: Callable[[ModelFormat, Opened], Found],
    read_weights: Callable[[Path], Found],
    wants_weights: Callable[[ModelFormat], bool],
    key: str | None = None,
) -> Found:
    try:
        if path.is_dir():
            return _read_folder(path, read, read_weights)
        if is_index(path):
            return read_weights(path)
        data = map_file(path)
        kind = format_by_content(data)
        if kind is None and is_weights(data):
            return read_weights(path)
        looks = _looks_like(data)
        if kind is None and bytes(data[:4]) == ZIP_START:
            return _read_archive(path, data, read_weights)
        if kind is None and looks is None:
            kind = format_by_name(path)
        if kind is None:
            raise ModelFileError(f"it is not a model of a known kind\n{_KNOWN_ALL}", hint=looks)
        found = weights or (kind.find_weights(path) if wants_weights(kind) else None)
        is_folder = found is not None and found.is_dir()
        opened = Opened(path, data, map_file(found) if found is not None and not is_folder else None, found, key)
        return read(kind, opened)
    except ModelFileError as error:
        raise ModelFileError(f"cannot describe {path}: {error.message}", hint=error.hint) from error
    except ArtifactError as error:
        raise ModelFileError(f"cannot describe {path}: {error.message}", hint=error.hint) from error
    except OSError as error:
        raise ModelFileError(f"cannot describe {path}: {error.strerror or error}") from error


def _read_folder(
    path: Path, read: Callable[[ModelFormat, Opened], Found], read_weights: Callable[[Path], Found]
) -> Found:
    graph = path / "saved_model.pb"
    if graph.is_file():
        return read(SAVED_MODEL, Opened(graph, map_file(graph)))
    if any(is_index(each) or each.suffix == ".safetensors" for each in path.iterdir()):
        return read_weights(path)
    raise ModelFileError(f"it is a folder without saved_model.pb\n{_KNOWN_ALL}")


def _read_archive(path: Path, data: memoryview, read_weights: Callable[[Path], Found]) -> Found:
    if any(name.endswith("data.pkl") for name in Archive(data).names):
        return read_weights(path)
    raise ModelFileError(f"it is a zip archive of no kind that we know\n{_KNOWN_ALL}")


def map_file(path: Path) -> memoryview:
    try:
        if not path.is_file():
            raise ModelFileError("it is no file" if path.exists() else "there is no such file")
        with path.open("rb") as file:
            # Only what a reader looks at is read from the disk; weights of gigabytes are not.
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except ValueError as error:
        raise ModelFileError("the file is empty") from error


def _looks_like(data: memoryview) -> str | None:
    start = bytes(data[:64]).lower().lstrip()
    looks = next((what for begin, what in _LOOKS_LIKE.items() if start.startswith(begin)), None)
    return f"it looks like {looks}" if looks else None
