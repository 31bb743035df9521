"""A picture with shapes drawn into it: a file to look at or to send."""

from __future__ import annotations

import base64
import importlib.util
import io
from collections.abc import Sequence
from typing import Any

from mlmodelscope.errors import UsageError
from mlmodelscope.extras import install_extra
from mlmodelscope.task.shape import (
    CLEAR,
    COLORS,
    BoxShape,
    DifferenceShape,
    LabelShape,
    MaskShape,
    PictureShape,
    PointsShape,
    Shape,
    TextShape,
    colors_of,
    is_shown,
)
from mlmodelscope_worker.pipeline import header, library

_MOST_PIXELS = 100_000_000


def refuse_without_pillow() -> None:
    """Before a model is opened for it."""
    if importlib.util.find_spec("PIL") is None:
        raise UsageError("drawing needs Pillow", hint=install_extra("draw"))


def draw(data: bytes, shapes: Sequence[Shape], above: float) -> bytes:
    """A PNG of an image file with what was found in it. ImageError where it is not a picture."""
    refuse_without_pillow()
    header.inspect(data, _MOST_PIXELS)
    shown = [each for each in shapes if is_shown(each, above)]
    own = next((each for each in shown if isinstance(each, PictureShape) and each.side == "answer"), None)
    if own is not None:  # it is the answer, and not something in the picture
        return base64.b64decode(own.png)
    picture = library.load("pillow").decode_step(data).native.convert("RGB")
    colors = colors_of(shown)
    for each in reversed(shown):  # the best lie above the others
        _draw_one(picture, each, colors[each.name])
    for each in reversed(shown):  # and names above everything
        _name_one(picture, each, colors[each.name])
    labels = [_words(each) for each in shown if isinstance(each, LabelShape)]
    if labels:
        _label(picture, _pen(picture), (0, 0), "\n".join(labels), COLORS[0])
    entries = {entry: None for each in shown if isinstance(each, MaskShape) for entry in each.legend}
    return _saved(with_legend(picture, [entry for entry in entries if entry[1] != CLEAR]))


