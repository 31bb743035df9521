"""Which of two records is better by the first measure of their task, judged on the samples that both answered."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

from mlmodelscope.errors import UsageError
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.report import words
from mlmodelscope.report.numbers import headline_of
from mlmodelscope.task.measure import MEASURES, Measure
from mlmodelscope.task.task import task_named

_CONFIDENCE = 0.95


@dataclass(frozen=True)
class PairedScores:
    """How far a measure moves from the first record to the second."""

    metric: str
    samples: int
    difference: float
    spread: float
    """Standard deviation of that difference."""

    @property
    def _half(self) -> float:
        return NormalDist().inv_cdf(0.5 + _CONFIDENCE / 2) * self.spread

    @property
    def verdict(self) -> Literal["better", "worse", "no difference"]:
        """The second, against the first."""
        if not abs(self.difference) > self._half:
            return "no difference"
        return "better" if (self.difference > 0) == MEASURES[self.metric].is_better_higher else "worse"

    @property
    def sentence(self) -> str:
        ends = [self.difference - self._half, self.difference + self._half]
        unit = MEASURES[self.metric].unit
        low, high = (f"{unit.factor * each:+.3g}" if math.isfinite(each) else "open" for each in ends)
        moved = f"{unit.factor * self.difference:+.3g} {unit.apart}".rstrip()
        about = f"{words.title(self.metric)} {moved}, 95 %: {low} to {high}, {words.plural(self.samples, 'sample')}"
        if self.verdict == "no difference":
            return f"no significant difference ({about})"
        return f"the second is {self.verdict} ({about})"


def is_scored(first: Record, second: Record) -> bool:
    """Whether both are of one task whose answers the ruler scores."""
    return first.plan.task == second.plan.task and task_named(first.plan.task).is_ruled


def paired_scores(first: Record, second: Record, store: Store) -> PairedScores:
    """UsageError where there is nothing that both could be judged by."""
    if first.plan.measure != second.plan.measure:
        raise UsageError("the answers were scored by different options of `measure`")
    measure = _measure(first, second)
    before, after = _scores(first, store), _scores(second, store)
    common = [key for key in before if key in after]
    if not common:
        raise UsageError(f"records {first.id} and {second.id} have no common samples with a score")
    moved, spread = measure.difference([before[key] for key in common], [after[key] for key in common])
    return PairedScores(measure.name, len(common), moved, spread)


def _measure(first: Record, second: Record) -> Measure:
    for name in headline_of(first):
        if name in first.metrics and name in second.metrics:
            return MEASURES[name]
    raise UsageError("the records have no number in common")


def _scores(record: Record, store: Store) -> dict[tuple[str, str], Any]:
    rows = store.samples(record).select(["id", "digest", "score"]).to_pylist()
    return {(row["id"], row["digest"]): row["score"] for row in rows if row["score"] is not None}
