"""The database: opened, migrated when it is behind, its errors in words.

Importing SQLAlchemy takes longer than most commands run. It is imported for what writes, migrates, or is not the SQLite
file of the home folder; a plain query is put to that file directly.
"""

from __future__ import annotations

import contextlib
import fcntl
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import finalize

from mlmodelscope.errors import MLModelScopeError, StoreError, UsageError
from mlmodelscope.record.sqlite import fill_file, read_file, write_file
from mlmodelscope.record.unusable import one_line, unusable
from mlmodelscope.settings import Settings

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

HEAD = "0011"
"""The newest migration; a test compares it with the scripts."""
_MIGRATIONS = Path(__file__).parent / "migrations"
_MIGRATION_LOCK = 0x6D6C6D73  # a number that only we lock in PostgreSQL


class Database:
    """One database at its newest schema. Readers never wait; writers come in turn."""

    def __init__(self, home: Path, engine: Engine | None = None) -> None:
        """Without an engine it is the SQLite file of the home folder."""
        self.home = home
        self._engine = engine
        self._making = Lock()
        if engine is not None:
            finalize(self, engine.dispose)

    @property
    def engine(self) -> Engine:
        with self._making:
            if self._engine is None:
                from mlmodelscope.record.engine import file_engine

                self._engine = file_engine(self._file)
                finalize(self, self._engine.dispose)  # where nobody closes it, its connections are closed all the same
            return self._engine

    @property
    def _file(self) -> Path:
        return self.home / "records.sqlite"

    @property
    def is_sqlite(self) -> bool:
        return self._engine is None or self._engine.dialect.name == "sqlite"

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        with self.errors(), self.engine.connect() as connection:
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction: all of it or nothing."""
        options = {"mlmodelscope_writes": True}
        with self.errors(), self.engine.execution_options(**options).begin() as connection:
            yield connection

    def inside(self, column: str, path: Sequence[str]) -> str:
        """The expression for a text within a column of JSON; names of a path are ours, never a user's."""
        if self.is_sqlite:
            return f"CASE WHEN json_valid({column}) THEN json_extract({column}, '$.{'.'.join(path)}') END"
        text = f"CAST({column} AS json) #>> '{{{','.join(path)}}}'"
        return f"CASE WHEN strpos({column}, '\\u0000') = 0 THEN {text} END"  # PostgreSQL keeps no such character

    def rows(self, query: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        """What a query in plain SQL finds, with `:name` for each value. SQLite answers moments as text."""
        with self.errors():
            return self._rows(query, values)

    def _rows(self, query: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        if self._engine is None:
            return read_file(self._file, query, values)
        from mlmodelscope.record.engine import read_engine

        return read_engine(self._engine, query, values)

    def write(self, statement: str, values: Mapping[str, Any]) -> None:
        """One statement in plain SQL, as a transaction of its own."""
        with self.errors():
            if self._engine is None:
                write_file(self._file, statement, values)
            else:
                from mlmodelscope.record.engine import write_engine

                write_engine(self._engine, statement, values)

    def revision(self) -> str | None:
        try:
            found = self._rows("SELECT version_num FROM alembic_version", {})
        except Exception as error:  # of SQLite, or of a driver inside one of SQLAlchemy
            is_lost = getattr(error, "connection_invalidated", False)
            if is_lost or "alembic_version" not in str(getattr(error, "orig", error)):
                raise
            return None
        return str(found[0]["version_num"]) if found else None

    def fill(self, script: Path) -> bool:
        """Make all tables of the newest schema at once, where this is a file of the home folder that has none."""
        return self._engine is None and fill_file(self._file, script.read_text())

    def close(self) -> None:
        if self._engine is not None:
            self._engine.dispose()

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            told = self._in_words(error)
            if told is None:
                raise
            raise told from None

    def _in_words(self, error: Exception) -> MLModelScopeError | None:
        if isinstance(error, sqlite3.Error):
            return unusable(self.place, one_line(error))
        if self._engine is None:  # so nothing of SQLAlchemy can have failed
            return None
        from mlmodelscope.record.engine import in_words

        return in_words(error, self.place)

    @property
    def place(self) -> str:
        return f"in {self.home}" if self.is_sqlite else self.engine.url.render_as_string(hide_password=True)


def open_database(settings: Settings) -> Database:
    """The database that the settings name, or the SQLite file of the home folder, at its newest schema."""
    database = connect_database(settings)
    with database.errors():
        if revision(database) != HEAD:
            migrate(database)
    return database


def connect_database(settings: Settings) -> Database:
    """The same as it is, whatever schema it has."""
    home = settings.home
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"cannot use {home}: {error.strerror}", hint="set MLMODELSCOPE_HOME to a folder of yours"
        ) from None
    if settings.database is None:
        return Database(home)
    from mlmodelscope.record.engine import named_engine

    return Database(home, named_engine(settings.database))


def revision(database: Database) -> str | None:
    """The schema that the database has."""
    return database.revision()


def migrate(database: Database, wanted: str = "head") -> None:
    """Bring the schema to a revision, up or down."""
    aim = HEAD if wanted == "head" else wanted
    with (database.home / "migrate.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two first runs at once
        have = revision(database)
        if have != aim and not (have is None and aim == HEAD and database.fill(_MIGRATIONS / "sqlite.sql")):
            _migrate(database, have, aim, wanted)


def _migrate(database: Database, have: str | None, aim: str, wanted: str) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    from mlmodelscope.record.engine import lock_schema

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    try:
        scripts = ScriptDirectory.from_config(config)
        known = {script.revision: place for place, script in enumerate(scripts.walk_revisions())}
        if have is not None and have not in known:
            raise CommandError(have)
        with database.engine.begin() as connection:
            if not database.is_sqlite:  # and on two machines
                lock_schema(connection, _MIGRATION_LOCK)
            config.attributes["connection"] = connection
            downwards = have is not None and (aim == "base" or known.get(aim, -1) > known[have])
            (command.downgrade if downwards else command.upgrade)(config, aim)
    except CommandError as error:
        if have is not None and have in str(error):
            raise StoreError(
                f"the database {database.place} was written by a newer mlmodelscope", hint="upgrade mlmodelscope"
            ) from None
        raise UsageError(f"there is no schema `{wanted}`: {error}") from None
