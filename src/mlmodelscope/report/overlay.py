"""Shapes over a picture as inline SVG: truth dashed, answers drawn through, each side hidden by a class of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from mlmodelscope.report import words
from mlmodelscope.task.shape import BoxShape, MaskShape, PointsShape, Shape

_NAMED_FROM = 0.16
"""Share of the picture's width from which on a box has room for its name."""
_MOST_NAMES = 4


def overlay(uri: str | None, size: tuple[int, int], shapes: Sequence[Shape], label: str) -> str:
    """A picture of this size in its own pixels with all shapes over it."""
    width, height = size
    unit = max(width, height) / 100
    parts = [f'<image href={quoteattr(uri)} width="{width}" height="{height}"/>'] if uri else []
    named = set(_with_names(shapes, width))
    for shape in sorted(shapes, key=lambda each: (each.side == "answer", each.score or 0)):
        drawn = _drawn(shape, width, height, unit, shape in named)
        if drawn:
            parts.append(f'<g class="of-{shape.side}"><title>{escape(_told(shape))}</title>{drawn}</g>')
    return (
        f'<svg class="seen" viewBox="0 0 {width} {height}" role="img" aria-label={quoteattr(label)}>'
        f"{''.join(parts)}</svg>"
    )


def _with_names(shapes: Sequence[Shape], width: int) -> Iterator[Shape]:
    """The best things of either side that have room for a name: more of them could not be read."""
    for side in ("truth", "answer"):
        wide = [each for each in shapes if each.side == side and _wide(each) >= _NAMED_FROM * width]
        yield from sorted(wide, key=lambda each: -(each.score or 0))[:_MOST_NAMES]


def _wide(shape: Shape) -> float:
    if isinstance(shape, BoxShape):
        return shape.right - shape.left
    if isinstance(shape, MaskShape | PointsShape) and shape.box is not None:
        return shape.box[2] - shape.box[0]
    return 0.0


def _told(shape: Shape) -> str:
    said = "truth" if shape.side == "truth" else "answer"
    score = f" {words.significant(shape.score)}" if shape.score is not None else ""
    remark = f" ({shape.remark})" if isinstance(shape, BoxShape | MaskShape) and shape.remark else ""
    return f"{said}: {shape.name}{score}{remark}"


def _drawn(shape: Shape, width: int, height: int, unit: float, is_named: bool) -> str:
    if isinstance(shape, BoxShape):
        return _box(shape, (width, height), unit, is_named)
    if isinstance(shape, MaskShape):
        address = quoteattr(f"data:image/png;base64,{shape.png}")
        drawn = f'<image class="pixels" href={address} width="{width}" height="{height}" preserveAspectRatio="none"/>'
        return drawn + (_name(shape, _inside(shape.box, (width, height)), unit) if is_named and shape.box else "")
    if isinstance(shape, PointsShape):
        lines = "".join(
            '<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>'.format(*shape.points[start], *shape.points[end])
            for start, end in shape.lines
        )
        dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{unit:.1f}"/>' for x, y in shape.points)
        named = _name(shape, _inside(shape.box, (width, height)), unit) if is_named and shape.box else ""
        return lines + dots + named
    return ""  # words stand below the picture, and other pictures beside it


Sides = tuple[float, float, float, float]


def _inside(box: Sides, size: tuple[int, int]) -> Sides:
    """Answers may reach beyond the picture; what is drawn does not."""
    width, height = size
    left, right = (min(max(0.0, each), width) for each in (box[0], box[2]))
    top, bottom = (min(max(0.0, each), height) for each in (box[1], box[3]))
    return left, top, max(left, right), max(top, bottom)


def _box(shape: BoxShape, size: tuple[int, int], unit: float, is_named: bool) -> str:
    left, top, right, bottom = sides = _inside((shape.left, shape.top, shape.right, shape.bottom), size)
    drawn = f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}"/>'
    return drawn + (_name(shape, sides, unit) if is_named else "")


def _name(shape: Shape, sides: Sides, unit: float) -> str:
    """The truth is named at the top, the answer at the bottom: where both are the same box, both can be read."""
    left, top, _, bottom = sides
    down = top + 4.6 * unit if shape.side == "truth" else bottom - 1.4 * unit
    x, y = left + unit, max(4.6 * unit, down)
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{4 * unit:.1f}">{escape(shape.name)}</text>'
