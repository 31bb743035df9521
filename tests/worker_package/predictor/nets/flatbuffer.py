"""FlatBuffers written by hand, front to back: a table comes before what it points at."""

import struct
from typing import Any, Dict, List, Tuple

Field = Tuple[str, Any]
"""A number with its `struct` form, or ("table" | "tables" | "numbers" | "bytes" | "text", value)."""


def write(root: Dict[int, Field], mark: bytes) -> bytes:
    out = bytearray(4) + mark
    struct.pack_into("<I", out, 0, _table(out, root))
    return bytes(out)


def _table(out: bytearray, fields: Dict[int, Field]) -> int:
    """Its vtable, itself, then what it points at; answers where it is."""
    slots, size = {}, 4
    for number in sorted(fields):
        slots[number] = size  # every field gets four bytes: small tables, no care for order
        size += 4
    offsets = [slots.get(number, 0) for number in range(max(slots, default=-1) + 1)]
    _align(out, 4, len(offsets) * 2 + 4)
    vtable = len(out)
    out += struct.pack("<%dH" % (len(offsets) + 2), 4 + 2 * len(offsets), size, *offsets)
    start = len(out)
    out += struct.pack("<i", start - vtable) + bytes(size - 4)
    for number, (form, value) in sorted(fields.items()):
        place = start + slots[number]
        if form in _WRITERS:
            at = _WRITERS[form](out, value)
            struct.pack_into("<I", out, place, at - place)
        else:
            struct.pack_into("<" + form, out, place, value)
    return start


def _tables(out: bytearray, tables: List[Dict[int, Field]]) -> int:
    _align(out, 4)
    start = len(out)
    out += struct.pack("<I", len(tables)) + bytes(4 * len(tables))
    for index, fields in enumerate(tables):
        place = start + 4 + 4 * index
        struct.pack_into("<I", out, place, _table(out, fields) - place)
    return start


def _numbers(out: bytearray, numbers: List[int]) -> int:
    _align(out, 4)
    start = len(out)
    out += struct.pack("<I%di" % len(numbers), len(numbers), *numbers)
    return start


def _bytes(out: bytearray, content: bytes) -> int:
    _align(out, 16, 4)  # weights are used where they lie
    start = len(out)
    out += struct.pack("<I", len(content)) + content
    return start


def _text(out: bytearray, text: str) -> int:
    start = _bytes(out, text.encode())
    out += b"\0"
    return start


def _align(out: bytearray, to: int, ahead: int = 0) -> None:
    """So that what begins `ahead` bytes from here is aligned."""
    out += bytes(-(len(out) + ahead) % to)


_WRITERS = {"table": _table, "tables": _tables, "numbers": _numbers, "bytes": _bytes, "text": _text}
