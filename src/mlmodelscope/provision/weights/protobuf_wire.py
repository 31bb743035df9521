"""Protocol-buffer messages as a list of fields: enough to change one field and keep every other byte."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_MOST_TAG = 0xFFFF_FFFF
"""Google's readers drop what is above: a larger tag would be one field to them and another one to us."""

# A field costs us some hundred bytes and may take two in the file: without a limit, small files grow large.
MAX_FIELDS = 1 << 20


class WireError(ValueError):
    """These bytes are not such a message; whoever knows the file turns this into an error with its name."""


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One field as it stands in the message; `raw` includes the tag, so writing it back changes nothing."""

    number: int
    kind: int
    value: int | memoryview
    raw: memoryview

    def content(self) -> memoryview:
        """The bytes of a text, a byte string or a nested message."""
        if isinstance(self.value, int):
            raise WireError(f"field {self.number} should be bytes and is a number")
        return self.value

    def text(self) -> str:
        return bytes(self.content()).decode(errors="replace")

    def integer(self) -> int:
        if not isinstance(self.value, int):
            raise WireError(f"field {self.number} should be a number and is not")
        return signed(self.value)

    def integers(self) -> list[int]:
        """An integer field: one number, or many packed into one byte string."""
        if isinstance(self.value, int):
            return [self.integer()]
        numbers, position = [], 0
        while position < len(self.value):
            number, position = read_varint(self.value, position)
            numbers.append(signed(number))
        return numbers


def read_fields(message: memoryview) -> Iterator[Field]:
    position = count = 0
    while position < len(message):
        start, count = position, count + 1
        if count > MAX_FIELDS:
            raise WireError(f"a message has more than {MAX_FIELDS:,} fields")
        tag, position = read_varint(message, position)
        number, kind = tag >> 3, tag & 7
        value: int | memoryview
        if kind == VARINT:
            value, position = read_varint(message, position)
        elif kind in (FIXED32, FIXED64):
            size = 4 if kind == FIXED32 else 8
            value, position = message[position : position + size], position + size
        elif kind == BYTES:
            size, position = read_varint(message, position)
            value, position = message[position : position + size], position + size
        else:
            raise WireError(f"byte {start:,} starts no field")
        if position > len(message) or number == 0 or tag > _MOST_TAG:
            raise WireError(f"the field at byte {start:,} is cut off or malformed")
        yield Field(number, kind, value, message[start:position])


def read_varint(message: memoryview, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(message):
            break
        byte = message[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, position
    raise WireError("a number is cut off or too long")


def signed(value: int) -> int:
    """Protocol buffers write negative integers as their 64-bit complement."""
    return value - (1 << 64) if value >> 63 else value


def write_varint(value: int) -> bytes:
    value &= 0xFFFF_FFFF_FFFF_FFFF
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


def write_bytes_header(number: int, size_bytes: int) -> bytes:
    """What stands before the bytes of a text, a byte string or a nested message."""
    return write_varint(number << 3 | BYTES) + write_varint(size_bytes)
