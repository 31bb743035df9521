"""A picture of a dataset as a PNG that browsers show, whatever kind of file it is."""

from __future__ import annotations

import io

from mlmodelscope_worker.pipeline import header, library

_MOST_PIXELS = 25_000_000


def png_of(content: bytes) -> bytes | None:
    """None where it is not a picture, too large a one, or a kind that only Pillow reads and Pillow is not here."""
    try:
        header.inspect(content, _MOST_PIXELS)
        if content[:4] == b"\x89PNG":
            return content
        made = io.BytesIO()
        library.load("pillow").decode_step(content).native.convert("RGB").save(made, "PNG")
        return made.getvalue()
    except (header.ImageError, library.MissingLibrary):
        return None
