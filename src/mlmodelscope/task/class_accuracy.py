"""Top-1 and top-5 accuracy, per class, and what is taken for what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from mlmodelscope.errors import MetricError
from mlmodelscope.statistic.interval import wilson
from mlmodelscope.task.class_answer import ClassAnswer, label_of
from mlmodelscope.task.measure import Row
from mlmodelscope.types import Interval


def among_best(k: int) -> Callable[[Row], bool]:
    """Whether a sample's label is among its k best classes; of several labels, any."""
    return lambda row: row[1] is not None and label_of(*row) in row[1].classes[:k]


class TopK:
    """Share of samples whose label is among the k best classes."""

    def __init__(self, k: int, is_error: bool = False) -> None:
        self._k = k
        self._is_error = is_error
        self._counted = 0
        self._seen = 0

    def update(self, label: int, answer: ClassAnswer) -> None:
        self._seen += 1
        self._counted += (label in answer.classes[: self._k]) != self._is_error

    def compute(self) -> Interval:
        if not self._seen:
            raise MetricError(f"top-{self._k} accuracy of no samples is not a number")
        return wilson(self._counted, self._seen)


class PerClass:
    """Top-1 accuracy of each class that occurs."""

    def __init__(self) -> None:
        self._seen: Counter[int] = Counter()
        self._right: Counter[int] = Counter()

    def update(self, label: int, answer: ClassAnswer) -> None:
        self._seen[label] += 1
        self._right[label] += answer.classes[:1] == (label,)

    def compute(self) -> list[dict[str, int]]:
        if not self._seen:
            raise MetricError("per-class accuracy of no samples is not a number")
        return [
            {"class": label, "right": self._right[label], "seen": self._seen[label]} for label in sorted(self._seen)
        ]


class ClassAccuracy(PerClass):
    """Mean of the classes' own top-1 accuracies: a rare class counts as much as a frequent one."""

    def compute(self) -> float:  # type: ignore[override]
        found = super().compute()
        return sum(each["right"] / each["seen"] for each in found) / len(found)


class Confusion:
    """The most frequent mistakes: what was there, what was said, how often."""

    kept = 100

    def __init__(self) -> None:
        self._pairs: Counter[tuple[int, int]] = Counter()
        self._seen = 0

    def update(self, label: int, answer: ClassAnswer) -> None:
        self._seen += 1
        if answer.classes and answer.classes[0] != label:
            self._pairs[label, answer.classes[0]] += 1

    def compute(self) -> list[dict[str, Any]]:
        if not self._seen:
            raise MetricError("a confusion of no samples is not a number")
        ranked = sorted(self._pairs.items(), key=lambda item: (-item[1], item[0]))
        return [{"label": label, "answer": answer, "count": count} for (label, answer), count in ranked[: self.kept]]
