"""Protocol-buffer messages read field by field, without the schema compiler and without touching what is skipped.

The bytes of a field are a view, so weights of gigabytes in a mapped file cost nothing until somebody looks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mlmodelscope.model_file.limit import MAX_NAME_BYTES, Budget, damaged

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_MOST_TAG = 0xFFFF_FFFF
"""Google's readers drop what is above: a larger tag would be one field to them and another one to us."""


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    number: int
    kind: int
    value: int | memoryview

    def integer(self) -> int:
        if not isinstance(self.value, int):
            raise damaged(f"field {self.number} should be a number and is not")
        # Negative numbers are written as their 64-bit complement.
        return self.value - (1 << 64) if self.value >> 63 else self.value

    def content(self) -> memoryview:
        if self.kind != BYTES or isinstance(self.value, int):
            raise damaged(f"field {self.number} should be bytes and is a number")
        return self.value

    def text(self, limit_bytes: int = MAX_NAME_BYTES) -> str:
        content = self.content()
        if len(content) > limit_bytes:
            raise damaged(f"a text of {len(content):,} bytes stands where a short one belongs")
        return bytes(content).decode(errors="replace")


@dataclass(frozen=True, slots=True)
class Message:
    data: memoryview
    budget: Budget

    def fields(self) -> Iterator[Field]:
        data, position, end = self.data, 0, len(self.data)
        while position < end:
            self.budget.spend()
            start = position
            tag, position = read_varint(data, position)
            number, kind = tag >> 3, tag & 7
            value: int | memoryview
            if kind == VARINT:
                value, position = read_varint(data, position)
            elif kind == BYTES:
                size, position = read_varint(data, position)
                value, position = data[position : position + size], position + size
            elif kind in (FIXED32, FIXED64):
                size = 4 if kind == FIXED32 else 8
                value, position = data[position : position + size], position + size
            else:
                raise damaged(f"byte {start:,} of a message starts no field")
            if position > end or number == 0 or tag > _MOST_TAG:
                raise damaged(f"the field at byte {start:,} of a message is cut off or malformed")
            yield Field(number, kind, value)

    def of(self, field: Field) -> Message:
        """The message that is nested in one of its fields."""
        return Message(field.content(), self.budget)

    def all(self, number: int) -> Iterator[Message]:
        return (self.of(field) for field in self.fields() if field.number == number)

    def first(self, number: int) -> Message | None:
        return next(self.all(number), None)

    def text(self, number: int, limit_bytes: int = MAX_NAME_BYTES) -> str:
        """The last field of that number, as the format's rules want it; empty where there is none."""
        found = [field for field in self.fields() if field.number == number]
        return found[-1].text(limit_bytes) if found else ""

    def integer(self, number: int) -> int | None:
        found = [field for field in self.fields() if field.number == number]
        return found[-1].integer() if found else None

    def integers(self, number: int, most: int) -> list[int]:
        """Repeated integers, one in each field or packed into one; refused when there are more than `most`."""
        numbers: list[int] = []
        for field in self.fields():
            if field.number != number:
                continue
            if isinstance(field.value, int):
                numbers.append(field.integer())
            else:
                position = 0
                while position < len(field.value) and len(numbers) <= most:
                    value, position = read_varint(field.value, position)
                    numbers.append(value - (1 << 64) if value >> 63 else value)
            if len(numbers) > most:
                raise damaged(f"a list has more than {most:,} numbers")
        return numbers

    def map(self, number: int) -> Iterator[tuple[str, Message]]:
        """A map field: its entries are messages of a key and a value."""
        for entry in self.all(number):
            key, value = "", Message(memoryview(b""), self.budget)
            for field in entry.fields():
                if field.number == 1:
                    key = field.text()
                elif field.number == 2:
                    value = self.of(field)
            yield key, value


def read_varint(data: memoryview, position: int) -> tuple[int, int]:
    value = shift = 0
    end = min(len(data), position + 10)
    while position < end:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, position
        shift += 7
    raise damaged("a number is cut off or too long")
