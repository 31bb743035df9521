"""The SQLite file of a home folder, asked directly."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from mlmodelscope.waiting import listeners

WAIT_S = 30.0
"""How long a writer waits for another one, in all."""
QUIET_S = 5.0
"""How long it does so without a word."""


def begin_writing(connection: sqlite3.Connection) -> None:
    """Begin a transaction that writes, as soon as no other process does."""
    try:
        _begin(connection, min(QUIET_S, WAIT_S))
    except sqlite3.OperationalError as error:
        if "is locked" not in str(error):
            raise
        sentence = f"the database is in use by {_others(connection)}: waiting up to {WAIT_S - QUIET_S:g} s more"
        for listener in listeners:
            listener(sentence)
        try:
            _begin(connection, max(0.0, WAIT_S - QUIET_S))
        except sqlite3.OperationalError as last:
            if "is locked" not in str(last):
                raise
            others = _others(connection)
            raise sqlite3.OperationalError(f"it is locked by {others}, for {WAIT_S:g} s now") from None


def _begin(connection: sqlite3.Connection, wait_s: float) -> None:
    connection.execute(f"PRAGMA busy_timeout = {round(1000 * wait_s)}")
    try:
        connection.execute("BEGIN IMMEDIATE")
    finally:
        connection.execute(f"PRAGMA busy_timeout = {round(1000 * WAIT_S)}")


def _others(connection: sqlite3.Connection) -> str:
    from mlmodelscope.record.holders import holders

    file = next((row[2] for row in connection.execute("PRAGMA database_list") if row[1] == "main"), "")
    return ", ".join(holders(Path(file))) or "another process"


def read_file(file: Path, query: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(file, timeout=WAIT_S)) as connection:
        prepare(connection)
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(query, _spelled(values))]


def write_file(file: Path, statement: str, values: Mapping[str, Any]) -> None:
    with closing(sqlite3.connect(file, timeout=WAIT_S)) as connection:
        prepare(connection)
        begin_writing(connection)
        connection.execute(statement, _spelled(values))
        connection.execute("COMMIT")


def _spelled(values: Mapping[str, Any]) -> dict[str, Any]:
    """Moments as SQLAlchemy writes them into SQLite: rows are ordered by them."""
    return {
        name: value.isoformat(" ", "microseconds") if isinstance(value, datetime) else value
        for name, value in values.items()
    }


def fill_file(file: Path, script: str) -> bool:
    """Run a script over a file without tables, all of it or nothing; False where there are some already."""
    with closing(sqlite3.connect(file, timeout=WAIT_S)) as connection:
        prepare(connection)
        begin_writing(connection)
        if connection.execute("SELECT 1 FROM sqlite_master").fetchone() is not None:
            return False
        for statement in script.split(";\n"):
            connection.execute(statement)
        connection.execute("COMMIT")
    return True


def prepare(connection: sqlite3.Connection) -> None:
    """What every connection needs, whoever made it."""
    connection.isolation_level = None  # transactions begin where we say so
    connection.execute("PRAGMA journal_mode = WAL")  # readers never wait for the writer
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
