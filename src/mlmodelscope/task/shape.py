"""What there is to see of a sample: what is true of it and what was answered, as shapes that lie over its picture.

A task makes them (`Task.shapes`); report, pages and `predict` draw whatever there is. Places are in pixels of the
original.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Side = Literal["truth", "answer"]
Named = Callable[[int], str]
"""A class's name, by its number."""
SHOWN_ABOVE = 0.3
"""Answers with a lower score are hidden at first: detectors give many of them."""
COLORS = ("#e4572e", "#17bebb", "#ffc914", "#7b5ea7", "#2e86ab", "#a5be00", "#f15bb5", "#8d6a4f")
"""Told apart in light and in dark, and by most who see colors differently; the pages have the same."""


@dataclass(frozen=True, slots=True)
class BoxShape:
    """A thing, by the rectangle around it."""

    side: Side
    left: float
    top: float
    right: float
    bottom: float
    name: str = ""
    score: float | None = None
    remark: str = ""
    """What is special about it: `crowd`, `difficult`."""
    kind: Literal["box"] = "box"


@dataclass(frozen=True, slots=True)
class MaskShape:
    """Pixels of one thing, or of all classes."""

    side: Side
    png: str
    """A PNG in base64 that is stretched over the whole picture as it is: in color, transparent where nothing is."""
    legend: tuple[tuple[str, str], ...] = ()
    """(name, color) of what is in it."""
    score: float | None = None
    kind: Literal["mask"] = "mask"

    @property
    def name(self) -> str:
        return ", ".join(name for name, _ in self.legend)


@dataclass(frozen=True, slots=True)
class PointsShape:
    """Places that belong together, such as the joints of a person."""

    side: Side
    points: tuple[tuple[float, float], ...]
    lines: tuple[tuple[int, int], ...] = ()
    """Which of them are connected, by their places in `points`."""
    name: str = ""
    score: float | None = None
    kind: Literal["points"] = "points"


@dataclass(frozen=True, slots=True)
class PictureShape:
    """A picture of its own, such as an enhanced one."""

    side: Side
    png: str
    """A PNG in base64."""
    name: str = ""
    score: float | None = None
    kind: Literal["picture"] = "picture"


@dataclass(frozen=True, slots=True)
class TextShape:
    """Words."""

    side: Side
    text: str
    name: str = ""
    score: float | None = None
    kind: Literal["text"] = "text"


Shape = BoxShape | MaskShape | PointsShape | PictureShape | TextShape


_KINDS: dict[str, type[Shape]] = {
    "box": BoxShape,
    "mask": MaskShape,
    "points": PointsShape,
    "picture": PictureShape,
    "text": TextShape,
}


def read_shapes(plain: Sequence[Mapping[str, Any]]) -> tuple[Shape, ...]:
    """As JSON had them; kinds of a newer release are left out."""
    return tuple(_KINDS[each["kind"]](**each) for each in plain if each["kind"] in _KINDS)


def is_shown(shape: Shape, above: float = SHOWN_ABOVE) -> bool:
    """Truth always is, and answers without a score."""
    return shape.side == "truth" or shape.score is None or shape.score >= above


def colors_of(shapes: Sequence[Shape]) -> dict[str, str]:
    """A color for each name, in the order in which they come."""
    names = dict.fromkeys(each.name for each in shapes)
    return {name: COLORS[place % len(COLORS)] for place, name in enumerate(names)}


def summary(shapes: Sequence[Shape], side: Side, above: float = SHOWN_ABOVE) -> str:
    """In a few words: `2 person, dog`."""
    shown = [each for each in shapes if each.side == side and is_shown(each, above)]
    words = [each.text if isinstance(each, TextShape) else each.name or each.kind for each in shown]
    return ", ".join(f"{count} {word}" if count > 1 else word for word, count in Counter(words).most_common())


def class_map(numbers: bytes, width: int, height: int, named: Named, void: Sequence[int] = ()) -> MaskShape:
    """A class for each pixel, row by row, as a mask of an answer; `void` are numbers that are not drawn."""
    found = [number for number in sorted(set(numbers)) if number not in void]
    colors = {number: COLORS[number % len(COLORS)] for number in found}
    palette = b"".join(bytes.fromhex(colors.get(number, "#000000")[1:]) for number in range(256))
    opacity = bytes(150 if number in colors else 0 for number in range(256))
    rows = b"".join(b"\0" + numbers[at : at + width] for at in range(0, width * height, width))
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", palette),
        (b"tRNS", opacity),
        (b"IDAT", zlib.compress(rows, 9)),
        (b"IEND", b""),
    ]
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in parts
    )
    legend = tuple((named(number), colors[number]) for number in found)
    return MaskShape("answer", base64.b64encode(png).decode("ascii"), legend)


def named_by(names: Sequence[str] | Mapping[int, str]) -> Named:
    """Names by number; a number without one is called by it."""
    known = dict(enumerate(names)) if not isinstance(names, Mapping) else names
    return lambda number: known.get(number) or f"class {number}"
