"""Embeddings for retrieval: for each query, at which ranks its relevant documents come; measures as trec_eval has them.

Queries and documents are samples of their own, so a number follows from all scores together. Of equal similarities
(compared as 32-bit floats) the document with the greater id comes first, which is trec_eval's order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from mlmodelscope.measure.pack import pack
from mlmodelscope.measure.rule import Arrays, ScoreError, task_rule
from mlmodelscope.measure.values import answered_values, number, opened
from mlmodelscope.statistic.student import t_quantile

RECALLS = (1, 5, 10, 100)
MEASURES = ("ndcg10", "mrr10", *(f"recall{each}" for each in RECALLS), "retrieval-map")
_AT_ONCE = 1 << 22
"""Similarities that are computed at a time."""
_LISTED = 100
_RANKED = 24
"""Queries whose best documents are kept."""
_BEST, _MISSED = 10, 5
"""Documents of such a query: the best, and relevant ones behind them."""
_LONGEST_ID = 1000


@dataclass(frozen=True)
class Library:
    """All embeddings, with a length of 1 where their directions are compared."""

    queries: np.ndarray
    documents: np.ndarray
    facts: Sequence[Mapping[str, Any]]
    """Of each query."""
    ids: Sequence[str]
    """Of each document."""

    @cached_property
    def at(self) -> Mapping[str, int]:
        """The place of each document."""
        return {name: place for place, name in enumerate(self.ids)}

    @cached_property
    def order(self) -> np.ndarray:
        """The rank of each document's id: of equally similar ones the greater comes first."""
        named = sorted(range(len(self.ids)), key=lambda place: self.ids[place].encode("utf-8", "surrogatepass"))
        found = np.empty(len(self.ids), int)
        found[named] = np.arange(len(self.ids))
        return found

    def alike(self, start: int, end: int) -> np.ndarray:
        """How similar each document is to some queries; one that is skipped is further than all."""
        found = _similarities(self.queries[start:end], self.documents, self.facts[0]["similarity"])
        for own, query in zip(found, self.facts[start:end], strict=True):
            if query["same_id"] == "skip" and query["id"] in self.at:
                own[self.at[query["id"]]] = -np.inf
        return found

    def relevant(self, query: int) -> list[tuple[int, float]]:
        """(document, gain) of those that are there."""
        facts = self.facts[query]
        skipped = facts["id"] if facts["same_id"] == "skip" else None
        known = facts["relevant"].items()
        return [(self.at[name], gain) for name, gain in known if name in self.at and name != skipped]


@dataclass(frozen=True)
class Found:
    """What came of every query."""

    places: np.ndarray
    """Where the queries stand among all samples."""
    names: tuple[str, ...]
    values: np.ndarray
    """Queries x measures."""
    reason: str = ""
    """Why there is nothing."""
    library: Library | None = None


@task_rule("embedding")
class Embedding:
    """A score holds a sample's embedding, its id and, of a query, the gains of its relevant documents."""

    def score(self, arrays: Arrays, fields: Mapping[str, Any], target: Any, options: Mapping[str, Any]) -> bytes:
        with np.errstate(over="ignore", under="ignore"):
            vector = answered_values(arrays).astype(np.float32)
        if not np.isfinite(vector).all():
            raise ScoreError("its embedding has numbers beyond all 32-bit floats")
        role = target.get("role") if isinstance(target, Mapping) else None
        if role not in ("query", "document"):
            raise ScoreError("its truth does not say whether it is a query or a document")
        name = target.get("id")
        if not isinstance(name, str | int) or isinstance(name, bool) or not 0 < len(str(name)) <= _LONGEST_ID:
            raise ScoreError("its truth has no id")
        similarity = str(options.get("similarity", "cosine"))
        if similarity == "cosine" and not vector.any():
            raise ScoreError("its embedding is all zeros, which have no direction to compare")
        facts = {"role": role, "id": str(name), "similarity": similarity, "same_id": options.get("same_id", "count")}
        if role == "query":
            facts["relevant"] = _gains(target.get("relevant"))
        return pack({"vector": vector}, **facts)

    def numbers(self, scores: Sequence[bytes], names: Sequence[str], weights: np.ndarray | None) -> dict[str, float]:
        found = _found(tuple(scores))
        weight = None if weights is None else weights[found.places]
        if found.reason or (weight is not None and not weight.sum() > 0):
            return {}
        means = np.average(found.values, axis=0, weights=weight)
        return {name: float(means[MEASURES.index(name)]) for name in names}

    def deviations(self, scores: Sequence[bytes], names: Sequence[str]) -> dict[str, float]:
        """Of means over queries; the documents are what they are. Few queries are few, however many documents."""
        found = _found(tuple(scores))
        queries = len(found.values)
        if found.reason or queries < 2:
            return {}
        wide = t_quantile(0.975, queries - 1) / t_quantile(0.975, len(scores) - 1)
        spread = wide * np.std(found.values, axis=0, ddof=1) / math.sqrt(queries)
        return {name: float(spread[MEASURES.index(name)]) for name in names}

    def reasons(self, scores: Sequence[bytes], names: Sequence[str]) -> dict[str, str]:
        return dict.fromkeys(names, _found(tuple(scores)).reason)

    def details(self, scores: Sequence[bytes]) -> dict[str, Any]:
        """The queries with the lowest nDCG, the worst of them with the documents that came first."""
        found = _found(tuple(scores))
        order = np.argsort(found.values[:, 0], kind="stable")[:_LISTED]
        told: list[dict[str, Any]] = [{"id": found.names[at], "ndcg10": float(found.values[at, 0])} for at in order]
        if found.library is not None:
            for query, at in zip(told[:_RANKED], order, strict=False):
                query.update(_nearest(found.library, int(at)))
        return {"queries": told, "documents": len(scores) - len(found.places)}


