"""Measures class by class, whichever the task has: `details.per_class`, or `per_type` where types have names alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlmodelscope.record.record import Record
from mlmodelscope.report import words
from mlmodelscope.task.measure import MEASURES

_TITLES = {"iou": "IoU"}
_COUNTS = {"due": "Things", "seen": "Seen", "right": "Right", "pixels": "Pixels"}
_ABBREVIATION = 4


@dataclass(frozen=True)
class ClassColumn:
    name: str
    title: str
    is_count: bool


@dataclass(frozen=True)
class ClassNumbers:
    label: int
    name: str
    values: tuple[float | int | None, ...]
    """One for each column."""


@dataclass(frozen=True)
class ClassSheet:
    columns: tuple[ClassColumn, ...]
    classes: tuple[ClassNumbers, ...]
    """The worst first, by the first column that is no count."""
    main: int
    """The place of that column."""

    @property
    def about(self) -> str:
        title = self.columns[self.main].title
        return f"{words.plural(len(self.classes), 'class')}; the lowest {title} comes first."


def class_sheet(record: Record) -> ClassSheet | None:
    """None where classes have no measures of their own, or are simply right or wrong."""
    found: list[dict[str, Any]] = record.details.get("per_class") or _numbered(record.details.get("per_type") or [])
    if not found or "right" in found[0]:
        return None
    columns = tuple(_column(name, found) for name in found[0] if name not in ("class", "type"))
    main = next((place for place, each in enumerate(columns) if not each.is_count), None)
    if main is None:
        return None
    many = next((place for place, each in enumerate(columns) if each.is_count), None)
    rows = [
        ClassNumbers(
            each["class"],
            each.get("type") or words.class_name(record, each["class"]),
            tuple(each.get(column.name) for column in columns),
        )
        for each in found
    ]
    return ClassSheet(columns, tuple(sorted(rows, key=lambda row: _rank(row, main, many))), main)


def _numbered(types: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"class": number, **each} for number, each in enumerate(types)]


def _rank(row: ClassNumbers, main: int, many: int | None) -> tuple[bool, float, float, int]:
    """Of equally bad ones, those that there are more of come first."""
    value = row.values[main]
    return value is None, value or 0.0, -(row.values[many] or 0 if many is not None else 0), row.label


def _column(name: str, rows: list[dict[str, Any]]) -> ClassColumn:
    known = MEASURES.get(name)
    is_count = known is None and all(isinstance(each.get(name), int) for each in rows)
    if known is not None:
        return ClassColumn(name, known.title, False)
    title = (
        _COUNTS.get(name)
        or _TITLES.get(name)
        or (name.upper() if len(name) <= _ABBREVIATION and not is_count else words.headed(name))
    )
    return ClassColumn(name, title, is_count)


def spelled(column: ClassColumn, value: float | int | None) -> str:
    if value is None:
        return "–"
    return words.count(int(value)) if column.is_count else words.percent(value)
