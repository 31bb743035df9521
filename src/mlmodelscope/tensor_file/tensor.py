"""A named block of numbers, as it lies in a weights file."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

ELEMENT_BYTES = {
    "float64": 8,
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "float8e4m3fn": 1,
    "float8e5m2": 1,
    "int64": 8,
    "int32": 4,
    "int16": 2,
    "int8": 1,
    "uint64": 8,
    "uint32": 4,
    "uint16": 2,
    "uint8": 1,
    "bool": 1,
}

_CAST: dict[int, Literal["B", "H", "I", "Q"]] = {1: "B", 2: "H", 4: "I", 8: "Q"}


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """Little-endian, row-major. `data` is usually a view into the file, so it costs no memory until read."""

    name: str
    element_type: str
    shape: tuple[int, ...]
    data: memoryview | bytes


def dense_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Steps, in elements, between neighbours along each axis of a row-major tensor."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def is_row_major(shape: Sequence[int], strides: Sequence[int]) -> bool:
    # The stride of an axis of length one is never used, and frameworks write anything there.
    steps = zip(shape, strides, dense_strides(shape), strict=True)
    return all(length == 1 or stride == dense for length, stride, dense in steps)


def copy_row_major(source: memoryview, element_bytes: int, shape: Sequence[int], strides: Sequence[int]) -> memoryview:
    """Copy a strided tensor that starts at the first byte of `source` into row-major order.

    The longest axis goes through one strided slice, which runs in C: millions of elements take no time.
    """
    count = math.prod(shape)
    target = memoryview(bytearray(count * element_bytes)).cast(_CAST[element_bytes])
    whole = len(source) // element_bytes * element_bytes
    elements = source[:whole].cast(_CAST[element_bytes])

    steps = zip(shape, strides, dense_strides(shape), strict=True)
    axes = sorted((axis for axis in steps if axis[0] > 1), key=lambda axis: axis[0])
    length, stride, dense = axes.pop() if axes else (1, 1, 1)
    for index in itertools.product(*(range(axis[0]) for axis in axes)):
        start = sum(i * axis[1] for i, axis in zip(index, axes, strict=True))
        place = sum(i * axis[2] for i, axis in zip(index, axes, strict=True))
        piece = elements[start : start + (length - 1) * stride + 1 : stride]
        target[place : place + (length - 1) * dense + 1 : dense] = piece
    return target.cast("B")
