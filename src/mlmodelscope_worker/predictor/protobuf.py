"""Protocol buffers by hand: enough to see what a model file is and what its layers are called, and to add to it.

Frameworks bring their own reader and keep it to themselves; some crash on a file that is none of theirs.
"""

import mmap
import struct

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MOST_TAG = 0xFFFFFFFF
"""Google's readers drop what is above: a larger tag would be one field to them and another one to us."""


class Damaged(ValueError):
    """The bytes are no such message."""


def view(path):
    """A file's bytes, read from the disk where somebody looks at them."""
    with open(path, "rb") as file:
        try:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except ValueError:
            raise Damaged("the file is empty")


def fields(data):
    """(number, value) of each field: a number, or a view of its bytes."""
    position, end = 0, len(data)
    while position < end:
        tag, position = _varint(data, position)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, position = _varint(data, position)
        elif kind in (_BYTES, _FIXED32, _FIXED64):
            size = 4 if kind == _FIXED32 else 8
            if kind == _BYTES:
                size, position = _varint(data, position)
            value, position = data[position : position + size], position + size
        else:
            raise Damaged("byte %d of a message starts no field" % position)
        if position > end or number == 0 or tag > _MOST_TAG:
            raise Damaged("the field that ends at byte %d is cut off or malformed" % position)
        yield number, value


def each(data, number):
    """The fields of that number which hold bytes: messages and texts."""
    return [value for found, value in fields(data) if found == number and isinstance(value, memoryview)]


def text(data, number):
    found = each(data, number)
    return bytes(found[-1]).decode("utf-8", "replace") if found else ""


def integer(data, number, default=0):
    found = [value for which, value in fields(data) if which == number and isinstance(value, int)]
    value = found[-1] if found else default
    return value - (1 << 64) if value >> 63 else value  # negative numbers are written as their complement


def integers(data, number):
    """Repeated numbers, one in each field or packed into one."""
    found = []
    for which, value in fields(data):
        if which == number and isinstance(value, int):
            found.append(value)
        elif which == number:
            position = 0
            while position < len(value):
                one, position = _varint(value, position)
                found.append(one)
    return [value - (1 << 64) if value >> 63 else value for value in found]


def write(number, content):
    """A field with bytes or text in it, or with a number that is not negative."""
    if isinstance(content, int):
        return _write_varint(number << 3 | _VARINT) + _write_varint(content)
    if isinstance(content, float):
        return _write_varint(number << 3 | _FIXED32) + struct.pack("<f", content)
    content = content.encode("utf-8") if isinstance(content, str) else bytes(content)
    return _write_varint(number << 3 | _BYTES) + _write_varint(len(content)) + content


def _varint(data, position):
    value = shift = 0
    while True:
        if position >= len(data) or shift > 63:
            raise Damaged("a number is cut off or too long")
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position
        shift += 7


def _write_varint(value):
    written = bytearray()
    while value > 127:
        written.append(value & 127 | 128)
        value >>= 7
    written.append(value)
    return bytes(written)
