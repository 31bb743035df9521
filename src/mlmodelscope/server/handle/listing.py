"""Models and datasets as a catalogue shows them: searched, narrowed down by facets, sorted, a page at a time."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import func, select

from mlmodelscope.claim.status import standings
from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.moment import spoken
from mlmodelscope.ledger.tables import evaluations
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.record.checks import read_checks
from mlmodelscope.replicate.kind import WORST_FIRST
from mlmodelscope.server.catalogue import Entry
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.handle.claims import UNCHECKED, claims_of, known_datasets, last_verdicts

NO_CLAIM = "no claim"
UNSPECIFIED = "unspecified"
FACETS = {
    "model": ("task", "framework", "architecture", "license", "verdict"),
    "dataset": ("task", "format", "license"),
}
SORTS = ("name", "newest", "evaluations")


@dataclass(frozen=True)
class Wanted:
    q: str | None = None
    facets: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sort: str = "name"
    start: int = 0
    limit: int = 50


@dataclass(frozen=True)
class Page:
    items: Sequence[dict[str, Any]]
    total: int
    facets: Mapping[str, Mapping[str, int]]
    """How many there would be with each value of a facet, all other choices as they are."""
    tag: str
    """The same as long as the page is."""

    def spelled(self, wanted: Wanted) -> dict[str, Any]:
        end = wanted.start + len(self.items)
        following = end if self.items and end < self.total else None
        return {"items": self.items, "total": self.total, "next": following, "facets": self.facets}


def models(desk: Desk, person: Person, wanted: Wanted) -> Page:
    demand(person, "read")
    told, counts, known = last_verdicts(desk), _counts(desk, "model"), known_datasets(desk)
    checked = standings(read_checks(desk.store.database))

    def spell(manifest: Any) -> dict[str, Any]:
        assert isinstance(manifest, ModelManifest)
        claims = claims_of(manifest, told, checked, known)
        framework = manifest.framework
        return {
            "task": manifest.task,
            "job_type": manifest.job_type,
            "framework": framework.name.lower() if framework is not None else None,
            "framework_version": framework.version if framework is not None else None,
            "architecture": _architecture(manifest),
            "dataset": manifest.dataset,
            "claims": claims,
            "verdict": _sum_up([each["verdict"] for each in claims]),
        }

    return _page(desk, "model", wanted, spell, counts)


def datasets(desk: Desk, person: Person, wanted: Wanted) -> Page:
    demand(person, "read")

    def spell(manifest: Any) -> dict[str, Any]:
        assert isinstance(manifest, DatasetManifest)
        return {"task": manifest.task, "format": manifest.format, "size": manifest.size}

    return _page(desk, "dataset", wanted, spell, _counts(desk, "dataset"))


def _architecture(manifest: ModelManifest) -> str | None:
    """The family of networks that it belongs to, as its author calls it."""
    said = manifest.attributes.get("architecture")
    return said[:60] if isinstance(said, str) else None


def _sum_up(verdicts: Sequence[str]) -> str:
    """The verdict on a model: what does not hold weighs most, what holds least."""
    order = (*WORST_FIRST, UNCHECKED)
    return next((each for each in order if each in verdicts), NO_CLAIM)


def _counts(desk: Desk, column: str) -> dict[str, int]:
    """Evaluations of each, by name."""
    name = evaluations.c[column]
    query = select(name, func.count()).where(evaluations.c.part_of.is_(None)).group_by(name)
    with desk.store.database.reading() as connection:
        return {each: count for each, count in connection.execute(query).all()}


def _page(
    desk: Desk, kind: str, wanted: Wanted, spell: Callable[[Any], dict[str, Any]], counts: Mapping[str, int]
) -> Page:
    if wanted.sort not in SORTS:
        raise UsageError(f"`{wanted.sort}` is no order\nknown: {', '.join(SORTS)}")
    known = desk.catalogue.by_name(kind)
    rows = [_row(versions, spell, counts.get(name, 0)) for name, versions in known.items()]
    words = (wanted.q or "").lower().split()
    found = [row for row in rows if all(word in row["words"] for word in words)]
    chosen = {name: set(values) for name, values in wanted.facets.items() if values}
    facets = {
        name: dict(sorted(Counter(_said(row, name) for row in _narrowed(found, chosen, name)).items()))
        for name in FACETS[kind]
    }
    kept = _narrowed(found, chosen)
    kept.sort(key=_order(wanted.sort))
    shown = [{key: value for key, value in row.items() if key != "words"} for row in kept]
    page = shown[wanted.start : wanted.start + wanted.limit]
    said = json.dumps([page, len(kept), facets], default=str, sort_keys=True)
    return Page(page, len(kept), facets, hashlib.sha256(said.encode()).hexdigest()[:32])


def _row(versions: Sequence[Entry], spell: Callable[[Any], dict[str, Any]], count: int) -> dict[str, Any]:
    newest = versions[0]
    manifest = newest.manifest
    own = spell(manifest)
    parts = (manifest.name, manifest.id, manifest.description, manifest.author, manifest.license)
    words = " ".join(str(each) for each in (*parts, *own.values(), *manifest.references) if each).lower()
    return {
        "name": manifest.name,
        "version": manifest.version,
        "versions": [each.manifest.version for each in versions],
        "digest": manifest.digest,
        "description": manifest.description,
        "author": manifest.author,
        "license": manifest.license,
        "licence": manifest.license,  # its former name, for one more minor version
        "owner": newest.owner,
        "shipped": newest.owner is None,
        "created_at": spoken(newest.created_at),
        "evaluations": count,
        **own,
        "words": words,
    }


def _said(row: Mapping[str, Any], facet: str) -> str:
    return str(row[facet]) if row[facet] is not None else UNSPECIFIED


def _narrowed(
    rows: Sequence[dict[str, Any]], chosen: Mapping[str, set[str]], but: str | None = None
) -> list[dict[str, Any]]:
    return [row for row in rows if all(_said(row, name) in values for name, values in chosen.items() if name != but)]


def _order(sort: str) -> Callable[[Mapping[str, Any]], Any]:
    if sort == "evaluations":
        return lambda row: (-row["evaluations"], row["name"])
    if sort == "newest":  # what nobody put here has been here all the time
        return lambda row: (-(row["created_at"].timestamp() if row["created_at"] else 0), row["name"])
    return lambda row: row["name"]
