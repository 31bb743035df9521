"""The answers of a finished record, by the number of the sample."""

from __future__ import annotations

from dataclasses import dataclass

from mlmodelscope.errors import UsageError
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.replicate.measure import Row
from mlmodelscope.settings import Settings
from mlmodelscope.worker.variants import Answer


@dataclass(frozen=True)
class Recorded:
    samples: tuple[str, ...]
    """Their ids."""
    labels: tuple[int | None, ...]
    answers: tuple[Answer | None, ...]

    @property
    def rows(self) -> list[Row]:
        """Labels and answers of the samples that have a label."""
        pairs = zip(self.labels, self.answers, strict=True)
        return [(label, answer) for label, answer in pairs if label is not None]


def read_recorded(record: Record, settings: Settings) -> Recorded:
    store = Store(settings)
    try:
        table = store.samples(record)
    finally:
        store.close()
    columns = zip(table["classes"].to_pylist(), table["scores"].to_pylist(), strict=True)
    found = Recorded(
        tuple(table["id"].to_pylist()),
        tuple(table["label"].to_pylist()),
        tuple(Answer(tuple(classes), tuple(scores)) if classes else None for classes, scores in columns),
    )
    if not found.rows:
        raise UsageError(f"{record.plan.dataset.name} has no labels, so nothing can be right or wrong")
    return found
