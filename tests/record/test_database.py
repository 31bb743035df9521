"""The database of a home folder: made at once, brought up from older releases, asked without SQLAlchemy."""

from __future__ import annotations

import gc
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope import Settings, Store
from mlmodelscope.errors import StoreError
from mlmodelscope.record import sqlite
from mlmodelscope.record.database import HEAD, connect_database, migrate, open_database, revision
from mlmodelscope.record.holders import holders

_OPEN = "import sys; from mlmodelscope import Settings, Store; Store(Settings.from_environment()).list()"


@pytest.fixture
def fresh(tmp_path: Path) -> Settings:
    """A home folder that is not there yet."""
    return Settings(tmp_path / "fresh", tmp_path / "cache")


def structure(home: Path) -> dict[str, Any]:
    """Columns, keys and indexes, however the statements that made them are spelled."""
    with sqlite3.connect(home / "records.sqlite") as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found: dict[str, Any] = {}
        for table in tables:
            indexes = connection.execute(f"PRAGMA index_list({table})").fetchall()
            found[table] = (
                connection.execute(f"PRAGMA table_info({table})").fetchall(),
                sorted(connection.execute(f"PRAGMA foreign_key_list({table})").fetchall()),
                {
                    each[1]: (each[2:], connection.execute(f"PRAGMA index_info({each[1]})").fetchall())
                    for each in indexes
                },
            )
        return found


def test_a_new_file_has_the_tables_that_the_migrations_make(tmp_path: Path) -> None:
    filled, migrated = (Settings(tmp_path / name, tmp_path) for name in ("filled", "migrated"))
    open_database(filled).close()
    database = connect_database(migrated)
    migrate(database, "0001")
    migrate(database)
    database.close()
    assert structure(filled.home) == structure(migrated.home), "run tools/make_schema.py"
    assert revision(connect_database(filled)) == HEAD


def test_a_database_of_an_older_release_is_brought_up(settings: Settings) -> None:
    database = connect_database(settings)
    migrate(database, "0003")
    database.close()
    store = Store(settings)
    assert revision(store.database) == HEAD and store.list() == []


def test_what_somebody_else_put_into_the_file_stays(fresh: Settings) -> None:
    fresh.home.mkdir()
    with sqlite3.connect(fresh.home / "records.sqlite") as connection:
        connection.execute("CREATE TABLE notes (text TEXT)")
    database = open_database(fresh)
    assert revision(database) == HEAD
    assert {"notes", "records", "evaluations"} <= set(structure(fresh.home))


def test_several_processes_may_open_a_new_home_at_once(fresh: Settings) -> None:
    environment = {"MLMODELSCOPE_HOME": str(fresh.home), "MLMODELSCOPE_CACHE": str(fresh.cache), "HOME": "/"}
    running = [subprocess.Popen([sys.executable, "-c", _OPEN], env=environment) for _ in range(4)]
    assert [process.wait() for process in running] == [0, 0, 0, 0]
    with sqlite3.connect(fresh.home / "records.sqlite") as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(HEAD,)]


def test_a_query_is_answered_alike_with_and_without_an_engine(settings: Settings) -> None:
    database = open_database(settings)
    query = "SELECT version_num, :word AS word FROM alembic_version WHERE version_num = :wanted"
    values = {"word": "a", "wanted": HEAD}
    directly = database.rows(query, values)
    assert database.engine is database.engine
    assert directly == database.rows(query, values) == [{"version_num": HEAD, "word": "a"}]


def test_a_home_may_be_called_anything(tmp_path: Path) -> None:
    home = tmp_path / "what? 100 % #1"
    store = Store(Settings(home, tmp_path))
    with store.database.reading():
        assert store.list() == []
    assert [path.name for path in tmp_path.iterdir()] == [home.name]


def test_a_database_that_was_damaged_meanwhile_says_so(settings: Settings) -> None:
    store = Store(settings)
    for path in settings.home.glob("records.sqlite*"):
        path.write_bytes(b"this is not a database" * 100)
    with pytest.raises(StoreError, match="cannot be used: file is not a database") as refusal:
        store.list()
    assert refusal.value.hint == "the file is damaged or is something else; move it away to begin a new one"


HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def held(settings: Settings) -> Iterator[subprocess.Popen[str]]:
    """Another process that writes and does not end before it is told to."""
    file = settings.home / "records.sqlite"
    Store(settings).close()
    command = [sys.executable, "-c", HOLD, str(file), "--token", "secret"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.stdin.close()


@pytest.mark.parametrize("with_engine", [False, True])
def test_who_holds_the_database_is_told_while_waiting_and_afterwards(
    settings: Settings, held: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch, with_engine: bool
) -> None:
    told: list[str] = []
    monkeypatch.setattr(sqlite, "listeners", [told.append])
    monkeypatch.setattr(sqlite, "QUIET_S", 0.02)
    monkeypatch.setattr(sqlite, "WAIT_S", 0.05)
    database = open_database(settings)
    who = f"(process {held.pid})" if Path("/proc/locks").exists() else "another process"
    with pytest.raises(StoreError, match="it is locked by .*, for 0.05 s now") as refusal:
        if with_engine:
            with database.writing():
                raise AssertionError("it was held")
        else:
            database.write("UPDATE records SET failed = 0", {})
    assert who in refusal.value.message and "secret" not in refusal.value.message
    assert refusal.value.hint is not None and "give the same command again" in refusal.value.hint
    (sentence,) = told
    assert sentence.startswith("the database is in use by") and "waiting up to 0.03 s more" in sentence


def test_a_writer_goes_on_when_the_other_one_is_done(
    settings: Settings, held: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def end_it(sentence: str) -> None:
        assert held.stdin is not None
        held.stdin.close()
        held.wait()

    monkeypatch.setattr(sqlite, "listeners", [end_it])
    monkeypatch.setattr(sqlite, "QUIET_S", 0.02)
    open_database(settings).write("UPDATE records SET failed = 0", {})


def test_a_holder_of_ours_is_called_by_its_verb(tmp_path: Path) -> None:
    file = tmp_path / "records.sqlite"
    file.touch()
    inode = file.stat().st_ino
    script = tmp_path / "mlmodelscope"
    script.write_text("import sys; print(1, flush=True); sys.stdin.read()")
    command = [sys.executable, str(script), "serve", "--token", "secret"]
    locks = tmp_path / "locks"
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"1\n"  # it is what it will be
        lines = [
            f"1: POSIX  ADVISORY  WRITE {process.pid} fe:00:{inode} 120 120",
            f"1: -> POSIX  ADVISORY  WRITE 1 fe:00:{inode} 120 120",
            f"2: POSIX  ADVISORY  READ 1 fe:00:{inode} 120 120",
            f"3: POSIX  ADVISORY  WRITE 1 fe:00:{inode + 1} 120 120",
        ]
        locks.write_text("\n".join(lines))
        assert holders(file, locks) == [f"mlmodelscope serve (process {process.pid})"]
        assert process.stdin is not None
        process.stdin.close()
    assert holders(file, locks) == [f"process {process.pid}"] and holders(file, tmp_path / "none") == []


def test_a_query_that_cannot_be_put_names_the_place(settings: Settings) -> None:
    with pytest.raises(StoreError, match=f"the database in {settings.home} cannot be used: no such table"):
        open_database(settings).rows("SELECT * FROM missing", {})


def test_a_moment_is_written_alike_with_and_without_sqlalchemy(fresh: Settings) -> None:
    """A whole second is where they differ: whoever sorts them as text would sort them wrong."""
    database, moment = open_database(fresh), {"now": datetime(2026, 1, 2, 3, 4, 5)}
    ask = "SELECT :now AS written"
    alone = database.rows(ask, moment)
    assert database.engine and database.rows(ask, moment) == alone == [{"written": "2026-01-02 03:04:05.000000"}]
    database.write("UPDATE records SET shown_at = :now", moment)
    database.close()


def test_connections_that_nobody_closes_are_closed(fresh: Settings) -> None:
    database = open_database(fresh)
    with database.reading():
        pass
    pool = database.engine.pool
    assert pool.status().split("Connections in pool: ")[1].startswith("1")
    del database
    gc.collect()
    assert pool.status().split("Connections in pool: ")[1].startswith("0")
