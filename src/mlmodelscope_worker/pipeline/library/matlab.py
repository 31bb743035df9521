"""Resizing as MATLAB's `imresize` does it, in plain arithmetic: what papers on super-resolution shrink pictures with.

The cubic kernel has a = -0.5 and is stretched when a picture shrinks (`antialias`); beyond the border the picture is
mirrored. Everything is computed in float64 and rounded once, in the end, and only where the pixels are integers.
"""

import numpy as np

_REACH = {"bicubic": 2, "bilinear": 1}


def resize(pixels, height, width, method, antialias):
    """Height x width x channels. MATLAB begins with the side that shrinks most, or with the height."""
    found = np.asarray(pixels, np.float64)
    axes = [(height / float(found.shape[0]), 0, height), (width / float(found.shape[1]), 1, width)]
    for _, axis, size in sorted(axes):
        found = _along(found, axis, size, method, antialias)
    if pixels.dtype.kind in "iu":
        limits = np.iinfo(pixels.dtype)
        found = np.clip(np.floor(found + 0.5), limits.min, limits.max)
    return np.ascontiguousarray(found, pixels.dtype)


def _along(array, axis, size, method, antialias):
    index, weight = _taps(array.shape[axis], size, method, antialias)
    moved = np.moveaxis(array, axis, 0)
    found = np.zeros((size,) + moved.shape[1:])
    for tap in range(index.shape[1]):  # tap by tap: all at once would take many times the picture's memory
        found += weight[:, tap].reshape((-1,) + (1,) * (moved.ndim - 1)) * moved[index[:, tap]]
    return np.moveaxis(found, 0, axis)


def _taps(before, after, method, antialias):
    """(which old pixels each new one is made of, by how much)."""
    scale = after / float(before)
    shrink = min(scale, 1.0) if antialias else 1.0
    reach = _REACH[method] / shrink
    center = (np.arange(after) + 0.5) / scale - 0.5
    index = np.floor(center - reach).astype(int)[:, None] + np.arange(int(np.ceil(2 * reach)) + 2)
    weight = _KERNELS[method](np.abs(center[:, None] - index) * shrink)
    weight /= weight.sum(axis=1, keepdims=True)
    index %= 2 * before
    return np.where(index < before, index, 2 * before - 1 - index), weight


def _cubic(at):
    near = 1.5 * at**3 - 2.5 * at**2 + 1
    return np.where(at <= 1, near, np.where(at <= 2, -0.5 * at**3 + 2.5 * at**2 - 4 * at + 2, 0))


def _triangle(at):
    return np.maximum(1 - at, 0)


_KERNELS = {"bicubic": _cubic, "bilinear": _triangle}
