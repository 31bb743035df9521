"""Numbers that were answered beside those that are true, of a task whose answers are numbers: points to be drawn."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from mlmodelscope.record.table_check import DAMAGE
from mlmodelscope.task.task import Task, task_named

MOST = 1000
"""Points of a plot: with more of them nobody sees more."""
_LARGEST = 10
_BEYOND = 1e300
"""Differences of larger numbers are none."""


@dataclass(frozen=True, slots=True)
class Point:
    """One number of a sample."""

    sample: str
    place: int
    """Which of its numbers."""
    truth: float
    answer: float

    @property
    def residual(self) -> float:
        return self.answer - self.truth


@dataclass(frozen=True)
class Predictions:
    samples: int
    """That have numbers to compare."""
    values: int
    """Numbers of all of them."""
    lost: int
    """Those that are not finite, or too large to be drawn."""
    is_several: bool
    """Whether samples have several numbers."""
    has_residuals: bool
    """Whether truth and answer are on one scale."""
    points: tuple[Point, ...]
    """All of them, or some at equal distances and the largest residuals."""
    largest: tuple[Point, ...]
    """The largest residuals, the largest first; none where there is no common scale."""


def find_predictions(folder: Path, task: str) -> Predictions | None:
    """None where the task compares no numbers, or the table has none. It is read a part at a time."""
    known = task_named(task)
    if known.compared is None:
        return None
    sieve, samples, lost, is_several, ranked = _Sieve(), 0, 0, False, itertools.count()
    largest: list[tuple[float, int, Point]] = []
    for name, pairs in _rows(folder / "samples.parquet", known):
        samples, is_several = samples + 1, is_several or len(pairs) > 1
        for place, (truth, answer) in enumerate(pairs):
            if not (abs(truth) <= _BEYOND and abs(answer) <= _BEYOND):
                lost += 1
                continue
            point = Point(name, place, truth, answer)
            sieve.take(point)
            if known.has_residuals:  # of equal ones the first counts
                heapq.heappush(largest, (abs(point.residual), -next(ranked), point))
                if len(largest) > _LARGEST:
                    heapq.heappop(largest)
    if not samples:
        return None
    worst = tuple(point for *_, point in sorted(largest, reverse=True))
    points = tuple(dict.fromkeys([*sieve.kept, *worst]))
    return Predictions(samples, sieve.seen + lost, lost, is_several, known.has_residuals, points, worst)


class _Sieve:
    """Points at equal distances, however many come: all, then every other one, then every fourth."""

    def __init__(self) -> None:
        self.seen, self.kept, self._every = 0, list[Point](), 1

    def take(self, point: Point) -> None:
        if self.seen % self._every == 0:
            self.kept.append(point)
            if len(self.kept) > MOST:
                self.kept, self._every = self.kept[::2], 2 * self._every
        self.seen += 1


def _rows(path: Path, task: Task) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """The numbers of each sample that has some; rows may be a stranger's."""
    assert task.compared is not None
    columns = ["id", *(each.name for each in task.columns if each.name != "score")]
    with pq.ParquetFile(path) as file:
        if not set(columns) <= set(file.schema_arrow.names):
            return
        for batch in file.iter_batches(4096, columns=columns):
            for row in batch.to_pylist():
                pairs = _pairs(task, row)
                if pairs:
                    yield row["id"], pairs


def _pairs(task: Task, row: dict[str, Any]) -> list[tuple[float, float]]:
    assert task.compared is not None
    try:
        return [(float(truth), float(answer)) for truth, answer in task.compared(row)]
    except DAMAGE:
        return []
