"""What a policy takes away, and what it never does."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import insert, select, update

from mlmodelscope import Settings, Store
from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.history import History
from mlmodelscope.ledger.moment import later, now
from mlmodelscope.ledger.queue import Planned, Queue
from mlmodelscope.ledger.request import Request, Work
from mlmodelscope.ledger.tables import evaluations, events
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.cache import Cache
from mlmodelscope.provision.hashing import hash_file
from mlmodelscope.record.pins import pin, unpin
from mlmodelscope.record.record import new_record_id
from mlmodelscope.upkeep.check import check
from mlmodelscope.upkeep.retention import Policy, bytes_of, collect

from . import shelf


@pytest.fixture
def store(where: Settings) -> Iterator[Store]:
    found = Store(where)
    yield found
    found.close()


def there(store: Store) -> set[str]:
    return {row["id"] for row in store.list(limit=1000)}


def test_old_records_go_and_young_ones_stay(store: Store, where: Settings) -> None:
    old, young = shelf.add(store, days=10), shelf.add(store, days=1)
    policy = Policy(records_days=5)
    assert collect(store, where.cache, policy, dry_run=True).records == [old.id] and len(there(store)) == 2
    done = collect(store, where.cache, policy)
    assert done.records == [old.id] and there(store) == {young.id} and done.freed_bytes > 1000
    assert not store.files.place(old.id).exists() and check(where)[0] == []
    assert not collect(store, where.cache, policy)


def test_what_was_killed_and_never_taken_up_goes_with_its_journal(store: Store, where: Settings) -> None:
    base = shelf.real()[0]
    old, young, elsewhere, pinned = (
        base.model_copy(update={"id": new_record_id(), "status": "running", "plan_digest": str(number) * 64})
        for number in range(4)
    )
    for record in (old, young, elsewhere, pinned):
        store.add(record)
        if record is not elsewhere:
            journal = store.files.place(record.id) / "journal"
            journal.write_bytes(b"answers")
            os.utime(journal, (time.time() - (0 if record is young else 6 * 86_400),) * 2)
    pin(store.database, pinned.id, "ada")
    with store.lock(old.plan_digest):  # it goes on
        assert not collect(store, where.cache, Policy(records_days=5))
    assert collect(store, where.cache, Policy(records_days=5), dry_run=True).records == [old.id]
    assert collect(store, where.cache, Policy(records_days=5)).records == [old.id]
    assert there(store) == {young.id, elsewhere.id, pinned.id} and not store.files.place(old.id).exists()


def test_pinned_ones_and_the_newest_of_each_plan_stay(store: Store, where: Settings) -> None:
    ages = (30, 20, 10)
    one = [shelf.add(store, days, plan="1" * 64).id for days in ages]
    two = [shelf.add(store, days, plan="2" * 64).id for days in ages]
    pin(store.database, one[0], "ada")
    pin(store.database, one[0], "bob")
    collect(store, where.cache, Policy(records_days=5, keep_newest=1))
    assert there(store) == {one[0], one[2], two[2]}
    unpin(store.database, one[0])
    collect(store, where.cache, Policy(records_days=5, keep_newest=1))
    assert there(store) == {one[2], two[2]}


def test_what_running_work_speaks_of_stays(store: Store, where: Settings) -> None:
    named, free = shelf.add(store, 10, plan="1" * 64), shelf.add(store, 10, plan="2" * 64)
    locked = shelf.add(store, 10, plan="3" * 64)
    queue = Queue(store.database)
    work = Work(kind="replicate", model="name: m", arguments={"log": f"record {named.id}"})
    queue.add("ada", Request(model="toy", dataset="d"), [Planned(work, "m", "d", ("a",))])
    with store.lock(locked.plan_digest):
        assert collect(store, where.cache, Policy(records_days=5)).records == [free.id]
    with store.database.writing() as connection:
        connection.execute(update(evaluations).values(state="finished", ended_at=now()))
    assert set(collect(store, where.cache, Policy(records_days=5)).records) == {named.id, locked.id}


def test_traces_go_and_their_records_stay(store: Store, where: Settings) -> None:
    old, young = shelf.add(store, 10, trace=True), shelf.add(store, 1, trace=True)
    done = collect(store, where.cache, Policy(traces_days=5))
    assert done.traces == [old.id] and done.freed_bytes == 500 and len(there(store)) == 2
    assert not (store.folder(old.id) / "trace.parquet").exists()
    assert (store.folder(young.id) / "trace.parquet").exists() and store.samples(old).num_rows == 6
    assert check(where)[0] == [] and not collect(store, where.cache, Policy(traces_days=5))


def test_events_of_what_ended_long_ago_go(store: Store, where: Settings) -> None:
    queue = Queue(store.database)
    work = Work(kind="evaluate", model="name: m")
    queue.add("ada", Request(model="toy", dataset="d"), [Planned(work, "m", "d", ("a",)) for _ in range(2)])
    ids = [row["id"] for row in History(store.database).list()]
    with store.database.writing() as connection:
        connection.execute(events.delete())
        for identity in ids:
            rows = [{"evaluation": identity, "at": now(), "kind": "note", "document": "{}"} for _ in range(3)]
            connection.execute(insert(events), rows)
        ended = {"state": "finished", "ended_at": later(-10 * 86_400)}
        connection.execute(update(evaluations).where(evaluations.c.id == ids[0]).values(ended))
    assert collect(store, where.cache, Policy(events_days=5), dry_run=True).events == 3
    assert collect(store, where.cache, Policy(events_days=5)).events == 3
    with store.database.reading() as connection:
        assert set(connection.execute(select(events.c.evaluation)).scalars()) == {ids[1]}


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    found = Cache(tmp_path / "cache")
    for number in range(3):
        (tmp_path / "draft").write_bytes(bytes([number]) * 1000)
        digest = hash_file(tmp_path / "draft")
        found.put_file(tmp_path / "draft", digest)
        age(found, digest, 10 * (3 - number))
    return found


def age(cache: Cache, digest: str, days: float) -> None:
    moment = time.time() - days * 86_400
    os.utime(cache.stamp(digest), (moment, moment))


def names(cache: Cache) -> list[str]:
    """Digests, the longest unused first."""
    found = [path.name for path in (cache.root / "files").glob("??/*")]
    return sorted(found, key=lambda digest: cache.stamp(digest).stat().st_mtime)


def test_unused_artifacts_go_and_use_is_noticed(tmp_path: Path, cache: Cache) -> None:
    settings = Settings(tmp_path / "home", cache.root)
    store = Store(settings)
    oldest, middle, newest = names(cache)
    used = ArtifactStore(settings).fetch("https://nowhere.invalid/x", f"sha256:{oldest}")
    assert used.path == cache.file(oldest)
    done = collect(store, cache.root, Policy(artifacts_days=15))
    assert done.artifacts == [middle] and done.freed_bytes == 1000 and names(cache) == [newest, oldest]
    store.close()


def test_the_longest_unused_go_when_it_is_too_much(tmp_path: Path, cache: Cache) -> None:
    store = Store(Settings(tmp_path / "home", cache.root))
    oldest, middle, newest = names(cache)
    assert collect(store, cache.root, Policy(artifacts_bytes=2500), dry_run=True).artifacts == [oldest]
    assert collect(store, cache.root, Policy(artifacts_bytes=1000)).artifacts == [oldest, middle]
    age(cache, newest, 0)  # in use, perhaps
    assert collect(store, cache.root, Policy(artifacts_bytes=0)).artifacts == []
    store.close()


def test_what_an_interrupted_plan_needs_stays(tmp_path: Path, cache: Cache) -> None:
    store = Store(Settings(tmp_path / "home", cache.root))
    record, _ = shelf.real()
    oldest = names(cache)[0]
    graph = record.plan.model.graph
    assert graph is not None
    model = record.plan.model.model_copy(update={"graph": graph.model_copy(update={"sha256": oldest})})
    plan = record.plan.model_copy(update={"model": model})
    store.add(record.model_copy(update={"status": "running", "finished_at": None, "plan": plan}))
    collect(store, cache.root, Policy(artifacts_days=5))
    assert names(cache) == [oldest]
    store.close()


def test_sizes() -> None:
    assert [bytes_of(text) for text in ("20GB", "1 MiB", "17", "1.5kb")] == [20 * 10**9, 1 << 20, 17, 1500]
    for text in ("", "GB", "20 apples", "-1GB"):
        with pytest.raises(UsageError):
            bytes_of(text)
