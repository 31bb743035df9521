"""What an index holds: a row for each model and each claim, and the words that a search finds models by."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict
from pathlib import Path

from mlmodelscope.catalog.described import MOST_CLAIMS, is_runnable, key_in
from mlmodelscope.catalog.entry import Entry, as_data
from mlmodelscope.catalog.facts import Facts, Source, open_facts
from mlmodelscope.catalog.search import plain_words

_FULL_TEXT = "fts5"
_TABLES = """
CREATE TABLE sources (id INTEGER PRIMARY KEY, label TEXT, data TEXT);
CREATE TABLE models (
  id INTEGER PRIMARY KEY, source INTEGER, label TEXT, name TEXT, small TEXT, plain TEXT, task TEXT, architecture TEXT,
  license TEXT, code_license TEXT, parameters INTEGER, gflops REAL, runnable INTEGER, claims INTEGER, headline TEXT,
  size_bytes INTEGER, source_place TEXT, data TEXT
);
CREATE TABLE claims (
  id INTEGER PRIMARY KEY, model INTEGER, metric TEXT, number REAL, value TEXT, unit TEXT, dataset TEXT, split TEXT,
  conditions TEXT, place TEXT, key TEXT, fits INTEGER, measurable INTEGER
);
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT);
"""
_KEYS = """
CREATE INDEX models_by_name ON models (small);
CREATE INDEX claims_by_model ON claims (model);
CREATE INDEX claims_by_metric ON claims (metric, number);
"""


def fill(connection: sqlite3.Connection, files: list[Path]) -> None:
    """Put everything that the files of facts say into an empty database."""
    connection.executescript(_TABLES)
    has_words = _make_words(connection)
    for path in files:
        if path.is_file():
            _add(connection, open_facts(path), has_words)
    connection.executescript(_KEYS)
    connection.execute("INSERT INTO facts VALUES ('is_complete', '1')")
    connection.execute("INSERT INTO facts VALUES ('has_words', ?)", (str(int(has_words)),))
    connection.execute("ANALYZE")
    connection.commit()


def _make_words(connection: sqlite3.Connection) -> bool:
    """Whether this SQLite has an index of words; some are built without."""
    try:
        connection.execute(f"CREATE VIRTUAL TABLE words USING {_FULL_TEXT} (text, content='', prefix='2 3 4')")
        return True
    except sqlite3.OperationalError:
        connection.execute("CREATE TABLE words (text TEXT)")
        return False


def _add(connection: sqlite3.Connection, facts: Facts, has_words: bool) -> None:
    numbers: dict[str, int] = {}
    for source in facts.sources:
        data = json.dumps(asdict(source))
        made = connection.execute("INSERT INTO sources (label, data) VALUES (?, ?)", (source.label, data))
        numbers[source.label] = made.lastrowid or 0
    for source, entry in facts.entries():
        made = connection.execute(
            "INSERT INTO models (source, label, name, small, plain, task, architecture, license, code_license, "
            "parameters, gflops, runnable, claims, headline, size_bytes, source_place, data) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(
                    numbers[source.label],
                    source.label,
                    entry.name,
                    entry.name.lower(),
                    plain_words(entry.name),
                    entry.task,
                ),
                *(entry.architecture, entry.weights_license, entry.code_license, entry.parameters, entry.gflops),
                *(is_runnable(entry), len(entry.claims), headline(entry)),
                *(entry.weights[0].size_bytes if entry.weights else 0, entry.place, json.dumps(as_data(entry))),
            ),
        )
        words = words_of(source, entry)
        connection.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (made.lastrowid, words))
        connection.executemany(
            "INSERT INTO claims (model, metric, number, value, unit, dataset, split, conditions, place, key, fits, "
            "measurable) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    *(made.lastrowid, each.metric, each.number, each.value, each.unit, each.dataset, each.split),
                    *(each.conditions, each.place, key_in(entry, each, source)),
                    *(each.fits and at < MOST_CLAIMS, each.is_measurable),
                )
                for at, each in enumerate(entry.claims)
            ],
        )


def words_of(source: Source, entry: Entry) -> str:
    """What a search finds an entry by, in small letters."""
    datasets = dict.fromkeys(each.dataset for each in entry.claims)
    metrics = dict.fromkeys(each.metric for each in entry.claims)
    parts = (source.label, entry.name, entry.task, entry.architecture, entry.description, entry.weights_license)
    return " ".join((*parts, *datasets, *metrics)).lower()


def headline(entry: Entry) -> str:
    """The first claim that can be measured, as it was published."""
    first = next((each for each in entry.claims if each.is_measurable), next(iter(entry.claims), None))
    if first is None:
        return ""
    sign = {"percent": " %", "dB": " dB"}.get(first.unit, "")
    return f"{first.metric} {first.value}{sign}"
