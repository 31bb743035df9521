"""What ran when, in rows above each other on one scale of time: for looking at two runs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlmodelscope.report.plot.axis import Axis, scale, tick_labels
from mlmodelscope.report.plot.bars import kinds_of
from mlmodelscope.report.plot.ink import SMALL, WIDTH, box, cut, legend, line, nothing, page, text, wide

_HEIGHT, _GAP = 46.0, 34.0


@dataclass(frozen=True)
class Piece:
    """Something that ran from here to there."""

    start: float
    end: float
    label: str
    group: str = ""
    tip: str = ""


def lanes(title: str, rows: Sequence[tuple[str, Sequence[Piece]]], x: Axis) -> str:
    """Each row begins at zero; pieces of one group have one colour, and carry their names where these fit."""
    pieces = [piece for _, row in rows for piece in row]
    if not pieces:
        return nothing(title)
    kinds, names = kinds_of([piece.group for piece in pieces])
    marks, used = legend(names, 20, 56, WIDTH - 20)
    top = 62 + used
    foot = top + len(rows) * (_HEIGHT + _GAP)
    across = scale(x, [0.0, *(piece.end for piece in pieces)], 20, WIDTH - 30, from_zero=True)
    parts = list(marks)
    for tick, label in zip(across.ticks, tick_labels(across), strict=True):
        parts.append(line(across(tick), top, across(tick), foot, "grid"))
        parts.append(text(across(tick), foot + 16, label, "faint", "middle"))
    parts.append(text(WIDTH / 2, foot + 38, x.name, "faint", "middle"))
    for place, (name, row) in enumerate(rows):
        y = top + place * (_HEIGHT + _GAP) + 22
        whole = max((piece.end for piece in row), default=0.0)
        parts.append(text(20, y - 7, f"{cut(name, 620)}: {x.spell(whole)}", "name"))
        for piece in row:
            left, right = across(piece.start), across(piece.end)
            tip = piece.tip or f"{piece.label}: {x.spell(piece.end - piece.start)}"
            width = max(right - left - (0.6 if right - left > 2 else 0), 0.4)
            parts.append(box(left, y, width, _HEIGHT, f"mark {kinds[piece.group]}", tip))
            if wide(piece.label, SMALL) < right - left - 8:
                parts.append(text(left + 4, y + _HEIGHT / 2 + 4, piece.label, "cell over"))
    return page(title, foot + 52, parts)
