"""A finished journal becomes tables and metrics, in one pass and bounded memory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mlmodelscope.dataset.sample import Sample
from mlmodelscope.errors import MetricError
from mlmodelscope.metric import METRICS, Metric
from mlmodelscope.metric.interval import percentile_interval
from mlmodelscope.metric.ties import Ties
from mlmodelscope.plan.plan import Plan
from mlmodelscope.record.journal import Journal
from mlmodelscope.record.record import NAMED_METRICS, Failure, LatencyRecord, Metrics, TieRecord
from mlmodelscope.record.sample_rows import Row, rows_of
from mlmodelscope.types import Interval

_FAILURES_KEPT = 100


class Summary:
    """What a journal amounts to."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._metrics: dict[str, Metric] = {}
        self._refused: dict[str, str] = {}
        for name, make in METRICS.items():
            if plan.task != "classification":
                self._refused[name] = f"it is a metric of classification, and this is {plan.task}"
            elif name == "calibration" and not plan.output.probabilities:
                self._refused[name] = "the scores are logits: add `softmax` to the output's processing"
            else:
                self._metrics[name] = make()
        self.failures: list[Failure] = []
        self.samples = self.failed = self.improbable = 0
        self._kept_classes = 0
        # Scores that a manifest's own code gives may stand for anything, an order of its own included.
        is_scored = plan.task == "classification" and "postprocess" not in plan.functions
        self._ties = Ties() if is_scored else None

    def write(self, journal: Journal, samples: Sequence[Sample], folder: Path) -> None:
        """Write samples.parquet and batches.parquet, and take every answer in."""
        # pyarrow takes a while to import, and a record that is found needs none of it.
        from mlmodelscope.record.samples import BATCHES, SAMPLES, TableWriter, add_row

        table = TableWriter(folder / "samples.parquet", SAMPLES)
        batches = TableWriter(folder / "batches.parquet", BATCHES)
        size = self._plan.scenario.batch_size
        for answers in journal.entries():
            part = samples[answers.batch * size : (answers.batch + 1) * size]
            for row in rows_of(answers, part):
                add_row(table, row)
                self._take(row)
            batches.add(answers.batch, len(part), answers.run_ns)
            self.improbable += answers.improbable
        table.finish()
        batches.finish()

    def _take(self, row: Row) -> None:
        self.samples += 1
        if row.error is not None:
            self.failed += 1
            if len(self.failures) < _FAILURES_KEPT:
                self.failures.append(Failure(sample=row.sample.id, reason=row.error))
        elif row.sample.label is not None and row.answer is None:
            self._kept_classes = max(self._kept_classes, len(row.classes))
            for each in self._metrics.values():
                each.update(row.sample.label, row.classes, row.scores)
            if self._ties is not None:
                self._ties.update(row.sample.label, row.classes, row.scores, row.tied)

    def metrics(self) -> Metrics:
        numbers: dict[str, Any] = {}
        more: dict[str, Interval | float] = {}
        refused = dict(self._refused)
        if self._plan.output.top_k < 5 and self._kept_classes == self._plan.output.top_k:
            refused["top5"] = f"only the {self._plan.output.top_k} best answers were kept"
        elif "postprocess" in self._plan.functions and 0 < self._kept_classes < 5:
            refused["top5"] = f"the answers name {self._kept_classes} of the classes only"
        if "postprocess" in self._plan.functions and self._kept_classes == 1:
            refused["calibration"] = "the answers are classes without scores"
        for name, each in self._metrics.items():
            if name in refused:
                continue
            try:
                if name in NAMED_METRICS:
                    numbers[name] = each.compute()
                else:
                    more[name] = _number(each.compute())
            except MetricError as error:
                refused[name] = error.message
        return Metrics(**numbers, more=more, refused=refused, ties=self._tied())

    def _tied(self) -> TieRecord | None:
        found = self._ties.compute(self._plan.output.top_k) if self._ties is not None else None
        return TieRecord(**found) if found is not None else None

    def notes(self) -> list[str]:
        notes = []
        if self.failed:
            notes.append(f"{self.failed} of {self.samples} samples failed and are not in the metrics")
        if self.improbable:
            notes.append(
                f"the output is declared `probability`, but the scores of {self.improbable} samples do not sum to 1: "
                "if they are logits, declare `type: logits` and add the step `softmax`"
            )
        return [*notes, *self._tie_notes()]

    def _tie_notes(self) -> Iterator[str]:
        """Only where another order of equal scores would be another number."""
        found = self._tied()
        for name, at in (("top-1", found.top1), ("top-5", found.top5)) if found is not None else ():
            if at is not None and at.best > at.worst:
                yield (
                    f"{name} depends on how ties are broken: {at.samples} of {at.of} samples have tied scores; it is "
                    f"{100 * at.worst:.2f} % with every tie against the label and {100 * at.best:.2f} % with every tie "
                    "in its favor (here the lowest class number comes first)"
                )


def _number(computed: Any) -> Interval | float:
    """What a metric without a field of its own may compute; anything else is refused rather than lost in a crash."""
    values = (computed.value, computed.low, computed.high) if isinstance(computed, Interval) else (computed,)
    if not all(isinstance(each, (int, float)) and math.isfinite(each) for each in values):
        raise MetricError(f"it computed {str(computed)[:80]}, which is neither a finite number nor an Interval of them")
    return computed if isinstance(computed, Interval) else float(computed)


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
