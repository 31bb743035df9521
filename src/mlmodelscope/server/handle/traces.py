"""Traces: spans come in from whoever speaks OTLP, and are looked at and written as files beside those of records."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow.parquet as pq
from sqlalchemy import RowMapping

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.moment import spoken
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.provision.upload import NoRoom, full_disk_said
from mlmodelscope.record.owners import owner_of
from mlmodelscope.server.desk import Desk, Refused, demand
from mlmodelscope.trace.chrome import write_chrome
from mlmodelscope.trace.csv import write_csv
from mlmodelscope.trace.flame import write_folded
from mlmodelscope.trace.inbox import Columns, Inbox, load_record_columns
from mlmodelscope.trace.intake import Message
from mlmodelscope.trace.otlp import write_otlp
from mlmodelscope.trace.span import Trace
from mlmodelscope.trace.speedscope import write_speedscope
from mlmodelscope.trace.store import NAME
from mlmodelscope.trace.timeline_page import write_page
from mlmodelscope.trace.window import Window, as_trace, cut

FORMS: dict[str, Callable[[Trace], str]] = {
    "perfetto": write_chrome,
    "speedscope": write_speedscope,
    "csv": write_csv,
    "html": write_page,
    "otlp": write_otlp,
    "folded": write_folded,
}
_AT_ONCE = 100
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST_NS = 1 << 62


def take(desk: Desk, person: Person, message: Message) -> Message:
    """Keep the spans of a message; what could not be kept is counted, with a reason."""
    demand(person, "run")
    if message.traces and desk.traces.size() >= desk.config.traces_quota:
        raise NoRoom("traces have as much room as they may", hint="delete some, or raise `traces_quota`")
    for identity, arrived in message.traces.items():
        row = desk.traces.find(identity) or _listed(desk, identity)
        if row is not None and row["record"] is not None:
            known = set(_columns(desk, row).table["id"].to_pylist())
            message.reject(
                f"trace {identity} is that of record {row['record']}, which does not change",
                count=sum(each.id not in known for each in arrived.rows),
            )
            continue
        if row is not None and row["owner"] != person.owner and not person.may("admin"):
            message.reject(f"trace {identity} is another owner's", count=len(arrived.rows))
            continue
        with full_disk_said():
            kept, left_out = Inbox(desk.store.home).add(identity, arrived, desk.config.largest_trace)
        message.reject(f"trace {identity} has {desk.config.largest_trace} spans, which are the most", count=left_out)
        facts = {
            "service": kept.resource.get("service.name", "unknown")[:200],
            "model": kept.resource.get("model.name", "")[:200] or None,
            "began_unix_ns": kept.began_unix_ns,
            "duration_ns": kept.duration_ns,
            "spans": kept.spans,
            "size": kept.size,
        }
        desk.traces.put(identity, facts, owner=person.owner)
    return message


def find(
    desk: Desk,
    person: Person,
    limit: int,
    before: tuple[datetime, str] | None,
    since: datetime | None = None,
    until: datetime | None = None,
    **wanted: str | None,
) -> Sequence[dict[str, Any]]:
    demand(person, "read")
    _list_records(desk)
    rows = desk.traces.list(limit, before, _ns(since), _ns(until), **wanted)
    return [_spell(row) for row in rows]


def get(desk: Desk, person: Person, identity: str) -> dict[str, Any]:
    demand(person, "read")
    row = _row(desk, identity)
    columns = _columns(desk, row)
    levels = sorted(set(columns.table["level"].to_pylist()))
    return {**_spell(row), "levels": levels, "resource": dict(columns.resource)}


def spans(
    desk: Desk, person: Person, identity: str, window: Window, start: int, limit: int
) -> tuple[list[dict[str, Any]], int]:
    """(a page of spans, how many there are)."""
    demand(person, "read")
    if window.to_ns is not None and window.to_ns < window.from_ns:
        raise UsageError("`to_ns` is before `from_ns`")
    return cut(_columns(desk, _row(desk, identity)), window, start, limit)


def export(desk: Desk, person: Person, identity: str, form: str) -> str:
    demand(person, "read")
    row = _row(desk, identity)
    return FORMS[form](as_trace(row["id"], _columns(desk, row), keeps_parents=form == "otlp"))


def delete(desk: Desk, person: Person, identity: str) -> None:
    demand(person, "run")
    row = _row(desk, identity)
    if row["owner"] != person.owner and not person.may("admin"):
        raise Refused("admin")
    if row["record"] is not None:
        raise UsageError(f"this is the trace of record {row['record']}", hint="delete the record")
    desk.traces.delete(row["id"])
    Inbox(desk.store.home).delete(row["id"])
    desk.audit.note(person.owner, "delete trace", row["id"])


def opened(desk: Desk, identity: str) -> tuple[RowMapping, Columns]:
    """(what is known of a trace, all its spans)."""
    row = _row(desk, identity)
    return row, _columns(desk, row)


def _row(desk: Desk, identity: str) -> RowMapping:
    if not re.fullmatch("[0-9a-f]{32}", identity):
        raise UsageError(f"there is no trace `{identity[:80]}`")
    return desk.traces.find(identity) or _listed(desk, identity) or desk.traces.get(identity)


def _listed(desk: Desk, identity: str) -> RowMapping | None:
    _list_records(desk)
    return desk.traces.find(identity)


def _list_records(desk: Desk) -> None:
    """Records come in by several doors, and not all of them pass here: their traces are listed when somebody looks."""
    while found := desk.traces.unlisted(_AT_ONCE):
        new = 0
        for record in found:
            path = desk.store.folder(record["id"]) / NAME
            if path.is_file():
                desk.traces.put(**_facts(desk, record))
                new += 1
        if not new:
            return


def _facts(desk: Desk, record: RowMapping) -> dict[str, Any]:
    path = desk.store.folder(record["id"]) / NAME
    file = pq.read_schema(path)
    said = json.loads(file.metadata[b"trace"])
    ends = pq.read_table(path, columns=["end_ns"])["end_ns"].to_pylist()
    facts = {
        "service": "mlmodelscope",
        "model": record["model"],
        "record": record["id"],
        "began_unix_ns": said["began_unix_ns"],
        "duration_ns": max(ends, default=0),
        "spans": len(ends),
        "size": path.stat().st_size,
    }
    return {
        "identity": said["id"],
        "facts": facts,
        "owner": owner_of(desk.store.database, record["id"]),
        "at": record["created_at"],
    }


def _columns(desk: Desk, row: RowMapping) -> Columns:
    if row["record"] is not None:
        folder = desk.store.folder(row["record"])
        if not (folder / NAME).is_file():
            raise UsageError(f"there is no trace of record {row['record']} any more")
        return load_record_columns(folder)
    return Inbox(desk.store.home).load(row["id"])


def _ns(moment: datetime | None) -> int | None:
    if moment is None:
        return None
    found = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    # In whole numbers, since a float has no nanoseconds, and within what a database keeps.
    return max(-_LATEST_NS, min((found - _EPOCH) // timedelta(microseconds=1) * 1000, _LATEST_NS))


def _spell(row: RowMapping) -> dict[str, Any]:
    shown = ("id", "owner", "service", "model", "record", "began_unix_ns", "duration_ns", "spans")
    return {**{name: row[name] for name in shown}, "created_at": spoken(row["created_at"])}
