"""The SQLite file of a home folder, asked directly."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

WAIT_S = 30
"""How long a writer waits for another one."""


def read_file(file: Path, query: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(file, timeout=WAIT_S)) as connection:
        prepare(connection)
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(query, _spelled(values))]


def write_file(file: Path, statement: str, values: Mapping[str, Any]) -> None:
    with closing(sqlite3.connect(file, timeout=WAIT_S)) as connection:
        prepare(connection)
        connection.execute(statement, _spelled(values))


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
        connection.execute("BEGIN IMMEDIATE")
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
