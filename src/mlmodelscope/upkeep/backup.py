"""A backup: one file with all rows as of one moment, and the files of records. Nothing stops meanwhile.

It is a zip file: `records/`, `artifacts/`, `traces/`, `shards/`, `keys/` as in the home folder, `tables/NAME.jsonl`,
and at the end `backup.json`, which says how long each of them is and what its digest must be.
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import hashlib
import json
import os
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from sqlalchemy import Connection, Table, select

from mlmodelscope.errors import StoreError
from mlmodelscope.record.database import revision
from mlmodelscope.record.files import names_in
from mlmodelscope.record.store import Store
from mlmodelscope.record.tables import files, records
from mlmodelscope.upkeep.snapshot import lines_of, one_moment, tables_of
from mlmodelscope_worker import __version__

FORMAT = "mlmodelscope-backup-1"
INDEX = "backup.json"
_BLOCK = 1 << 20
_WHEN = (1980, 1, 1, 0, 0, 0)
_BESIDE = ("shards/*/*.zip", "keys/*", "manifests/*.yml", "artifacts/files/*/*", "traces/*/*/*.*")


@dataclass(frozen=True)
class Backup:
    """What is in one."""

    path: Path
    bytes: int
    rows: Mapping[str, int]
    files: int
    missing: tuple[str, ...]
    """Files of records that should have been there."""


def back_up(store: Store, destination: Path, *, with_files: bool = True) -> Backup:
    """Write a backup; it is there when it is whole."""
    draft = destination.with_name(f"{destination.name}.{os.getpid()}.draft")
    try:
        _sweep(destination)
        number = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)  # tokens' hashes and our key are in it
        with os.fdopen(number, "w+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            written = _write(store, file, with_files)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(destination)
        return Backup(destination, destination.stat().st_size, *written)
    except OSError as error:
        raise StoreError(f"cannot write {destination}: {error.strerror or error}") from None
    finally:
        draft.unlink(missing_ok=True)


def _sweep(destination: Path) -> None:
    """What killed processes left of the same backup; the kernel has freed their locks."""
    for path in destination.parent.glob(f"{glob.escape(destination.name)}.*.draft"):
        with contextlib.suppress(OSError), path.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()


def _write(store: Store, file: IO[bytes], with_files: bool) -> tuple[dict[str, int], int, tuple[str, ...]]:
    with one_moment(store.database) as connection, zipfile.ZipFile(file, "w") as packed:
        writer = _Writer(packed)
        known = {row.id: row.status for row in connection.execute(select(records.c.id, records.c.status))}
        wanted: dict[str, list[str]] = {record: [] for record in known}
        for row in connection.execute(select(files.c.record, files.c.name).where(files.c.dropped_at.is_(None))):
            wanted[row.record].append(row.name)
        gone: set[str] = set()
        missing: list[str] = []
        if with_files:
            for record, status in known.items():
                lost = _write_files(store, writer, record, wanted[record] if status == "finished" else None)
                if lost and not _is_there(store, record):
                    gone.add(record)  # somebody deleted it while we were at it
                else:
                    missing += (f"{record}/{name}" for name in lost)
            for pattern in _BESIDE:
                for path in sorted(store.home.glob(pattern)):
                    writer.copy(path, path.relative_to(store.home).as_posix())
        rows = {}
        for table in tables_of(connection):
            rows[table.name] = writer.lines(f"tables/{table.name}.jsonl", _kept(connection, table, gone))
        about = {
            "format": FORMAT,
            "made_by": __version__,
            "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "schema": revision(store.database),
            "rows": rows,
            "members": writer.members,
        }
        packed.writestr(_entry(INDEX, zipfile.ZIP_DEFLATED), json.dumps(about))
    return rows, len(writer.members) - len(rows), tuple(missing)


def _write_files(store: Store, writer: _Writer, record: str, wanted: list[str] | None) -> list[str]:
    """Copy what a record has; the names of what should be there and is not. Who runs has no such list yet."""
    folder = store.folder(record)
    # A running one's journal is taken as far as it is written: it is made to be read like that.
    is_running = wanted is None
    found = {path.name for path in folder.glob("*") if path.is_file()} if is_running else set(names_in(folder))
    lost = [name for name in wanted or [] if name not in found]
    for name in sorted(found):
        if not writer.copy(folder / name, f"records/{record}/{name}"):
            lost.append(name)
    return lost


def _is_there(store: Store, record: str) -> bool:
    with store.database.reading() as connection:
        return connection.execute(select(records.c.id).where(records.c.id == record)).first() is not None


def _kept(connection: Connection, table: Table, gone: set[str]) -> Iterator[bytes]:
    """Lines of a table, without what belongs to records that are gone; that an evaluation had one stays known."""
    column = "id" if table.name == "records" else "record"
    belongs = column in table.columns and table.name != "evaluations"
    for row, line in lines_of(connection, table):
        if not (belongs and row[column] in gone):
            yield line


class _Writer:
    """Members of the zip file, each with its digest."""

    def __init__(self, packed: zipfile.ZipFile) -> None:
        self._packed = packed
        self.members: dict[str, tuple[str, int]] = {}

    def copy(self, path: Path, name: str) -> bool:
        """False where the file is not there (any more)."""
        try:
            with path.open("rb") as file:
                self._add(name, zipfile.ZIP_STORED, iter(lambda: file.read(_BLOCK), b""))
            return True
        except FileNotFoundError:
            return False

    def lines(self, name: str, lines: Iterable[bytes]) -> int:
        count = 0

        def counted() -> Iterator[bytes]:
            nonlocal count
            for line in lines:
                count += 1
                yield line

        self._add(name, zipfile.ZIP_DEFLATED, counted())
        return count

    def _add(self, name: str, method: int, blocks: Iterable[bytes]) -> None:
        digest, size = hashlib.sha256(), 0
        with self._packed.open(_entry(name, method), "w", force_zip64=True) as target:
            for block in blocks:
                target.write(block)
                digest.update(block)
                size += len(block)
        self.members[name] = (digest.hexdigest(), size)


def _entry(name: str, method: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _WHEN)
    entry.compress_type = method
    entry.external_attr = 0o600 << 16
    return entry
