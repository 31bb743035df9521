"""The files of finished records: their digests in the database, and a second copy in a blob store where there is one.

What is in the record's folder is all that anybody reads; with a blob store the folder is a cache of it, filled when it
is asked for.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mlmodelscope.errors import ArtifactError, StoreError
from mlmodelscope.provision.blobs import Blobs
from mlmodelscope.provision.hashing import Hasher, hash_file
from mlmodelscope.record.database import Database

if TYPE_CHECKING:
    from sqlalchemy import Connection

FOLDERS = ("artifacts", "manifests")
"""Folders of a record's folder whose files are kept as they are, beside the tables."""

CONDEMNED = "condemned"
"""A file in a record's folder: it is about to be deleted."""
DELETED = "draft-deleted-"
"""What the folder is called when its record is deleted."""


@dataclass(frozen=True)
class KeptFile:
    name: str
    sha256: str
    size_bytes: int


def names_in(folder: Path) -> list[str]:
    """Names of the files that belong to a record for good; not its journal, nor drafts."""
    found = [*folder.glob("*.parquet")]
    for below in FOLDERS:
        found += (path for path in (folder / below).rglob("*") if path.is_file())
    return sorted(path.relative_to(folder).as_posix() for path in found)


def describe(folder: Path) -> list[KeptFile]:
    names = names_in(folder)
    try:
        digests = Hasher().files([folder / name for name in names])
        return [
            KeptFile(name, digest, (folder / name).stat().st_size) for name, digest in zip(names, digests, strict=True)
        ]
    except (ArtifactError, OSError) as error:
        raise StoreError(f"cannot read the files of record {folder.name}: {error}") from None


class RecordFiles:
    def __init__(self, home: Path, database: Database, blobs: Blobs | None) -> None:
        self._home, self._database, self.blobs = home, database, blobs

    def place(self, record: str) -> Path:
        return self._home / "records" / record

    def known(self, record: str) -> list[KeptFile]:
        """What was written down of a record's files, without those that retention took away."""
        from sqlalchemy import select

        from mlmodelscope.record.tables import files

        query = select(files).where(files.c.record == record, files.c.dropped_at.is_(None)).order_by(files.c.name)
        with self._database.reading() as connection:
            return [KeptFile(row.name, row.sha256, row.size_bytes) for row in connection.execute(query)]

    def write(self, connection: Connection, record: str, found: Sequence[KeptFile]) -> None:
        from sqlalchemy import delete, insert

        from mlmodelscope.record.tables import files

        connection.execute(delete(files).where(files.c.record == record, files.c.dropped_at.is_(None)))
        if found:
            connection.execute(insert(files), [{"record": record, **vars(each)} for each in found])

    def upload(self, record: str, found: Sequence[KeptFile]) -> None:
        """Into the blob store, before the record is said to be finished."""
        if self.blobs is not None:
            for each in found:
                self.blobs.put(self.place(record) / each.name, blob_name(record, each.name))

    def fetch(self, record: str) -> None:
        """Fill the folder with what only the blob store has."""
        if self.blobs is None:
            return
        for each in self.known(record):
            path = self.place(record) / each.name
            if not path.exists():
                self.fetch_one(record, each)

    def fetch_one(self, record: str, file: KeptFile) -> None:
        assert self.blobs is not None
        path = self.place(record) / file.name
        draft = path.with_name(f"{path.name}.fetched")
        self.blobs.get(blob_name(record, file.name), draft)
        if hash_file(draft) != file.sha256:
            draft.unlink()
            raise StoreError(f"{file.name} of record {record} in {self.blobs.place} is not what was put there")
        draft.replace(path)

    def drop(self, record: str, name: str, moment: datetime) -> None:
        """Take one file of a record away for good, and write down that it was."""
        from sqlalchemy import update

        from mlmodelscope.record.tables import files

        change = update(files).where(files.c.record == record, files.c.name == name).values(dropped_at=moment)
        with self._database.writing() as connection:
            connection.execute(change)
        (self.place(record) / name).unlink(missing_ok=True)
        if self.blobs is not None:
            self.blobs.remove(blob_name(record, name))

    def condemn(self, record: str) -> None:
        """Note in the folder that the record is to go: what a kill leaves of it may then be taken away, too."""
        with contextlib.suppress(OSError):
            (self.place(record) / CONDEMNED).touch()

    def spare(self, record: str) -> None:
        """It is alive after all: whoever began to delete it did not get far."""
        with contextlib.suppress(OSError):
            (self.place(record) / CONDEMNED).unlink(missing_ok=True)

    def remove(self, record: str) -> None:
        if self.blobs is not None:
            self.blobs.remove(blob_name(record))
        gone = self.place(DELETED + record)
        with contextlib.suppress(OSError):  # out of sight at once: half a folder would be a riddle
            self.place(record).rename(gone)
        shutil.rmtree(gone, ignore_errors=True)
        shutil.rmtree(self.place(record), ignore_errors=True)


def blob_name(record: str, name: str = "") -> str:
    return f"records/{record}/{name}".rstrip("/")
