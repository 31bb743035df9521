"""SQLAlchemy's side of the database: engines for SQLite and PostgreSQL, plain queries, errors in words."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, DateTime, Engine, TextClause, bindparam, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, IntegrityError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from mlmodelscope.errors import MLModelScopeError, StoreError, UsageError
from mlmodelscope.extras import install_extra
from mlmodelscope.record.sqlite import WAIT_S, begin_writing, prepare
from mlmodelscope.record.unusable import one_line, unusable


def file_engine(file: Path) -> Engine:
    """The engine of an SQLite file."""
    return _sqlite(URL.create("sqlite", database=str(file)))


def named_engine(address: str) -> Engine:
    """The engine of a database by its address."""
    try:
        url = make_url(address)
        if url.drivername in ("postgres", "postgresql"):
            url = url.set(drivername="postgresql+psycopg")
        if url.get_backend_name() == "sqlite":
            return _sqlite(url)
        if url.get_backend_name() != "postgresql":
            raise UsageError(f"a database of the kind `{url.drivername}` is not known: sqlite and postgresql are")
        # A connection that the server has closed meanwhile is replaced before it is used.
        return create_engine(url, pool_pre_ping=True, pool_size=10, max_overflow=20)
    except (ArgumentError, NoSuchModuleError) as error:
        raise UsageError(f"`{address}` is not the address of a database: {error}") from None
    except ModuleNotFoundError as error:
        raise UsageError(f"the package {error.name} is missing", hint=install_extra("postgresql")) from None


def _sqlite(url: URL) -> Engine:
    # A server answers some dozens at the same moment; a connection to a file costs next to nothing.
    engine = create_engine(url, connect_args={"timeout": WAIT_S}, pool_size=50, max_overflow=50)
    event.listen(engine, "connect", lambda connection, _: prepare(connection))
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _begin_sqlite(connection: Connection) -> None:
    # A reader that becomes a writer halfway is refused when another one was first; one that says so waits.
    if connection.get_execution_options().get("mlmodelscope_writes"):
        own = connection.connection.driver_connection
        assert isinstance(own, sqlite3.Connection)
        begin_writing(own)
    else:
        connection.exec_driver_sql("BEGIN")


def read_engine(engine: Engine, query: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    with engine.connect() as connection:
        return [dict(row) for row in connection.execute(_typed(query, values), values).mappings()]


def write_engine(engine: Engine, statement: str, values: Mapping[str, Any]) -> None:
    with engine.execution_options(mlmodelscope_writes=True).begin() as connection:
        connection.execute(_typed(statement, values), values)


def _typed(statement: str, values: Mapping[str, Any]) -> TextClause:
    """Moments are written as the tables write them; Python's own way for SQLite is about to be removed."""
    moments = [name for name, value in values.items() if isinstance(value, datetime)]
    return text(statement).bindparams(*(bindparam(name, type_=DateTime()) for name in moments))


def lock_schema(connection: Connection, key: int) -> None:
    """One machine at a time migrates a PostgreSQL database."""
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})


def in_words(error: Exception, place: str) -> MLModelScopeError | None:
    """The same for people; None where it is no error of a database, or the caller knows better what it means."""
    if isinstance(error, IntegrityError):  # what was to be written contradicts what is there
        return None
    if isinstance(error, DataError):  # a number or text that the database has no room for
        return UsageError(f"the database cannot keep this: {one_line(error.orig)}")
    if isinstance(error, PoolTimeout):
        return StoreError(f"the database {place} is too busy")
    return unusable(place, one_line(error.orig)) if isinstance(error, DBAPIError) else None
