"""The answers of a finished record, by the number of the sample."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mlmodelscope.errors import UsageError
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.settings import Settings
from mlmodelscope.task.class_answer import ClassAnswer
from mlmodelscope.task.measure import Row


@dataclass(frozen=True)
class Recorded:
    samples: tuple[str, ...]
    """Their ids."""
    targets: tuple[Any, ...]
    """What is true of each; None where nothing is known."""
    answers: tuple[Any, ...]
    """What was answered: the best classes, or the sample's score where answers are made of more."""
    has_classes: bool

    @property
    def labels(self) -> tuple[int | None, ...]:
        return self.targets if self.has_classes else (None,) * len(self.targets)

    @property
    def rows(self) -> list[Row]:
        """What measures are computed from, for the samples of which something is true."""
        pairs = [
            (target, answer) for target, answer in zip(self.targets, self.answers, strict=True) if target is not None
        ]
        if self.has_classes:
            return pairs
        return [answer for _, answer in pairs if answer is not None]  # a sample that failed has no score


def read_recorded(record: Record, settings: Settings) -> Recorded:
    store = Store(settings)
    try:
        table = store.samples(record)
    finally:
        store.close()
    rows = table.to_pylist()
    has_classes = "right" in table.column_names
    found = Recorded(
        tuple(row["id"] for row in rows),
        tuple(row["label"] if has_classes else _target(row) for row in rows),
        tuple(_classes(row) if has_classes else row["score"] for row in rows),
        has_classes,
    )
    if not found.rows:
        raise UsageError(f"{record.plan.dataset.name} has no labels, so nothing can be right or wrong")
    return found


def _classes(row: Mapping[str, Any]) -> ClassAnswer | None:
    return ClassAnswer(tuple(row["classes"]), tuple(row["scores"])) if row["classes"] else None


def _target(row: Mapping[str, Any]) -> Any:
    return json.loads(row["target"]) if row.get("target") is not None else None
