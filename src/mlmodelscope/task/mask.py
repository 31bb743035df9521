"""Masks and class maps in the standard library: the host shows them without numpy.

A plane is one byte for each pixel, row by row. Whole planes are computed with as one large integer, a byte for each
pixel, which Python does as fast as C.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mlmodelscope.task.png import write_palette

_MOST = 1 << 24
"""Pixels of a mask that is shown."""


def plane_of(mask: Any, height: int, width: int) -> bytes:
    """0 and 1 of a mask as COCO has it: polygons, or compressed run lengths. ValueError where it is damaged."""
    if not 0 < height * width <= _MOST or height < 0:
        raise ValueError(f"a mask of {width} x {height} pixels cannot be shown")
    if isinstance(mask, str | bytes):
        return _of_runs(mask.encode("ascii") if isinstance(mask, str) else mask, height, width)
    return _of_polygons(mask, height, width)


def _of_runs(counts: bytes, height: int, width: int) -> bytes:
    """COCO counts column by column, and packs each count as the difference from the one before the last."""
    runs: list[int] = []
    value = shift = 0
    for byte in counts:
        piece = byte - 48
        if not 0 <= piece < 64 or shift > 30:
            raise ValueError("the run lengths of a mask are damaged")
        value |= (piece & 31) << shift
        shift += 5
        if piece & 32:
            continue
        if piece & 16:
            value -= 1 << shift
        runs.append(value + (runs[-2] if len(runs) > 2 else 0))
        value = shift = 0
    if shift or any(run < 0 for run in runs) or sum(runs) != height * width:
        raise ValueError("the run lengths of a mask are damaged")
    columns = b"".join((b"\1" if at % 2 else b"\0") * run for at, run in enumerate(runs))
    return b"".join(columns[row::height] for row in range(height))


def _of_polygons(polygons: Sequence[Sequence[float]], height: int, width: int) -> bytes:
    """Pixels whose center lies inside of any of them."""
    plane = bytearray(height * width)
    for numbers in polygons:
        corners = list(zip(numbers[::2], numbers[1::2], strict=False))
        for row in range(height):
            down, crossed = row + 0.5, []
            for (x, y), (other_x, other_y) in zip(corners, corners[1:] + corners[:1], strict=True):
                if (y <= down) != (other_y <= down):
                    crossed.append(x + (down - y) * (other_x - x) / (other_y - y))
            crossed.sort()
            for start, end in zip(crossed[::2], crossed[1::2], strict=False):
                first, last = (min(width, max(0, round(each))) for each in (start, end))
                plane[row * width + first : row * width + last] = b"\1" * (last - first)
    return bytes(plane)


def contour(plane: bytes, width: int, height: int, thick: int = 1) -> int:
    """1 in the byte of each pixel that another value lies beside, so many pixels wide; as one integer."""
    levels, down = int.from_bytes(plane, "little"), 8 * width
    inside = int.from_bytes((b"\1" * (width - 1) + b"\0") * height, "little")
    edge = _is_other(levels ^ levels >> 8, len(plane)) & inside
    if height > 1:
        upper = (1 << down * (height - 1)) - 1
        edge |= _is_other((levels ^ levels >> down) & upper, len(plane))
    edge |= edge << 8 & inside << 8  # on either side of the line
    edge |= edge << down
    for _ in range(thick - 1):
        edge |= (edge & inside) << 8 | edge << down
    return edge & (1 << 8 * len(plane)) - 1


def _is_other(difference: int, count: int) -> int:
    """1 for each byte that is not 0."""
    for step in (4, 2, 1):
        difference |= difference >> step
    return difference & int.from_bytes(b"\1" * count, "little")


def thickness(width: int, height: int) -> int:
    """Of a line that can be seen where the picture is shown a few hundred pixels wide."""
    return max(1, round(max(width, height) / 250))


def mask_png(plane: bytes, width: int, height: int, color: str, is_filled: bool) -> bytes:
    """A thing's pixels: its edge, and inside of that a tint, or nothing where only the edge is wanted."""
    own = int.from_bytes(plane, "little")
    edge = contour(plane, width, height, thickness(width, height)) & own
    levels = (own + edge).to_bytes(len(plane), "little")
    return write_palette(levels, width, height, {1: (color, 110 if is_filled else 0), 2: (color, 255)})


def map_png(plane: bytes, width: int, height: int, colors: Mapping[int, str], is_filled: bool) -> bytes:
    """A class for each pixel as a tint, or as the line between classes. A class without a color is not drawn."""
    if is_filled:
        return write_palette(plane, width, height, {number: (color, 150) for number, color in colors.items()})
    free = next((number for number in range(256) if number not in colors), 0)
    chosen = 255 * contour(plane, width, height, thickness(width, height))
    nothing = int.from_bytes(bytes([free]) * len(plane), "little")
    levels = int.from_bytes(plane, "little") & chosen | nothing & ~chosen
    opaque = {number: (color, 255) for number, color in colors.items() if number != free}
    return write_palette(levels.to_bytes(len(plane), "little"), width, height, opaque)
