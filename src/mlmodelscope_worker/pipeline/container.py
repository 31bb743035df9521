"""The parts that an image file is made of, found without decoding a pixel.

A walk ends quietly where the data does: from the part that is missing at the end one sees that the file is cut off.
"""

import re
import struct

# In a scan a byte FF is followed by 00, a restart marker lies between two intervals, and FF may be repeated to fill.
_JPEG_MARKER = re.compile(b"\xff[\x01-\xcf\xd8-\xfe]")
_JPEG_LONELY = (0x01, 0xD8)  # markers without content
_TIFF_NUMBERS = {1: "B", 3: "H", 4: "I", 6: "b", 8: "h", 9: "i", 16: "Q", 17: "q"}


def jpeg_segments(data):
    """(marker, start, end) of each segment's content, through all scans, up to the end-of-image marker 0xD9."""
    at = 2
    while True:
        found = _JPEG_MARKER.search(data, at)
        if found is None:
            return
        at = found.end()
        marker = data[at - 1]
        if marker in _JPEG_LONELY:
            continue
        if marker == 0xD9:
            yield marker, at, at
            return
        if at + 2 > len(data):
            return
        (length,) = struct.unpack_from(">H", data, at)
        yield marker, at + 2, at + length
        at += max(2, length)


def png_chunks(data):
    """(name, start, end) of each whole chunk, its length and checksum included."""
    at = 8
    while at + 12 <= len(data):
        length, name = struct.unpack_from(">I4s", data, at)
        end = at + 12 + length
        if end > len(data):
            return
        yield name, at, end
        if name == b"IEND":
            return
        at = end


def webp_chunks(data):
    """(name, start, end) of each chunk's content."""
    at = 12
    while at + 8 <= len(data):
        name, length = struct.unpack_from("<4sI", data, at)
        yield name, at + 8, at + 8 + length
        at += 8 + length + length % 2


def gif_blocks(data):
    """(introducer, start, end) of each block: `!` is an extension, `,` a frame, `;` the end of the file."""
    if len(data) < 13:
        return
    at = 13 + _gif_table(data[10])
    while at < len(data):
        start, introducer = at, data[at : at + 1]
        if introducer == b";":
            yield introducer, start, at + 1
            return
        if introducer == b"\x00":  # some encoders leave one between blocks
            at += 1
            continue
        if introducer == b"!":
            at += 2
        elif introducer == b"," and at + 10 <= len(data):
            at += 11 + _gif_table(data[at + 9])
        else:
            return
        while at < len(data) and data[at]:
            at += 1 + data[at]
        if at >= len(data):
            return
        at += 1
        yield introducer, start, at


def _gif_table(flags):
    """Length of the colour table that these flags announce."""
    return 3 << (flags % 8 + 1) if flags >= 128 else 0


def tiff_numbers(data):
    """(tag, value, position, format) of each single whole number in the first directory; EXIF has the same form."""
    order = {b"II": "<", b"MM": ">"}.get(bytes(data[:2]))
    if order is None:
        return
    try:
        if struct.unpack_from(order + "H", data, 2) == (43,):  # BigTIFF
            (at,) = struct.unpack_from(order + "Q", data, 8)
            (entries,) = struct.unpack_from(order + "Q", data, at)
            at, head, length = at + 8, order + "HHQ", 20
        else:
            (at,) = struct.unpack_from(order + "I", data, 4)
            (entries,) = struct.unpack_from(order + "H", data, at)
            at, head, length = at + 2, order + "HHI", 12
        for entry in range(at, at + length * min(entries, 65535), length):
            tag, kind, count = struct.unpack_from(head, data, entry)
            if kind in _TIFF_NUMBERS and count == 1:
                position, form = entry + struct.calcsize(head), order + _TIFF_NUMBERS[kind]
                yield tag, struct.unpack_from(form, data, position)[0], position, form
    except (struct.error, OverflowError):
        return  # the directory lies, wholly or in part, behind the end of the data
