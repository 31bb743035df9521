"""Whether a tensor of weights is another one with a normalization multiplied into it, and with which epsilon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mlmodelscope.measure.weight_values import Array, arrangements, outputs_first, values_of

_MOST_EPSILON = 0.02
_CLOSE = 2e-4
"""Of the largest number: what two ways to multiply in float32 are apart by."""


def folded(told: Sequence[Mapping[str, Any]], contents: Sequence[bytes]) -> dict[str, Any] | None:
    """Of A's weights, B's weights, and A's scale, shift, mean and variance: the epsilon, and the bias that follows.

    Nothing where B's are not A's times the scale over the root of the variance.
    """
    weights, other, scale, shift, mean, variance = (
        values_of(each, content).astype(np.float64) for each, content in zip(told, contents, strict=True)
    )
    for _, _, turned in arrangements(weights.shape, other):
        found = _by_outputs(weights, turned.astype(np.float64), scale, shift, mean, variance)
        if found is not None:
            return found
    return None


def _by_outputs(
    weights: Array, other: Array, scale: Array, shift: Array, mean: Array, variance: Array
) -> dict[str, Any] | None:
    """The same for tensors whose axes are in one order."""
    if not scale.size or not other.ndim:
        return None
    mine, theirs = outputs_first(weights), outputs_first(other)
    own = (mine * mine).sum(1)
    if mine.shape[0] != scale.size or (own == 0).any():
        return None
    factors = (mine * theirs).sum(1) / own
    alive = np.abs(factors) > 1e-6 * max(float(np.abs(factors).max()), 1e-12)
    if not alive.any():
        return None
    each = (scale[alive] / factors[alive]) ** 2 - variance[alive]
    # The smaller the variance, the more of the factor is epsilon's.
    epsilon = float(each[np.argmin(variance[alive])])
    if not -1e-6 <= epsilon <= _MOST_EPSILON:
        return None
    epsilon = max(epsilon, 0.0)
    expected = scale / np.sqrt(variance + epsilon + 1e-300)
    apart = np.abs(mine * expected[:, None] - theirs).max()
    if apart > _CLOSE * max(float(np.abs(theirs).max()), 1e-12):
        return None
    return {"epsilon": epsilon, "bias": (shift - mean * expected).tolist()}


def is_bias(told: Mapping[str, Any], content: bytes, expected: Sequence[float]) -> bool:
    """Whether a tensor is the bias that a folded normalization leaves."""
    values = values_of(told, content).astype(np.float64).reshape(-1)
    wanted = np.asarray(expected, np.float64)
    if values.size != wanted.size:
        return False
    return bool(np.abs(values - wanted).max() <= _CLOSE * max(float(np.abs(wanted).max()), 1e-12))
