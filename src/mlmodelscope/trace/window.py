"""Some spans of a large trace: those that can be seen in a window, and where they are too many, what they come to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mlmodelscope.trace.inbox import Columns
from mlmodelscope.trace.span import LEVELS, Span, Trace


@dataclass(frozen=True)
class Window:
    """What of a trace is wanted; times count from when it began."""

    from_ns: int = 0
    to_ns: int | None = None
    level: str | None = None
    """This one and those above it."""
    name: str | None = None
    least_ns: int = 0
    bins: int | None = None
    """Number of pieces of the window: shorter spans are grouped."""


def cut(columns: Columns, window: Window, start: int, limit: int) -> tuple[list[dict[str, Any]], int]:
    """(a page of spans, how many there are in all)."""
    table = columns.table
    spent = pc.subtract(table["end_ns"], table["start_ns"])
    table = table.append_column("spent_ns", spent)
    wanted = pc.greater_equal(table["end_ns"], window.from_ns)
    if window.to_ns is not None:
        wanted = pc.and_(wanted, pc.less_equal(table["start_ns"], window.to_ns))
    if window.level is not None:
        above = LEVELS[: LEVELS.index(window.level) + 1]
        wanted = pc.and_(wanted, pc.is_in(table["level"], pa.array(above)))
    if window.name is not None:
        wanted = pc.and_(wanted, pc.match_substring(table["name"], window.name, ignore_case=True))
    if window.least_ns:
        wanted = pc.and_(wanted, pc.greater_equal(table["spent_ns"], window.least_ns))
    table = table.filter(wanted)
    if window.bins is None:
        return [_span(row) for row in table.slice(start, limit).to_pylist()], table.num_rows
    table = _in_bins(table, columns, window, window.bins)
    return [_span(row) for row in table.slice(start, limit).to_pylist()], table.num_rows


def _in_bins(table: pa.Table, columns: Columns, window: Window, bins: int) -> pa.Table:
    """Long spans as they are; short ones of a level that begin in the same bin as one."""
    end = window.to_ns if window.to_ns is not None else columns.duration_ns
    width = max(1, (end - window.from_ns) // bins)
    short = pc.less(table["spent_ns"], width)
    table = table.append_column("spans", pa.array([1] * table.num_rows, pa.int64()))
    few = table.filter(short)
    place = pc.divide(pc.subtract(few["start_ns"], window.from_ns), width)
    few = few.append_column("bin", place)
    sums = few.group_by(["level", "bin"], use_threads=False).aggregate(
        [
            ("id", "first"),
            ("parent", "first"),
            ("name", "first"),
            ("start_ns", "min"),
            ("end_ns", "max"),
            ("attributes", "first"),
            ("spent_ns", "sum"),
            ("spans", "sum"),
        ]
    )
    together = pa.table(
        {
            "id": sums["id_first"],
            "parent": sums["parent_first"],
            "name": sums["name_first"],
            "level": sums["level"],
            "start_ns": sums["start_ns_min"],
            "end_ns": sums["end_ns_max"],
            "attributes": sums["attributes_first"],
            "spent_ns": sums["spent_ns_sum"],
            "spans": sums["spans_sum"],
        }
    )
    alone = table.filter(pc.invert(short)).select(together.column_names)
    return pa.concat_tables([alone, together]).sort_by([("start_ns", "ascending"), ("end_ns", "descending")])


def _span(row: Mapping[str, Any]) -> dict[str, Any]:
    """One span; or several, grouped, which have no id and say how many they are and how long they took."""
    count = row.get("spans", 1)
    is_one = count == 1
    return {
        "id": row["id"] if is_one else None,
        "parent": row["parent"] if is_one else None,
        "name": row["name"],
        "level": row["level"],
        "start_ns": row["start_ns"],
        "end_ns": row["end_ns"],
        "spent_ns": row["spent_ns"],
        "spans": count,
        "attributes": json.loads(row["attributes"]) if is_one and row["attributes"] else {},
    }


def as_trace(identity: str, columns: Columns, *, keeps_parents: bool) -> Trace:
    """The whole trace, for what writes files of it. A parent that is not here is left out unless it is to be kept."""
    rows: Sequence[Mapping[str, Any]] = columns.table.to_pylist()
    known = {row["id"] for row in rows}
    return Trace(
        identity,
        columns.began_unix_ns,
        tuple(
            Span(
                identity,
                row["id"],
                row["parent"] if keeps_parents or (row["parent"] in known and row["parent"] != row["id"]) else None,
                row["name"],
                row["level"],
                row["start_ns"],
                row["end_ns"],
                json.loads(row["attributes"]) if row["attributes"] else {},
            )
            for row in rows
        ),
        resource=dict(columns.resource),
    )
