"""Measures that the ruler computes: a row is the score of a sample, a few bytes that only the ruler can read."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mlmodelscope.errors import MetricError
from mlmodelscope.extras import install_extra
from mlmodelscope.measure.facts import facts_of
from mlmodelscope.measure.ruler import Failure, Item, Measurement, ruler
from mlmodelscope.statistic.population import narrowed
from mlmodelscope.task.array_answer import KEPT, ArrayAnswer
from mlmodelscope.task.measure import Measure, Row, find_measure
from mlmodelscope.task.quality import quality_of
from mlmodelscope.task.task import Outcome, Scored, Terms, task_named
from mlmodelscope.types import Interval

_STEPS = 20


@dataclass(frozen=True, kw_only=True)
class RuledMeasure(Measure):
    """A measure that the measuring process computes. Samples that failed have no row and are passed over."""

    about: str = ""
    """What it is, in a sentence."""
    needs: Mapping[str, Any] = field(default_factory=dict)
    """Options under which alone it is computed, such as whose rule matches boxes; of tasks that have them."""
    needs_scores: bool = True
    rule: str = ""
    """The rule that reads its rows, by the name of a task; by default the first that it is a measure of."""

    @property
    def meaning(self) -> str:
        return self.about

    @property
    def ruled_by(self) -> str:
        return self.rule or self.tasks[0]

    def quality(self, row: Row) -> float:
        """By the score itself, or by what is counted; a sample that failed is as bad as can be."""
        if self.outcome is not None:
            return super().quality(row)
        return 0.0 if row is None else float(facts_of(row).get("quality", 0.0))

    def number(self, rows: Sequence[Row]) -> float:
        return self._of(ruler().measure(self.ruled_by, _known(rows, self), [self.name], with_intervals=False))

    def interval(self, rows: Sequence[Row], population: int | None = None) -> Interval:
        known = _known(rows, self)
        found = ruler().measure(self.ruled_by, known, [self.name])
        value = self._of(found)
        own = found.intervals.get(self.name) or Interval(value, *self.bounds)
        low, high = max(self.bounds[0], own.low), min(self.bounds[1], own.high)
        return narrowed(Interval(value, low, high, own.confidence), len(known), population)

    def difference(self, before: Sequence[Row], after: Sequence[Row]) -> tuple[float, float]:
        pairs = [
            (one, other) for one, other in zip(before, after, strict=True) if one is not None and other is not None
        ]
        if not pairs:  # with it no sample has an answer: there is nothing worse
            return self._lost(before)
        first, second = zip(*pairs, strict=True)
        moved, spread = ruler().difference(self.ruled_by, self.name, first, second)
        if not math.isfinite(moved):  # such as SSIM of pictures that are smaller than its window
            return self._lost(before)
        return moved, spread

    def _lost(self, before: Sequence[Row]) -> tuple[float, float]:
        """The difference to the worst; of samples that have no number either way nothing is known."""
        try:
            return self._worst() - self.number(before), 0.0
        except MetricError:
            return 0.0, math.inf

    def _worst(self) -> float:
        """What no answers at all are worth: 0, and all of it for an error, which has no upper end."""
        worst = self.bounds[0] if self.is_better_higher else self.bounds[1]
        return worst if math.isfinite(worst) else float(not self.is_better_higher)

    def _of(self, found: Measurement) -> float:
        if self.name not in found.numbers:
            reason = found.reasons.get(self.name, "there is nothing that it could count")
            raise MetricError(f"{self.title} of these samples is not a number: {reason}")
        return found.numbers[self.name]


def _known(rows: Sequence[Row], measure: Measure) -> list[bytes]:
    known = [row for row in rows if row is not None]
    if not known:
        raise MetricError(f"{measure.title} of no samples is not a number")
    return known


def shown_of(score: bytes | None) -> Mapping[str, float]:
    """What a score says about its sample alone, for tables: `shown` among the facts that `measure/pack.py` wrote."""
    if score is None:
        return {}
    found: Mapping[str, float] = facts_of(score).get("shown", {})
    return found


def item_of(target: Any, answer: ArrayAnswer) -> Item:
    arrays = [
        (name, each.element_type, each.shape, each.content)
        for name, each in answer.arrays.items()
        if name != KEPT  # words for people, of which no number is made
    ]
    return Item(arrays, answer.fields, target)


class RuledTally:
    """Scores every sample by the ruler, keeps the scores, and has them summed up in the end."""

    def __init__(self, task: str, terms: Terms, packages: Sequence[str] = ()) -> None:
        """`packages` are what the ruler imports for this task beyond numpy."""
        missing = [each for each in packages if importlib.util.find_spec(each) is None]
        if missing:
            raise MetricError(f"measuring {task} needs {missing[0]}", hint=install_extra("measure"))
        self._task, self._terms = task, terms
        self._scores: list[bytes] = []

    def take(self, pairs: Sequence[tuple[Any, Any]]) -> Sequence[Scored]:
        found = []
        items = [item_of(target, answer) for target, answer in pairs]
        for each in ruler().score(self._task, self._terms.parameters, items):
            if isinstance(each, Failure):
                found.append(Scored(error=each.reason))
            else:
                self._scores.append(each)
                found.append(Scored(each))
        return found

    def _is_about(self, measure: RuledMeasure) -> bool:
        return all(self._terms.parameters.get(name, value) == value for name, value in measure.needs.items())

    def outcome(self) -> Outcome:
        task = task_named(self._task)
        claimed = {each.name: each for each in map(find_measure, self._terms.claimed) if each is not None}
        parts = [each for each in claimed.values() if ":" in each.name and task.name in each.tasks]
        known = [each for each in (*task.measures, *parts) if isinstance(each, RuledMeasure) and self._is_about(each)]
        wanted = [each for each in known if each.is_recorded or each.name in claimed]
        if not self._scores:
            return Outcome(refused={each.name: f"{each.title} of no samples is not a number" for each in wanted})
        found = ruler().measure(self._task, self._scores, [each.name for each in wanted], with_details=True)
        numbers: dict[str, Interval | float] = {}
        for each in wanted:
            if each.name in found.numbers:
                numbers[each.name] = _bounded(found.intervals.get(each.name), each) or found.numbers[each.name]
        refused = {
            each.name: found.reasons.get(each.name, "no sample has anything that it could count")
            for each in wanted
            if each.name not in numbers
        }
        details = {**found.details, **_qualities(self._scores)}
        return Outcome(numbers, details, refused, ruler=ruler().versions(self._task))


def _qualities(scores: Sequence[bytes]) -> dict[str, Any]:
    """How many samples have which quality, in steps of 5 %."""
    known = [each for each in map(quality_of, scores) if each is not None]
    counts = [0] * _STEPS
    for each in known:
        counts[min(max(int(_STEPS * each), 0), _STEPS - 1)] += 1
    return {"qualities": counts} if known else {}


def _bounded(interval: Interval | None, measure: Measure) -> Interval | None:
    if interval is None:
        return None
    low, high = max(measure.bounds[0], interval.low), min(measure.bounds[1], interval.high)
    return Interval(interval.value, low, high, interval.confidence)
