"""Put weights into an ONNX graph that was published without them.

A weight-free graph is a few kilobytes that we can ship, while the weights stay where their owners published
them. Each missing initializer has its name, element type and shape, and says that its numbers are external,
in "weights"; or it has none and says nothing of them. Initializers of nested graphs (the bodies of If and Loop)
are not looked at.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mlmodelscope.errors import ArtifactError
from mlmodelscope.provision.weights.protobuf_wire import WireError, read_fields, write_bytes_header
from mlmodelscope.tensor_file.fault import quote
from mlmodelscope.tensor_file.tensor import Tensor

# The largest message a protocol-buffer reader accepts, and ONNX files are one message.
MAX_MODEL_BYTES = (1 << 31) - 1
# Weight-free graphs have kilobytes; the largest language models' some megabytes.
MAX_GRAPH_BYTES = 1 << 27

_MODEL_IR_VERSION, _MODEL_GRAPH, _MODEL_OPSET_IMPORT = 1, 7, 8
_GRAPH_INITIALIZER = 5
_TENSOR_DIMS, _TENSOR_DATA_TYPE, _TENSOR_NAME, _TENSOR_RAW_DATA = 1, 2, 8, 9
_TENSOR_EXTERNAL_DATA, _TENSOR_DATA_LOCATION = 13, 14
_TENSOR_NUMBERS = (4, 5, 6, 7, _TENSOR_RAW_DATA, 10, 11)
"""Fields that hold a tensor's numbers, by their type or as bytes."""
_ENTRY_KEY, _ENTRY_VALUE = 1, 2
_EXTERNAL = 1
_MISSING = "weights"

_ELEMENT_TYPES = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
    16: "bfloat16",
    17: "float8e4m3fn",
    19: "float8e5m2",
}

_Piece = bytes | memoryview


@dataclass(frozen=True, slots=True)
class _Initializer:
    name: str
    element_type: str
    shape: tuple[int, ...]
    location: str | None
    """Where its numbers are, if they are not in the graph."""


def join_weights(graph: Path, tensors: Mapping[str, Tensor], destination: Path) -> None:
    """Write `graph` to `destination` with every missing initializer filled; all the rest stays as it is."""
    try:
        pieces = _join_model(_read(graph), tensors)
    except WireError as error:
        raise ArtifactError(f"{graph} is not an ONNX file, or it is cut off: {error}") from error
    except ArtifactError as error:
        raise ArtifactError(f"cannot put weights into {graph}: {error.message}", hint=error.hint) from error
    try:
        with destination.open("wb") as file:
            file.writelines(pieces)
    except OSError as error:
        raise ArtifactError(f"cannot write {destination}: {error.strerror}") from error


def _read(graph: Path) -> memoryview:
    try:
        size_bytes = graph.stat().st_size
        if size_bytes > MAX_GRAPH_BYTES:
            raise ArtifactError(f"it has {size_bytes:,} bytes, far too many for a graph without weights")
        return memoryview(graph.read_bytes())
    except OSError as error:
        raise ArtifactError(error.strerror or str(error)) from error


def _join_model(model: memoryview, tensors: Mapping[str, Tensor]) -> list[_Piece]:
    fields = list(read_fields(model))
    numbers = [field.number for field in fields]
    if numbers.count(_MODEL_GRAPH) != 1 or not {_MODEL_IR_VERSION, _MODEL_OPSET_IMPORT} <= set(numbers):
        raise WireError("it lacks a version, an operator set or a graph")
    pieces: list[_Piece] = []
    for field in fields:
        if field.number == _MODEL_GRAPH:
            pieces += _nested(_MODEL_GRAPH, _join_graph(field.content(), tensors))
        else:
            pieces.append(field.raw)
    size_bytes = _size(pieces)
    if size_bytes > MAX_MODEL_BYTES:
        raise ArtifactError(
            f"with its weights it would have {size_bytes:,} bytes, and an ONNX file holds at most 2 GiB",
            hint="publish it as an ONNX file with external data instead",
        )
    return pieces


