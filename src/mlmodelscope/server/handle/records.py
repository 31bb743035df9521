"""What happened: records, their samples, and the forms in which they are read."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from mlmodelscope.hub.manifests import manifests_of
from mlmodelscope.hub.origin import origin_of
from mlmodelscope.ledger.moment import spoken
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.record.headline import aliases, headline_of_facts
from mlmodelscope.record.log import write_log
from mlmodelscope.record.record import Record
from mlmodelscope.record.record_list import Chosen, find_choices, find_page
from mlmodelscope.report.report import refuse_without_report
from mlmodelscope.server import confined_records
from mlmodelscope.server.confined_work import spelled_settings
from mlmodelscope.server.desk import Desk, demand

_INSIDE = ("record", "headline", "value", "low", "high", "unit", "model_digest", "dataset_digest", "software_digest")
"""What of a row is told in another form, or not at all."""


def get(desk: Desk, person: Person, name: str) -> Record:
    demand(person, "read")
    return desk.store.get(name)


def find(desk: Desk, person: Person, chosen: Chosen) -> dict[str, Any]:
    """A page of all records, and where the next one begins."""
    demand(person, "read")
    with desk.store.database.reading() as connection:
        rows, total = find_page(connection, chosen)
    end = chosen.start + len(rows)
    return {
        "items": [_listed(desk, row) for row in rows],
        "total": total,
        "next": end if rows and end < total else None,
    }


def choices(desk: Desk, person: Person) -> dict[str, list[str]]:
    demand(person, "read")
    with desk.store.database.reading() as connection:
        return find_choices(connection)


def _listed(desk: Desk, row: dict[str, Any]) -> dict[str, Any]:
    found = {name: value for name, value in row.items() if name not in _INSIDE}
    found |= {name: spoken(row[name]) for name in ("created_at", "finished_at")}
    if row["status"] == "running" and not desk.store.is_locked(row["plan_digest"]):
        found["status"] = "interrupted"
    headline = headline_of_facts(row)
    return {**found, "id": row["record"], "headline": headline, **aliases(headline)}


def report(desk: Desk, person: Person, name: str, form: str) -> str:
    """Pictures are shown where they are available, never fetched for it."""
    demand(person, "read")
    record = desk.store.get(name)
    is_strangers = origin_of(desk.store.database, record.id) is not None
    refuse_without_report(record, desk.store, form)
    found: bytes = desk.confined.call(
        confined_records.reported,
        record=record.model_dump_json(),
        folder=str(desk.store.folder(record.id)),
        settings=spelled_settings(replace(desk.offline, public_only=is_strangers)),
        form=form,
    )
    return found.decode()


def log(desk: Desk, person: Person, name: str) -> str:
    """The reference log, with what to expect of every sample inside it or, where that is long, left out."""
    demand(person, "read")
    with tempfile.TemporaryDirectory() as place:
        written = write_log(desk.store.get(name), desk.store, Path(place) / "log.yml")
        return written[0].read_text(encoding="utf-8")


def manifests(desk: Desk, person: Person, name: str) -> list[dict[str, str]]:
    """What the record was made from, as it was written, whether or not the catalog has it."""
    demand(person, "read")
    record = desk.store.get(name)
    return [
        {"kind": kind, "name": planned.name, "version": planned.version, "text": text}
        for kind, text in manifests_of(record, desk.store).items()
        if (planned := record.plan.manifests[kind])
    ]


def delete(desk: Desk, person: Person, name: str) -> None:
    demand(person, "admin")
    record = desk.store.get(name)
    desk.store.delete(record)
    desk.audit.note(person.owner, "delete record", record.id)
