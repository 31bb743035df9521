"""All tables of a database as they are at one moment, as lines of JSON: the same for SQLite and PostgreSQL."""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Connection,
    DateTime,
    Integer,
    LargeBinary,
    MetaData,
    RowMapping,
    Table,
    func,
    insert,
    select,
    text,
)

from mlmodelscope.record.database import Database

_AT_ONCE = 500


@contextlib.contextmanager
def one_moment(database: Database) -> Iterator[Connection]:
    """A connection that sees what was there when it began, however long it reads and whoever writes meanwhile."""
    options = {} if database.is_sqlite else {"isolation_level": "REPEATABLE READ"}
    with database.errors(), database.engine.connect().execution_options(**options) as connection:
        yield connection


def tables_of(connection: Connection) -> list[Table]:
    """All of them, those that others refer to first."""
    found = MetaData()
    found.reflect(connection)
    return [table for table in found.sorted_tables if table.name != "alembic_version"]


def lines_of(connection: Connection, table: Table) -> Iterator[tuple[RowMapping, bytes]]:
    """(row, its line), rows that refer to others of the same table behind those."""
    order = [column.is_not(None) for column in table.columns if _refers_to_itself(table, column.name)]
    query = select(table).order_by(*order, *table.primary_key.columns)
    rows = connection.execution_options(yield_per=_AT_ONCE).execute(query).mappings()
    for row in rows:
        yield row, json.dumps({name: _spoken(value) for name, value in row.items()}).encode() + b"\n"


def _refers_to_itself(table: Table, column: str) -> bool:
    return any(key.column.table is table for key in table.columns[column].foreign_keys)


def _spoken(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def insert_lines(connection: Connection, table: Table, lines: Iterator[bytes]) -> int:
    count, rows = 0, []
    for line in lines:
        rows.append(_heard(table, json.loads(line)))
        if len(rows) == _AT_ONCE:
            connection.execute(insert(table), rows)
            count, rows = count + len(rows), []
    if rows:
        connection.execute(insert(table), rows)
    return count + len(rows)


def _heard(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    for name, value in row.items():
        kind = table.columns[name].type
        if value is not None and isinstance(kind, DateTime):
            row[name] = datetime.fromisoformat(value)
        elif value is not None and isinstance(kind, LargeBinary):
            row[name] = base64.b64decode(value)
    return row


def count_on(connection: Connection, table: Table) -> None:
    """PostgreSQL counts numbers apart from the rows that have them."""
    for column in table.primary_key.columns:
        if isinstance(column.type, Integer) and not column.foreign_keys:
            highest = connection.execute(select(func.max(column))).scalar()
            counter = connection.execute(
                text("SELECT pg_get_serial_sequence(:table, :column)"), {"table": table.name, "column": column.name}
            ).scalar()
            if highest is not None and counter is not None:
                connection.execute(text("SELECT setval(:counter, :highest)"), {"counter": counter, "highest": highest})
