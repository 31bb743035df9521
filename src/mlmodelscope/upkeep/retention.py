"""Taking away what a policy no longer keeps: records, traces, artifacts, events. What is needed or pinned stays."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import delete, select

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.moment import later, now
from mlmodelscope.ledger.tables import artifacts, evaluations, events, requests, traces
from mlmodelscope.ledger.verdicts import FOUND
from mlmodelscope.provision.eviction import Evicted, evict_artifacts
from mlmodelscope.record.files import CONDEMNED, DELETED
from mlmodelscope.record.pins import pinned
from mlmodelscope.record.store import Store
from mlmodelscope.record.tables import files, records
from mlmodelscope.trace.inbox import Inbox

_OPEN = ("waiting", "running")
_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{6}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_TRACE = "trace.parquet"
_AT_ONCE = 5000
_AT_WORK_S = 3600.0
_DAY_S = 86_400.0


@dataclass(frozen=True)
class Policy:
    """What is kept; None keeps all."""

    records_days: float | None = None
    keep_newest: int = 0
    """So many finished records of each plan stay, however old."""
    traces_days: float | None = None
    artifacts_days: float | None = None
    artifacts_bytes: int | None = None
    events_days: float | None = None

    @property
    def is_empty(self) -> bool:
        limits = (self.records_days, self.traces_days, self.artifacts_days, self.artifacts_bytes, self.events_days)
        return all(each is None for each in limits)


@dataclass
class Collected:
    """What was taken away, or would be."""

    records: list[str] = field(default_factory=list)
    traces: list[str] = field(default_factory=list)
    artifacts: list[str] = field(default_factory=list)
    events: int = 0
    freed_bytes: int = 0

    def __bool__(self) -> bool:
        return bool(self.records or self.traces or self.artifacts or self.events)

    def __str__(self) -> str:
        from mlmodelscope.report.words import plural, size

        parts = [
            plural(count, word)
            for count, word in (
                (len(self.records), "record"),
                (len(self.traces), "trace"),
                (len(self.artifacts), "artifact"),
                (self.events, "event"),
            )
            if count
        ]
        return f"{', '.join(parts) or 'nothing'}, {size(self.freed_bytes)}"


def collect(store: Store, cache: Path, policy: Policy, *, dry_run: bool = False) -> Collected:
    """Do what the policy says; killed in the middle, the next time goes on."""
    done = Collected()
    if not dry_run:
        _finish_deleting(store)
    if policy.records_days is not None:
        _records(store, policy, done, dry_run)
        _unfinished(store, policy, done, dry_run)
    if policy.traces_days is not None:
        _traces(store, later(-_DAY_S * policy.traces_days), done, dry_run)
    if policy.events_days is not None:
        _events(store, later(-_DAY_S * policy.events_days), done, dry_run)
    if policy.artifacts_days is not None or policy.artifacts_bytes is not None:
        _artifacts(store, cache, policy, done, dry_run)
    return done


def _finish_deleting(store: Store) -> None:
    """Folders of records that a killed process was about to delete."""
    for mark in (store.home / "records").glob(f"*/{CONDEMNED}"):
        record = mark.parent.name
        with store.database.reading() as connection:
            is_gone = connection.execute(select(records.c.id).where(records.c.id == record)).first() is None
        if is_gone:
            store.files.remove(record)
        elif _age_s(mark) > _AT_WORK_S:  # else somebody may be about to delete it now
            store.files.spare(record)
    for folder in (store.home / "records").glob(f"{DELETED}*"):
        shutil.rmtree(folder, ignore_errors=True)


def _records(store: Store, policy: Policy, done: Collected, dry_run: bool) -> None:
    assert policy.records_days is not None
    before, stays = later(-_DAY_S * policy.records_days), {*pinned(store.database), *needed_records(store)}
    query = select(records.c.id, records.c.plan_digest, records.c.finished_at)
    query = query.where(records.c.status == "finished").order_by(records.c.created_at.desc())
    with store.database.reading() as connection:
        rows = connection.execute(query).all()
    seen: dict[str, int] = {}
    for row in rows:
        seen[row.plan_digest] = seen.get(row.plan_digest, 0) + 1
        if row.id in stays or seen[row.plan_digest] <= policy.keep_newest:
            continue
        if row.finished_at is None or row.finished_at >= before or store.is_locked(row.plan_digest):
            continue
        size = _size(store, row.id)
        if not dry_run:
            # Once more, right before: somebody may have pinned it, or asked for something with it.
            if row.id in pinned(store.database) or row.id in needed_records(store):
                continue
            try:
                store.delete(store.get(row.id))
            except UsageError:  # somebody else was faster
                continue
        done.records.append(row.id)
        done.freed_bytes += size


def _unfinished(store: Store, policy: Policy, done: Collected, dry_run: bool) -> None:
    """Evaluations that were killed and never taken up again, such as those that another agent went on with."""
    assert policy.records_days is not None
    stays = {*pinned(store.database), *needed_records(store)}
    query = select(records.c.id, records.c.plan_digest).where(records.c.status == "running")
    with store.database.reading() as connection:
        rows = connection.execute(query).all()
    for row in rows:
        # Where the journal is not here, the evaluation is another machine's.
        idle_s = _age_s(store.files.place(row.id) / "journal")
        if row.id in stays or idle_s < _DAY_S * policy.records_days or store.is_locked(row.plan_digest):
            continue
        size = _size(store, row.id)
        if not dry_run:
            try:
                store.delete(store.get(row.id))
            except UsageError:  # somebody else was faster
                continue
        done.records.append(row.id)
        done.freed_bytes += size


def _age_s(path: Path) -> float:
    """Since it was last written; of one that is not there nothing can be said."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


