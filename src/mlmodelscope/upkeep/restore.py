"""A backup brought back, into an empty home and an empty database of either kind: all of it or nothing."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError

from mlmodelscope.errors import StoreError, UsageError
from mlmodelscope.record.database import Database, connect_database, migrate
from mlmodelscope.settings import Settings
from mlmodelscope.upkeep.backup import FORMAT, INDEX, Backup
from mlmodelscope.upkeep.snapshot import count_on, insert_lines, tables_of

_DRAFT = "restoring"
_BLOCK = 1 << 20
_HOMES = ("records", "shards", "keys", "manifests", "artifacts", "traces")
_BROKEN = (zipfile.BadZipFile, ValueError, KeyError, TypeError, EOFError, NotImplementedError, RuntimeError)


def restore(settings: Settings, source: Path) -> Backup:
    """Bring a backup back. Killed in the middle, it can be begun again; until it is done there is no row."""
    database = connect_database(settings)
    try:
        with _opened(source) as packed:
            about = _about(packed)
            _check(packed, about["members"])
            _require_empty(database)
            draft = settings.home / _DRAFT
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir()
            _unpack(packed, about["members"], draft)
            rows = _fill(database, packed, about, draft)
        migrate(database)
        shutil.rmtree(settings.home / _DRAFT, ignore_errors=True)
        return Backup(source, source.stat().st_size, rows, len(about["members"]) - len(rows), ())
    except OSError as error:
        raise StoreError(f"cannot restore {source} into {settings.home}: {error.strerror or error}") from None
    finally:
        database.close()


@contextlib.contextmanager
def _opened(source: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(source) as packed:
            yield packed
    except FileNotFoundError:
        raise UsageError(f"there is no file {source}") from None
    except _BROKEN as error:
        raise UsageError(f"{source} is no backup, or is damaged: {error}") from None


def _about(packed: zipfile.ZipFile) -> Mapping[str, Any]:
    about: dict[str, Any] = json.loads(packed.read(INDEX))
    if about["format"] != FORMAT:
        raise UsageError(f"this backup is of another kind: {about['format']}", hint="upgrade mlmodelscope")
    names = {entry.filename for entry in packed.infolist()} - {INDEX}
    if names != set(about["members"]) or set(about["rows"]) != {_table(name) for name in names} - {None}:
        raise UsageError("the backup holds other files than it says")
    return about


def _table(name: str) -> str | None:
    return name.removeprefix("tables/").removesuffix(".jsonl") if name.startswith("tables/") else None


def _check(packed: zipfile.ZipFile, members: Mapping[str, Any]) -> None:
    """Every byte, before anything is written."""
    for name, (wanted, size) in members.items():
        parts = name.split("/")
        if len(parts) < 2 or parts[0] not in (*_HOMES, "tables") or {"", ".", ".."} & set(parts):
            raise UsageError(f"the backup names a file that does not belong there: {name[:100]!r}")
        digest, seen = hashlib.sha256(), 0
        with packed.open(name) as file:
            while seen <= size and (block := file.read(_BLOCK)):
                digest.update(block)
                seen += len(block)
        if seen != size or digest.hexdigest() != wanted:
            raise UsageError(f"{name} in the backup is damaged")


def _require_empty(database: Database) -> None:
    migrate(database)
    with database.reading() as connection:
        full = [table.name for table in tables_of(connection) if connection.execute(select(table).limit(1)).first()]
    if full:
        raise UsageError(
            f"the database {database.place} is not empty: there are {', '.join(sorted(full))}",
            hint="restore into a new MLMODELSCOPE_HOME (and database), then change over",
        )
    home = database.home
    if (home / _DRAFT).exists():  # of a restore that was killed before its rows were there
        shutil.rmtree(home / "records", ignore_errors=True)
    if (home / "records").exists() and any((home / "records").iterdir()):
        raise UsageError(f"{home / 'records'} is not empty", hint="restore into a new MLMODELSCOPE_HOME")


def _unpack(packed: zipfile.ZipFile, members: Mapping[str, Any], draft: Path) -> None:
    for name in members:
        if _table(name) is None:
            place = draft / name  # which was checked to stay below
            place.parent.mkdir(parents=True, exist_ok=True)
            with packed.open(name) as source, place.open("xb") as target:
                shutil.copyfileobj(source, target, _BLOCK)
            place.chmod(0o600 if name.startswith("keys/") else 0o644)


def _fill(database: Database, packed: zipfile.ZipFile, about: Mapping[str, Any], draft: Path) -> dict[str, int]:
    migrate(database, about["schema"])  # rows go into the tables that they came from; then those are brought up
    try:
        return _insert(database, packed, about, draft)
    except IntegrityError as error:
        raise UsageError(f"the backup contradicts itself: {' '.join(str(error.orig).split())}") from None


def _insert(database: Database, packed: zipfile.ZipFile, about: Mapping[str, Any], draft: Path) -> dict[str, int]:
    with database.writing() as connection:
        if database.is_sqlite:
            connection.execute(text("PRAGMA defer_foreign_keys = ON"))
        rows = {}
        for table in tables_of(connection):
            if table.name in about["rows"]:
                with packed.open(f"tables/{table.name}.jsonl") as lines:
                    rows[table.name] = insert_lines(connection, table, _lines(lines))
                if not database.is_sqlite:
                    count_on(connection, table)
        if rows != about["rows"]:
            raise UsageError("the backup has tables that this release does not know", hint="upgrade mlmodelscope")
        for name in _HOMES:
            if (draft / name).exists():
                _move(draft / name, database.home / name)
    return rows


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    yield from file


def _move(source: Path, target: Path) -> None:
    """Into place, beside what is there: keys that were added before stay."""
    target.mkdir(parents=True, exist_ok=True)
    for path in source.iterdir():
        if not (target / path.name).exists():
            path.rename(target / path.name)
