"""Marks in a field of two axes, with lines where there are some."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from mlmodelscope.report.plot.axis import Axis, Scale
from mlmodelscope.report.plot.frame import Frame, add_x_axis, make_frame
from mlmodelscope.report.plot.ink import LIGHT, REST, colour, nothing
from mlmodelscope.report.plot.place import Box, place_names

_SMALLEST, _LARGEST = 4.5, 26.0


@dataclass(frozen=True)
class Mark:
    x: float
    y: float
    label: str = ""
    group: str = ""
    size: float = 1.0
    """The area of the bubble, against the others'."""
    remark: str = ""
    """Why it is not as it seems; such a mark is hollow."""


@dataclass(frozen=True)
class Line:
    points: Sequence[tuple[float, float]]
    label: str = ""
    group: str = ""


def scatter(title: str, marks: Sequence[Mark], x: Axis, y: Axis, lines: Sequence[Line] = ()) -> str:
    """Large bubbles lie below small ones; lines have the colour of their group, and are dashed where they have none."""
    shown = [mark for mark in marks if x.takes(mark.x) and y.takes(mark.y)]
    paths = [[point for point in each.points if x.takes(point[0]) and y.takes(point[1])] for each in lines]
    points = [(mark.x, mark.y) for mark in shown] + [point for path in paths for point in path]
    if not points:
        return nothing(title)
    kinds, names = kinds_of([*(mark.group for mark in marks), *(each.group for each in lines)])
    frame = make_frame(title, y, _roomy(y, [at for _, at in points]), names)
    across = add_x_axis(frame, x, _roomy(x, [at for at, _ in points]))
    for each, path in zip(lines, paths, strict=True):
        frame.parts.append(_path(across, frame.y, path, each, kinds))
    add_marks(frame, across, shown, x, y, kinds)
    lost = len(marks) - len(shown)
    note = f"{lost} of {len(marks)} have no place on a logarithmic axis" if lost else ""
    return frame.finish(52, note)


def _roomy(axis: Axis, values: Sequence[float]) -> list[float]:
    """A little more than the values take: a bubble at the edge would lie half outside."""
    low, high = min(values), max(values)
    if axis.log:
        return [low / 1.15, high * 1.15]
    edge = 0.07 * (high - low)
    return [low if 0 <= low <= edge else low - edge, high + edge]


def kinds_of(groups: Sequence[str]) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """(each group's colour, the legend); the nameless group is in neither."""
    unique = [name for name in dict.fromkeys(groups) if name]
    kinds = {name: colour(at) if at < len(LIGHT) else REST for at, name in enumerate(unique)}
    names = [(name, kinds[name]) for name in unique[: len(LIGHT)]]
    return kinds, names + ([(f"other ({len(unique) - len(LIGHT)})", REST)] if len(unique) > len(LIGHT) else [])


def add_marks(
    frame: Frame,
    across: Scale,
    marks: Sequence[Mark],
    x: Axis,
    y: Axis,
    kinds: Mapping[str, str],
    taken: Sequence[Box] = (),
) -> None:
    """The bubbles, then the names that find a place beside theirs."""
    largest = max((mark.size for mark in marks), default=1.0) or 1.0
    even = len({mark.size for mark in marks}) <= 1
    drawn: list[tuple[Mark, Box]] = []
    for mark in sorted(marks, key=lambda each: -each.size):
        at, up = across(mark.x), frame.y(mark.y)
        radius = 5.5 if even else max(_SMALLEST, _LARGEST * math.sqrt(max(mark.size, 0) / largest))
        tip = "\n".join(
            filter(
                None,
                (mark.label, mark.group, f"{x.label}: {x.spell(mark.x)}", f"{y.label}: {y.spell(mark.y)}", mark.remark),
            )
        )
        kind = kinds.get(mark.group, colour(0)) + (" hollow" if mark.remark else "")
        frame.parts.append(
            f'<circle class="mark bubble {kind}" cx="{at:.1f}" cy="{up:.1f}" r="{radius:.1f}">'
            f"<title>{escape(tip)}</title></circle>"
        )
        drawn.append((mark, Box(at - radius, up - radius, at + radius, up + radius)))
    field = Box(frame.left, frame.top, frame.right, frame.base)
    frame.parts += place_names([(mark.label, around) for mark, around in reversed(drawn)], field, taken)


def _path(across: Scale, up: Scale, points: Sequence[tuple[float, float]], each: Line, kinds: Mapping[str, str]) -> str:
    places = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in points)
    kind = f"curve {kinds[each.group]}" if each.group else "guide"
    return f'<polyline class="{kind}" points="{places}"><title>{escape(each.label or each.group)}</title></polyline>'
