"""Resizing in plain arithmetic, for what no library of today does any more: where the pixels of an image lie.

`asymmetric` takes a pixel's corner for its place, as TensorFlow 1 did by itself; `align_corners` leaves the outermost
pixels where they are, as it did when told to; `half_pixel` takes the centre, as almost everybody else.
`linear` is for sounds.
"""

import numpy as np


def resize(pixels, height, width, method, antialias):
    interpolation, _, alignment = method.partition("_")
    rows, columns = _places(pixels.shape[0], height, alignment), _places(pixels.shape[1], width, alignment)
    if interpolation == "nearest":
        return np.ascontiguousarray(pixels[np.floor(rows).astype(int)][:, np.floor(columns).astype(int)])
    top, bottom, down = _neighbours(rows, pixels.shape[0])
    left, right, across = _neighbours(columns, pixels.shape[1])
    values = pixels.astype(np.float32)
    upper = values[top][:, left] * (1 - across)[:, None] + values[top][:, right] * across[:, None]
    lower = values[bottom][:, left] * (1 - across)[:, None] + values[bottom][:, right] * across[:, None]
    mixed = upper * (1 - down)[:, None, None] + lower * down[:, None, None]
    if pixels.dtype.kind in "iu":
        limits = np.iinfo(pixels.dtype)
        mixed = np.clip(np.rint(mixed), limits.min, limits.max)
    return mixed.astype(pixels.dtype)


def _places(before, after, alignment):
    """Where in the old image each new pixel lies."""
    places = np.arange(after, dtype=np.float64)
    if alignment == "align_corners":
        return places * ((before - 1) / float(max(1, after - 1)))
    if alignment == "half_pixel":
        return np.clip((places + 0.5) * (before / float(after)) - 0.5, 0, before - 1)
    return np.minimum(places * (before / float(after)), before - 1)


def _neighbours(places, size):
    """(the pixel before, the pixel behind, how far behind the first)."""
    first = np.floor(places).astype(int)
    return first, np.minimum(first + 1, size - 1), (places - first).astype(np.float32)


def resample(samples, before, after, kernel):
    """A sound, [n] or [channels, n], by straight lines between its samples: without a filter, as one should not."""
    count = int(np.ceil(samples.shape[-1] * after / float(before)))
    places = np.minimum(np.arange(count) * (before / float(after)), samples.shape[-1] - 1)
    first = np.floor(places).astype(int)
    behind = np.minimum(first + 1, samples.shape[-1] - 1)
    share = (places - first).astype(samples.dtype)
    return samples[..., first] * (1 - share) + samples[..., behind] * share
