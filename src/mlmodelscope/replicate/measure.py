"""What can be claimed of a model's answers, as a function of the answers.

Most are shares of samples that are each right or wrong, about which much is known in closed form. For the others the
uncertainty is found by drawing samples again (bootstrap).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist, stdev
from typing import TypeVar

from mlmodelscope.errors import MetricError
from mlmodelscope.metric import METRICS
from mlmodelscope.metric.interval import wilson
from mlmodelscope.types import Interval
from mlmodelscope.worker.variants import Answer

Row = tuple[int, Answer | None]
"""A sample's label, and what was answered; a sample that failed has no answer and is wrong."""

Item = TypeVar("Item")

_CONFIDENCE = 0.95
_MOST_DRAWN = 4_000_000
"""Rows that a bootstrap may draw altogether."""


@dataclass(frozen=True)
class Measure:
    """A number made of labels and answers, between 0 and 1."""

    name: str
    title: str
    is_better_higher: bool
    number: Callable[[Sequence[Row]], float]
    outcome: Callable[[Row], bool] | None = None
    """For a share: whether a sample counts."""
    needs_scores: bool = False
    """Whether it depends on more than the order of the answers."""

    def interval(self, rows: Sequence[Row], population: int | None = None) -> Interval:
        """The number with its uncertainty, narrowed by the share of the population that has been seen."""
        if not rows:
            raise MetricError(f"{self.title} of no samples is not a number")
        if self.outcome is not None:
            return share_interval(sum(map(self.outcome, rows)), len(rows), population)
        return _narrowed(self._bootstrapped(rows), len(rows), population)

    def difference(self, before: Sequence[Row], after: Sequence[Row]) -> tuple[float, float]:
        """(after minus before, its standard deviation) on the same samples, by drawing them again."""
        pairs = list(zip(before, after, strict=True))
        drawn = [
            self.number([row for _, row in chosen]) - self.number([row for row, _ in chosen])
            for chosen in _draw(pairs, min(100, max(20, _MOST_DRAWN // 8 // len(pairs))))
        ]
        return self.number(after) - self.number(before), stdev(drawn) + 0.25 / len(pairs)

    def _bootstrapped(self, rows: Sequence[Row]) -> Interval:
        drawn = [self.number(chosen) for chosen in _draw(rows, min(1000, max(100, _MOST_DRAWN // len(rows))))]
        # The normal interval, not the percentiles: few draws know the deviation far better than their own tails.
        half = NormalDist().inv_cdf(0.5 + _CONFIDENCE / 2) * stdev(drawn)
        value = self.number(rows)
        return Interval(value, max(0.0, value - half), min(1.0, value + half), _CONFIDENCE)


def unseen(samples: int, population: int | None) -> float:
    """What is left of an uncertainty when so many of a population have been seen (finite population correction)."""
    if population is None or population <= 1:
        return 1.0
    return math.sqrt(max(0.0, (population - samples) / (population - 1)))


def share_interval(right: int, samples: int, population: int | None = None) -> Interval:
    """Wilson's interval, narrowed by the share of the population that has been seen."""
    return _narrowed(wilson(right, samples, _CONFIDENCE), samples, population)


def _narrowed(found: Interval, samples: int, population: int | None) -> Interval:
    left, value = unseen(samples, population), found.value
    return Interval(value, value - (value - found.low) * left, value + (found.high - value) * left, _CONFIDENCE)


def _draw(rows: Sequence[Item], times: int) -> list[list[Item]]:
    chance = random.Random(0)
    return [chance.choices(rows, k=len(rows)) for _ in range(times)]


def _among_best(k: int) -> Callable[[Row], bool]:
    return lambda row: row[1] is not None and row[0] in row[1].classes[:k]


def _not_among_best(k: int) -> Callable[[Row], bool]:
    return lambda row: row[1] is None or row[0] not in row[1].classes[:k]


def _share(name: str, title: str, outcome: Callable[[Row], bool], is_better_higher: bool = True) -> Measure:
    return Measure(name, title, is_better_higher, lambda rows: sum(map(outcome, rows)) / len(rows), outcome)


def _class_accuracy(rows: Sequence[Row]) -> float:
    seen: dict[int, list[bool]] = {}
    for label, answer in rows:
        seen.setdefault(label, []).append(answer is not None and answer.classes[:1] == (label,))
    return sum(sum(each) / len(each) for each in seen.values()) / len(seen)


def _calibration_error(rows: Sequence[Row]) -> float:
    calibration = METRICS["calibration"]()
    for label, answer in rows:
        if answer is not None:
            calibration.update(label, answer.classes, answer.scores)
    error: float = calibration.compute()["ece"]
    return error


MEASURES = {
    each.name: each
    for each in (
        _share("top1", "top-1", _among_best(1)),
        _share("top5", "top-5", _among_best(5)),
        _share("top1-error", "top-1 error", _not_among_best(1), is_better_higher=False),
        _share("top5-error", "top-5 error", _not_among_best(5), is_better_higher=False),
        Measure("class-accuracy", "mean accuracy of the classes", True, _class_accuracy),
        Measure("ece", "calibration error", False, _calibration_error, needs_scores=True),
    )
}
