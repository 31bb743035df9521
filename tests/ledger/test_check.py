"""What is wrong is found; what can be mended without losing anything is, and nothing else."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import delete

from mlmodelscope import Settings, Store
from mlmodelscope.errors import StoreError, UsageError
from mlmodelscope.record import record_rows
from mlmodelscope.record.database import connect_database, migrate
from mlmodelscope.record.files import blob_name
from mlmodelscope.record.tables import files, records
from mlmodelscope.upkeep.check import Finding, check
from mlmodelscope.upkeep.retention import Policy, collect

from . import shelf


@pytest.fixture
def store(where: Settings) -> Iterator[Store]:
    found = Store(where)
    yield found
    found.close()


def said(found: list[Finding]) -> list[tuple[str, bool, bool]]:
    return [(each.what, each.mend is not None, each.is_mended) for each in found]


def age(path: Path, days: float = 2) -> None:
    moment = time.time() - days * 86_400
    os.utime(path, (moment, moment))


def test_all_is_well(store: Store, where: Settings) -> None:
    shelf.add(store)
    assert check(where) == ([], 1)


def test_a_file_that_changed_or_went_is_named(store: Store, where: Settings) -> None:
    one, other = shelf.add(store), shelf.add(store)
    path = store.folder(one.id) / "samples.parquet"
    data = path.read_bytes()
    path.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    (store.folder(other.id) / "batches.parquet").unlink()
    expected = {(one.id, "samples.parquet is not what it was"), (other.id, "batches.parquet is not there")}
    for repair in (False, True):  # nothing can be done about it
        found, count = check(where, repair=repair)
        assert {(each.about, each.what) for each in found} == expected and count == 2
        assert not any(each.is_mended for each in found)


def test_records_of_older_releases_get_digests(store: Store, where: Settings) -> None:
    record = shelf.add(store)
    before = store.files.known(record.id)
    with store.database.writing() as connection:
        connection.execute(delete(files))
    assert said(check(where)[0]) == [("its files have no digests yet", True, False)]
    assert said(check(where, repair=True)[0]) == [("its files have no digests yet", True, True)]
    assert check(where)[0] == [] and store.files.known(record.id) == before


def test_what_belongs_to_nothing_is_set_aside_and_not_deleted(store: Store, where: Settings) -> None:
    record = shelf.add(store)
    with store.database.writing() as connection:
        connection.execute(delete(records))
    assert check(where)[0] == []  # somebody may be at work there
    age(store.files.place(record.id))
    (found,), _ = check(where)
    assert "belongs to no record" in found.what
    check(where, repair=True)
    assert check(where)[0] == [] and not store.files.place(record.id).exists()
    (kept,) = (where.home / "lost").iterdir()
    assert (kept / "samples.parquet").exists()


def test_what_killed_ones_left_is_taken_away(store: Store, where: Settings) -> None:
    record = shelf.add(store)
    (where.home / "records" / "draft-x").mkdir()
    (where.home / "tmpabc").mkdir()
    assert check(where)[0] == []
    age(where.home / "records" / "draft-x")
    age(where.home / "tmpabc")
    store.files.condemn(record.id)
    assert len(check(where, repair=True)[0]) == 3 and check(where) == ([], 1)
    assert not (where.home / "tmpabc").exists() and store.get(record.id) == record


def test_a_deletion_that_did_not_happen_leaves_no_mark(
    store: Store, where: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = shelf.add(store)

    def refuse(*_: object) -> None:
        raise StoreError("the database is being restarted")

    with monkeypatch.context() as away:
        away.setattr(record_rows, "delete_record", refuse)
        with pytest.raises(StoreError):
            store.delete(record)
    assert check(where) == ([], 1)
    store.files.condemn(record.id)  # killed in between, and seen to be alive
    store.save(record)
    assert check(where) == ([], 1) and store.get(record.id) == record


def test_gc_takes_an_old_mark_off_what_is_alive(store: Store, where: Settings) -> None:
    record = shelf.add(store)
    store.files.condemn(record.id)
    collect(store, where.cache, Policy(records_days=9))
    assert len(check(where)[0]) == 1  # somebody may be about to delete it
    age(store.files.place(record.id) / "condemned")
    collect(store, where.cache, Policy(records_days=9))
    assert check(where) == ([], 1)


def test_an_older_schema_is_brought_up(store: Store, where: Settings) -> None:
    shelf.add(store)
    store.close()
    database = connect_database(where)
    migrate(database, "0002")
    database.close()
    (found,), _ = check(where)
    assert "schema is 0002" in found.what
    found_, count = check(where, repair=True)
    assert count == 1 and all(each.is_mended for each in found_)
    assert check(where) == ([], 1)


def test_a_damaged_file_of_sqlite_is_said(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "home", tmp_path / "cache")
    store = Store(settings)
    for _ in range(20):
        shelf.add(store)
    store.close()
    path = settings.home / "records.sqlite"
    with sqlite3.connect(path) as raw:
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw.close()
    data = bytearray(path.read_bytes())
    data[8192:20480] = os.urandom(12288)
    path.write_bytes(data)
    try:
        found, _ = check(settings)
    except StoreError as error:
        assert "malformed" in error.message or "not a database" in error.message
    else:
        assert found


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_a_blob_store_and_the_folder_mend_each_other(kind: str, tmp_path: Path) -> None:
    url = f"file://{tmp_path}/blobs" if kind == "file" else f"memory://{tmp_path.name}"
    where = Settings(tmp_path / "home", tmp_path / "cache", blobs=url)
    store = Store(where)
    record = shelf.add(store)
    blobs = store.files.blobs
    assert blobs is not None and check(where) == ([], 1)
    samples = store.folder(record.id) / "samples.parquet"
    whole = samples.read_bytes()
    assert blobs.size(blob_name(record.id, "samples.parquet")) == len(whole)
    blobs.remove(blob_name(record.id, "samples.parquet"))
    (found,), _ = check(where, repair=True)
    assert "is not there" in found.what and found.is_mended and check(where)[0] == []
    samples.write_bytes(b"damaged")
    (found,), _ = check(where, repair=True)
    assert found.is_mended and samples.read_bytes() == whole
    shelf.forget(store, record)
    assert check(where)[0] == []  # the blob store has all of it
    assert store.samples(record).num_rows == 6 and samples.read_bytes() == whole
    (tmp_path / "wrong").write_bytes(bytes(len(whole)))
    blobs.put(tmp_path / "wrong", blob_name(record.id, "samples.parquet"))
    samples.unlink()
    with pytest.raises(StoreError, match="not what was put there"):
        store.samples(record)
    store.delete(record)
    assert blobs.folders("records") == [] and not list((where.home / "records").iterdir())
    store.close()


def test_killed_between_the_upload_and_the_row(tmp_path: Path) -> None:
    """The files are in both places, and there is no row."""
    where = Settings(tmp_path / "home", tmp_path / "cache", blobs=f"file://{tmp_path}/blobs")
    store = Store(where)
    record = shelf.add(store)
    with store.database.writing() as connection:
        connection.execute(delete(records))
    assert check(where)[0] == []  # somebody may be at work
    age(store.files.place(record.id))
    for path in (tmp_path / "blobs").rglob("*.parquet"):
        age(path)
    found, _ = check(where, repair=True)
    assert [each.is_mended for each in found] == [True, True] and check(where)[0] == []
    assert sorted(path.name for path in (tmp_path / "blobs" / "lost" / record.id).iterdir()) == [
        "batches.parquet",
        "samples.parquet",
    ]
    store.close()


def test_a_blob_store_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    for url, error in (("nonsense", UsageError), ("unknown://x", UsageError), ("file:///proc/nothing", StoreError)):
        with pytest.raises(error, match="blob store"):
            shelf.add(Store(Settings(tmp_path / "home", tmp_path / "cache", blobs=url)))
    store = Store(Settings(tmp_path / "home", tmp_path / "cache"))
    assert store.list() == []  # a record whose files are not kept is none
    store.close()
