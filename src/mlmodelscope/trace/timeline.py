"""A piece of a timeline as a page draws it: every span that it has room for, and short ones grouped."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mlmodelscope.trace.inbox import Columns
from mlmodelscope.trace.rows import Laid
from mlmodelscope.trace.span import LEVELS
from mlmodelscope.trace.window import Window

_MOST = 50_000


def piece(columns: Columns, window: Window, bins: int) -> dict[str, Any]:
    """Columns of numbers: a page reads thousands of them at once. `names` is by the numbers in `name`."""
    laid, table = columns.laid, columns.table.select(["id", "name", "level", "start_ns", "end_ns"])
    end = window.to_ns if window.to_ns is not None else columns.duration_ns
    width = max(1, (end - window.from_ns) // bins)
    table = table.append_column("row", pa.chunked_array([laid.places]))
    table = table.append_column("spent_ns", pc.subtract(table["end_ns"], table["start_ns"]))
    wanted = pc.and_(pc.greater_equal(table["end_ns"], window.from_ns), pc.less_equal(table["start_ns"], end))
    if window.level is not None:
        wanted = pc.and_(wanted, pc.is_in(table["level"], pa.array(LEVELS[: LEVELS.index(window.level) + 1])))
    if window.name is not None:
        wanted = pc.and_(wanted, pc.match_substring(table["name"], window.name, ignore_case=True))
    table = table.filter(wanted)
    seen = table.num_rows
    short = pc.less(table["spent_ns"], width)
    alone, few = table.filter(pc.invert(short)), table.filter(short)
    together = _together(few, window.from_ns, width)
    shown = pa.concat_tables(
        [alone.select(together.column_names[:-1]).append_column("count", _ones(alone.num_rows)), together]
    )
    shown = shown.sort_by([("row", "ascending"), ("start_ns", "ascending")]).slice(0, _MOST)
    return {"total": seen, **_spelled(shown)}


def _together(few: pa.Table, from_ns: int, width: int) -> pa.Table:
    """Short spans of a row that begin in the same bin, as one."""
    few = few.append_column("bin", pc.divide(pc.subtract(few["start_ns"], from_ns), width))
    sums = few.group_by(["row", "bin"], use_threads=False).aggregate(
        [
            ("id", "first"),
            ("name", "first"),
            ("start_ns", "min"),
            ("end_ns", "max"),
            ("spent_ns", "sum"),
            ("id", "count"),
        ]
    )
    names = {"id": "id_first", "name": "name_first", "row": "row", "start_ns": "start_ns_min", "end_ns": "end_ns_max"}
    names |= {"spent_ns": "spent_ns_sum", "count": "id_count"}
    return pa.table({name: sums[source] for name, source in names.items()})


def _ones(count: int) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array([1] * count, pa.int64())])


def _spelled(table: pa.Table) -> dict[str, Any]:
    names = pc.dictionary_encode(table["name"]).combine_chunks()
    if isinstance(names, pa.ChunkedArray):  # of no chunk at all
        names = pa.array([], pa.string()).dictionary_encode()
    counts = table["count"].to_pylist()
    return {
        "names": names.dictionary.to_pylist(),
        "name": names.indices.to_pylist(),
        "row": table["row"].to_pylist(),
        "start_ns": table["start_ns"].to_pylist(),
        "end_ns": table["end_ns"].to_pylist(),
        "spent_ns": table["spent_ns"].to_pylist(),
        "count": counts,
        "id": [each if count == 1 else None for each, count in zip(table["id"].to_pylist(), counts, strict=True)],
    }


def rows_spelled(laid: Laid) -> list[dict[str, Any]]:
    return [vars(row) for row in laid.rows]
