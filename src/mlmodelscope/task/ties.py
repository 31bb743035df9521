"""Tied scores: how far an accuracy depends on which of several equal scores comes first.

A sample's label is among the k best in every order of equal scores, in some, or in none. The accuracy with every tie
broken against the label and with every tie in its favor are the two ends; what was measured lies between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlmodelscope.task.class_answer import ClassAnswer, Runs

_BORDERS = (1, 5)


class Ties:
    """Samples whose scores are tied across the border of the k best, and both ends of the accuracy."""

    def __init__(self) -> None:
        self._seen = 0
        self._kept = 0
        self._tied = dict.fromkeys(_BORDERS, 0)
        self._worst = dict.fromkeys(_BORDERS, 0)
        self._best = dict.fromkeys(_BORDERS, 0)

    def update(self, label: int, answer: ClassAnswer) -> None:
        classes, scores, further = answer.classes, answer.scores, answer.tied
        self._seen += 1
        self._kept = max(self._kept, len(classes))
        above, equal = _rank(label, classes, scores, further)
        for k in _BORDERS:
            self._tied[k] += _is_tied(k, scores, further)
            self._worst[k] += equal > 0 and above + equal <= k
            self._best[k] += equal > 0 and above < k

    def compute(self, top_k: int) -> dict[str, Any] | None:
        """For each border that `top_k` kept classes can tell of; nothing where there were no samples."""
        if not self._seen:
            return None
        return {
            f"top{k}": {
                "samples": self._tied[k],
                "worst": self._worst[k] / self._seen,
                "best": self._best[k] / self._seen,
                "of": self._seen,
            }
            for k in _BORDERS
            if top_k >= k or self._kept < top_k
        }


def _rank(label: int, classes: Sequence[int], scores: Sequence[float], further: Runs) -> tuple[int, int]:
    """(classes with a higher score than the label's, classes with the same one, itself included; 0: it is lower)."""
    beyond = sum(last - first + 1 for first, last in further)
    if label in classes:
        score = scores[classes.index(label)]
    elif any(first <= label <= last for first, last in further):
        score = scores[-1]
    else:
        return len(classes), 0
    above = sum(other > score for other in scores)
    return above, sum(other == score for other in scores) + (beyond if score == scores[-1] else 0)


def _is_tied(k: int, scores: Sequence[float], further: Runs) -> bool:
    return scores[k - 1] == scores[k] if len(scores) > k else len(scores) == k and bool(further)
