"""FlatBuffers read in place: tables whose fields are found by number, every offset checked before it is followed."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from mlmodelscope.model_file.limit import MAX_NAME_BYTES, Budget, damaged

_FORMATS = {
    "bool": "<?",
    "int8": "<b",
    "uint8": "<B",
    "uint16": "<H",
    "int32": "<i",
    "uint32": "<I",
    "int64": "<q",
    "uint64": "<Q",
    "float32": "<f",
}
_SIZES = {kind: struct.calcsize(form) for kind, form in _FORMATS.items()}


@dataclass(frozen=True, slots=True)
class Table:
    data: memoryview
    position: int
    budget: Budget

    def integer(self, number: int, kind: str, default: int = 0) -> int:
        place = self._place(number)
        return default if place is None else int(_scalar(self.data, place, kind))

    def text(self, number: int, limit_bytes: int = MAX_NAME_BYTES) -> str:
        place = self._follow(number)
        if place is None:
            return ""
        size = int(_scalar(self.data, place, "uint32"))
        if size > limit_bytes or place + 4 + size > len(self.data):
            raise damaged(f"a text of {size:,} bytes stands where a short one belongs")
        return bytes(self.data[place + 4 : place + 4 + size]).decode(errors="replace")

    def table(self, number: int) -> Table | None:
        place = self._follow(number)
        return None if place is None else self._at(place)

    def tables(self, number: int) -> Iterator[Table]:
        """A vector of tables."""
        place, count = self._vector(number, 4)
        for index in range(count):
            slot = place + 4 * index
            yield self._at(slot + int(_scalar(self.data, slot, "uint32")))

    def integers(self, number: int, kind: str, most: int) -> tuple[int, ...]:
        return tuple(map(int, self._numbers(number, kind, most)))

    def floats(self, number: int, most: int) -> tuple[float, ...]:
        return tuple(map(float, self._numbers(number, "float32", most)))

    def content(self, number: int) -> memoryview:
        """A vector of bytes, as a view."""
        place, count = self._vector(number, 1)
        return self.data[place : place + count]

    def _numbers(self, number: int, kind: str, most: int) -> Iterator[float]:
        place, count = self._vector(number, _SIZES[kind])
        if count > most:
            raise damaged(f"a list has {count:,} numbers, and {most:,} would be many")
        self.budget.spend(count)
        return (_scalar(self.data, place + index * _SIZES[kind], kind) for index in range(count))

    def _vector(self, number: int, size: int) -> tuple[int, int]:
        place = self._follow(number)
        if place is None:
            return 0, 0
        count = int(_scalar(self.data, place, "uint32"))
        if place + 4 + count * size > len(self.data):
            raise damaged("a list reaches beyond the end of the file")
        return place + 4, count

    def _follow(self, number: int) -> int | None:
        place = self._place(number)
        return None if place is None else place + int(_scalar(self.data, place, "uint32"))

    def _place(self, number: int) -> int | None:
        """Where the field is; None where the table does not have it."""
        vtable = self.position - int(_scalar(self.data, self.position, "int32"))
        size = int(_scalar(self.data, vtable, "uint16"))
        slot = 4 + 2 * number
        if slot + 2 > size:
            return None
        offset = int(_scalar(self.data, vtable + slot, "uint16"))
        return self.position + offset if offset else None

    def _at(self, place: int) -> Table:
        self.budget.spend()
        return Table(self.data, place, self.budget)


def root_table(data: memoryview, budget: Budget) -> Table:
    return Table(data, int(_scalar(data, 0, "uint32")), budget)


def _scalar(data: memoryview, place: int, kind: str) -> float:
    if place < 0 or place + _SIZES[kind] > len(data):
        raise damaged("an offset points outside the file")
    value: float = struct.unpack_from(_FORMATS[kind], data, place)[0]
    return value
