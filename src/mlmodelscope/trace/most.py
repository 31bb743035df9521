"""Which names take most of the time: spans of a level by their names, with how often and how long."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mlmodelscope.trace.inbox import Columns
from mlmodelscope.trace.window import Window


def most(columns: Columns, window: Window, level: str, limit: int) -> dict[str, Any]:
    """Those that begin in the window, whole; the longest first. The share is of the level's own sum."""
    table = columns.table.filter(pc.equal(columns.table["level"], level))
    table = table.filter(pc.greater_equal(table["start_ns"], window.from_ns))
    if window.to_ns is not None:
        table = table.filter(pc.less_equal(table["start_ns"], window.to_ns))
    table = pa.table({"name": table["name"], "spent_ns": pc.subtract(table["end_ns"], table["start_ns"])})
    sums = table.group_by(["name"], use_threads=False).aggregate(
        [("spent_ns", "sum"), ("spent_ns", "count"), ("spent_ns", "mean"), ("spent_ns", "max")]
    )
    whole = int(pc.sum(table["spent_ns"]).as_py() or 0)
    sums = sums.sort_by([("spent_ns_sum", "descending"), ("name", "ascending")])
    items = [
        {
            "name": row["name"],
            "count": row["spent_ns_count"],
            "total_ns": row["spent_ns_sum"],
            "mean_ns": row["spent_ns_mean"],
            "longest_ns": row["spent_ns_max"],
            "share": row["spent_ns_sum"] / whole if whole else 0.0,
        }
        for row in sums.slice(0, limit).to_pylist()
    ]
    return {"items": items, "total": sums.num_rows, "whole_ns": whole}
