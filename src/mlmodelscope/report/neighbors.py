"""What came first for each query: the documents that were found nearest, and which of them are relevant."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.record import Record
from mlmodelscope.record.table_check import DAMAGE
from mlmodelscope.report.own_content import cut_text

_MOST, _BEST, _MISSED = 24, 10, 5
_LONGEST = 300


@dataclass(frozen=True)
class Document:
    id: str
    text: str
    """How it begins; empty where it is not known here."""
    rank: int
    similarity: float | None
    gain: float
    """Above 0 where it is relevant."""


@dataclass(frozen=True)
class Query:
    id: str
    text: str
    ndcg: float
    best: tuple[Document, ...]
    missed: tuple[Document, ...]
    """Relevant ones that are not among the best."""
    relevant: int
    """How many documents the truth names."""


@dataclass(frozen=True)
class Neighbors:
    queries: tuple[Query, ...]
    """The worst first."""
    total: int
    """Queries of the record."""
    documents: int


def find_neighbors(record: Record, artifacts: ArtifactStore) -> Neighbors | None:
    """None where the record has no rankings. They are in its details, which may be a stranger's."""
    try:
        told = [each for each in record.details.get("queries") or () if each.get("best")][:_MOST]
        documents = int(record.details.get("documents", 0))
        if not told:
            return None
        texts = _texts(record, {str(one["id"]) for each in told for one in _named(each)}, artifacts)
        queries = tuple(_query(each, texts) for each in told)
    except DAMAGE:
        return None
    return Neighbors(queries, max(len(queries), record.samples - record.failed - documents), documents)


def _named(query: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [query, *query["best"][:_BEST], *query.get("missed", ())[:_MISSED]]


def _query(told: Mapping[str, Any], texts: Mapping[str, str]) -> Query:
    best = [
        _document(each, rank, each.get("similarity"), texts) for rank, each in enumerate(told["best"][:_BEST], start=1)
    ]
    missed = [_document(each, int(each["rank"]), None, texts) for each in told.get("missed", ())[:_MISSED]]
    name = str(told["id"])
    found = (name, texts.get(name, ""), float(told["ndcg10"]), tuple(best), tuple(missed), int(told["relevant"]))
    return Query(*found)


def _document(told: Mapping[str, Any], rank: int, similarity: Any, texts: Mapping[str, str]) -> Document:
    name = str(told["id"])
    known = float(similarity) if isinstance(similarity, int | float) and math.isfinite(similarity) else None
    return Document(name, texts.get(name, ""), rank, known, float(told["gain"]))


def _texts(record: Record, wanted: set[str], artifacts: ArtifactStore) -> dict[str, str]:
    """How these samples begin, where they are texts and their dataset is here."""
    try:
        samples: Sequence[Any] = open_dataset(record.plan.dataset, artifacts).samples
    except (MLModelScopeError, OSError):
        return {}
    contents = {each.id: each.content for each in samples if each.id in wanted}
    parts = {name: content.get("parts", {}).get("text", {}) for name, content in contents.items()}
    return {name: cut_text(str(part["text"]), _LONGEST) for name, part in parts.items() if "text" in part}