def needed_records(store: Store) -> set[str]:
    """Records that work which has not ended speaks of."""
    query = select(evaluations.c.record, evaluations.c.work, requests.c.document)
    query = query.join(requests, requests.c.id == evaluations.c.request).where(evaluations.c.state.in_(_OPEN))
    found: set[str] = set()
    with store.database.reading() as connection:
        for row in connection.execute(query):
            found |= {name for text in row if text for name in _ID.findall(text)}
    return found


def _size(store: Store, record: str) -> int:
    return sum(path.stat().st_size for path in store.files.place(record).rglob("*") if path.is_file())


def _traces(store: Store, before: datetime, done: Collected, dry_run: bool) -> None:
    stays = {*pinned(store.database), *needed_records(store), *done.records}
    query = select(files.c.record, files.c.size_bytes).join(records, records.c.id == files.c.record)
    query = query.where(files.c.name == _TRACE, files.c.dropped_at.is_(None), records.c.finished_at < before)
    with store.database.reading() as connection:
        rows = connection.execute(query).all()
    for row in rows:
        if row.record not in stays:
            if not dry_run:
                store.files.drop(row.record, _TRACE, now())
                with store.database.writing() as connection:
                    connection.execute(delete(traces).where(traces.c.record == row.record))
            done.traces.append(row.record)
            done.freed_bytes += row.size_bytes
    _sent_traces(store, before, done, dry_run)


def _sent_traces(store: Store, before: datetime, done: Collected, dry_run: bool) -> None:
    """Those that came over OTLP and belong to no record."""
    query = select(traces.c.id, traces.c.size).where(traces.c.record.is_(None), traces.c.created_at < before)
    with store.database.reading() as connection:
        rows = connection.execute(query).all()
    for row in rows:
        if not dry_run:
            Inbox(store.home).delete(row.id)
            with store.database.writing() as connection:
                connection.execute(delete(traces).where(traces.c.id == row.id))
        done.traces.append(row.id)
        done.freed_bytes += row.size


def _events(store: Store, before: datetime, done: Collected, dry_run: bool) -> None:
    ended = select(evaluations.c.id).where(evaluations.c.state.not_in(_OPEN), evaluations.c.ended_at < before)
    old = select(events.c.number).where(events.c.evaluation.in_(ended), events.c.kind.not_in(FOUND))
    if dry_run:
        with store.database.reading() as connection:
            done.events = len(connection.execute(old).all())
        return
    while True:  # in parts, so that nobody waits long for the database
        with store.database.writing() as connection:
            some = delete(events).where(events.c.number.in_(old.limit(_AT_ONCE)))
            count = connection.execute(some).rowcount
        done.events += count
        if count < _AT_ONCE:
            return


def _artifacts(store: Store, cache: Path, policy: Policy, done: Collected, dry_run: bool) -> None:
    unused_s = None if policy.artifacts_days is None else _DAY_S * policy.artifacts_days
    for place in (cache, store.home / "artifacts"):  # what was fetched, and what people have sent
        found = evict_artifacts(
            place, unused_s=unused_s, most_bytes=policy.artifacts_bytes, needed=_digests(store), dry_run=dry_run
        )
        done.artifacts += (each.digest for each in found)
        done.freed_bytes += _total(found)
        if place != cache and not dry_run:
            with store.database.writing() as connection:
                connection.execute(delete(artifacts).where(artifacts.c.digest.in_([each.digest for each in found])))


def _total(found: list[Evicted]) -> int:
    return sum(each.bytes for each in found)


def _digests(store: Store) -> set[str]:
    """Artifacts of plans that are being carried out, or were interrupted; and those that work names which waits."""
    with store.database.reading() as connection:
        documents = connection.execute(select(records.c.document).where(records.c.status == "running")).scalars()
        found = {digest for document in documents for digest in _strings(json.loads(document).get("plan"))}
        works = connection.execute(select(evaluations.c.work).where(evaluations.c.state.in_(_OPEN))).scalars()
        return found.union(*(_DIGEST.findall(work) for work in works))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
    elif isinstance(value, str) and _DIGEST.fullmatch(value):
        yield value


_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}


def bytes_of(text: str) -> int:
    """`20GB`, `512 MiB`, `1000`."""
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", text)
    if match is None or match[2].upper() not in _UNITS:
        raise UsageError(f"`{text}` is not a size, such as 20GB")
    return int(float(match[1]) * _UNITS[match[2].upper()])
