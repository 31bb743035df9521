"""A finished journal becomes tables and metrics, in one pass and bounded memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlmodelscope.dataset.sample import Sample
from mlmodelscope.plan.plan import Plan
from mlmodelscope.record.journal import Journal
from mlmodelscope.record.number import MeasuredNumber
from mlmodelscope.record.record import Failure, LatencyRecord
from mlmodelscope.record.sample_rows import Row, rows_of
from mlmodelscope.statistic.interval import percentile_interval
from mlmodelscope.task.measure import MEASURES
from mlmodelscope.task.task import Scored, Terms, task_named
from mlmodelscope.types import Interval

if TYPE_CHECKING:
    from mlmodelscope.record.samples import SampleTable

_FAILURES_KEPT = 100
_AT_ONCE = 64


class Summary:
    """What a journal amounts to."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._task = task_named(plan.task)
        self._tally = self._task.tally(terms_of(plan))
        self.failures: list[Failure] = []
        self.samples = self.failed = self.scored = self.improbable = 0

    def write(self, journal: Journal, samples: Sequence[Sample], folder: Path) -> None:
        """Write samples.parquet and batches.parquet, and take every answer in."""
        # pyarrow takes a while to import, and a record that is found needs none of it.
        from mlmodelscope.record.samples import BATCHES, SampleTable, TableWriter

        table = SampleTable(folder / "samples.parquet", self._task)
        batches = TableWriter(folder / "batches.parquet", BATCHES)
        size = self._plan.scenario.batch_size
        held: list[Row] = []
        for answers in journal.entries():
            part = samples[answers.batch * size : (answers.batch + 1) * size]
            held += rows_of(answers, part)
            batches.add(answers.batch, len(part), answers.run_ns)
            self.improbable += answers.content.get("improbable", 0)
            if len(held) >= _AT_ONCE:
                self._take(held, table)
                held = []
        self._take(held, table)
        table.finish()
        batches.finish()

    def _take(self, rows: Sequence[Row], table: SampleTable) -> None:
        """Score what can be scored, some rows at a time: asking the ruler costs more than what is asked."""
        usable = [row for row in rows if row.error is None and row.text is None and row.sample.target is not None]
        found = iter(self._tally.take([(row.sample.target, row.answer) for row in usable]))
        known = {id(row) for row in usable}
        for row in rows:
            scored = next(found) if id(row) in known else Scored()
            error = row.error or scored.error
            self.samples += 1
            if error is not None:
                self.failed += 1
                if len(self.failures) < _FAILURES_KEPT:
                    self.failures.append(Failure(sample=row.sample.id, reason=error))
            elif id(row) in known:
                self.scored += 1
            table.add(row, error, scored.score)

    def found(self) -> dict[str, Any]:
        """Metrics, details, what could not be computed, and notes, as a record has them."""
        outcome = self._tally.outcome()
        return {
            "metrics": {name: _measured(name, number, self.scored) for name, number in outcome.numbers.items()},
            "details": dict(outcome.details),
            "refused": dict(outcome.refused),
            "notes": (*self._notes(), *outcome.notes),
            "ruler": dict(outcome.ruler) or None,
        }

    def _notes(self) -> list[str]:
        notes = []
        if self.failed:
            notes.append(f"{self.failed} of {self.samples} samples failed and are not in the metrics")
        if self.improbable:
            notes.append(
                f"the output is declared `probability`, but the scores of {self.improbable} samples do not sum to 1: "
                "if they are logits, declare `type: logits` and add the step `softmax`"
            )
        return notes


def terms_of(plan: Plan) -> Terms:
    """What the numbers of a plan depend on beside its answers."""
    parameters = {"top_k": plan.answer.top_k, "probabilities": plan.answer.probabilities, **plan.measure}
    claimed = tuple(each.metric for each in plan.claims)
    return Terms(parameters, by_function="postprocess" in plan.functions, claimed=claimed)


def _measured(name: str, number: Interval | float, samples: int) -> MeasuredNumber:
    measure = MEASURES[name]
    found = MeasuredNumber(value=0, title=measure.title, unit=measure.unit.name, better=measure.better, samples=samples)
    if not isinstance(number, Interval):
        return found.model_copy(update={"value": number})
    return found.model_copy(update={key: getattr(number, key) for key in ("value", "low", "high", "confidence")})


def summarise_latency(
    batch_size: int,
    warm_up_ns: Sequence[int],
    raw_ns: Sequence[int],
    parts_ns: Mapping[str, Sequence[int]] | None = None,
) -> LatencyRecord | None:
    """Percentiles with intervals, mean and trimmed mean of raw durations; nothing from nothing."""
    if not raw_ns:
        return None
    seconds = sorted(value / 1e9 for value in raw_ns)
    cut = len(seconds) // 5
    middle = seconds[cut : len(seconds) - cut]
    return LatencyRecord(
        batch_size=batch_size,
        raw_ns=tuple(raw_ns),
        warm_up_ns=tuple(warm_up_ns),
        p50_s=percentile_interval(seconds, 0.50),
        p90_s=percentile_interval(seconds, 0.90),
        p99_s=percentile_interval(seconds, 0.99),
        mean_s=sum(seconds) / len(seconds),
        trimmed_mean_s=sum(middle) / len(middle),
        parts_ns={name: tuple(values) for name, values in (parts_ns or {}).items()},
    )
