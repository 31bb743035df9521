"""The database: opened, migrated when it is behind, its errors in words."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, IntegrityError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from mlmodelscope.errors import StoreError, UsageError
from mlmodelscope.record.tables import HEAD
from mlmodelscope.settings import Settings

_MIGRATION_LOCK = 0x6D6C6D73  # a number that only we lock in PostgreSQL


class Database:
    """One database at its newest schema. Readers never wait; writers come one after the other."""

    def __init__(self, engine: Engine, home: Path) -> None:
        self.engine = engine
        self.home = home

    @property
    def is_sqlite(self) -> bool:
        return self.engine.dialect.name == "sqlite"

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

    def close(self) -> None:
        self.engine.dispose()

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        try:
            yield
        except IntegrityError:
            raise  # what was to be written contradicts what is there: whoever wrote it knows what that means
        except DataError as error:  # a number or text that the database has no room for
            raise UsageError(f"the database cannot keep this: {_reason(error)}") from None
        except PoolTimeout:
            raise StoreError(f"the database {self.place} is too busy") from None
        except DBAPIError as error:
            raise StoreError(
                f"the database {self.place} cannot be used: {_reason(error)}", hint=_hint(_reason(error))
            ) from None

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
    return Database(_engine(settings), home)


def _engine(settings: Settings) -> Engine:
    if settings.database is None:
        return _sqlite(f"sqlite:///{settings.home / 'records.sqlite'}")
    try:
        url = make_url(settings.database)
        if url.drivername in ("postgres", "postgresql"):
            url = url.set(drivername="postgresql+psycopg")
        if url.get_backend_name() == "sqlite":
            return _sqlite(url.render_as_string(hide_password=False))
        if url.get_backend_name() != "postgresql":
            raise UsageError(f"a database of the kind `{url.drivername}` is not known: sqlite and postgresql are")
        # A connection that the server has closed meanwhile is replaced before it is used.
        return create_engine(url, pool_pre_ping=True, pool_size=10, max_overflow=20)
    except (ArgumentError, NoSuchModuleError) as error:
        raise UsageError(f"`{settings.database}` is not the address of a database: {error}") from None
    except ModuleNotFoundError as error:
        raise UsageError(
            f"the package {error.name} is missing", hint="pip install 'mlmodelscope[postgresql]'"
        ) from None


def _sqlite(url: str) -> Engine:
    # A server answers some dozens at the same moment; a connection to a file costs next to nothing.
    engine = create_engine(url, connect_args={"timeout": 30}, pool_size=50, max_overflow=50)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # transactions begin where we say so
    connection.execute("PRAGMA journal_mode = WAL")  # readers never wait for the writer
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")


def _begin_sqlite(connection: Connection) -> None:
    # A reader that becomes a writer halfway is refused when another one was first; one that says so waits.
    writes = connection.get_execution_options().get("mlmodelscope_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def revision(database: Database) -> str | None:
    """The schema that the database has."""
    with database.engine.connect() as connection:
        try:
            found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
            return found
        except DBAPIError as error:
            if error.connection_invalidated or "alembic_version" not in str(error.orig):
                raise
            return None


def migrate(database: Database, wanted: str = "head") -> None:
    """Bring the schema to a revision, up or down."""
    # Imported only when there is something to do: it takes longer than most commands.
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with (database.home / "migrate.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two first runs at once
        have, scripts = revision(database), ScriptDirectory.from_config(config)
        aim = HEAD if wanted == "head" else wanted
        if have == aim:
            return
        try:
            known = {script.revision: place for place, script in enumerate(scripts.walk_revisions())}
            if have is not None and have not in known:
                raise CommandError(have)
            with database.engine.begin() as connection:
                if not database.is_sqlite:  # and on two machines
                    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
                config.attributes["connection"] = connection
                downwards = have is not None and (aim == "base" or known.get(aim, -1) > known[have])
                (command.downgrade if downwards else command.upgrade)(config, aim)
        except CommandError as error:
            if have is not None and have in str(error):
                raise StoreError(
                    f"the database {database.place} was written by a newer mlmodelscope", hint="upgrade mlmodelscope"
                ) from None
            raise UsageError(f"there is no schema `{wanted}`: {error}") from None


def _reason(error: DBAPIError) -> str:
    return " ".join(str(error.orig).split())


def _hint(reason: str) -> str | None:
    if "full" in reason:
        return "free some space, or set MLMODELSCOPE_HOME to another disk; nothing that was finished is lost"
    if "not a database" in reason or "malformed" in reason:
        return "the file is damaged or is something else; move it away to begin a new one"
    if "readonly" in reason or "unable to open" in reason:
        return "set MLMODELSCOPE_HOME to a folder of yours"
    if "refused" in reason or "could not translate" in reason or "failed to resolve" in reason:
        return "is the database running, and is its address right?"
    return None
