"""Whether a database and the files beside it are sound, and what can be fixed without losing anything."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, func, inspect, select, text
from sqlalchemy.engine.interfaces import ReflectedForeignKeyConstraint

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.provision.hashing import hash_file
from mlmodelscope.record.database import HEAD, Database, connect_database, migrate, revision
from mlmodelscope.record.files import CONDEMNED, DELETED, KeptFile, blob_name, describe
from mlmodelscope.record.store import Store
from mlmodelscope.record.tables import files, records
from mlmodelscope.settings import Settings

LOST = "lost"
"""Folder of the home folder that takes what belongs to nothing."""
_FORGOTTEN_S = 86_400
_AT_WORK_S = 3600
_DRAFTS = ("tmp*", "records/draft-*", "*.draft")


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be."""

    what: str
    about: str
    mend: Callable[[], None] | None = None
    """What can be done about it, where that loses nothing."""
    remedy: str = ""
    """The same in words."""
    is_mended: bool = False


def check(settings: Settings, *, repair: bool = False) -> tuple[list[Finding], int]:
    """(what is wrong, how many finished records were looked at)."""
    database = connect_database(settings)
    try:
        found = [*_schema(database)]
        if not found or (repair and all(each.mend is not None for each in found)):
            found = [_mended(each) if repair else each for each in found]
            found += _integrity(database)
    finally:
        database.close()
    if any(not each.is_mended for each in found):
        return found, 0  # what a damaged database says of files is worth nothing
    store = Store(settings)
    try:
        found += [_mended(each) if repair else each for each in _all_files(store)]
        return found, _count(store)
    finally:
        store.close()


def _mended(finding: Finding) -> Finding:
    if finding.mend is None:
        return finding
    try:
        finding.mend()
    except (MLModelScopeError, OSError) as error:
        return replace(finding, mend=None, what=f"{finding.what} (it could not be fixed: {error})")
    return replace(finding, is_mended=True)


def _count(store: Store) -> int:
    with store.database.reading() as connection:
        query = select(func.count()).where(records.c.status == "finished")
        return int(connection.execute(query).scalar() or 0)


def _schema(database: Database) -> Iterator[Finding]:
    with database.errors():
        have = revision(database)
    if have == HEAD:
        return
    if have is not None and have > HEAD:
        yield Finding(f"the schema is {have}, this release knows {HEAD}", "database")
        return
    what = f"the schema is {have or 'not there'}, this release has {HEAD}"
    yield Finding(what, "database", lambda: migrate(database), "brought up to date")


def _integrity(database: Database) -> Iterator[Finding]:
    """What the database itself says, and rows whose owner is gone."""
    with database.reading() as connection:
        if database.is_sqlite:
            for row in connection.execute(text("PRAGMA integrity_check(100)")):
                if row[0] != "ok":
                    yield Finding(str(row[0]), "database")
            broken = connection.execute(text("PRAGMA foreign_key_check")).all()
            for table in sorted({row[0] for row in broken}):
                count = sum(row[0] == table for row in broken)
                yield Finding(f"{count} rows of {table} belong to rows that are not there", "database")
            return
        look = inspect(connection)
        for table in look.get_table_names():
            for key in look.get_foreign_keys(table):
                yield from _orphans(connection, table, key)


def _orphans(connection: Connection, table: str, key: ReflectedForeignKeyConstraint) -> Iterator[Finding]:
    """PostgreSQL keeps these right by itself, unless somebody switched that off."""
    ours, theirs, other = key["constrained_columns"][0], key["referred_columns"][0], key["referred_table"]
    count = connection.execute(
        text(
            f'SELECT count(*) FROM "{table}" o WHERE o."{ours}" IS NOT NULL'  # nosec B608 # names of our own tables
            f' AND NOT EXISTS (SELECT 1 FROM "{other}" t WHERE t."{theirs}" = o."{ours}")'
        )
    ).scalar()
    if count:
        yield Finding(f"{count} rows of {table} belong to rows of {other} that are not there", "database")


def _all_files(store: Store) -> Iterator[Finding]:
    with store.database.reading() as connection:
        known = {row.id: row.status for row in connection.execute(select(records.c.id, records.c.status))}
        kept: dict[str, list[KeptFile]] = {}
        dropped: list[tuple[str, str]] = []
        for row in connection.execute(select(files)):
            if row.dropped_at is not None:
                dropped.append((row.record, row.name))
            else:
                kept.setdefault(row.record, []).append(KeptFile(row.name, row.sha256, row.size_bytes))
    for record, status in sorted(known.items()):
        if status == "finished":
            wrong = list(_record(store, record, kept.get(record, [])))
            if wrong and _is_there(store, record):  # and was not deleted while we looked
                yield from wrong
    for record, name in dropped:
        path = store.files.place(record) / name
        if path.exists():
            what = f"{name} was taken away by retention and is there"
            yield Finding(what, record, path.unlink, "taken away")
    yield from _leftovers(store, set(known))


