"""The manifests that a record was made from, as they were written; found by what their digests are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from sqlalchemy import select

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.ledger.request import Work
from mlmodelscope.ledger.tables import evaluations, manifests
from mlmodelscope.manifest.catalog import find_manifest
from mlmodelscope.manifest.load import parse_document
from mlmodelscope.manifest.schema import KINDS
from mlmodelscope.manifest.shown_address import holds_secret
from mlmodelscope.preparation import remembered_manifest
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store


def manifests_of(record: Record, store: Store) -> dict[str, str]:
    """Text by aspect (model, dataset, …), of those that are available; never another one of the same name."""
    found = {}
    for aspect, planned in record.plan.manifests.items():
        for text in _candidates(aspect, planned.name, planned.version, planned.digest, record, store):
            if _digest(text) == planned.digest and not holds_secret(text):
                found[aspect] = text
                break
    return found


def _candidates(aspect: str, name: str, version: str, digest: str, record: Record, store: Store) -> Iterator[str]:
    kept = store.files.place(record.id) / "manifests" / f"{aspect}.yml"
    for path in (kept, remembered_manifest(store.home, digest)):
        if path.is_file():
            yield path.read_text(encoding="utf-8")
    with store.database.reading() as connection:
        yield from connection.execute(select(manifests.c.text).where(manifests.c.digest == digest)).scalars()
        worked = connection.execute(select(evaluations.c.work).where(evaluations.c.record == record.id)).scalars()
        works = [Work.model_validate_json(text) for text in worked]
    yield from (text for work in works if (text := _texts(work).get(aspect)))
    try:
        file = find_manifest(KINDS[aspect], f"{name}@{version}").file
        yield Path(file).read_text(encoding="utf-8")
    except (MLModelScopeError, OSError, KeyError):
        return


def _texts(work: Work) -> Mapping[str, str | None]:
    return {"model": work.model, "dataset": work.dataset, "software": work.software, "hardware": work.hardware}


def _digest(text: str) -> str | None:
    try:
        return parse_document(text, "<bundle>", Path("/nonexistent")).manifest().digest
    except MLModelScopeError:
        return None
