"""Backups: one moment, one file, either database; killed anywhere, nothing half is taken for whole."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select

from mlmodelscope import Settings, Store
from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.audit import Audit
from mlmodelscope.ledger.manifests import Manifests
from mlmodelscope.ledger.moment import now
from mlmodelscope.ledger.tables import evaluations, requests
from mlmodelscope.ledger.tokens import Tokens
from mlmodelscope.record.database import Database
from mlmodelscope.record.pins import pin
from mlmodelscope.upkeep.backup import back_up
from mlmodelscope.upkeep.check import check
from mlmodelscope.upkeep.restore import restore
from mlmodelscope.upkeep.snapshot import one_moment, tables_of

from . import shelf


def everything(database: Database) -> dict[str, list[dict[str, Any]]]:
    with one_moment(database) as connection:
        return {
            table.name: [
                dict(row) for row in connection.execute(select(table).order_by(*table.primary_key.columns)).mappings()
            ]
            for table in tables_of(connection)
        }


def files(home: Path) -> dict[str, bytes]:
    return {str(path.relative_to(home)): path.read_bytes() for path in (home / "records").rglob("*") if path.is_file()}


def fill(store: Store) -> None:
    """Something in every table that matters."""
    record = shelf.add(store, days=2, trace=True)
    shelf.add(store)
    pin(store.database, record.id, "ada")
    Tokens(store.database).make("n", "ada", ["read"], days=3)
    Manifests(store.database).put("model", "m", "1.0.0", "0" * 64, "ada", "name: ü\n'\"")
    for number in range(3):
        Audit(store.database).note("ada", "look", str(number))
    common = {"request": "r", "owner": "ada", "kind": "evaluate", "model": "m", "dataset": "d", "state": "waiting"}
    common |= {"priority": 5, "exclusive": True, "attempt": 0, "created_at": now(), "not_before": now()}
    with store.database.writing() as connection:
        connection.execute(insert(requests).values(id="r", owner="ada", created_at=now(), document="{}"))
        for identity, part_of in (("z", None), ("a", "z")):  # the part sorts before its whole
            values = {**common, "id": identity, "part_of": part_of, "cancel": False, "work": "{}"}
            connection.execute(insert(evaluations).values(values))


@pytest.fixture
def full(where: Settings) -> Iterator[Store]:
    store = Store(where)
    fill(store)
    yield store
    store.close()


def test_a_backup_of_one_kind_is_restored_into_the_other(full: Store, other: Settings, tmp_path: Path) -> None:
    made = back_up(full, tmp_path / "b.zip")
    assert made.rows["records"] == 2 and made.files == 5 and made.missing == ()
    assert (tmp_path / "b.zip").stat().st_mode & 0o777 == 0o600
    back = restore(other, tmp_path / "b.zip")
    assert back.rows == made.rows
    there = Store(other)
    assert everything(there.database) == everything(full.database) and files(other.home) == files(full.home)
    assert there.samples(there.get("latest")).equals(full.samples(full.get("latest")))
    Audit(there.database).note("ada", "go on", "counting")  # numbers go on behind those that came back
    assert Audit(there.database).list()[0]["number"] == 4
    there.close()
    assert check(other) == ([], 2)
    with pytest.raises(UsageError, match="not empty"):
        restore(other, tmp_path / "b.zip")


def test_a_backup_is_of_one_moment_whoever_writes_meanwhile(full: Store, other: Settings, tmp_path: Path) -> None:
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            record = shelf.add(full)
            if int(record.id[-1], 16) % 2:
                full.delete(record)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(3):
            made = back_up(full, tmp_path / f"{number}.zip")
            assert made.missing == ()
    finally:
        stop.set()
        writer.join()
    restore(other, tmp_path / "2.zip")
    assert check(other)[0] == []


def test_rows_alone_will_do(full: Store, other: Settings, tmp_path: Path) -> None:
    made = back_up(full, tmp_path / "b.zip", with_files=False)
    assert made.files == 0
    restore(other, tmp_path / "b.zip")
    found, _ = check(other)
    assert len(found) == 5 and all("is not there" in each.what for each in found)


def test_what_is_missing_is_said(full: Store, tmp_path: Path) -> None:
    record = full.get("latest")
    (full.folder(record.id) / "samples.parquet").unlink()
    assert back_up(full, tmp_path / "b.zip").missing == (f"{record.id}/samples.parquet",)


def rewrite(source: Path, target: Path, **files: bytes | None) -> Path:
    with zipfile.ZipFile(source) as inside, zipfile.ZipFile(target, "w") as outside:
        content: dict[str, bytes | None] = {name: inside.read(name) for name in inside.namelist()}
        for name, data in {**content, **files}.items():
            if data is not None:
                outside.writestr(name, data)
    return target


def test_a_damaged_backup_is_refused_and_nothing_of_it_stays(tmp_path: Path) -> None:
    store = Store(Settings(tmp_path / "home", tmp_path / "cache"))
    fill(store)
    good, evil, new = tmp_path / "b.zip", tmp_path / "evil.zip", Settings(tmp_path / "new", tmp_path / "cache")
    back_up(store, good)
    store.close()
    with zipfile.ZipFile(good) as inside:
        about = json.loads(inside.read("backup.json"))
        audit = inside.read("tables/audit.jsonl")
    for files_, words in (
        ({"tables/audit.jsonl": audit[:-20]}, "damaged"),
        ({"records/x/../../../evil": b"x"}, "other files"),
        ({"tables/audit.jsonl": None}, "other files"),
        ({"backup.json": json.dumps({**about, "format": "x"}).encode()}, "another kind"),
        ({"backup.json": json.dumps({**about, "schema": "9999"}).encode()}, "no schema"),
        ({"backup.json": b"[]"}, "is no backup"),
        ({"backup.json": None}, "is no backup"),
    ):
        with pytest.raises(UsageError, match=words):
            restore(new, rewrite(good, evil, **files_))  # type: ignore[arg-type]
    outside = {**about, "members": {**about["members"], "../evil": ["0" * 64, 1]}}
    with pytest.raises(UsageError, match="does not belong"):
        restore(new, rewrite(good, evil, **{"../evil": b"x", "backup.json": json.dumps(outside).encode()}))
    whole = good.read_bytes()
    for place in range(0, len(whole), len(whole) // 40):
        evil.write_bytes(whole[:place])
        with pytest.raises(UsageError):
            restore(new, evil)
    with pytest.raises(UsageError, match="no file"):
        restore(new, tmp_path / "nothing")
    assert not (tmp_path / "evil").exists() and not (new.home / "records").exists()
    assert restore(new, good).rows["records"] == 2


class Killer:
    """A process that does something and is killed at a step of it, as often as it is asked to."""

    def __init__(self) -> None:
        command = [sys.executable, str(Path(__file__).parent / "killed.py")]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, what: str, home: Path, file: Path, step: int) -> str:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([what, str(home), str(file), step]) + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def close(self) -> None:
        self._process.communicate()
        assert self._process.returncode == 0


@pytest.fixture(scope="module")
def kill() -> Iterator[Killer]:
    made = Killer()
    yield made
    made.close()


def test_a_backup_that_is_killed_leaves_no_half_one(tmp_path: Path, kill: Killer) -> None:
    settings, target = Settings(tmp_path / "home", tmp_path / "cache"), tmp_path / "out" / "b.zip"
    store = Store(settings)
    fill(store)
    store.close()
    target.parent.mkdir()
    step, seen = 1, set()
    while kill("backup", settings.home, target, step) == "killed" and not target.exists():
        seen.add(len(list(target.parent.iterdir())))
        step += 1
    assert seen == {0, 1} and step > 8
    assert [path.name for path in target.parent.iterdir()] == ["b.zip"]  # drafts of the killed are gone
    assert restore(Settings(tmp_path / "new", tmp_path / "cache"), target).rows["records"] == 2


def test_a_restore_that_is_killed_can_be_done_again(tmp_path: Path, kill: Killer) -> None:
    old, new = (Settings(tmp_path / name, tmp_path / "cache") for name in ("old", "new"))
    store = Store(old)
    fill(store)
    back_up(store, tmp_path / "b.zip")
    step = 1
    while (how := kill("restore", new.home, tmp_path / "b.zip", step)) == "killed":
        step += 7
        there = Store(new)
        rows = len(there.list())
        there.close()
        assert rows in (0, 2)
        if rows:
            break
    assert how == "ended 0" or rows == 2
    there = Store(new)
    assert everything(there.database) == everything(store.database) and files(new.home) == files(old.home)
    there.close()
    store.close()


@pytest.mark.slow(reason="a process is killed at many places, and started again each time")
def test_a_collection_that_is_killed_goes_on(tmp_path: Path, kill: Killer) -> None:
    settings = Settings(tmp_path / "home", tmp_path / "cache")
    store = Store(settings)
    young = [shelf.add(store, days=3, trace=True).id for _ in range(2)]
    step = 1
    old: list[str] = []
    while True:
        if len(old) < 4:
            old.append(shelf.add(store, days=40).id)
        how = kill("gc", settings.home, tmp_path / "none", step)
        there = {row["id"] for row in store.list()}
        assert set(young) <= there
        for row in there:  # whatever has a row has its files
            assert {each.name for each in store.files.known(row)} <= set(os.listdir(store.files.place(row)))
        if how != "killed":
            break
        step += 3
    assert how == "ended 0" and there == set(young) and step > 6
    check(settings, repair=True)
    assert {path.name for path in (settings.home / "records").iterdir()} == set(young)
    assert check(settings)[0] == [] and not (settings.home / "lost").exists()
    store.close()


def _without_columns(lines: bytes, *names: str) -> bytes:
    """Rows as they were before a table had these."""
    rows = [json.loads(line) for line in lines.splitlines()]
    kept = [{name: value for name, value in row.items() if name not in names} for row in rows]
    return b"".join(json.dumps(row).encode() + b"\n" for row in kept)


def test_the_schema_goes_down_and_a_backup_of_it_comes_back_up(
    where: Settings, other: Settings, tmp_path: Path
) -> None:
    """A backup that an older release made."""
    store = Store(where)
    shelf.add(store)
    back_up(store, tmp_path / "new.zip")
    store.close()
    with zipfile.ZipFile(tmp_path / "new.zip") as inside:
        about = json.loads(inside.read("backup.json"))
        records = _without_columns(inside.read("tables/records.jsonl"), "made_for", "shown_at", "headline")
        metrics = _without_columns(inside.read("tables/metrics.jsonl"), "unit")
    gone = ["files", "pins", "origins", "signatures", "artifacts", "traces", "agent_owners", "record_owners"]
    gone += ["checks", "reproduction_checks", "record_facts", "record_tags", "record_notes"]
    about["schema"] = "0002"
    about["rows"] = {name: count for name, count in about["rows"].items() if name not in gone}
    without: dict[str, bytes | None] = {f"tables/{name}.jsonl": None for name in gone}
    about["members"] = {name: value for name, value in about["members"].items() if name not in without}
    for name, lines in (("tables/records.jsonl", records), ("tables/metrics.jsonl", metrics)):
        without[name] = lines
        about["members"][name] = (hashlib.sha256(lines).hexdigest(), len(lines))
    rewrite(tmp_path / "new.zip", tmp_path / "old.zip", **without, **{"backup.json": json.dumps(about).encode()})
    restore(other, tmp_path / "old.zip")
    found, count = check(other, repair=True)
    assert count == 1 and [each.is_mended for each in found] == [True] and "no digests" in found[0].what
    assert check(other)[0] == []
    restored = Store(other)
    assert restored.get("latest").status == "finished" and restored.list()[0]["headline"]["name"] == "top1"
    restored.close()


def test_sqlite_is_asked_whether_it_is_sound(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "home", tmp_path / "cache")
    store = Store(settings)
    shelf.add(store)
    store.close()
    with contextlib.closing(sqlite3.connect(settings.home / "records.sqlite")) as raw, raw:
        raw.execute("INSERT INTO metrics VALUES ('nobody', 'top1', 1, 1, 1, 'share')")
    found, _ = check(settings)
    assert [each.what for each in found] == ["1 rows of metrics belong to rows that are not there"]
