"""A table with named columns and raw numbers, and an analysis: such a table with its pictures and notes."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from mlmodelscope.errors import UsageError
from mlmodelscope.report import words
from mlmodelscope.report.inert import inert
from mlmodelscope.trace.text import spell

Kind = Literal["text", "count", "time_ns", "bytes", "share", "rate", "number"]
Value = str | int | float | bool | Sequence[Any] | None
UNKNOWN = "–"
_SPACE = "\N{NO-BREAK SPACE}"
_LARGE = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True)
class Column:
    name: str
    """What programs call it: a word without spaces."""
    title: str
    """What people read."""
    unit: str = ""
    kind: Kind = "text"

    @property
    def is_number(self) -> bool:
        return self.kind != "text"


@dataclass(frozen=True)
class Table:
    """Rows are tuples of raw numbers in their column's unit; None is what is not known."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]

    def __init__(self, name: str, title: str, columns: Sequence[Column], rows: Sequence[Sequence[Value]]) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "title", title)
        object.__setattr__(self, "columns", tuple(columns))
        object.__setattr__(self, "rows", tuple(tuple(row) for row in rows))
        wrong = next((row for row in self.rows if len(row) != len(self.columns)), None)
        if wrong is not None:
            raise ValueError(f"a row of table {name} has {len(wrong)} values for {len(self.columns)} columns")

    def column(self, name: str) -> list[Value]:
        """The values of one column."""
        place = [column.name for column in self.columns].index(name)
        return [row[place] for row in self.rows]

    def without_empty(self) -> Table:
        """Only the columns of which something is known: what nobody measured needs no column of dashes."""
        if not self.rows:
            return self
        kept = [place for place in range(len(self.columns)) if any(row[place] is not None for row in self.rows)]
        return Table(
            self.name,
            self.title,
            [self.columns[place] for place in kept],
            [[row[place] for place in kept] for row in self.rows],
        )

    def to_csv(self) -> str:
        """Raw numbers under their columns' names; the units are in the names, and in JSON."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([column.name for column in self.columns])
        for row in self.rows:
            writer.writerow(["" if value is None else _plain(value) for value in row])
        return text.getvalue()

    def to_json(self) -> dict[str, Any]:
        names = [column.name for column in self.columns]
        return {
            "name": self.name,
            "title": self.title,
            "columns": [
                {"name": each.name, "title": each.title, "unit": _unit_of(each), "kind": each.kind}
                for each in self.columns
            ],
            "rows": [{name: _listed(value) for name, value in zip(names, row, strict=True)} for row in self.rows],
        }


@dataclass(frozen=True)
class Analysis:
    id: str
    """Such as `A2`."""
    title: str
    table: Table
    plots: Mapping[str, str] = field(default_factory=dict)
    """SVG pictures by name."""
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"id": self.id, "title": self.title, "table": self.table.to_json(), "notes": list(self.notes)}


def spelled(column: Column, value: Value) -> str:
    """A value as people read it, with its unit."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return "×".join(map(str, value))
    if column.kind == "time_ns":
        return spell(value) if value >= 0 else f"−{spell(-value)}"
    if column.kind == "bytes":
        return words.size(int(value))
    if column.kind == "share":
        return words.percent(value)
    if column.kind == "count":
        return words.count(round(value)) + (f"{_SPACE}{column.unit}" if column.unit else "")
    number = large(value) if column.kind == "rate" else words.significant(value)
    return f"{number}{_SPACE if number[-1].isdigit() else ''}{column.unit}" if column.unit else number


def large(number: float) -> str:
    """Three digits and what they are to be multiplied by: `4.12 G`."""
    for scale, letter in _LARGE:
        if abs(number) >= scale:
            return f"{words.significant(number / scale)}{_SPACE}{letter}"
    return words.significant(number)


def one_file(analysis: Analysis, name: str) -> str:
    """The table as a file whose name says in which form."""
    if name.endswith(".csv"):
        return analysis.table.to_csv()
    if name.endswith(".json"):
        return json.dumps(analysis.to_json(), indent=2) + "\n"
    raise UsageError(f"`{name}` does not say which form it is to have", hint="end it with .csv or .json")


def _unit_of(column: Column) -> str:
    return column.unit or {"time_ns": "ns", "bytes": "byte"}.get(column.kind, "")


def _plain(value: Value) -> Any:
    if isinstance(value, str):
        return inert(value)
    return json.dumps(list(value)) if isinstance(value, Sequence) else value


def _listed(value: Value) -> Any:
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
