"""A record and its files as one zip file, from somebody else: nothing in it is believed before it is checked."""

from __future__ import annotations

import re
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO

from pydantic import ValidationError
from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from mlmodelscope.confine.confined import Confined
from mlmodelscope.errors import StoreError, UsageError
from mlmodelscope.record.packed import opened, safe_path
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.record.table_check import check_tables

RECORD = "record.json"
_LARGEST_RECORD = 32 << 20
_MOST_OBJECTS, _MOST_VALUES = 300_000, 2_000_000
"""In the text of a record: each takes many times its bytes once it is read."""
_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{6}")
_WHAT = "bundle of a record"
_BLOCK = 1 << 20
_CLOCKS_APART = timedelta(days=1)


STATEMENT, SIGNATURES = "bundle.json", "signatures.json"
"""What a bundle says of itself, for those who look at that first; no files of the record."""


class Clash(UsageError):
    """Another record has the same id."""


def take_in(
    store: Store,
    bundle: Path,
    largest: int = 8 << 30,
    also: Callable[[Connection], None] | None = None,
    confined: Confined | None = None,
) -> Record:
    """The record of a bundle, kept in the store; one that is there already stays as it is.

    Its tables are read by `confined`, or by a process that is started for it.
    """
    if confined is None:
        with Confined(processes=1) as own:
            return take_in(store, bundle, largest, also, own)
    with opened(bundle, largest, _WHAT) as packed:
        record = read_record(packed)
        # One at a time for an id: the files of one must not come under the row of another.
        with store.lock(f"take-in-{record.id[-1]}"):
            known = find_known(store, record)
            if known is not None:
                return known
            _unpack(packed, record, store, confined)
            try:
                store.add(record, also)
            except IntegrityError:  # by another server, with the same database, at the same moment
                return Store.get(store, record.id)
    return record


def read_record(packed: zipfile.ZipFile) -> Record:
    try:
        if packed.getinfo(RECORD).file_size > _LARGEST_RECORD:
            raise UsageError("the bundle's record is too large")
        text = packed.read(RECORD)
        if text.count(b"[") + text.count(b"{") > _MOST_OBJECTS or text.count(b",") > _MOST_VALUES:
            raise UsageError("the bundle's record has too many parts")
        record = Record.model_validate_json(text)
    except KeyError:
        raise UsageError(f"the bundle has no {RECORD}") from None
    except ValidationError as error:
        raise UsageError(f"the bundle's record cannot be read: {error.errors()[0]['msg']}") from None
    if not _ID.fullmatch(record.id):
        raise UsageError("the bundle's record has an id that is none")
    if record.status != "finished":  # one that is not would be taken up by whoever has the same plan
        raise UsageError(f"the bundle's record is {record.status}, not finished")
    _check_moments(record)
    return record


def _check_moments(record: Record) -> None:
    """One of the future would be the newest, and `latest`, for years."""
    for moment in (record.created_at, record.finished_at or record.created_at):
        if moment.tzinfo is None:
            raise UsageError("the bundle's record has a date without a time zone")
        if moment > datetime.now(UTC) + _CLOCKS_APART:
            raise UsageError(f"the bundle's record is of the future: {moment:%Y-%m-%d}")


def find_known(store: Store, record: Record) -> Record | None:
    """The one that is there by this id; a clash, where that is another."""
    try:
        found = Store.get(store, record.id)  # what is kept here; a store of a server's records would fetch it again
    except UsageError:
        return None
    if found.id != record.id:
        return None  # another one that begins like it
    if found.plan_digest != record.plan_digest or found.status != record.status:
        raise Clash(f"another record is called {record.id}")
    return found


def _unpack(packed: zipfile.ZipFile, record: Record, store: Store, confined: Confined) -> None:
    apart = (RECORD, STATEMENT, SIGNATURES)
    entries = [entry for entry in packed.infolist() if not entry.is_dir() and entry.filename not in apart]
    paths = [safe_path(entry.filename, _WHAT) for entry in entries]
    folder = store.files.place(record.id)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix="draft-", dir=folder.parent))
    except OSError as error:
        raise StoreError(f"cannot keep the files of record {record.id}: {error.strerror}") from None
    try:
        for entry, path in zip(entries, paths, strict=True):
            place = draft / path
            place.parent.mkdir(parents=True, exist_ok=True)
            with packed.open(entry) as source, place.open("xb") as target:
                copy_exactly(source, target, entry.file_size)
        confined.call(check_tables, folder=str(draft), task=record.plan.task, samples=record.samples)
        shutil.rmtree(folder, ignore_errors=True)  # of an attempt that was killed before the record was kept
        draft.rename(folder)
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        raise UsageError("the bundle has two files of the same name") from None
    except OSError as error:
        raise StoreError(f"cannot keep the files of record {record.id}: {error.strerror}") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def copy_exactly(source: IO[bytes], target: IO[bytes], size: int) -> None:
    """No more than was announced: a bomb tells less than it holds."""
    left = size
    while left:
        block = source.read(min(left, _BLOCK))
        if not block:
            raise EOFError("it ends too early")
        target.write(block)
        left -= len(block)
    if source.read(1):
        raise UsageError("the bundle holds more than it says")
