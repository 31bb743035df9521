"""Answers turned into numbers: each metric has three verbs — reset (a new object), update, compute — and refuses
to compute from no data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from mlmodelscope_worker.registry import add

METRICS: dict[str, Callable[[], Metric]] = {}


class Metric(Protocol):
    def update(self, label: int, classes: Sequence[int], scores: Sequence[float]) -> None:
        """Take in one answer: the sample's label, its best classes and their scores, best first."""

    def compute(self) -> Any:
        """The number, with its interval where it has one; MetricError on no data."""


def metric(name: str) -> Callable[[Callable[[], Metric]], Callable[[], Metric]]:
    """Register a metric under a name. Records keep what it computes, a number or an Interval, under that name."""

    def register(make: Callable[[], Metric]) -> Callable[[], Metric]:
        add(METRICS, name, make)
        return make

    return register