def draw_beside(data: bytes, shapes: Sequence[Shape]) -> bytes | None:
    """A PNG of the input and, to its right, the picture that was answered; None where the answer is no picture."""
    own = next((each for each in shapes if isinstance(each, PictureShape) and each.side == "answer"), None)
    if own is None:
        return None
    from PIL import Image

    before = library.load("pillow").decode_step(data).native.convert("RGB")
    with Image.open(io.BytesIO(base64.b64decode(own.png))) as opened:
        after = opened.convert("RGB")
    height = max(before.height, after.height)
    # Pixels stay what they are: an input that was enlarged has squares.
    before = _as_high(before, height, Image.Resampling.NEAREST)
    after = _as_high(after, height, Image.Resampling.NEAREST)
    room = max(2, height // 100)
    sheet = Image.new("RGB", (before.width + room + after.width, height), "#ffffff")
    sheet.paste(before, (0, 0))
    sheet.paste(after, (before.width + room, 0))
    return _saved(sheet)


def _as_high(picture: Any, height: int, how: Any) -> Any:
    return picture.resize((max(1, round(picture.width * height / picture.height)), height), how)


def _saved(picture: Any) -> bytes:
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def _pen(picture: Any) -> Any:
    from PIL import ImageDraw

    return ImageDraw.Draw(picture)


def with_legend(picture: Any, entries: Sequence[tuple[str, str]]) -> Any:
    """The picture with names and their colors below it."""
    if not entries:
        return picture
    from PIL import Image

    font = _font(picture)
    side = max(10, round(1.2 * font.size))
    lines: list[list[tuple[str, str, float]]] = [[]]
    across = 0.0
    for name, color in entries:
        wide = side * 2 + font.getlength(_shortened(name, font, picture.width - 3 * side))
        if lines[-1] and across + wide > picture.width:
            lines.append([])
            across = 0.0
        lines[-1].append((name, color, across))
        across += wide + side
    sheet = Image.new("RGB", (picture.width, picture.height + round(1.6 * side) * len(lines) + side // 2), "#ffffff")
    sheet.paste(picture, (0, 0))
    pen = _pen(sheet)
    for place, line in enumerate(lines):
        top = picture.height + side // 2 + place * round(1.6 * side)
        for name, color, left in line:
            start = left + side / 2
            pen.rectangle([start, top, start + side, top + side], fill=color)
            words = _shortened(name, font, picture.width - 3 * side)
            pen.text((start + 1.4 * side, top + side / 2), words, fill="#000000", font=font, anchor="lm")
    return sheet


def _shortened(name: str, font: Any, room: float) -> str:
    """On one line, and no wider than the picture."""
    name = " ".join(name.split())[:200]
    if font.getlength(name) <= room:
        return name
    while name and font.getlength(f"{name}…") > room:
        name = name[:-1]
    return f"{name}…"


def _draw_one(picture: Any, shape: Shape, color: str) -> None:
    from PIL import Image, ImageDraw

    pen, unit = ImageDraw.Draw(picture), max(1, round(max(picture.size) / 320))
    if isinstance(shape, MaskShape):
        with Image.open(io.BytesIO(base64.b64decode(shape.png))) as opened:
            laid = opened.convert("RGBA").resize(picture.size, Image.Resampling.NEAREST)
        picture.paste(laid, (0, 0), laid)
    elif isinstance(shape, BoxShape):
        pen.rectangle(_ordered(shape), outline=color, width=unit)
    elif isinstance(shape, PointsShape):
        for start, end in shape.lines:
            pen.line([*shape.points[start], *shape.points[end]], fill=color, width=unit)
        for x, y in shape.points:
            pen.ellipse([x - 2 * unit, y - 2 * unit, x + 2 * unit, y + 2 * unit], fill=color)
    elif isinstance(shape, TextShape | DifferenceShape):
        _label(picture, pen, (0, 0), shape.text, color)


def _name_one(picture: Any, shape: Shape, color: str) -> None:
    if isinstance(shape, BoxShape):
        _label(picture, _pen(picture), (shape.left, shape.top), _words(shape), color)
    elif isinstance(shape, MaskShape) and shape.box is not None:
        _label(picture, _pen(picture), shape.box[:2], _words(shape), shape.legend[0][1])
    elif isinstance(shape, PointsShape) and shape.box is not None:
        _label(picture, _pen(picture), shape.box[:2], _words(shape), color)


def _ordered(shape: BoxShape) -> list[float]:
    """Pillow refuses a box that ends before it begins."""
    return [shape.left, shape.top, max(shape.left, shape.right), max(shape.top, shape.bottom)]


def _words(shape: BoxShape | MaskShape | LabelShape | PointsShape) -> str:
    return f"{shape.name} {shape.score:.2f}" if shape.score is not None else shape.name


def _font(picture: Any) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(max(10, round(max(picture.size) / 48)))


def _label(picture: Any, pen: Any, place: tuple[float, float], text: str, color: str) -> None:
    """On a ground of its color, inside of the picture."""
    font = _font(picture)
    left, top, right, bottom = pen.textbbox((0, 0), text, font=font)
    wide, high = right - left + 6, bottom - top + 6
    x = min(max(0, place[0]), max(0, picture.width - wide))
    y = place[1] - high if place[1] >= high else max(0, place[1])
    y = min(y, max(0, picture.height - high))
    pen.rectangle([x, y, x + wide, y + high], fill=color)
    bright = sum(weight * int(color[at : at + 2], 16) for weight, at in ((0.299, 1), (0.587, 3), (0.114, 5)))
    pen.text((x + 3 - left, y + 3 - top), text, fill="#000000" if bright > 140 else "#ffffff", font=font)
