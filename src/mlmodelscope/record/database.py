"""The database: opened, migrated when it is behind, its errors in words."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, OperationalError

from mlmodelscope.errors import StoreError
from mlmodelscope.record.tables import HEAD


def open_database(home: Path) -> Engine:
    """The SQLite database of a home folder, at its newest schema."""
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"cannot use {home}: {error.strerror}", hint="set MLMODELSCOPE_HOME to a folder of yours"
        ) from None
    engine = create_engine(f"sqlite:///{home / 'records.sqlite'}", connect_args={"timeout": 30})
    event.listen(engine, "connect", _prepare_sqlite)
    with database_errors(home):
        if _revision(engine) != HEAD:
            _migrate(engine, home)
    return engine


def _prepare_sqlite(connection: Any, _: object) -> None:
    connection.execute("PRAGMA journal_mode = WAL")  # readers never wait for the writer
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")


def _revision(engine: Engine) -> str | None:
    with engine.connect() as connection:
        try:
            return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        except OperationalError:
            return None


def _migrate(engine: Engine, home: Path) -> None:
    # Imported only when there is something to do: it takes longer than most commands.
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    with (home / "migrate.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two first runs at once
        if _revision(engine) == HEAD:
            return
        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            try:
                command.upgrade(config, "head")
            except CommandError:
                raise StoreError(
                    f"the database in {home} was written by a newer mlmodelscope", hint="upgrade mlmodelscope"
                ) from None


@contextlib.contextmanager
def database_errors(home: Path) -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        reason = str(error.orig)
        hint = None
        if "full" in reason:
            hint = "free some space, or set MLMODELSCOPE_HOME to another disk; nothing that was finished is lost"
        elif "not a database" in reason or "malformed" in reason:
            hint = "the file is damaged or is something else; move it away to begin a new one"
        elif "readonly" in reason or "unable to open" in reason:
            hint = "set MLMODELSCOPE_HOME to a folder of yours"
        raise StoreError(f"the database in {home} cannot be used: {reason}", hint=hint) from None


@contextlib.contextmanager
def transaction(engine: Engine, home: Path) -> Iterator[Connection]:
    with database_errors(home), engine.begin() as connection:
        yield connection
