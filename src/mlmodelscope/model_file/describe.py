"""Which reader a model file is for: told by its content first, by its name where the content is too damaged to tell."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from pathlib import Path

from mlmodelscope.model_file.archive import ZIP_START, Archive
from mlmodelscope.model_file.limit import Budget
from mlmodelscope.model_file.model_file import ModelFile, ModelFileError
from mlmodelscope.model_file.onnx import describe_onnx
from mlmodelscope.model_file.openvino import describe_openvino
from mlmodelscope.model_file.protobuf import BYTES, VARINT, Message
from mlmodelscope.model_file.pt2 import describe_pt2, is_pt2
from mlmodelscope.model_file.tensorflow import describe_frozen_graph, describe_saved_model
from mlmodelscope.model_file.tflite import describe_tflite, is_tflite
from mlmodelscope.model_file.torchscript import describe_torchscript, is_torchscript

KNOWN = (
    "ONNX (.onnx)",
    "TensorFlow Lite (.tflite)",
    "TorchScript (.pt)",
    "torch.export (.pt2)",
    "TensorFlow SavedModel (its folder, or saved_model.pb)",
    "TensorFlow frozen graph (.pb)",
    "OpenVINO IR (.xml)",
)
_KNOWN = f"known: {', '.join(KNOWN)}"

# What people hand in by mistake, by its first bytes.
_LOOKS_LIKE = {
    b"version https://git-lfs": "a Git LFS pointer; the model itself was not downloaded",
    b"<!doctype html": "a web page; the address probably asks for a login or a click",
    b"<html": "a web page; the address probably asks for a login or a click",
    b"\x89hdf": "an HDF5 file, as Keras writes it; save it as a SavedModel instead",
    b"\x1f\x8b": "gzip-compressed; unpack it first",
    b"\x80": "a pickle, which was not opened, because that would run it; save with torch.jit.save or torch.export.save",
}
_Reader = Callable[[memoryview], ModelFile]
_EXTENSIONS: dict[str, _Reader] = {
    ".onnx": describe_onnx,
    ".tflite": describe_tflite,
    ".lite": describe_tflite,
    ".pb": describe_frozen_graph,
    ".xml": describe_openvino,
    ".pt2": lambda data: describe_pt2(Archive(data)),
    ".pt": lambda data: describe_torchscript(Archive(data)),
    ".pth": lambda data: describe_torchscript(Archive(data)),
    ".torchscript": lambda data: describe_torchscript(Archive(data)),
}


def describe_model(path: Path) -> ModelFile:
    """What the file says of itself; nothing in it is run, and no framework is needed."""
    try:
        if path.is_dir():
            return _describe_folder(path)
        data = _map(path)
        reader = _reader_by_content(data)
        if reader is None and _looks_like(data) is None:
            reader = _reader_by_name(path)
        if reader is None:
            raise ModelFileError(f"it is no model of a kind that we know\n{_KNOWN}", hint=_looks_like(data))
        return reader(data)
    except ModelFileError as error:
        raise ModelFileError(f"cannot describe {path}: {error.message}", hint=error.hint) from error
    except OSError as error:
        raise ModelFileError(f"cannot describe {path}: {error.strerror or error}") from error


def _describe_folder(path: Path) -> ModelFile:
    graph = path / "saved_model.pb"
    if not graph.is_file():
        raise ModelFileError(f"it is a folder without saved_model.pb\n{_KNOWN}")
    return describe_saved_model(_map(graph))


def _map(path: Path) -> memoryview:
    try:
        if not path.is_file():
            raise ModelFileError("it is no file" if path.exists() else "there is no such file")
        with path.open("rb") as file:
            # Only what a reader looks at is read from the disk; weights of gigabytes are not.
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except ValueError as error:
        raise ModelFileError("the file is empty") from error


def _reader_by_content(data: memoryview) -> _Reader | None:
    start = bytes(data[:256])
    if is_tflite(start):
        return describe_tflite
    if start.startswith(ZIP_START):
        return _reader_of_archive
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith((b"<net", b"<?xml")):
        return describe_openvino
    return _reader_of_message(data)


def _reader_by_name(path: Path) -> _Reader | None:
    if path.name == "saved_model.pb":
        return describe_saved_model
    return _EXTENSIONS.get(path.suffix.lower())


def _reader_of_archive(data: memoryview) -> ModelFile:
    archive = Archive(data)
    if is_pt2(archive):
        return describe_pt2(archive)
    if is_torchscript(archive):
        return describe_torchscript(archive)
    if any(name.endswith("data.pkl") for name in archive.names):
        raise ModelFileError(
            "it holds weights, or a pickled Python object, but no model that could be read without running it",
            hint="save the model with torch.jit.save or torch.export.save; a manifest takes a state dict as weights",
        )
    raise ModelFileError(f"it is a zip archive of no kind that we know\n{_KNOWN}")


def _reader_of_message(data: memoryview) -> _Reader | None:
    """Protocol buffers have no magic number; which fields the outermost message has tells the formats apart."""
    kinds: dict[int, int] = {}
    try:
        for field in Message(data, Budget()).fields():
            kinds.setdefault(field.number, field.kind)
    except ModelFileError:
        return None
    if kinds.get(1) == VARINT and kinds.get(7) == BYTES:
        return describe_onnx
    if kinds.get(1) == VARINT and kinds.get(2) == BYTES and set(kinds) == {1, 2}:
        return describe_saved_model
    if kinds.get(1) == BYTES and set(kinds) <= {1, 2, 3, 4}:
        return describe_frozen_graph
    return None


def _looks_like(data: memoryview) -> str | None:
    start = bytes(data[:64]).lower().lstrip()
    looks = next((what for begin, what in _LOOKS_LIKE.items() if start.startswith(begin)), None)
    return f"it looks like {looks}" if looks else None