def _is_there(store: Store, record: str) -> bool:
    with store.database.reading() as connection:
        return connection.execute(select(records.c.id).where(records.c.id == record)).first() is not None


def _record(store: Store, record: str, kept: list[KeptFile]) -> Iterator[Finding]:
    place = store.files.place(record)
    if not kept:
        found = describe(place) if place.is_dir() else []
        if found:  # of a release that kept no digests
            yield Finding("its files have no digests yet", record, lambda: _note(store, record, found), "written down")
        elif not place.is_dir():
            yield Finding("its folder is not there", record, lambda: place.mkdir(parents=True), "made, it is empty")
        return
    for each in kept:
        yield from _file(store, record, each)


def _note(store: Store, record: str, found: list[KeptFile]) -> None:
    store.files.upload(record, found)
    with store.database.writing() as connection:
        store.files.write(connection, record, found)


def _file(store: Store, record: str, file: KeptFile) -> Iterator[Finding]:
    """The file here, and the one in the blob store: each can be fixed from the other."""
    path, blobs = store.files.place(record) / file.name, store.files.blobs
    is_here = path.is_file() and path.stat().st_size == file.size_bytes and hash_file(path) == file.sha256
    size = blobs.size(blob_name(record, file.name)) if blobs is not None else None
    if not is_here:
        what = f"{file.name} {'is not what it was' if path.exists() else 'is not there'}"
        if size == file.size_bytes:
            if path.exists():  # without a file here, the blob store has it, and it is fetched when it is read
                yield Finding(what, record, lambda: store.files.fetch_one(record, file), "fetched from the blob store")
        else:
            yield Finding(what, record)
    elif blobs is not None and size != file.size_bytes:
        what = f"{file.name} in {blobs.place} {'is not there' if size is None else 'is not whole'}"
        yield Finding(what, record, lambda: store.files.upload(record, [file]), "put there again")


def _leftovers(store: Store, known: set[str]) -> Iterator[Finding]:
    folder = store.home / "records"
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path.name in known:
            if (path / CONDEMNED).exists():
                what = "somebody began to delete it, and it is there"
                yield Finding(what, path.name, (path / CONDEMNED).unlink, "it stays")
        elif path.name.startswith(DELETED):
            yield Finding("the rest of a deleted record", path.name, partial(_remove, path), "taken away")
        elif (path / CONDEMNED).exists():
            what = "its record was deleted, its folder is left"
            yield Finding(what, path.name, partial(store.files.remove, path.name), "taken away")
        elif path.name.startswith("draft-") or _is_fresh(path, _AT_WORK_S):
            continue  # files come first, the row when they are there
        else:
            what = f"the folder {path} belongs to no record"
            yield Finding(what, path.name, partial(_set_aside, store.home, path), f"moved to {LOST}/")
    for pattern in _DRAFTS:
        for path in sorted(store.home.glob(pattern)):
            if not _is_fresh(path, _FORGOTTEN_S):
                what = "somebody who was killed left it half written"
                yield Finding(what, str(path), partial(_remove, path), "taken away")
    yield from _blob_leftovers(store, known)


def _blob_leftovers(store: Store, known: set[str]) -> Iterator[Finding]:
    blobs = store.files.blobs
    for name in blobs.folders("records") if blobs is not None else []:
        assert blobs is not None
        if name in known or store.files.place(name).exists():
            continue
        changed_at = blobs.changed_at(blob_name(name))
        if changed_at is None or (datetime.now(UTC) - changed_at).total_seconds() > _AT_WORK_S:
            move = partial(blobs.move, blob_name(name), f"{LOST}/{name}")
            yield Finding(f"{blobs.place}/records/{name} belongs to no record", name, move, f"moved to {LOST}/")


def _is_fresh(path: Path, since_s: float) -> bool:
    try:
        return time.time() - path.stat().st_mtime < since_s
    except OSError:
        return True  # gone by now


def _set_aside(home: Path, path: Path) -> None:
    (home / LOST).mkdir(exist_ok=True)
    target = home / LOST / f"{path.name}-{time.time_ns()}"
    os.rename(path, target)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
