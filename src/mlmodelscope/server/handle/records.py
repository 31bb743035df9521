"""What happened: records, their samples, and the forms in which they are read."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mlmodelscope.hub.manifests import manifests_of
from mlmodelscope.hub.origin import origin_of
from mlmodelscope.ledger.moment import spoken
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.record.log import write_log
from mlmodelscope.record.record import Record
from mlmodelscope.report.report import refuse_without_report
from mlmodelscope.server import confined_records
from mlmodelscope.server.confined_work import spelled_settings
from mlmodelscope.server.desk import Desk, demand


def get(desk: Desk, person: Person, name: str) -> Record:
    demand(person, "read")
    return desk.store.get(name)


def find(
    desk: Desk,
    person: Person,
    *,
    model: str | None,
    dataset: str | None,
    status: str | None,
    kind: str | None,
    limit: int,
) -> Sequence[Mapping[str, Any]]:
    demand(person, "read")
    rows = desk.store.list(model=model, dataset=dataset, status=status, kind=kind, limit=limit)
    return [{**row, **{name: spoken(row[name]) for name in ("created_at", "finished_at")}} for row in rows]


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
