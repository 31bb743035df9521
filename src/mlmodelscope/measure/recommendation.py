"""Recommendation: whether what is relevant comes among the first k of a sample's candidates, and how far in front."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from mlmodelscope.measure.pack import pack
from mlmodelscope.measure.rule import Arrays, ScoreError, task_rule
from mlmodelscope.measure.values import answered_values, number, opened

MEASURES = ("hit-rate", "hit-ndcg")


@task_rule("recommendation")
class Recommendation:
    """A score holds whether there was a hit, and the nDCG."""

    def score(self, arrays: Arrays, fields: Mapping[str, Any], target: Any, options: Mapping[str, Any]) -> bytes:
        values = answered_values(arrays)
        gains = _gains(target, len(values))
        k = int(options.get("k", 10))
        order = _order(values, gains, str(options.get("ties", "against")))
        gained = gains[order[:k]] / np.log2(np.arange(2, min(k, len(values)) + 2))
        best = np.sort(gains)[::-1][:k] / np.log2(np.arange(2, min(k, len(values)) + 2))
        shown = {"hit-rate": float(gained.any()), "hit-ndcg": float(gained.sum() / best.sum())}
        return pack({}, shown=shown, quality=round(min(1.0, shown["hit-ndcg"]), 9))

    def numbers(self, scores: Sequence[bytes], names: Sequence[str], weights: np.ndarray | None) -> dict[str, float]:
        if weights is not None and not weights.sum() > 0:
            return {}
        means = np.average(_values(tuple(scores)), axis=0, weights=weights)
        return {name: float(means[MEASURES.index(name)]) for name in names}

    def deviations(self, scores: Sequence[bytes], names: Sequence[str]) -> dict[str, float]:
        """Standard deviation of each mean."""
        spread = np.std(_values(tuple(scores)), axis=0, ddof=1) / math.sqrt(len(scores))
        return {name: float(spread[MEASURES.index(name)]) for name in names}

    def details(self, scores: Sequence[bytes]) -> dict[str, Any]:
        return {}


@lru_cache(maxsize=2)
def _values(scores: tuple[bytes, ...]) -> np.ndarray:
    return np.array([[facts["shown"][name] for name in MEASURES] for _, facts in opened(scores)])


def _gains(target: Any, candidates: int) -> np.ndarray:
    """Of each candidate, by its place."""
    relevant = target.get("relevant") if isinstance(target, Mapping) else None
    if not isinstance(relevant, Mapping):
        raise ScoreError("its truth does not name the candidates that are relevant")
    found = np.zeros(candidates)
    for word, gain in relevant.items():
        place = int(word) if str(word).isascii() and str(word).isdigit() and len(str(word)) < 10 else -1
        if not 0 <= place < candidates:
            raise ScoreError(f"the candidate {str(word)[:40]!r} is relevant, and the model scored {candidates}")
        found[place] = max(0.0, number(gain, "a gain"))
    if not found.any():
        raise ScoreError("no candidate is relevant")
    found /= found.max()
    return found


def _order(values: np.ndarray, gains: np.ndarray, ties: str) -> np.ndarray:
    """Candidates, the best first; of equal ones by the rule."""
    among = {"against": gains, "in favor": -gains, "order": np.zeros(len(gains))}[ties]
    return np.lexsort((np.arange(len(values)), among, -values))


RULE = Recommendation()
