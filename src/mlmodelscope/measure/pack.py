"""Scores as bytes: a few named arrays and some facts, small enough to be kept for every sample."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from mlmodelscope.measure.facts import HEAD


def pack(arrays: Mapping[str, np.ndarray], **facts: Any) -> bytes:
    """The same arrays and facts give the same bytes."""
    told, parts = [], []
    for name, array in arrays.items():
        array = np.ascontiguousarray(array)
        told.append([name, array.dtype.descr if array.dtype.names else array.dtype.str, list(array.shape)])
        parts.append(array.tobytes())
    header = json.dumps([told, facts], sort_keys=True, separators=(",", ":")).encode()
    return HEAD.pack(len(header)) + header + b"".join(parts)


def unpack(score: bytes) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """(arrays, facts)."""
    (length,) = HEAD.unpack_from(score)
    told, facts = json.loads(score[HEAD.size : HEAD.size + length])
    found, start = {}, HEAD.size + length
    for name, kind, shape in told:
        dtype, count = _dtype(json.dumps(kind)), math.prod(shape)
        found[name] = np.frombuffer(score, dtype, count, start).reshape(shape)
        start += count * dtype.itemsize
    return found, facts


@lru_cache(maxsize=64)  # thousands of samples have few kinds of arrays
def _dtype(told: str) -> np.dtype[Any]:
    kind = json.loads(told)
    fields = [tuple(each) if len(each) < 3 else (*each[:2], tuple(each[2])) for each in kind if isinstance(kind, list)]
    found: np.dtype[Any] = np.dtype(fields or kind)
    return found