def _join_graph(graph: memoryview, tensors: Mapping[str, Tensor]) -> list[_Piece]:
    pieces: list[_Piece] = []
    filled = 0
    for field in read_fields(graph):
        if field.number != _GRAPH_INITIALIZER:
            pieces.append(field.raw)
            continue
        wanted = _initializer(field.content())
        if wanted.location is None:
            pieces.append(field.raw)
            continue
        pieces += _nested(_GRAPH_INITIALIZER, _fill(field.content(), _tensor_for(wanted, tensors)))
        filled += 1
    if not filled:
        raise ArtifactError(
            "no initializer is missing, so the weights would change nothing",
            hint="its initializers hold numbers: use the ONNX file as the model, without a weights file; in a graph "
            'without weights they are empty, or external with the location "weights"',
        )
    return pieces


def _initializer(tensor: memoryview) -> _Initializer:
    name, data_type, shape, external, location = "", 0, [], False, None
    is_empty = True
    for field in read_fields(tensor):
        if field.number == _TENSOR_NAME:
            name = field.text()
        elif field.number == _TENSOR_DATA_TYPE:
            data_type = field.integer()
        elif field.number == _TENSOR_DIMS:
            shape += field.integers()
        elif field.number == _TENSOR_DATA_LOCATION:
            external = field.integer() == _EXTERNAL
        elif field.number == _TENSOR_EXTERNAL_DATA:
            entry = {part.number: part.text() for part in read_fields(field.content())}
            if entry.get(_ENTRY_KEY) == "location":
                location = entry.get(_ENTRY_VALUE)
        elif field.number in _TENSOR_NUMBERS:
            is_empty = is_empty and not isinstance(field.value, int) and not len(field.value)
    if is_empty and not external and all(shape):  # it should hold numbers, and holds none
        external, location = True, _MISSING
    element_type = _ELEMENT_TYPES.get(data_type, f"ONNX type {data_type}")
    return _Initializer(name, element_type, tuple(shape), (location or "nowhere") if external else None)


def _tensor_for(wanted: _Initializer, tensors: Mapping[str, Tensor]) -> Tensor:
    name = quote(wanted.name)
    if wanted.location != _MISSING:
        raise ArtifactError(f"initializer {name} is in another file, {quote(str(wanted.location))}")
    tensor = tensors.get(wanted.name)
    if tensor is None:
        near = difflib.get_close_matches(wanted.name[:200], tensors, n=3)
        raise ArtifactError(
            f"the weights have no tensor for the initializer {name}",
            hint=f"nearest names in the weights: {', '.join(map(quote, near))}" if near else None,
        )
    if tensor.shape != wanted.shape:
        raise ArtifactError(
            f"tensor {name} has the shape {_shown(tensor.shape)}, the graph wants {_shown(wanted.shape)}"
        )
    if tensor.element_type != wanted.element_type:
        raise ArtifactError(f"tensor {name} is of type {tensor.element_type}, the graph wants {wanted.element_type}")
    return tensor


def _fill(initializer: memoryview, tensor: Tensor) -> list[_Piece]:
    dropped = (_TENSOR_EXTERNAL_DATA, _TENSOR_DATA_LOCATION, _TENSOR_RAW_DATA)
    kept: list[_Piece] = [field.raw for field in read_fields(initializer) if field.number not in dropped]
    return [*kept, write_bytes_header(_TENSOR_RAW_DATA, len(tensor.data)), tensor.data]


def _nested(number: int, pieces: list[_Piece]) -> list[_Piece]:
    return [write_bytes_header(number, _size(pieces)), *pieces]


def _size(pieces: list[_Piece]) -> int:
    return sum(len(piece) for piece in pieces)


def _shown(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "of a single number"
