"""The field that marks are drawn in: grid, axes, their names, legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mlmodelscope.report.plot.axis import Axis, Scale, between, scale, tick_labels
from mlmodelscope.report.plot.ink import SMALL, WIDTH, cut, legend, line, page, text, wide

_TOP = 52
_ROOMY = 120
"""Names stay level where they have so much room, though the longest are cut."""


@dataclass
class Frame:
    """Where the field lies; `parts` are drawn in the order in which they were added."""

    title: str
    left: float
    right: float
    top: float
    base: float
    y: Scale
    parts: list[str] = field(default_factory=list)

    def finish(self, foot: float, note: str = "") -> str:
        """The drawing, with `foot` pixels below the field for what stands there."""
        height = self.base + foot
        if note:
            self.parts.append(text(20, height + 2, note, "faint"))
            height += 16
        return page(self.title, height, self.parts)


def make_frame(
    title: str,
    y: Axis,
    values: Sequence[float],
    names: Sequence[tuple[str, str]] = (),
    height: float = 340,
    from_zero: bool = False,
) -> Frame:
    """A field with its vertical axis, and the legend above it."""
    marks, used = legend(names, 20, _TOP + 4, WIDTH - 20)
    top = _TOP + used + (26 if y.name else 8)
    found = scale(y, values, top + height, top, from_zero)
    labels = tick_labels(found)
    left = max(54.0, 30 + max(wide(label, SMALL) for label in labels))
    frame = Frame(title, left, WIDTH - 24, top, top + height, found, marks)
    for tick in between(found):
        frame.parts.append(f'<g opacity=".45">{line(left, found(tick), frame.right, found(tick), "grid")}</g>')
    for tick, label in zip(found.ticks, labels, strict=True):
        frame.parts.append(line(left, found(tick), frame.right, found(tick), "grid"))
        frame.parts.append(text(left - 8, found(tick) + 4, label, "faint", "end"))
    if y.name:  # above the axis and level: nobody reads with their head on their shoulder
        frame.parts.append(text(20, top - 20, y.name, "faint"))
    return frame


def add_x_axis(frame: Frame, x: Axis, values: Sequence[float], from_zero: bool = False) -> Scale:
    """The horizontal axis with its ticks and name, below the field."""
    found = scale(x, values, frame.left, frame.right, from_zero)
    for tick in between(found):
        frame.parts.append(f'<g opacity=".45">{line(found(tick), frame.top, found(tick), frame.base, "grid")}</g>')
    taken = -1.0
    for tick, label in zip(found.ticks, tick_labels(found), strict=True):
        at, half = found(tick), wide(label, SMALL) / 2
        frame.parts.append(line(at, frame.top, at, frame.base, "grid"))
        if at - half > taken:
            frame.parts.append(text(min(at, WIDTH - 6 - half), frame.base + 18, label, "faint", "middle"))
            taken = at + half + 6
    frame.parts.append(line(frame.left, frame.base, frame.right, frame.base, "axis"))
    frame.parts.append(text((frame.left + frame.right) / 2, frame.base + 40, x.name, "faint", "middle"))
    return found


def add_names(frame: Frame, centres: Sequence[float], names: Sequence[str], step: float) -> float:
    """Names below the field, one to a place: level where they fit, else slanted, else only some; how high they are."""
    widest = max((wide(name, SMALL) for name in names), default=0.0)
    if widest <= step - 8 or step >= _ROOMY:
        for at, name in zip(centres, names, strict=True):
            frame.parts.append(text(at, frame.base + 18, cut(name, step - 8, SMALL), "faint", "middle"))
        return 30
    every = max(1, -(-15 // max(1, int(step))))
    longest = 0.0
    for index in range(0, len(names), every):
        name = _fit(names[index], centres[index])
        longest = max(longest, wide(name, SMALL))
        frame.parts.append(text(centres[index] + 4, frame.base + 14, name, "faint", "end", -40))
    return 26 + 0.66 * longest


def _fit(name: str, at: float) -> str:
    """A slanted name as long as the space to its left and below allows."""
    return cut(name, min(190.0, (at - 4) / 0.77), SMALL)
