"""PNG files of one byte for each pixel, or three, in the standard library: the host shows maps and pictures."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping

from mlmodelscope.task.levels import Levels, levels_of_pairs

_MAGIC = b"\x89PNG\r\n\x1a\n"
_MOST = 1 << 24
"""Pixels: each takes several bytes and a step of Python on its way to a page."""
_GRAY, _RGB, _PALETTE = 0, 2, 3
_LEVELS = ((8, _GRAY), (8, _PALETTE), (16, _GRAY))
"""Bits and kind of pictures that have a number for each pixel."""


def read_levels(content: bytes) -> Levels | None:
    """Gray levels of 8 or 16 bits, or palette indices; None where it is another kind of PNG, or damaged."""
    try:
        chunks = list(_chunks(content))
        width, height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[0][1])
        if (depth, color) not in _LEVELS or interlaced or not 0 < width * height <= _MOST:
            return None
        stride, unpacker = width * depth // 8, zlib.decompressobj()
        lines = unpacker.decompress(b"".join(part for kind, part in chunks if kind == b"IDAT"), (stride + 1) * height)
        if len(lines) != (stride + 1) * height:
            return None
        plain = _plain(lines, stride, depth // 8)
        return Levels(plain, width, height) if depth == 8 else levels_of_pairs(plain, width, height)
    except (struct.error, zlib.error, IndexError, ValueError):
        return None


def write_png(pixels: bytes, width: int, height: int, channels: int) -> bytes:
    """The file of such pixels, gray or RGB."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0 if channels == 1 else 2, 0, 0, 0)
    return _file((b"IHDR", header), (b"IDAT", zlib.compress(_lines(pixels, width * channels))))


def write_palette(plane: bytes, width: int, height: int, colors: Mapping[int, tuple[str, int]]) -> bytes:
    """The file of a byte for each pixel that stands for a color, as `#rrggbb` and its opacity of 0 to 255."""
    known = [colors.get(number, ("#000000", 0)) for number in range(256)]
    return _file(
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, _PALETTE, 0, 0, 0)),
        (b"PLTE", b"".join(bytes.fromhex(color[1:]) for color, _ in known)),
        (b"tRNS", bytes(opacity for _, opacity in known)),
        (b"IDAT", zlib.compress(_lines(plane, width), 6)),
    )


def _lines(pixels: bytes, stride: int) -> bytes:
    """Each row behind its filter: none."""
    return b"".join(b"\0" + pixels[at : at + stride] for at in range(0, len(pixels), stride))


def value_range(content: bytes) -> tuple[int, int] | None:
    """The least and the greatest byte of a PNG as a worker writes it; None of any other."""
    try:
        chunks = list(_chunks(content))
        width, height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[0][1])
        if (depth, interlaced) != (8, 0) or color not in (_GRAY, _RGB) or not 0 < width * height <= _MOST:
            return None
        stride = 1 + width * (1 if color == _GRAY else 3)
        packed = b"".join(part for kind, part in chunks if kind == b"IDAT")
        lines = zlib.decompressobj().decompress(packed, stride * height)
    except (struct.error, zlib.error, IndexError, ValueError):
        return None
    if len(lines) != stride * height or any(lines[::stride]):
        return None
    rows = [lines[at + 1 : at + stride] for at in range(0, len(lines), stride)]
    return min(map(min, rows)), max(map(max, rows))


def _file(*parts: tuple[bytes, bytes]) -> bytes:
    return _MAGIC + b"".join(
        struct.pack(">I", len(part)) + kind + part + struct.pack(">I", zlib.crc32(kind + part))
        for kind, part in (*parts, (b"IEND", b""))
    )


def _chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    if content[:8] != _MAGIC:
        raise ValueError("not a PNG file")
    at = 8
    while at + 8 <= len(content):
        length, kind = struct.unpack_from(">I4s", content, at)
        yield kind, content[at + 8 : at + 8 + length]
        at += 12 + length


def _plain(lines: bytes, stride: int, size: int) -> bytes:
    """Pixels of so many bytes without the filters of their rows."""
    before, found = bytes(stride), []
    for start in range(0, len(lines), stride + 1):
        before = _row(lines[start], lines[start + 1 : start + 1 + stride], before, size)
        found.append(before)
    return b"".join(found)


def _row(kind: int, line: bytes, above: bytes, size: int) -> bytes:
    if kind == 0:
        return line
    if kind == 2:
        return bytes((each + up) & 255 for each, up in zip(line, above, strict=True))
    if kind not in (1, 3, 4):
        raise ValueError("a row has an unknown filter")
    found, above = bytearray(size) + line, bytes(size) + above  # left of the first pixel is nothing
    for at in range(size, len(found)):
        left, up = found[at - size], above[at]
        expected = left if kind == 1 else (left + up) // 2 if kind == 3 else _paeth(left, up, above[at - size])
        found[at] = (found[at] + expected) & 255
    return bytes(found[size:])


def _paeth(left: int, up: int, corner: int) -> int:
    guess = left + up - corner
    by_left, by_up, by_corner = abs(guess - left), abs(guess - up), abs(guess - corner)
    if by_left <= by_up and by_left <= by_corner:
        return left
    return up if by_up <= by_corner else corner
