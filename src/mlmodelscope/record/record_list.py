"""A page of all records: filtered, sorted and cut by the database, whatever their number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, exists, func, or_, select

from mlmodelscope.errors import UsageError
from mlmodelscope.record.facts import naive
from mlmodelscope.record.owners import OPERATOR
from mlmodelscope.record.tables import pins, record_facts, record_notes, record_owners, record_tags

SORTS: Mapping[str, Sequence[str]] = {
    "created": ("created_at",),
    "model": ("model", "model_version"),
    "dataset": ("dataset", "dataset_version"),
    "result": ("headline", "value"),
    "samples": ("samples",),
    "failed": ("failed",),
    "latency": ("latency_s",),
    "throughput": ("samples_per_s",),
    "duration": ("took_s",),
    "stack": ("stack",),
    "machine": ("machine",),
}
"""By which columns. Results are sorted within each metric: numbers of two metrics are never compared."""
CHOICES = ("kind", "task", "dataset", "stack", "machine")
_EXACT = ("model", "dataset", "status", "task", "stack", "machine")
MOST_CHOICES = 100
_COLUMNS = [column for column in record_facts.c if column.name not in ("words", "claims")]


@dataclass(frozen=True)
class Chosen:
    """Which records; what is left out does not matter."""

    q: str | None = None
    """Words that must all occur in id, names, kind, task, stack or machine."""
    model: str | None = None
    dataset: str | None = None
    status: str | None = None
    kind: str | None = None
    """The kind, or the scenario of a bench."""
    task: str | None = None
    stack: str | None = None
    machine: str | None = None
    tag: str | None = None
    owner: str | None = None
    pinned: bool | None = None
    intermediate: bool | None = None
    """Whether another command needed them on its way."""
    since: datetime | None = None
    until: datetime | None = None
    sort: str = "created"
    descending: bool = True
    start: int = 0
    limit: int = 50


def find_page(connection: Connection, chosen: Chosen) -> tuple[list[dict[str, Any]], int]:
    """(rows, how many there are in all)."""
    wanted = conditions(chosen)
    total = connection.execute(select(func.count()).select_from(record_facts).where(*wanted)).scalar() or 0
    query = select(*_COLUMNS).where(*wanted).order_by(*_order(chosen)).offset(chosen.start).limit(chosen.limit)
    rows = [dict(row) for row in connection.execute(query).mappings()]
    return _with_remarks(connection, rows), total


def find_choices(connection: Connection) -> dict[str, list[str]]:
    """What can be chosen of each filter, the most frequent first."""
    found = {}
    for name in CHOICES:
        column = record_facts.c[name]
        query = select(column).where(column.is_not(None)).group_by(column)
        found[name] = list(connection.scalars(query.order_by(func.count().desc(), column).limit(MOST_CHOICES)))
    tags = select(record_tags.c.tag).group_by(record_tags.c.tag).order_by(func.count().desc(), record_tags.c.tag)
    return {**found, "tag": list(connection.scalars(tags.limit(MOST_CHOICES)))}


def conditions(chosen: Chosen) -> list[ColumnElement[bool]]:
    facts = record_facts.c
    found: list[ColumnElement[bool]] = [
        facts[name] == value for name in _EXACT if (value := getattr(chosen, name)) is not None
    ]
    found += [facts.words.contains(word, autoescape=True) for word in (chosen.q or "").lower().split()]
    if chosen.kind is not None:
        found.append(or_(facts.kind == chosen.kind, facts.scenario == chosen.kind))
    if chosen.intermediate is not None:
        found.append(facts.made_for.is_not(None) if chosen.intermediate else facts.made_for.is_(None))
    if chosen.since is not None:
        found.append(facts.created_at >= day(chosen.since))
    if chosen.until is not None:
        found.append(facts.created_at <= day(chosen.until))
    if chosen.tag is not None:
        found.append(exists().where(record_tags.c.record == facts.record, record_tags.c.tag == chosen.tag))
    if chosen.pinned is not None:
        is_pinned = exists().where(pins.c.record == facts.record)
        found.append(is_pinned if chosen.pinned else ~is_pinned)
    if chosen.owner is not None:
        found.append(_owned(chosen.owner))
    return found


def day(moment: datetime | None) -> datetime | None:
    """As databases keep it."""
    try:
        return naive(moment)
    except OverflowError:  # at the end of the calendar, in a time zone beyond it
        raise UsageError(f"{moment} is beyond the calendar") from None


def _owned(owner: str) -> ColumnElement[bool]:
    """Records that nobody is written down for are the operator's."""
    same = record_owners.c.record == record_facts.c.record
    theirs = exists().where(and_(same, record_owners.c.owner == owner))
    return or_(theirs, ~exists().where(same)) if owner == OPERATOR else theirs


def _order(chosen: Chosen) -> list[Any]:
    if chosen.sort not in SORTS:
        raise UsageError(f"records cannot be sorted by `{chosen.sort[:60]}`\nknown: {', '.join(SORTS)}")
    columns = [record_facts.c[name] for name in SORTS[chosen.sort]]
    empty = [columns[0].is_(None)] if columns[0].nullable else []  # what has no such number comes last
    turned = [each.desc() if chosen.descending else each.asc() for each in (*columns, record_facts.c.record)]
    return [*empty, *turned]


def _with_remarks(connection: Connection, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Whose each record is, who pinned it, its tags, and how many notes it has."""
    names = [row["record"] for row in rows]
    owners = dict(_pairs(connection, record_owners.c.record, record_owners.c.owner, names))
    pinned = dict(_pairs(connection, pins.c.record, pins.c.owner, names))
    tags: dict[str, list[str]] = {}
    for record, tag in _pairs(connection, record_tags.c.record, record_tags.c.tag, names):
        tags.setdefault(record, []).append(tag)
    count = select(record_notes.c.record, func.count()).where(record_notes.c.record.in_(names))
    notes = {record: number for record, number in connection.execute(count.group_by(record_notes.c.record))}
    for row in rows:
        record = row["record"]
        row |= {"owner": owners.get(record, OPERATOR), "pinned_by": pinned.get(record)}
        row |= {"tags": sorted(tags.get(record, [])), "notes": notes.get(record, 0)}
    return rows


def _pairs(connection: Connection, key: Any, value: Any, names: Sequence[str]) -> list[tuple[str, str]]:
    return [(row[0], row[1]) for row in connection.execute(select(key, value).where(key.in_(names)))]
