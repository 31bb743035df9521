"""A sample's content becomes a small picture inside the page, or a word on why there is none.

The core installation has neither numpy nor Pillow; what needs them is tried and does without.
"""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlmodelscope_worker.pipeline import header, library
from mlmodelscope_worker.pipeline.decode import decode
from mlmodelscope_worker.pipeline.image import Image
from mlmodelscope_worker.pipeline.value import SampleError
from mlmodelscope_worker.sample import Loader

_SIDE = 320
_TINY = 96
_MAX_EMBEDDED_BYTES = 300_000
_MAX_EMBEDDED_PIXELS = 25_000_000
# What a browser shows and never runs; an SVG or HTML file may carry a script.
_SAFE = {"jpeg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp"}


@dataclass(frozen=True)
class Thumbnail:
    uri: str | None
    """A `data:` address, or nothing."""
    reason: str = ""
    """Why there is no picture."""
    tiny: bool = False
    """Whether it is so small that its pixels should stay visible when it is enlarged."""


class Thumbnails:
    """Makes pictures; the strip of a whole dataset is decoded once."""

    def __init__(self) -> None:
        self._load = Loader()

    def make(self, content: Mapping[str, Any]) -> Thumbnail:
        try:
            refuse_no_picture(content)
            if "file" in content:
                return _of_file(self._load(content, []))
            if "slice" in content:
                return _of_slice(content)
            image = self._load(content, [])
            if not isinstance(image, Image):
                return Thumbnail(None, "it is not a picture")
            height, width, channels = image.pixels.shape
            return from_pixels(image.pixels.tobytes(), height, width, channels)
        except (SampleError, library.MissingLibrary, OSError) as error:
            return Thumbnail(None, str(error))


def refuse_no_picture(content: Mapping[str, Any]) -> None:
    """ImageError where a sample is a text, a row of a table, a sound, or values of another number of dimensions."""
    parts = content.get("parts", {})
    if "audio" in parts or not ({"file", "slice", "row", "buffer"} & content.keys() or "image" in parts):
        raise header.ImageError("it is not a picture")
    if "slice" in content and len(content["shape"]) != 3:
        raise header.ImageError(f"values of {len(content['shape'])} dimensions are not a picture")


@dataclass(frozen=True)
class Picture:
    """A file that a browser shows, made anew: nothing of what somebody put into a dataset comes through but pixels."""

    data: bytes
    media_type: str


def small_picture(load: Loader, content: Mapping[str, Any], side: int) -> Picture:
    """At most `side` pixels wide and high. ImageError where the sample is no picture, or too large a one."""
    refuse_no_picture(content)
    found = load(content, [])
    if isinstance(found, bytes):
        header.inspect(found, _MAX_EMBEDDED_PIXELS)
        if max(header.size(found) or (_TINY + 1,)) > _TINY:
            return Picture(library.load("pillow").jpeg_thumbnail(found, side), "image/jpeg")
        found = decode(found, max_pixels=_MAX_EMBEDDED_PIXELS)  # every pixel counts: no JPEG of so few
    if not isinstance(found, Image):
        raise header.ImageError("it is not a picture")
    if found.pixels.dtype.name != "uint8":
        raise header.ImageError(f"{found.pixels.dtype.name} values are not a picture")
    pixels = found.pixels[:, :, ::-1] if found.color == "BGR" else found.pixels
    height, width, channels = pixels.shape
    if channels not in (1, 3):
        raise header.ImageError(f"{channels} channels are not a picture")
    return Picture(_png(pixels.tobytes(), height, width, channels, side), "image/png")


def _of_file(data: bytes) -> Thumbnail:
    kind = header.kind(data)
    side = max(header.size(data) or (_SIDE + 1,))
    if kind in _SAFE and side <= _SIDE and len(data) <= _MAX_EMBEDDED_BYTES // 10:
        return Thumbnail(_uri(_SAFE[kind], data), tiny=side <= _TINY)
    try:
        return Thumbnail(_uri("image/jpeg", library.load("pillow").jpeg_thumbnail(data, _SIDE)))
    except library.MissingLibrary:
        header.refuse_bomb(data, _MAX_EMBEDDED_PIXELS)
        if kind in _SAFE and len(data) <= _MAX_EMBEDDED_BYTES:
            return Thumbnail(_uri(_SAFE[kind], data))
        return Thumbnail(None, "showing it needs Pillow")


def _of_slice(content: Mapping[str, Any]) -> Thumbnail:
    if content["element_type"] != "uint8":
        return Thumbnail(None, f"{content['element_type']} values are not a picture")
    shape = content["shape"]
    with Path(content["slice"]).open("rb") as file:
        file.seek(content["offset"])
        data = file.read(math.prod(shape))
    if len(data) != math.prod(shape):
        return Thumbnail(None, "the file ends before this sample does")
    if content["layout"] == "CHW":
        channels, height, width = shape
        data = _interleave(data, channels)
    else:
        height, width, channels = shape
    return from_pixels(data, height, width, channels)


def _interleave(planes: bytes, channels: int) -> bytes:
    """One plane after the other becomes one pixel after the other."""
    length = len(planes) // channels
    mixed = bytearray(len(planes))
    for channel in range(channels):
        mixed[channel::channels] = planes[channel * length : (channel + 1) * length]
    return bytes(mixed)


def from_pixels(data: bytes, height: int, width: int, channels: int) -> Thumbnail:
    """A picture of grey (1 channel) or RGB (3 channels) bytes."""
    if channels not in (1, 3):
        return Thumbnail(None, f"{channels} channels are not a picture")
    return Thumbnail(_uri("image/png", _png(data, height, width, channels, _SIDE)), tiny=max(height, width) <= _TINY)


def _png(data: bytes, height: int, width: int, channels: int, side: int) -> bytes:
    step = -(-max(height, width) // side)  # every n-th pixel will do for a thumbnail
    rows = [data[y * width * channels : (y + 1) * width * channels] for y in range(0, height, step)]
    if step > 1:
        rows = [_every(row, step, channels) for row in rows]
    return write_png(rows, channels)


def _every(row: bytes, step: int, channels: int) -> bytes:
    return b"".join(row[at : at + channels] for at in range(0, len(row), step * channels))


def write_png(rows: list[bytes], channels: int) -> bytes:
    """A PNG file of grey (1 channel) or RGB (3 channels) rows."""
    width = len(rows[0]) // channels
    head = struct.pack(">IIBBBBB", width, len(rows), 8, 2 if channels == 3 else 0, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _uri(kind: str, data: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"