def _gains(relevant: Any) -> dict[str, float]:
    """By the id of a document; one without a gain is as if it were not named."""
    if not isinstance(relevant, Mapping):
        raise ScoreError("its truth does not name the documents that are relevant to it")
    gains = {str(name): number(gain, "a gain") for name, gain in relevant.items()}
    found = {name: gain for name, gain in gains.items() if gain > 0}
    if not found:
        raise ScoreError("no document is relevant to it")
    return found


@lru_cache(maxsize=2)
def _found(scores: tuple[bytes, ...]) -> Found:
    parts = opened(scores)
    roles = [facts["role"] for _, facts in parts]
    places = np.array([at for at, role in enumerate(roles) if role == "query"], int)
    texts = [at for at, role in enumerate(roles) if role == "document"]
    ids, nothing = [parts[at][1]["id"] for at in texts], np.zeros((0, len(MEASURES)))
    reason = ""
    if not len(places) or not texts:
        reason = "it needs queries and documents"
    elif len({len(arrays["vector"]) for arrays, _ in parts}) > 1:
        reason = "not all embeddings have the same length"
    elif len(set(ids)) < len(ids):
        reason = "two documents have the same id"
    if reason:
        return Found(places[:0], (), nothing, reason)
    queries, documents = (
        _directed(np.stack([parts[at][0]["vector"] for at in chosen]).astype(np.float64), parts[0][1]["similarity"])
        for chosen in (places, texts)
    )
    library = Library(queries, documents, [parts[at][1] for at in places], ids)
    names = tuple(each["id"] for each in library.facts)
    return Found(places, names, _values(library), library=library)


def _directed(vectors: np.ndarray, similarity: str) -> np.ndarray:
    if similarity != "cosine":
        return vectors
    found: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return found


def _values(library: Library) -> np.ndarray:
    """Queries x measures."""
    rows, step = [], max(1, _AT_ONCE // len(library.ids))
    for start in range(0, len(library.facts), step):
        for query, own in enumerate(library.alike(start, start + step), start):
            ideal = sorted(library.facts[query]["relevant"].values(), reverse=True)
            rows.append(_measured(own, library.relevant(query), library.order, ideal))
    return np.array(rows)


def _similarities(queries: np.ndarray, documents: np.ndarray, similarity: str) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        alike = queries @ documents.T
        if similarity == "euclidean":
            squares = (queries**2).sum(axis=1)[:, None] + (documents**2).sum(axis=1)[None, :]
            alike = -np.sqrt(np.maximum(squares - 2 * alike, 0))
        found: np.ndarray = np.nan_to_num(alike, nan=-np.inf).astype(np.float32)
    return found


def _nearest(library: Library, query: int) -> dict[str, Any]:
    """The documents that come first for a query, and where relevant ones behind them are."""
    (own,), gains = library.alike(query, query + 1), dict(library.relevant(query))
    most = min(_BEST, len(own))
    near = np.flatnonzero(own >= np.partition(own, -most)[-most])
    near = near[np.isfinite(own[near])]
    best = near[np.lexsort((-library.order[near], -own[near]))][:most].tolist()
    late = [(_rank(own, at, library.order), at) for at in gains if at not in best and np.isfinite(own[at])]
    return {
        "best": [{"id": library.ids[at], "similarity": float(own[at]), "gain": gains.get(at, 0.0)} for at in best],
        "missed": [{"id": library.ids[at], "rank": rank, "gain": gains[at]} for rank, at in sorted(late)[:_MISSED]],
        "relevant": len(library.facts[query]["relevant"]),
    }


def _rank(own: np.ndarray, at: int, order: np.ndarray) -> int:
    return 1 + int((own > own[at]).sum()) + int(((own == own[at]) & (order > order[at])).sum())


def _measured(
    own: np.ndarray, known: Sequence[tuple[int, float]], order: np.ndarray, ideal: Sequence[float]
) -> list[float]:
    """Every measure of one query, from the ranks of its relevant documents alone."""
    ranked = sorted((_rank(own, at, order), gain) for at, gain in known)
    due = sum(gain / math.log2(place + 2) for place, gain in enumerate(ideal[:10]))
    gained = sum(gain / math.log2(rank + 1) for rank, gain in ranked if rank <= 10)
    first = ranked[0][0] if ranked else math.inf
    recalls = [sum(rank <= most for rank, _ in ranked) / len(ideal) for most in RECALLS]
    precision = sum((place + 1) / rank for place, (rank, _) in enumerate(ranked)) / len(ideal)
    return [gained / due, 1 / first if first <= 10 else 0.0, *recalls, precision]


RULE = Embedding()
