"""Numbers of a sample as arrays: those that are true, those that were answered, refused where they are none."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from mlmodelscope.measure.pack import unpack
from mlmodelscope.measure.rule import Arrays, ScoreError

Unpacked = tuple[tuple[dict[str, np.ndarray], dict[str, Any]], ...]


def true_values(target: Any, key: str = "values") -> np.ndarray:
    """A list of numbers of what is true of a sample."""
    if not isinstance(target, Mapping) or not isinstance(target.get(key), list):
        raise ScoreError(f"it has no {key} to compare with")
    return np.array([number(each, f"one of its true {key}") for each in target[key]], np.float64)


def number(value: Any, what: str) -> float:
    """A finite number, and not a word, a list or a flag."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ScoreError(f"{what} is {str(value)[:40]!r}, which is not a number")
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise ScoreError(f"{what} is not a finite number")
    return found


def answered_values(arrays: Arrays) -> np.ndarray:
    """The numbers that were answered, one behind the other."""
    if "values" not in arrays:
        raise ScoreError("its answer has no values")
    found: np.ndarray = np.asarray(arrays["values"]).reshape(-1).astype(np.float64)
    if not found.size:
        raise ScoreError("its answer is empty")
    if not np.isfinite(found).all():
        raise ScoreError("the model answered with not-a-number")
    return found


def as_many(truth: np.ndarray, answer: np.ndarray) -> None:
    if len(truth) != len(answer):
        raise ScoreError(f"its answer has {len(answer)} values, its truth has {len(truth)}")


def closeness(truth: np.ndarray, answer: np.ndarray) -> float:
    """1 less the error as a share of both sizes: 1 where they are equal, 0 where they have nothing in common."""
    scale = max(float(np.abs(truth).max(initial=0.0)), float(np.abs(answer).max(initial=0.0)))
    if scale == 0:
        return 1.0
    one, other = truth / scale, answer / scale
    return round(float(1 - np.abs(one - other).sum() / (np.abs(one) + np.abs(other)).sum()), 9)


@lru_cache(maxsize=2)  # the same scores are summed up hundreds of times, each time with other weights
def _opened(scores: tuple[bytes, ...]) -> Unpacked:
    return tuple(map(unpack, scores))


def opened(scores: Sequence[bytes]) -> Unpacked:
    """(arrays, facts) of each score."""
    return _opened(tuple(scores))


def finite(found: Mapping[str, float], names: Sequence[str]) -> dict[str, float]:
    """Those that were asked for and are numbers: squares of large numbers are not."""
    return {name: float(found[name]) for name in names if name in found and math.isfinite(found[name])}
