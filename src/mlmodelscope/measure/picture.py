"""Pictures as the ruler reads them: files of a dataset, and those that a worker sent."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from mlmodelscope.extras import install_extra
from mlmodelscope.measure.rule import ScoreError

try:
    from PIL import Image
except ImportError:  # told at the first picture, with what to install
    Image = None  # type: ignore[assignment]

_MOST_PIXELS = 1 << 28


def file_of(target: Any, what: str) -> str:
    """Where a target's picture lies."""
    found = target.get(what) if isinstance(target, Mapping) else None
    if not isinstance(found, Mapping) or not isinstance(found.get("file"), str):
        raise ScoreError(f"it has no {what} to compare with")
    return str(found["file"])


def size_of(path: str) -> tuple[int, int]:
    """Height and width, by the beginning of the file."""
    with _opened(path) as picture:
        return picture.height, picture.width


def read_indices(path: str) -> np.ndarray:
    """The numbers that a mask holds: of a palette the index, of gray the level."""
    with _opened(path) as picture:
        if picture.mode == "1":
            return np.asarray(picture).astype(np.uint8)
        if picture.mode not in ("P", "L", "I", "I;16", "I;16B"):
            raise ScoreError(f"its mask is a color picture ({picture.mode}), not one of class numbers")
        found = _pixels(picture)
    if found.dtype == np.uint8:
        return found
    if found.min() < 0 or found.max() > 65535:
        raise ScoreError("its mask has numbers beyond 65535")
    return found.astype(np.uint16)


def read_colors(path: str) -> np.ndarray:
    """Height x width x 3 bytes."""
    with _opened(path) as picture:
        if picture.mode.startswith(("I", "F")):
            raise ScoreError(f"its true picture has more than 8 bits a channel ({picture.mode})")
        if picture.mode == "P" and "transparency" in picture.info:
            picture = picture.convert("RGBA")
        return _pixels(picture if picture.mode == "RGB" else picture.convert("RGB"))


def read_sent(content: np.ndarray) -> np.ndarray:
    """What a worker sent as PNG."""
    with _opened(io.BytesIO(content.tobytes())) as picture:
        found = _pixels(picture)
    return found.astype(np.uint16) if found.dtype.kind == "i" else found


def _opened(source: Any) -> Any:
    if Image is None:
        raise RuntimeError(f"measuring pictures needs Pillow: {install_extra('measure')}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            picture = Image.open(source)
    except FileNotFoundError:
        raise ScoreError(f"its true picture is missing: {source}") from None
    except Exception as error:  # Pillow's plugins raise everything from OSError to struct.error
        raise ScoreError(f"its true picture cannot be read: {error or type(error).__name__}") from None
    if picture.width * picture.height > _MOST_PIXELS:
        raise ScoreError(f"its true picture has {picture.width} x {picture.height} pixels, which are too many")
    return picture


def _pixels(picture: Any) -> np.ndarray:
    try:
        return np.asarray(picture)
    except Exception as error:
        raise ScoreError(f"its true picture cannot be read: {error or type(error).__name__}") from None
