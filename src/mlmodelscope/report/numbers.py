"""Which of a record's numbers are shown first, and the others."""

from __future__ import annotations

from mlmodelscope.record.number import MeasuredNumber
from mlmodelscope.record.record import Record
from mlmodelscope.task.task import task_named


def headline_of(record: Record) -> dict[str, MeasuredNumber | None]:
    """The numbers by which a record of its task is known; None where one could not be computed."""
    known = task_named(record.plan.task).headline
    return {name: record.metrics.get(name) for name in known if name in record.metrics or name in record.refused}


def other_numbers(record: Record) -> dict[str, MeasuredNumber]:
    first = headline_of(record)
    return {name: number for name, number in record.metrics.items() if name not in first}
