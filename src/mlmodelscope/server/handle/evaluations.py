"""Evaluations as they wait, run and end."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping

from mlmodelscope.ledger.change import ENDED
from mlmodelscope.ledger.history import Narrowed
from mlmodelscope.ledger.moment import spoken
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.record.headline import headline_of_facts
from mlmodelscope.record.record_list import day
from mlmodelscope.server.desk import Desk, Refused, demand

_SHOWN = ("id", "request", "owner", "kind", "model", "dataset", "state", "priority", "agent", "attempt", "record")
_MOST = 1000
_MOMENTS = ("created_at", "started_at", "ended_at")


def get(desk: Desk, person: Person, identity: str) -> dict[str, Any]:
    demand(person, "read")
    return spell(desk.queue.get(identity))


def find(
    desk: Desk,
    person: Person,
    limit: int,
    before: tuple[datetime, str] | None,
    *,
    q: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    **wanted: str | None,
) -> Sequence[dict[str, Any]]:
    demand(person, "read")
    narrowed = Narrowed(q, day(since), day(until))
    return [spell(row) for row in desk.history.search(narrowed, wanted, limit, before)]


def of_request(desk: Desk, person: Person, request: str) -> Sequence[dict[str, Any]]:
    """What somebody has just asked for, which they may see whatever else they may read."""
    demand(person, "run")
    return [spell(row) for row in desk.history.list(limit=_MOST, request=request, owner=person.owner)]


def cancel(desk: Desk, person: Person, identity: str) -> dict[str, Any]:
    demand(person, "run")
    if desk.queue.get(identity)["owner"] != person.owner and not person.may("admin"):
        raise Refused("admin")
    desk.queue.cancel(identity)
    desk.audit.note(person.owner, "cancel", identity)
    return spell(desk.queue.get(identity))


def delete(desk: Desk, person: Person, identity: str) -> None:
    """Forget one that has ended; its record stays."""
    demand(person, "run")
    if desk.queue.get(identity)["owner"] != person.owner and not person.may("admin"):
        raise Refused("admin")
    desk.queue.delete(identity)
    desk.audit.note(person.owner, "delete evaluation", identity)


def events(desk: Desk, person: Person, identity: str, after: int) -> list[dict[str, Any]]:
    demand(person, "read")
    return [_event(row) for row in desk.history.events(identity, after)]


def _event(row: RowMapping) -> dict[str, Any]:
    facts = json.loads(row["document"])
    if "kind" in facts:  # of the error, where it has failed; the event has a kind of its own
        facts["error"] = facts.pop("kind")
    return {**facts, "number": row["number"], "at": spoken(row["at"]), "kind": row["kind"]}


def has_ended(desk: Desk, identity: str) -> bool:
    return desk.queue.get(identity)["state"] in ENDED


def spell(row: RowMapping) -> dict[str, Any]:
    return {
        **{name: row[name] for name in _SHOWN},
        **{name: spoken(row[name]) for name in _MOMENTS},
        "took_s": _took_s(row),
        "headline": headline_of_facts(dict(row)) if "headline" in row else None,
        "cancelling": bool(row["cancel"]) and row["state"] not in ENDED,
        "progress": json.loads(row["progress"]) if row["progress"] else None,
        "error": json.loads(row["error"]) if row["error"] else None,
    }


def _took_s(row: RowMapping) -> float | None:
    if row["started_at"] is None or row["ended_at"] is None:
        return None
    return float((row["ended_at"] - row["started_at"]).total_seconds())
