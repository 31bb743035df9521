"""The table of synsets in ImageNet's devkit: `meta.mat`, a MATLAB 5 file, read as data within bounds.

A file is a row of elements: type, length, bytes. A compressed element holds another. The table is one structure array
whose fields are matrices in the order of its elements, of which numbers and texts are read.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

from mlmodelscope.errors import DatasetError

_MOST_BYTES = 32 << 20
_MOST_ELEMENTS = 100_000
_MATRIX, _COMPRESSED, _STRUCT = 14, 15, 2
_NUMBERS = {1: "b", 2: "B", 3: "h", 4: "H", 5: "i", 6: "I", 7: "f", 9: "d", 12: "q", 13: "Q"}
_TEXT = {1, 2, 4, 16, 17}
_CLASSES = 1000


def synsets_by_id(path: Path) -> dict[int, str]:
    """{1: 'n02119789', …}: what the devkit's numbers stand for."""
    if not path.is_file():
        raise DatasetError(
            f"the devkit's numbers mean nothing without its meta.mat, which is not beside the list: {path}",
            hint="unpack the whole ILSVRC2012_devkit_t12.tar.gz",
        )
    try:
        data = path.read_bytes() if path.stat().st_size <= _MOST_BYTES else b""
        found = _table(data)
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror or error}") from None
    except (struct.error, zlib.error, ValueError, IndexError, KeyError, OverflowError, StopIteration):
        found = {}
    known = {number: synset for number, synset in found.items() if 1 <= number <= _CLASSES}
    if len(known) != _CLASSES or len(set(known.values())) != _CLASSES:
        raise DatasetError(f"{path} is not the devkit's table of {_CLASSES:,} classes, or is damaged")
    return known


def _table(data: bytes) -> dict[int, str]:
    order = {b"IM": "<", b"MI": ">"}[data[126:128]]
    for kind, body in _elements(data, 128, order):
        if kind == _COMPRESSED:
            opened = zlib.decompressobj()
            inner = opened.decompress(body, _MOST_BYTES)
            if opened.unconsumed_tail:
                raise ValueError("too large")
            kind, body = next(_elements(inner, 0, order))
        if kind == _MATRIX:
            found = _structure(body, order)
            if found:
                return found
    return {}


def _elements(data: bytes, at: int, order: str) -> Iterator[tuple[int, bytes]]:
    for _ in range(_MOST_ELEMENTS):
        if at + 8 > len(data):
            return
        kind, length = struct.unpack_from(f"{order}II", data, at)
        if kind >> 16:  # a small element has type and length in the first word, and its bytes in the second
            small = kind >> 16
            yield kind & 0xFFFF, data[at + 4 : at + 4 + min(small, 4)]
            at += 8
            continue
        if at + 8 + length > len(data):
            raise ValueError("cut off")
        yield kind, data[at + 8 : at + 8 + length]
        at += 8 + length + (-length % 8 if kind != _COMPRESSED else 0)


def _structure(body: bytes, order: str) -> dict[int, str]:
    parts = _elements(body, 0, order)
    flags = next(parts)[1]
    if flags[0 if order == "<" else 3] != _STRUCT:
        return {}
    sizes = struct.unpack(f"{order}{len(dimensions := next(parts)[1]) // 4}i", dimensions)
    next(parts)  # its name
    length = struct.unpack(f"{order}i", next(parts)[1][:4])[0]
    names = next(parts)[1]
    if not 0 < length <= 64:
        raise ValueError("no names of fields")
    fields = [names[at : at + length].rstrip(b"\0").decode("ascii") for at in range(0, len(names), length)]
    count = 1
    for size in sizes:
        count *= max(0, size)
    if not 0 < count <= _MOST_ELEMENTS // max(1, len(fields)):
        raise ValueError("too many")
    found = {}
    for _ in range(count):
        row = {field: next(parts)[1] for field in fields}
        found[int(_number(row["ILSVRC2012_ID"], order))] = _text(row["WNID"], order)
    return found


def _number(matrix: bytes, order: str) -> float:
    kind, data = _values(matrix, order)
    letter = _NUMBERS[kind]
    return float(struct.unpack(f"{order}{letter}", data[: struct.calcsize(letter)])[0])


def _text(matrix: bytes, order: str) -> str:
    kind, data = _values(matrix, order)
    if kind not in _TEXT:
        raise ValueError("no text")
    wide = kind in (4, 17)
    return data.decode("utf-16" + ("-le" if order == "<" else "-be") if wide else "ascii").strip("\0 ")


def _values(matrix: bytes, order: str) -> tuple[int, bytes]:
    parts = _elements(matrix, 0, order)
    for _ in range(3):
        next(parts)
    return next(parts)
