"""Tags and notes of records: everybody reads them, who may run adds them, their authors and admins take them away."""

from __future__ import annotations

from typing import Any

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.moment import spoken
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.record import pins, remarks
from mlmodelscope.server.desk import Desk, Refused, demand


def get(desk: Desk, person: Person, name: str) -> dict[str, Any]:
    demand(person, "read")
    return _spell(desk, desk.store.get(name).id)


def add_tag(desk: Desk, person: Person, name: str, tag: str) -> dict[str, Any]:
    demand(person, "run")
    record = desk.store.get(name).id
    remarks.add_tag(desk.store.database, record, tag, person.owner)
    desk.audit.note(person.owner, "tag", f"{record} {remarks.clean_tag(tag)}")
    return _spell(desk, record)


def remove_tag(desk: Desk, person: Person, name: str, tag: str) -> dict[str, Any]:
    demand(person, "run")
    record = desk.store.get(name).id
    owners = {row["tag"]: row["owner"] for row in remarks.tags_of(desk.store.database, record)}
    if tag not in owners:
        raise UsageError(f"there is no tag `{tag[:60]}` on record {record}")
    _demand_own(person, owners[tag])
    remarks.remove_tag(desk.store.database, record, tag)
    desk.audit.note(person.owner, "remove tag", f"{record} {tag}")
    return _spell(desk, record)


def add_note(desk: Desk, person: Person, name: str, text: str) -> dict[str, Any]:
    demand(person, "run")
    record = desk.store.get(name).id
    identity = remarks.add_note(desk.store.database, record, text, person.owner)
    desk.audit.note(person.owner, "add note", f"{record} {identity}")
    return _spell(desk, record)


def remove_note(desk: Desk, person: Person, name: str, identity: str) -> dict[str, Any]:
    demand(person, "run")
    record = desk.store.get(name).id
    owners = {row["id"]: row["owner"] for row in remarks.notes_of(desk.store.database, record)}
    if identity not in owners:
        raise UsageError(f"there is no note `{identity[:60]}` on record {record}")
    _demand_own(person, owners[identity])
    remarks.remove_note(desk.store.database, record, identity)
    desk.audit.note(person.owner, "remove note", f"{record} {identity}")
    return _spell(desk, record)


def _demand_own(person: Person, owner: str) -> None:
    if owner != person.owner and not person.may("admin"):
        raise Refused("admin")


def _spell(desk: Desk, record: str) -> dict[str, Any]:
    database = desk.store.database
    return {
        "record": record,
        "pinned_by": pins.pinned_by(database, record),
        "tags": [
            {"tag": row["tag"], "owner": row["owner"], "at": spoken(row["at"])}
            for row in remarks.tags_of(database, record)
        ],
        "notes": [
            {"id": row["id"], "owner": row["owner"], "at": spoken(row["at"]), "text": row["text"]}
            for row in remarks.notes_of(database, record)
        ],
    }
