"""Parts of a whole: a ring, with each part's number in the legend beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.sax.saxutils import escape

from mlmodelscope.report.plot.axis import Axis
from mlmodelscope.report.plot.bars import lump
from mlmodelscope.report.plot.ink import REST, SMALL, box, colour, cut, nothing, page, text

_RADIUS, _HOLE = 118.0, 74.0


def shares(title: str, found: Sequence[tuple[str, float]], unit: str) -> str:
    """Largest first, clockwise from the top; small ones beyond the eighth are drawn as one."""
    positive = sorted((each for each in found if each[1] > 0), key=lambda each: -each[1])
    total = sum(value for _, value in positive)
    if not total:
        return nothing(title)
    together: dict[str, float] = {}
    for name, value in positive:
        together[name] = together.get(name, 0.0) + value
    parts = {name: values[0] for name, values in lump({name: [value] for name, value in together.items()}).items()}
    axis = Axis("", unit)
    row = 26
    height = max(2 * _RADIUS, row * len(parts)) + 84
    middle = 52 + (height - 84) / 2 + 8
    drawn, at = [], 0.0
    top = middle - row * len(parts) / 2 + row / 2 + 4
    for index, (name, value) in enumerate(parts.items()):
        kind = REST if name.startswith("other (") else colour(index)
        share = value / total
        tip = f"{name}: {axis.spell(value)} ({100 * share:.1f} %)"
        drawn.append(_arc(170, middle, at, at + share, f"mark {kind}", tip))
        y = top + row * index
        drawn.append(box(340, y - 10, 11, 11, kind, tip, 2))
        drawn.append(text(360, y, cut(name, 300)))
        drawn.append(text(760, y, f"{100 * share:.1f} %", "", "end"))
        drawn.append(text(900, y, axis.spell(value), "faint", "end"))
        at += share
    drawn.append(text(170, middle + 2, axis.spell(total), "title", "middle"))
    drawn.append(text(170, middle + 8 + SMALL, "in all", "faint", "middle"))
    return page(title, height, drawn)


def _arc(x: float, y: float, start: float, end: float, kind: str, tip: str) -> str:
    end = min(end, start + 0.99999)  # an arc that ends where it begins is nothing

    def at(share: float, radius: float) -> str:
        angle = 2 * math.pi * share
        return f"{x + radius * math.sin(angle):.2f} {y - radius * math.cos(angle):.2f}"

    large = int(end - start > 0.5)
    path = (
        f"M{at(start, _RADIUS)}A{_RADIUS:g} {_RADIUS:g} 0 {large} 1 {at(end, _RADIUS)}"
        f"L{at(end, _HOLE)}A{_HOLE:g} {_HOLE:g} 0 {large} 0 {at(start, _HOLE)}Z"
    )
    return f'<path class="{kind} gap" stroke-width="1.5" d="{path}"><title>{escape(tip)}</title></path>'
