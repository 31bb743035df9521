"""Top-1 and top-5 accuracy, per class, and what is taken for what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from mlmodelscope.errors import MetricError
from mlmodelscope.metric.interval import wilson
from mlmodelscope.metric.metric import metric
from mlmodelscope.types import Interval


class TopK:
    """Share of samples whose label is among the k best classes."""

    def __init__(self, k: int) -> None:
        self._k = k
        self._right = 0
        self._seen = 0

    def update(self, label: int, classes: Sequence[int], scores: Sequence[float]) -> None:
        self._seen += 1
        self._right += label in classes[: self._k]

    def compute(self) -> Interval:
        if not self._seen:
            raise MetricError(f"top-{self._k} accuracy of no samples is not a number")
        return wilson(self._right, self._seen)


@metric("top1")
class Top1(TopK):
    def __init__(self) -> None:
        super().__init__(1)


@metric("top5")
class Top5(TopK):
    def __init__(self) -> None:
        super().__init__(5)


@metric("per_class")
class PerClass:
    """Top-1 accuracy of each class that occurs: {class: {right, seen}}."""

    def __init__(self) -> None:
        self._seen: Counter[int] = Counter()
        self._right: Counter[int] = Counter()

    def update(self, label: int, classes: Sequence[int], scores: Sequence[float]) -> None:
        self._seen[label] += 1
        self._right[label] += bool(classes) and classes[0] == label

    def compute(self) -> dict[int, dict[str, int]]:
        if not self._seen:
            raise MetricError("per-class accuracy of no samples is not a number")
        return {label: {"right": self._right[label], "seen": self._seen[label]} for label in sorted(self._seen)}


@metric("confusion")
class Confusion:
    """The most frequent mistakes: what was there, what was said, how often."""

    kept = 100

    def __init__(self) -> None:
        self._pairs: Counter[tuple[int, int]] = Counter()
        self._seen = 0

    def update(self, label: int, classes: Sequence[int], scores: Sequence[float]) -> None:
        self._seen += 1
        if classes and classes[0] != label:
            self._pairs[label, classes[0]] += 1

    def compute(self) -> list[dict[str, Any]]:
        if not self._seen:
            raise MetricError("a confusion of no samples is not a number")
        ranked = sorted(self._pairs.items(), key=lambda item: (-item[1], item[0]))
        return [{"label": label, "answer": answer, "count": count} for (label, answer), count in ranked[: self.kept]]
