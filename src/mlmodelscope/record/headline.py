"""The number that stands for a record in a list, whatever its task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mlmodelscope.task.measure import measure_or_bare
from mlmodelscope.task.task import task_named

if TYPE_CHECKING:
    from mlmodelscope.record.record import Record

_FLAT = ("headline", "value", "low", "high", "unit")


def headline_name(record: Record) -> str | None:
    """The first measure of its task that the record has."""
    return next((name for name in task_named(record.plan.task).headline if name in record.metrics), None)


def headline(record: Record) -> dict[str, Any] | None:
    name = headline_name(record)
    if name is None:
        return None
    number = record.metrics[name]
    return told_number(name, number.value, number.low, number.high, number.unit)


def headline_of_facts(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """The same of a row of `record_facts`."""
    if row["headline"] is None or row["value"] is None:
        return None
    return told_number(*(row[name] for name in _FLAT))


def listed(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the database's list, with the number as one part of it."""
    rest = {name: value for name, value in row.items() if name not in _FLAT}
    is_known = row["headline"] is not None and row["value"] is not None
    found = told_number(*(row[name] for name in _FLAT)) if is_known else None
    return {**rest, "headline": found, **aliases(found)}


def aliases(found: Mapping[str, Any] | None) -> dict[str, Any]:
    """What older clients read: fields of classifiers alone. They go with the next minor version."""
    names = {"top1": "value", "top1_low": "low", "top1_high": "high"}
    is_known = found is not None and found["name"] == "top1"
    return {alias: found[name] if found is not None and is_known else None for alias, name in names.items()}


def told_number(name: str, value: float, low: float | None, high: float | None, unit: str | None) -> dict[str, Any]:
    """A measure's number with its title, its unit and which numbers of it are better."""
    measure = measure_or_bare(name)
    return {
        "name": name,
        "title": measure.title,
        "value": value,
        "low": low,
        "high": high,
        "unit": unit or measure.unit.name,
        "better": measure.better,
    }
