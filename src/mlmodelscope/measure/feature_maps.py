"""What two tensors look like side by side: their channels as small gray pictures, drawn with one scale."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mlmodelscope.layer.feature_maps import FeatureMaps
from mlmodelscope.measure.layer_values import arranged, opened
from mlmodelscope_worker.png import write_png

_MOST_MAPS = 16
"""Channels in a picture."""
_MOST_SIDE = 56
"""Rows and columns of each; of larger ones some are left out."""
_MOST_ALONE = 224
"""The same where there is one channel only."""
_LEAST_SIDE = 56
"""Smaller ones are drawn larger, by whole pixels."""
_MOST_NUMBERS = 1 << 26
"""Of larger tensors no channels are chosen by their difference: all of it would have to be read once more."""
_GAP, _GAP_GRAY, _NOT_FINITE = 2, 255, 255
Array = npt.NDArray[Any]


def feature_maps(folder: Path, pair: Mapping[str, Any]) -> dict[str, Any] | None:
    """Of a pair of files, the first row of a batch; None where there is nothing to draw."""
    one, other = opened(folder, pair["one"]), opened(folder, pair["other"])
    if not one.size or not other.size:
        return None
    turned = arranged(one.shape, other) if one.size == other.size else None
    mine = _maps(one)
    theirs = _maps(turned if turned is not None else other)
    if mine is None or theirs is None:
        return None
    is_comparable = mine.shape == theirs.shape
    channels = _chosen(mine, theirs if is_comparable else mine)
    left = _read(mine, channels)
    right = _read(theirs, tuple(each for each in channels if each < len(theirs)))
    low, high = _range(left)
    apart = _apart(left, right) if is_comparable else None
    largest = float(apart.max()) if apart is not None else 0.0
    found = FeatureMaps(
        _picture(left, low, high),
        _picture(right, low, high) if len(right) else None,
        _picture(apart, 0.0, largest) if apart is not None and largest > 0 else None,
        channels,
        len(mine),
        low,
        high,
        largest,
        (int(mine.shape[1]), int(mine.shape[2])),
    )
    return asdict(found)


def _maps(array: Array) -> Array | None:
    """Channels x rows x columns of the first row of the batch, without a copy; what has fewer axes is one picture."""
    if array.ndim > 4:
        array = array.reshape(array.shape[0], -1, *array.shape[-2:])
    if array.ndim == 4:
        height, width, depth = array.shape[1:]
        array = array.transpose(0, 3, 1, 2) if height == width != depth else array
        first: Array = array[0]
        return first
    if array.ndim == 3:
        return array[:1]  # tokens x features, and the like
    if array.ndim == 2:
        return array[None]
    return array.reshape(1, 1, -1) if array.size > 1 else None


def _chosen(mine: Array, theirs: Array) -> tuple[int, ...]:
    """The channels that differ most, in their order."""
    count = len(mine)
    if count <= _MOST_MAPS:
        return tuple(range(count))
    if mine.size > _MOST_NUMBERS:
        return tuple(range(_MOST_MAPS))
    apart = [float(_apart(_thin(mine[at]), _thin(theirs[at])).max()) for at in range(count)]
    return tuple(sorted(sorted(range(count), key=lambda at: -apart[at])[:_MOST_MAPS]))


def _thin(channel: Array, side: int = _MOST_SIDE) -> npt.NDArray[np.float64]:
    """At most so many rows and columns, evenly chosen."""
    rows, columns = (-(-size // side) for size in channel.shape)
    return np.asarray(channel[:: max(1, rows), :: max(1, columns)], np.float64)


def _read(maps: Array, channels: tuple[int, ...]) -> npt.NDArray[np.float64]:
    side = _MOST_SIDE if len(maps) > 1 else _MOST_ALONE
    return np.stack([_thin(maps[at], side) for at in channels]) if channels else np.zeros((0, 1, 1))


def _apart(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Where one is not finite and the other one is, as far as the largest difference."""
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(one - other)
    alike = (one == other) | (np.isnan(one) & np.isnan(other))
    apart[alike] = 0.0
    bad = ~np.isfinite(apart)
    apart[bad] = 0.0
    apart[bad] = max(1.0, float(apart.max()))
    return apart


def _range(values: npt.NDArray[np.float64]) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    half = max(0.5, abs(low) * 1e-6)  # 0.5 more than 1e38 is 1e38
    return (low, high) if high > low else (low - half, low + half)


def _picture(maps: npt.NDArray[np.float64], low: float, high: float) -> str:
    """All channels in a square, a little apart; what is not finite is white."""
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = (maps - low) * (255.0 / (high - low))
    scaled = np.where(np.isfinite(scaled), scaled, _NOT_FINITE)
    pixels = np.rint(scaled.clip(0, 255)).astype(np.uint8)
    times = max(1, _LEAST_SIDE // max(pixels.shape[1:]))
    pixels = pixels.repeat(times, 1).repeat(times, 2)
    count, height, width = pixels.shape
    across = math.ceil(math.sqrt(count * height / width)) if width else 1
    across = min(count, max(1, across))
    down = -(-count // across)
    drawn = np.full((down * (height + _GAP) - _GAP, across * (width + _GAP) - _GAP), _GAP_GRAY, np.uint8)
    for place in range(count):
        top, left = place // across * (height + _GAP), place % across * (width + _GAP)
        drawn[top : top + height, left : left + width] = pixels[place]
    return base64.b64encode(write_png(drawn)).decode()
