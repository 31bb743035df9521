"""Texts with what matters in them marked: entities, and words that an answer changed. Templates draw the pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from mlmodelscope.task.shape import DifferenceShape, Shape, Side, SpansShape, TextShape

_MOST = 4000
"""Characters of a text that are shown."""


class Piece(NamedTuple):
    """Some words of a text."""

    kind: Literal["plain", "mark", "del", "ins", "note"]
    text: str
    note: str = ""
    """What it is marked as."""


Paragraph = tuple[Piece, ...]


def marked_texts(shapes: Sequence[Shape], side: Side) -> tuple[Paragraph, ...]:
    """What one side says, a paragraph for each text; none where it says nothing in words."""
    found = (_pieces(each) for each in shapes if each.side == side)
    return tuple(_shortened(pieces) for pieces in found if pieces is not None)


def _remarked(shape: SpansShape | TextShape, pieces: list[Piece]) -> list[Piece]:
    """With what is special about it in front, where it is seen however long the text is."""
    told = ", ".join(filter(None, (shape.name if isinstance(shape, TextShape) else "", shape.remark)))
    return [Piece("note", told), *pieces] if told else pieces


def has_texts(shapes: Sequence[Shape]) -> bool:
    return any(isinstance(each, SpansShape | DifferenceShape | TextShape) for each in shapes)


def _pieces(shape: Shape) -> list[Piece] | None:
    if isinstance(shape, SpansShape):
        return _remarked(shape, _spans(shape))
    if isinstance(shape, DifferenceShape):
        return [piece for part in shape.parts for piece in _changed(*part)]
    return _remarked(shape, [Piece("plain", shape.text)]) if isinstance(shape, TextShape) else None


def _spans(shape: SpansShape) -> list[Piece]:
    if not shape.text:  # it is not known here, only where its spans lie
        return [Piece("plain", ", ".join(f"{name} {start}–{end}" for start, end, name, _ in shape.spans[:100]))]
    pieces = ((text, ", ".join(dict.fromkeys(names))) for text, names in shape.pieces())
    return [Piece("mark", text, names) if names else Piece("plain", text) for text, names in pieces]


def _changed(change: str, due: str, said: str) -> list[Piece]:
    if change == "equal":
        return [Piece("plain", f"{said} ")]
    found = [Piece("del", due), Piece("plain", " ")] if due else []
    return [*found, Piece("ins", said), Piece("plain", " ")] if said else found


def _shortened(pieces: Sequence[Piece]) -> Paragraph:
    found: list[Piece] = []
    left = _MOST
    for each in pieces:
        found.append(each._replace(text=each.text[:left]))
        left -= len(each.text)
        if left < 0:
            return (*found, Piece("plain", "…"))
    return tuple(found)
