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
    BoxShape,
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
    own = next((each for each in shown if isinstance(each, PictureShape)), None)
    if own is not None:  # it is the answer, and not something in the picture
        return base64.b64decode(own.png)
    picture = library.load("pillow").decode_step(data).native.convert("RGB")
    colors = colors_of(shown)
    for each in reversed(shown):  # the best lie above the others
        _draw_one(picture, each, colors[each.name])
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def _draw_one(picture: Any, shape: Shape, color: str) -> None:
    from PIL import Image, ImageDraw

    pen, unit = ImageDraw.Draw(picture), max(1, round(max(picture.size) / 320))
    if isinstance(shape, MaskShape):
        with Image.open(io.BytesIO(base64.b64decode(shape.png))) as opened:
            laid = opened.convert("RGBA").resize(picture.size, Image.Resampling.NEAREST)
        picture.paste(laid, (0, 0), laid)
    elif isinstance(shape, BoxShape):
        pen.rectangle(_ordered(shape), outline=color, width=unit)
        _label(picture, pen, (shape.left, shape.top), _words(shape), color)
    elif isinstance(shape, PointsShape):
        for start, end in shape.lines:
            pen.line([*shape.points[start], *shape.points[end]], fill=color, width=unit)
        for x, y in shape.points:
            pen.ellipse([x - 2 * unit, y - 2 * unit, x + 2 * unit, y + 2 * unit], fill=color)
    elif isinstance(shape, TextShape):
        _label(picture, pen, (0, 0), shape.text, color)


def _ordered(shape: BoxShape) -> list[float]:
    """Pillow refuses a box that ends before it begins."""
    return [shape.left, shape.top, max(shape.left, shape.right), max(shape.top, shape.bottom)]


def _words(shape: BoxShape) -> str:
    return f"{shape.name} {shape.score:.2f}" if shape.score is not None else shape.name


def _label(picture: Any, pen: Any, place: tuple[float, float], text: str, color: str) -> None:
    """On a ground of its color, inside of the picture."""
    from PIL import ImageFont

    font = ImageFont.load_default(max(10, round(max(picture.size) / 48)))
    left, top, right, bottom = pen.textbbox((0, 0), text, font=font)
    wide, high = right - left + 6, bottom - top + 6
    x = min(max(0, place[0]), max(0, picture.width - wide))
    y = place[1] - high if place[1] >= high else max(0, place[1])
    y = min(y, max(0, picture.height - high))
    pen.rectangle([x, y, x + wide, y + high], fill=color)
    bright = sum(weight * int(color[at : at + 2], 16) for weight, at in ((0.299, 1), (0.587, 3), (0.114, 5)))
    pen.text((x + 3 - left, y + 3 - top), text, fill="#000000" if bright > 140 else "#ffffff", font=font)
