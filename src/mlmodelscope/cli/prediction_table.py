"""What `predict` prints of an answer that can be seen: a table that fits what it is."""

from __future__ import annotations

from collections.abc import Sequence

from mlmodelscope.cli.terminal import console, percent, print_table
from mlmodelscope.task.shape import (
    BoxShape,
    DifferenceShape,
    LabelShape,
    MaskShape,
    PictureShape,
    PointsShape,
    Shape,
    SpansShape,
    TextShape,
    is_shown,
)

_NOTHING = 5e-5
"""A share of pixels that no table would show."""


def show_shapes(shapes: Sequence[Shape], threshold: float) -> None:
    """A row for each, the classes of a map aside; a column where any of them has something for it."""
    shown = [each for each in shapes if is_shown(each, threshold)]
    rows = [row for each in shown for row in _rows(each)]
    titles = list(dict.fromkeys(title for row in rows for title in row))
    if rows:
        cells = [[row.get(title, "") for title in titles] for row in rows]
        print_table(titles, cells, [title in ("score", "area", "share of pixels") for title in titles])
    hidden = len(shapes) - len(shown)
    if hidden:
        some = f"{hidden:,} more with a score" if rows else f"all {hidden:,} answers have a score"
        console().print(f"  [dim]{some} below {threshold:g}; --threshold 0 shows all[/dim]")


def _rows(shape: Shape) -> list[dict[str, str]]:
    if isinstance(shape, MaskShape) and shape.box is None:
        return _map_rows(shape)
    if isinstance(shape, PictureShape):
        return [_picture_row(shape)]
    if isinstance(shape, SpansShape):
        return _span_rows(shape)
    if isinstance(shape, TextShape) and not shape.name:
        score = {} if shape.score is None else {"score": f"{shape.score:.3f}"}
        return [{"answer": shape.text, **score}]
    row = {"class": shape.name or shape.kind}
    if shape.score is not None:
        row["score"] = f"{shape.score:.3f}"
    if isinstance(shape, BoxShape):
        row["box"] = _spell((shape.left, shape.top, shape.right, shape.bottom))
    elif isinstance(shape, MaskShape):
        assert shape.box is not None
        row |= {"box": _spell(shape.box), "area": f"{shape.area or 0:,}"}
    elif isinstance(shape, PointsShape):
        if shape.box is not None:
            row["box"] = _spell(shape.box)
        row["points"] = " ".join(f"{x:.1f},{y:.1f}" for x, y in shape.points)
    elif isinstance(shape, TextShape):
        row["text"] = shape.text
    elif isinstance(shape, DifferenceShape):
        row["text"] = " ".join(_changed(*part) for part in shape.parts)
    else:
        assert isinstance(shape, LabelShape)
    return [row]


def _span_rows(shape: SpansShape) -> list[dict[str, str]]:
    """A row for each marked piece of the text, in its order."""
    rows = []
    for start, end, name, score in shape.spans:
        row = {"class": name, "characters": f"{start} – {end}"}
        if shape.text:
            row["text"] = shape.text[max(0, start) : end]
        if score is not None:
            row["score"] = f"{score:.3f}"
        rows.append(row)
    return rows


def _changed(change: str, due: str, said: str) -> str:
    """As programs that compare words print it: `[-true-]{+answered+}`."""
    if change == "equal":
        return said
    return (f"[-{due}-]" if due else "") + (f"{{+{said}+}}" if said else "")


def _map_rows(shape: MaskShape) -> list[dict[str, str]]:
    """Each class with its share of the pixels, the largest first."""
    pairs = sorted(zip(shape.legend, shape.shares, strict=False), key=lambda pair: -pair[1])
    rows = [{"class": name, "share of pixels": percent(share)} for (name, _), share in pairs]
    left = 1 - sum(shape.shares)
    return rows if left < _NOTHING else [*rows, {"class": "(no class)", "share of pixels": percent(left)}]


def _picture_row(shape: PictureShape) -> dict[str, str]:
    row = {"picture": f"{shape.width} x {shape.height} pixels"}
    if shape.channels:
        row["colors"] = "gray" if shape.channels == 1 else "RGB"
    if shape.low is not None and shape.high is not None:
        row["values"] = f"{shape.low:.6g} to {shape.high:.6g}"
    return row


def _spell(box: tuple[float, float, float, float]) -> str:
    left, top, right, bottom = box
    return f"{left:.1f}, {top:.1f} – {right:.1f}, {bottom:.1f}"
