"""Traces as a page looks at them: pieces of the timeline, one span, the flame graph, the names, the analyses."""

from __future__ import annotations

import json
from typing import Any

import pyarrow.compute as pc

from mlmodelscope.analysis.analyse import analyse, choose
from mlmodelscope.analysis.measured import Subject
from mlmodelscope.analysis.table import Analysis
from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.handle import traces
from mlmodelscope.trace.flame_tree import flame
from mlmodelscope.trace.most import most
from mlmodelscope.trace.timeline import piece, rows_spelled
from mlmodelscope.trace.window import Window, as_trace

_MOST_ROWS = 1000
_MOST_BELOW = 200


def timeline(desk: Desk, person: Person, identity: str, window: Window, bins: int) -> dict[str, Any]:
    demand(person, "read")
    if window.to_ns is not None and window.to_ns < window.from_ns:
        raise UsageError("`to_ns` is before `from_ns`")
    _, columns = traces.opened(desk, identity)
    return {"rows": rows_spelled(columns.laid), "duration_ns": columns.duration_ns, **piece(columns, window, bins)}


def span(desk: Desk, person: Person, identity: str, own: str) -> dict[str, Any]:
    """One span with all that is known of it, and the names of those around it."""
    demand(person, "read")
    table = traces.opened(desk, identity)[1].table
    found = table.filter(pc.equal(table["id"], own)).slice(0, 1).to_pylist()
    if not found:
        raise UsageError(f"there is no span `{own[:80]}` in trace {identity}")
    row = found[0]
    around: list[dict[str, str]] = []
    seen = {own}
    parent = row["parent"]
    while parent is not None and parent not in seen and len(around) < _MOST_BELOW:
        seen.add(parent)
        above = table.filter(pc.equal(table["id"], parent)).slice(0, 1).to_pylist()
        if not above:
            break
        around.append({"id": above[0]["id"], "name": above[0]["name"], "level": above[0]["level"]})
        parent = above[0]["parent"]
    below = pc.sum(pc.equal(table["parent"], own)).as_py() or 0
    return {
        **{name: row[name] for name in ("id", "parent", "name", "level", "start_ns", "end_ns")},
        "spent_ns": row["end_ns"] - row["start_ns"],
        "attributes": json.loads(row["attributes"]) if row["attributes"] else {},
        "around": around[::-1],
        "below": int(below),
    }


def flames(desk: Desk, person: Person, identity: str, least: float) -> dict[str, Any]:
    demand(person, "read")
    return flame(traces.opened(desk, identity)[1], least)


def names(desk: Desk, person: Person, identity: str, window: Window, level: str, limit: int) -> dict[str, Any]:
    demand(person, "read")
    return most(traces.opened(desk, identity)[1], window, level, limit)


def analyses(desk: Desk, person: Person, identity: str, only: str | None) -> dict[str, Any]:
    """What `mlmodelscope analyze` makes of it, and for the rest what is missing."""
    demand(person, "read")
    wanted = choose(only)
    row, columns = traces.opened(desk, identity)
    record = desk.store.get(row["record"]) if row["record"] is not None else None
    subject = Subject(record, as_trace(row["id"], columns, keeps_parents=False))
    found = analyse([subject], wanted)
    peak = subject.peak
    return {
        "record": record.id if record is not None else None,
        "batch_size": subject.batch_size,
        "latency_ns": subject.latency_ns,
        "peak": {**vars(peak), "intensity": peak.intensity} if peak is not None else None,
        "analyses": [_spell(each) for each in found.analyses],
        "missing": [vars(each) for each in found.missing],
    }


def _spell(analysis: Analysis) -> dict[str, Any]:
    """Of a long table the rows that take most time, in their own order."""
    told = analysis.to_json()
    rows = told["table"]["rows"]
    if len(rows) > _MOST_ROWS:
        kept = sorted(range(len(rows)), key=lambda place: -(rows[place].get("time_ns") or 0))[:_MOST_ROWS]
        told["table"]["rows"] = [rows[place] for place in sorted(kept)]
    table = told["table"]
    return {
        "id": told["id"],
        "title": told["title"],
        "columns": table["columns"],
        "rows": [[row[column["name"]] for column in table["columns"]] for row in table["rows"]],
        "total": len(rows),
        "notes": told["notes"],
    }
