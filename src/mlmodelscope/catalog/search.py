"""Questions to the index: text, and filters by what is known of a model."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mlmodelscope.catalog.entry import Entry, from_data
from mlmodelscope.catalog.facts import Source
from mlmodelscope.errors import UsageError
from mlmodelscope.task.measure import find_measure

MOST = 100_000
_MOST_WORDS = 12


@dataclass(frozen=True)
class Query:
    """Every filter that is given must hold."""

    text: str = ""
    """Words that all must occur, each as the beginning of a word of the entry."""
    source: str | None = None
    task: str | None = None
    architecture: str | None = None
    license: str | None = None
    """A part of the name of the weights' license."""
    min_parameters: int | None = None
    max_parameters: int | None = None
    metric: str | None = None
    dataset: str | None = None
    at_least: float | None = None
    """The metric's least value, as our measures count it: a share for percentages."""
    runnable: bool | None = None
    reference: str | None = None
    """The one model of `SOURCE:NAME`."""
    limit: int = 50
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a list."""

    label: str
    name: str
    task: str
    architecture: str
    license: str
    """Of the weights; empty where the source does not tell."""
    code_license: str
    parameters: int | None
    gflops: float | None
    is_runnable: bool
    claims: int
    headline: str

    @property
    def reference(self) -> str:
        """What `evaluate`, `init` and `show` know it by."""
        return f"{self.label}:{self.name}"


@dataclass(frozen=True)
class Page:
    rows: tuple[Row, ...]
    total: int
    """How many there are without the limit."""


_COLUMNS = "label, name, task, architecture, license, code_license, parameters, gflops, runnable, claims, headline"


def search(index: sqlite3.Connection, query: Query) -> Page:
    """Models by how well they fit the text, else in the order of their sources."""
    where, values = _conditions(index, query)
    clause = f" WHERE {' AND '.join(where)}" if where else ""
    total = int(index.execute(f"SELECT count(*) FROM models{clause}", values).fetchone()[0])  # nosec B608 # our names
    limit = MOST if query.limit <= 0 else min(query.limit, MOST)
    # Whoever types a whole name gets that first.
    order = "CASE WHEN plain = ? THEN 0 WHEN substr(plain, 1, length(?)) = ? THEN 1 ELSE 2 END, id"
    word = plain_words(query.text)
    rows = index.execute(
        f"SELECT {_COLUMNS} FROM models{clause} ORDER BY {order} LIMIT ? OFFSET ?",  # nosec B608 # our names; values are bound
        (*values, word, word, word, limit, max(query.offset, 0)),
    )
    return Page(tuple(_row(row) for row in rows), total)


def plain_words(text: str) -> str:
    """A name as a search compares it: in small letters, a blank between its parts."""
    return " ".join(re.split(r"[\W_]+", text.lower())).strip()


def _row(values: Sequence[Any]) -> Row:
    label, name, task, architecture, terms, code_terms, parameters, gflops, runnable, claims, first = values
    return Row(
        *(label, name, task, architecture, terms, code_terms, parameters, gflops),
        is_runnable=bool(runnable),
        claims=claims,
        headline=first,
    )


def _conditions(index: sqlite3.Connection, query: Query) -> tuple[list[str], list[Any]]:
    where: list[str] = []
    values: list[Any] = []

    def add(condition: str, *given: Any) -> None:
        where.append(condition)
        values.extend(given)

    _add_text(index, query.text, add)
    if query.source is not None:
        add("label = ?", query.source)
    if query.reference is not None:
        label, _, name = query.reference.partition(":")
        add("label = ? AND small = ?", label, name.lower())
    if query.task is not None:
        add("task = ?", query.task)
    if query.architecture is not None:
        add("architecture LIKE ? ESCAPE '\\'", f"%{_escaped(query.architecture)}%")
    if query.license is not None:
        add("license LIKE ? ESCAPE '\\'", f"%{_escaped(query.license)}%")
    if query.min_parameters is not None:
        add("parameters >= ?", query.min_parameters)
    if query.max_parameters is not None:
        add("parameters <= ?", query.max_parameters)
    if query.runnable is not None:
        add("runnable = ?", int(query.runnable))
    _add_claims(query, add)
    return where, values


def _add_text(index: sqlite3.Connection, text: str, add: Any) -> None:
    words = re.findall(r"\w+", text.lower().replace("_", " "))[:_MOST_WORDS]
    if not words:
        return
    if index.execute("SELECT value FROM facts WHERE name = 'has_words'").fetchone()[0] == "1":
        match = " ".join(f'"{word}"*' for word in words)
        add("id IN (SELECT rowid FROM words WHERE words MATCH ?)", match)
        return
    for word in words:
        add("id IN (SELECT rowid FROM words WHERE text LIKE ?)", f"%{word}%")


def _add_claims(query: Query, add: Any) -> None:
    parts: list[str] = []
    values: list[Any] = []
    if query.metric is not None:
        measure = find_measure(query.metric)
        parts.append("metric = ?")
        values.append(measure.name if measure is not None else query.metric)
    if query.dataset is not None:
        parts.append("dataset = ?")
        values.append(query.dataset)
    if query.at_least is not None:
        if query.metric is None:
            raise UsageError("a least value needs a metric", hint="mlmodelscope models --metric top1 --at-least 80")
        parts.append("number >= ?")
        values.append(query.at_least)
    if parts:
        clause = " AND ".join(parts)
        add(f"id IN (SELECT model FROM claims WHERE {clause})", *values)  # nosec B608 # our names; values are bound


def least_share(metric: str | None, value: float | None) -> float | None:
    """A least value as people write it, such as 80 for 80 %, as our measures count it."""
    if value is None or metric is None:
        return value
    measure = find_measure(metric)
    return value / measure.unit.factor if measure is not None else value


def _escaped(text: str) -> str:
    return re.sub(r"([%_\\])", r"\\\1", text)


def sources(index: sqlite3.Connection) -> list[Source]:
    return [Source(**json.loads(row[0])) for row in index.execute("SELECT data FROM sources ORDER BY id")]


def find_entry(index: sqlite3.Connection, reference: str) -> tuple[Source, Entry] | None:
    """The model of `SOURCE:NAME`; None where there is no such source. UsageError names models that come near."""
    label, colon, name = reference.partition(":")
    found = index.execute("SELECT data FROM sources WHERE label = ?", (label,)).fetchone()
    if not colon or found is None:
        return None
    rows = index.execute("SELECT data FROM models WHERE label = ? AND small = ?", (label, name.lower())).fetchall()
    if not rows:
        near = _near(index, label, name)
        if len(near) == 1:
            return find_entry(index, f"{label}:{near[0]}")
        listed = f"\nknown: {', '.join(f'{label}:{each}' for each in near[:12])}" if near else ""
        raise UsageError(
            f"{label} has no model `{name[:100]}`{listed}", hint=f"mlmodelscope models {name[:40]} --source {label}"
        )
    return Source(**json.loads(found[0])), from_data(json.loads(rows[0][0]))


def _near(index: sqlite3.Connection, label: str, name: str) -> list[str]:
    """`resnet50` stands for every `resnet50.TAG`, then for whatever begins like it."""
    for pattern in (f"{_escaped(name.lower())}.%", f"{_escaped(name.lower())}%"):
        rows = index.execute(
            "SELECT name FROM models WHERE label = ? AND small LIKE ? ESCAPE '\\' ORDER BY id LIMIT 13",
            (label, pattern),
        ).fetchall()
        if rows:
            return [row[0] for row in rows]
    return []


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A published number of one model."""

    reference: str
    metric: str
    value: str
    unit: str
    dataset: str
    conditions: str
    place: str
    key: str
    """By which it is recognized again, from `plan/claim_key.py`."""
    split: str
    fits: bool
    """Whether it was measured with the steps that the manifest has."""
    is_measurable: bool


