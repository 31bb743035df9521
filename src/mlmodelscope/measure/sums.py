"""Numbers that follow from sums over samples: each adds a row of counts, and leaving one out is a subtraction."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

Formula = Callable[[np.ndarray], np.ndarray]
"""From sums, a row for each set of samples, to one number for each set; not-a-number where there is none."""


def number_of(rows: np.ndarray, formula: Formula, weights: np.ndarray | None = None) -> float:
    """The number of all samples together, each counted as often as its weight says."""
    sums = rows.sum(axis=0) if weights is None else weights @ rows
    return float(formula(sums[None])[0])


def deviation_of(rows: np.ndarray, formula: Formula) -> float:
    """Its standard deviation, by leaving out every sample in turn (jackknife)."""
    return jackknifed(formula(rows.sum(axis=0) - rows))


def counted(rows: np.ndarray) -> tuple[int, int] | None:
    """(right, all) of samples that are right or wrong, or do not count; None where any is partly right."""
    right, counts = rows[:, 0], rows[:, 1]
    is_share = bool(np.isin(counts, (0.0, 1.0)).all() and ((right == 0.0) | (right == counts)).all())
    return (int(right.sum()), int(counts.sum())) if is_share and counts.any() else None


def jackknifed(without: np.ndarray) -> float:
    """Standard deviation of a number, from what it is without each of the samples."""
    count = len(without)
    if count < 2 or not np.isfinite(without).all():
        return math.nan
    with np.errstate(over="ignore"):  # perplexities of a model that is lost: nothing is known of them
        return math.sqrt((count - 1) / count * float(((without - without.mean()) ** 2).sum()))


def ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """One by the other; not-a-number where there is nothing to divide by."""
    found: np.ndarray = np.divide(above, below, out=np.full(np.shape(below), math.nan), where=np.asarray(below) > 0)
    return found


def mean(sums: np.ndarray) -> np.ndarray:
    """The formula of a mean: rows hold a value, and 1 for the sample."""
    return ratio(sums[:, 0], sums[:, 1])
