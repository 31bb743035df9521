"""Tensors from a safetensors file: a JSON header that says where each one lies, then the bytes."""

from __future__ import annotations

import json
import math
from typing import Any

from mlmodelscope.errors import ArtifactError
from mlmodelscope.tensor_file.fault import damaged, quote
from mlmodelscope.tensor_file.tensor import ELEMENT_BYTES, Tensor

# The format allows 100 MB, but JSON grows twentyfold in memory; 16 MiB already describe 150,000 tensors.
MAX_HEADER_BYTES = 1 << 24

_ELEMENT_TYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "F8_E4M3": "float8e4m3fn",
    "F8_E5M2": "float8e5m2",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U64": "uint64",
    "U32": "uint32",
    "U16": "uint16",
    "U8": "uint8",
    "BOOL": "bool",
}
ELEMENT_NAMES = {element_type: name for name, element_type in _ELEMENT_TYPES.items()}


def is_safetensors(data: memoryview) -> bool:
    return _header_bytes(data) <= MAX_HEADER_BYTES and bytes(data[8:9]) == b"{"


def read_safetensors(data: memoryview, key: str | None) -> dict[str, Tensor]:
    if key is not None:
        raise ArtifactError(
            f"a safetensors file has no nested dictionaries, so nothing can lie under the key {quote(key)}",
            hint="leave the key out",
        )
    header, end = _header(data)
    header.pop("__metadata__", None)
    found = {name: _tensor(name, entry, data[end:]) for name, entry in header.items()}
    _refuse_shared(header)
    return found


def safetensors_metadata(data: memoryview) -> dict[str, str]:
    """What the writer added in words, such as the framework."""
    told = _header(data)[0].get("__metadata__")
    if not isinstance(told, dict):
        return {}
    return {name: value for name, value in told.items() if isinstance(value, str)}


def _header(data: memoryview) -> tuple[dict[str, object], int]:
    """The header, and where it ends."""
    end = 8 + _header_bytes(data)
    if end > len(data):
        raise damaged(f"its header ends at byte {end:,}, the file at {len(data):,}")
    try:
        header = json.loads(bytes(data[8:end]), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise damaged("its header is not the JSON it should be") from error
    if not isinstance(header, dict):
        raise damaged("its header is not a JSON object")
    return header, end


def _refuse_shared(header: dict[str, Any]) -> None:
    """The format has no bytes of two tensors: a small file could stand for any amount of numbers."""
    last, before = 0, ""
    for begin, end, name in sorted((*entry["data_offsets"], name) for name, entry in header.items()):
        if begin < last and begin < end:
            raise damaged(f"tensors {quote(before)} and {quote(name)} have bytes in common")
        if end > last:
            last, before = end, name


def _header_bytes(data: memoryview) -> int:
    return int.from_bytes(data[:8], "little")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a name appears twice")
    return dict(pairs)


def _tensor(name: str, entry: object, body: memoryview) -> Tensor:
    match entry:
        case {"dtype": str(dtype), "shape": [*shape], "data_offsets": [begin, end]}:
            lengths = _naturals(shape)
            begin, end = _naturals([begin, end])
        case _:
            raise damaged(f"tensor {quote(name)} is not described as it should be")
    if dtype not in _ELEMENT_TYPES:
        raise ArtifactError(f"tensor {quote(name)} is of the unknown element type {quote(dtype)}")
    element_type = _ELEMENT_TYPES[dtype]
    if end > len(body):
        raise damaged(f"tensor {quote(name)} ends beyond the file")
    if end - begin != math.prod(lengths) * ELEMENT_BYTES[element_type]:
        raise damaged(f"tensor {quote(name)} has another length than its shape says")
    return Tensor(name, element_type, lengths, body[begin:end])


def _naturals(values: list[object]) -> tuple[int, ...]:
    # At most 64 axes below 2**63: the product of more would be a huge number to compute.
    numbers = tuple(value for value in values if type(value) is int and 0 <= value < 1 << 63)
    if len(numbers) != len(values) or len(values) > 64:
        raise damaged("its header has a length or an offset that is not a possible number")
    return numbers