def claims(
    index: sqlite3.Connection, query: Query, keep: Callable[[str], bool] | None = None
) -> tuple[tuple[ClaimRow, ...], int]:
    """Published numbers of the models that fit, with those of other metrics and datasets left out; and their count.

    `keep` says of the key of each whether it is wanted.
    """
    where, values = _conditions(index, query)
    inner = f" WHERE {' AND '.join(where)}" if where else ""
    parts = [f"claims.model IN (SELECT id FROM models{inner})"]  # nosec B608 # our names; values are bound
    for column, wanted in (("metric", query.metric), ("dataset", query.dataset)):
        if wanted is not None:
            measure = find_measure(wanted) if column == "metric" else None
            parts.append(f"claims.{column} = ?")
            values.append(measure.name if measure is not None else wanted)
    if query.at_least is not None:
        parts.append("claims.number >= ?")
        values.append(query.at_least)
    if keep is not None:
        index.create_function("is_wanted", 1, keep, deterministic=True)
        parts.append("is_wanted(claims.key)")
    clause = " AND ".join(parts)
    total = int(index.execute(f"SELECT count(*) FROM claims WHERE {clause}", values).fetchone()[0])  # nosec B608 # our names
    limit = MOST if query.limit <= 0 else min(query.limit, MOST)
    rows = index.execute(
        "SELECT models.label || ':' || models.name, metric, value, unit, dataset, conditions, place, key, split, fits, "
        "measurable FROM claims "
        f"JOIN models ON models.id = claims.model WHERE {clause} "
        "ORDER BY claims.id LIMIT ? OFFSET ?",  # nosec B608 # our names; values are bound
        (*values, limit, max(query.offset, 0)),
    )
    found = (ClaimRow(*row) for row in rows)
    return tuple(replace(row, fits=bool(row.fits), is_measurable=bool(row.is_measurable)) for row in found), total
