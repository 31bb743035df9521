"""Which names take most of the time: spans of a level by their names, with how often and how long."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mlmodelscope.trace.inbox import Columns
from mlmodelscope.trace.layers import layer_times
from mlmodelscope.trace.span import Span
from mlmodelscope.trace.window import Window


def most(columns: Columns, window: Window, level: str, limit: int) -> dict[str, Any]:
    """Those that begin in the window, whole; the longest first. Shares are of the level's own sum.

    Layers have the time of one run, each at its median, as the analyses have it. What does not say which layer it is,
    and whatever is of another level, has all the time that it took.
    """
    table = columns.table.filter(pc.equal(columns.table["level"], level))
    table = table.filter(pc.greater_equal(table["start_ns"], window.from_ns))
    if window.to_ns is not None:
        table = table.filter(pc.less_equal(table["start_ns"], window.to_ns))
    in_a_run = _in_a_run(table) if level == "framework" else None
    table = pa.table({"name": table["name"], "spent_ns": pc.subtract(table["end_ns"], table["start_ns"])})
    sums = table.group_by(["name"], use_threads=False).aggregate(
        [("spent_ns", "sum"), ("spent_ns", "count"), ("spent_ns", "mean"), ("spent_ns", "max")]
    )
    rows = sums.to_pylist()
    times = in_a_run if in_a_run is not None else {row["name"]: float(row["spent_ns_sum"]) for row in rows}
    whole = sum(times.values())
    rows.sort(key=lambda row: (-times.get(row["name"], 0.0), row["name"]))
    items = [
        {
            "name": row["name"],
            "count": row["spent_ns_count"],
            "time_ns": times.get(row["name"], 0.0),
            "total_ns": row["spent_ns_sum"],
            "mean_ns": row["spent_ns_mean"],
            "longest_ns": row["spent_ns_max"],
            "share": times.get(row["name"], 0.0) / whole if whole else 0.0,
        }
        for row in rows[:limit]
    ]
    return {"items": items, "total": len(rows), "whole_ns": whole, "in_a_run": in_a_run is not None}


def _in_a_run(table: pa.Table) -> dict[str, float] | None:
    """Time of the layers of each name in one run; None where spans do not say which layer they are."""
    spans = []
    for row in table.to_pylist():
        attributes = json.loads(row["attributes"]) if row["attributes"] else {}
        if not isinstance(attributes.get("index"), int) or not isinstance(attributes.get("measured_ns", 0), int):
            return None  # of another tool, whose words mean something else
        times = row["start_ns"], row["end_ns"]
        spans.append(Span("", row["id"], row["parent"], row["name"], row["level"], *times, attributes))
    found: dict[str, float] = {}
    for span, time_ns in layer_times(spans).values():
        found[span.name] = found.get(span.name, 0.0) + time_ns
    return found if found else None
