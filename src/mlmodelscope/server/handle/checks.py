"""Published numbers of manifests and sources, and what replications on this server's agents came to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from mlmodelscope.catalog.find import described_reference
from mlmodelscope.catalog.manifest_row import row_of
from mlmodelscope.claim.listing import Page, Published, Wanted, list_claims
from mlmodelscope.claim.status import standings, status_named
from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.ledger.request import Inline, Request
from mlmodelscope.ledger.tables import requests
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.ledger.verdicts import Verdicts
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.record.checks import Check, keep_checks, read_checks
from mlmodelscope.record.record import Record
from mlmodelscope.replicate.checked import checks_of
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.handle.replications import read_verdict


def find(desk: Desk, person: Person, wanted: Wanted) -> Page:
    demand(person, "read")
    known = standings(read_checks(desk.store.database))
    found = [each.manifest for each in desk.catalogue.entries("model")]
    rows = [row_of(each) for each in found if isinstance(each, ModelManifest)]
    return list_claims(desk.settings, wanted, known, rows)


def of_claim(desk: Desk, person: Person, key: str) -> list[Check]:
    """Every check of a claim, the newest first."""
    demand(person, "read")
    return read_checks(desk.store.database, claim=key)


def wanted(
    *, q: str | None, source: str | None, metric: str | None, dataset: str | None, status: str | None, **more: Any
) -> Wanted:
    chosen = status_named(status) if status is not None else None
    return Wanted(text=q or "", source=source, metric=metric, dataset=dataset, status=chosen, **more)


def spell(claim: Published) -> dict[str, Any]:
    """For programs."""
    names = ("model", "metric", "value", "symbol", "dataset", "conditions", "place", "key", "fits", "is_measurable")
    standing = claim.standing
    facts = {"status": standing.status, "check": standing.check}
    more = {"checks": standing.checks, "contradicted": standing.contradicted}
    return {**{name: getattr(claim, name) for name in names}, **facts, **more}


def keep(desk: Desk, evaluation: str, record: str) -> None:
    """What a replication that has just ended says of published claims; it is in the server's name whoever ran it."""
    row = desk.queue.get(evaluation)
    if row["kind"] != "replicate":
        return
    told = Verdicts(desk.store.database).of([evaluation]).get(evaluation)
    finding = read_verdict(told) if told is not None else None
    if finding is None:
        return
    kept, asked = desk.store.get(record), _request(desk, str(row["request"]))
    if asked is None or not all(_is_known(desk, kind, asked, kept) for kind in ("model", "dataset")):
        return
    model = _described(asked) or kept.plan.model.reference
    keep_checks(desk.store.database, checks_of(finding, kept, model, str(row["owner"]), evaluation))


def _request(desk: Desk, identity: str) -> Request | None:
    with desk.store.database.reading() as connection:
        document = connection.execute(select(requests.c.document).where(requests.c.id == identity)).scalar()
    return Request.model_validate_json(document) if document is not None else None


def _is_known(desk: Desk, kind: str, asked: Request, kept: Record) -> bool:
    """Whether it was named, or the manifest that was sent is one of this server's.

    A manifest that comes with a request may call itself whatever it likes: it says nothing of another's claims.
    """
    if not isinstance(asked.model if kind == "model" else asked.dataset, Inline):
        return True
    made_from = kept.plan.manifests.get(kind)
    if made_from is None:
        return False
    versions = desk.catalogue.by_name(kind).get(made_from.name, ())
    return any(each.manifest.digest == made_from.digest for each in versions)


def _described(asked: Request) -> str | None:
    """`SOURCE:NAME`, where the request names a model of a source."""
    try:
        return described_reference(asked.model) if isinstance(asked.model, str) else None
    except MLModelScopeError:  # the source was removed since
        return None


def spelled_page(page: Page, start: int) -> dict[str, Any]:
    end = start + len(page.rows)
    items: Sequence[dict[str, Any]] = [spell(each) for each in page.rows]
    return {"items": items, "total": page.total, "next": end if page.rows and end < page.total else None}
