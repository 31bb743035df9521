"""Tensors from the variables of a SavedModel: an index, which is a sorted table in blocks, and files of numbers."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path

from mlmodelscope.errors import ArtifactError
from mlmodelscope.tensor_file.fault import damaged, quote
from mlmodelscope.tensor_file.tensor import ELEMENT_BYTES, Tensor

_MAGIC = (0xDB4775248B80FB57).to_bytes(8, "little")
_FOOTER_BYTES = 48
_MOST_ENTRIES, _MOST_NAME_BYTES, _MOST_INDEX_BYTES = 1 << 18, 1 << 12, 1 << 27
_OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
_SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"
_ELEMENT_TYPES = {
    1: "float32",
    2: "float64",
    3: "int32",
    4: "uint8",
    5: "int16",
    6: "int8",
    9: "int64",
    10: "bool",
    14: "bfloat16",
    17: "uint16",
    19: "float16",
    22: "uint32",
    23: "uint64",
}


@dataclass(frozen=True)
class _Entry:
    kind: int
    shape: tuple[int, ...]
    shard: int
    offset: int
    size: int


def read_bundle(folder: Path) -> dict[str, Tensor]:
    """By the variable's own name, where the checkpoint tells it, and else by its key."""
    index = folder / "variables.index"
    data = _map(index)
    entries = dict(_entries(data))
    shards = [_map(each) for each in sorted(folder.glob("variables.data-*-of-*")) if each.is_file()]
    names = _full_names(entries, shards)
    found: dict[str, Tensor] = {}
    for key, entry in entries.items():
        kind = _ELEMENT_TYPES.get(entry.kind)
        if kind is None or not key:
            continue  # texts, and what the writer keeps for itself
        name = names.get(key, key.removesuffix(_SUFFIX))
        if entry.size != prod(entry.shape) * ELEMENT_BYTES[kind]:
            raise damaged(f"tensor {quote(name)} has another length than its shape says")
        found[name] = Tensor(name, kind, entry.shape, _content(entry, shards, name))
    return found


def _map(path: Path) -> memoryview:
    try:
        with path.open("rb") as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except ValueError as error:
        raise damaged(f"{quote(path.name)} is empty") from error
    except OSError as error:
        raise ArtifactError(f"cannot read {path}: {error.strerror or error}") from error


def _content(entry: _Entry, shards: list[memoryview], name: str) -> memoryview:
    if entry.shard >= len(shards) or entry.offset + entry.size > len(shards[entry.shard]):
        raise damaged(f"tensor {quote(name)} lies beyond the files of numbers")
    return shards[entry.shard][entry.offset : entry.offset + entry.size]


def _entries(data: memoryview) -> Iterator[tuple[str, _Entry]]:
    if len(data) < _FOOTER_BYTES or len(data) > _MOST_INDEX_BYTES or bytes(data[-8:]) != _MAGIC:
        raise damaged("the index of its variables does not end as such a table does")
    position = len(data) - _FOOTER_BYTES
    for _ in range(2):
        _, position = _varint(data, position)
    offset, position = _varint(data, position)
    size, position = _varint(data, position)
    count = 0
    for _, handle in _block(data, offset, size):
        place, at = _varint(handle, 0)
        length, _ = _varint(handle, at)
        for key, value in _block(data, place, length):
            count += 1
            if count > _MOST_ENTRIES:
                raise damaged(f"it claims more than {_MOST_ENTRIES:,} variables")
            yield key.decode("utf-8", "replace"), _entry(value)


def _block(data: memoryview, offset: int, size: int) -> Iterator[tuple[bytes, memoryview]]:
    """Keys share their beginning with the one before; a list of restarts stands at the end."""
    if offset + size + 1 > len(data) or size < 4:
        raise damaged("a block of its index lies outside of the file")
    if data[offset + size] != 0:
        raise ArtifactError("the index of its variables is compressed, which is not read")
    block = data[offset : offset + size]
    restarts = int.from_bytes(block[-4:], "little")
    end = size - 4 - 4 * restarts
    if end < 0:
        raise damaged("a block of its index is cut off")
    key, position = b"", 0
    while position < end:
        shared, position = _varint(block, position)
        more, position = _varint(block, position)
        length, position = _varint(block, position)
        if shared > len(key) or more > _MOST_NAME_BYTES or position + more + length > end:
            raise damaged("a block of its index makes no sense")
        key = key[:shared] + bytes(block[position : position + more])
        position += more
        yield key, block[position : position + length]
        position += length


def _entry(message: memoryview) -> _Entry:
    values = {1: 0, 3: 0, 4: 0, 5: 0}
    shape: tuple[int, ...] = ()
    for number, value in _fields(message):
        if number in values and isinstance(value, int):
            values[number] = value
        elif number == 2 and isinstance(value, memoryview):
            sizes = []
            for inner, dim in _fields(value):
                if inner == 2 and isinstance(dim, memoryview):
                    sizes.append(next((size for at, size in _fields(dim) if at == 1 and isinstance(size, int)), 0))
            shape = tuple(sizes)
    if len(shape) > 64 or any(size >= 1 << 48 for size in (*shape, *values.values())):
        raise damaged("a variable has a size or a place that is none")
    return _Entry(values[1], shape, values[3], values[4], values[5])


def _full_names(entries: dict[str, _Entry], shards: list[memoryview]) -> dict[str, str]:
    """Keys are paths through Python objects; the graph of these objects, kept as a text, knows the variables' names."""
    told = entries.get(_OBJECT_GRAPH)
    if told is None or told.shard >= len(shards):
        return {}
    text = shards[told.shard][told.offset : told.offset + told.size]
    try:
        length, start = _varint(text, 0)
    except ArtifactError:
        return {}
    found: dict[str, str] = {}
    # Behind the length of the text stand four bytes of a checksum.
    for number, node in _fields(text[start + 4 : start + 4 + length]):
        if number != 1 or not isinstance(node, memoryview):
            continue
        for inner, attribute in _fields(node):
            if inner == 2 and isinstance(attribute, memoryview):
                texts = {at: bytes(value) for at, value in _fields(attribute) if isinstance(value, memoryview)}
                key, name = (texts.get(at, b"").decode("utf-8", "replace") for at in (3, 2))
                if key and name and name not in found.values():
                    found[key] = name
    return found


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    position, count = 0, 0
    while position < len(data):
        count += 1
        if count > _MOST_ENTRIES:
            raise damaged("a message of its index has too many fields")
        tag, position = _varint(data, position)
        kind = tag & 7
        if kind == 0:
            value, position = _varint(data, position)
            yield tag >> 3, value
            continue
        if kind not in (1, 2, 5):
            raise damaged("a message of its index makes no sense")
        size, position = _varint(data, position) if kind == 2 else (8 if kind == 1 else 4, position)
        if position + size > len(data):
            raise damaged("a message of its index is cut off")
        yield tag >> 3, data[position : position + size]
        position += size


def _varint(data: memoryview, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            break
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, position
    raise damaged("a number of its index is cut off")
