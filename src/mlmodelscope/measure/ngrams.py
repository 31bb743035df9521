"""BLEU and chrF from sums of counts, for many sets of samples at once; sacrebleu makes the counts of each sample.

The formulas are sacrebleu's: tests compare all digits. Its own take one set at a time, which a jackknife over ten
thousand sentences cannot wait for.
"""

from __future__ import annotations

import numpy as np

ORDER = 4
_SMOOTH = {"floor": 0.1, "add-k": 1.0}
_NO_LOG = -9999999999.0
"""What sacrebleu takes for the logarithm of 0."""
_BETA = 2


def bleu(sums: np.ndarray, smoothing: str, effective_order: bool) -> np.ndarray:
    """Of rows with the length of answers and references, n-grams that are right, and all n-grams of the answers."""
    sums = np.asarray(sums, np.float64)
    told, due = sums[:, 0], sums[:, 1]
    right, total = sums[:, 2 : 2 + ORDER].copy(), sums[:, 2 + ORDER :].copy()
    has_any = right.any(axis=1)
    if smoothing == "add-k":
        right[:, 1:] += _SMOOTH["add-k"]
        total[:, 1:] += _SMOOTH["add-k"]
    known = np.cumprod(total > 0, axis=1).astype(bool)  # nothing is looked at behind an order without n-grams
    shares = np.divide(100.0 * right, total, out=np.zeros_like(right), where=known)
    if smoothing == "exp":
        halved = 2.0 ** np.cumsum(known & (right == 0), axis=1)
        np.divide(100.0, halved * total, out=shares, where=known & (right == 0))
    elif smoothing == "floor":
        np.divide(100.0 * _SMOOTH["floor"], total, out=shares, where=known & (right == 0))
    logs = np.log(shares, out=np.full_like(shares, _NO_LOG), where=shares > 0)
    order = np.maximum(1, known.sum(axis=1)) if effective_order else np.full(len(sums), ORDER)
    counted = np.arange(ORDER) < order[:, None]
    brief = np.divide(due, told, out=np.full(len(sums), np.inf), where=told > 0)
    penalty = np.where(told < due, np.exp(1 - np.maximum(1, brief)), 1.0)
    found: np.ndarray = np.where(has_any, penalty * np.exp((logs * counted).sum(axis=1) / order), 0.0)
    return found


def chrf(sums: np.ndarray) -> np.ndarray:
    """Of rows with n-grams of the answers, of the references, and those in both, order by order."""
    counts = np.asarray(sums, np.float64).reshape(len(sums), -1, 3)
    told, due, both = (counts[:, :, place] for place in range(3))
    known = (told > 0) & (due > 0)
    many = np.maximum(1, known.sum(axis=1))
    precision, recall = (
        np.divide(both, each, out=np.zeros_like(both), where=known).sum(axis=1) / many for each in (told, due)
    )
    below = _BETA**2 * precision + recall
    found: np.ndarray = 100 * np.divide(
        (1 + _BETA**2) * precision * recall, below, out=np.zeros(len(counts)), where=below > 0
    )
    return found
