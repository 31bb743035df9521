"""Models that sources describe: searched in the index, a page at a time."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from typing import Any

from mlmodelscope.catalog.facts import Source
from mlmodelscope.catalog.index import open_index
from mlmodelscope.catalog.search import Query, search, sources
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.server.desk import Desk, demand


def described(desk: Desk, person: Person, query: Query) -> dict[str, Any]:
    """A page of models, and the sources that there are."""
    demand(person, "read")
    with closing(open_index(desk.settings)) as index:
        page = search(index, query)
        known = sources(index)
    end = query.offset + len(page.rows)
    return {
        "items": [{"reference": row.reference, **asdict(row)} for row in page.rows],
        "total": page.total,
        "next": end if page.rows and end < page.total else None,
        "sources": [_source(each) for each in known],
    }


def _source(source: Source) -> dict[str, Any]:
    return {name: getattr(source, name) for name in ("label", "form", "version", "models", "claims")}
