"""Where records are kept: rows in a database, samples in Parquet files beside it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import zipfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import ValidationError
from sqlalchemy import Connection, delete, insert, or_, select, update

from mlmodelscope.errors import StoreError, UsageError
from mlmodelscope.plan.plan import Plan
from mlmodelscope.provision.blobs import open_blobs
from mlmodelscope.provision.machine import Machine
from mlmodelscope.record.database import open_database
from mlmodelscope.record.files import KeptFile, RecordFiles, describe, names_in
from mlmodelscope.record.kind import kind_of
from mlmodelscope.record.record import Record, new_record_id
from mlmodelscope.record.samples import read_rows
from mlmodelscope.record.tables import metrics, records
from mlmodelscope.settings import Settings
from mlmodelscope.types import Interval

_AT_ONCE = 200
"""Documents read together."""


class Store:
    """All records of one home folder."""

    def __init__(self, settings: Settings) -> None:
        self.home = settings.home
        blobs = open_blobs(settings.blobs)
        self.database = open_database(settings)
        self.files = RecordFiles(self.home, self.database, blobs)

    def close(self) -> None:
        self.database.close()

    def folder(self, record_id: str) -> Path:
        """Where a record's files are; what only the blob store has is fetched first."""
        self.files.fetch(record_id)
        return self.files.place(record_id)

    def add(self, record: Record, also: Callable[[Connection], None] | None = None) -> None:
        """Keep a new record, all at once; the files of a finished one are in its folder before. `also` writes more."""
        found = self._keep_files(record)
        with self.database.writing() as connection:
            connection.execute(insert(records).values(_row(record)))
            if record.status == "finished":
                self._write_more(connection, record, found)
            if also is not None:
                also(connection)
        self.files.place(record.id).mkdir(parents=True, exist_ok=True)

    def save(self, record: Record) -> None:
        """Replace a record by its newer self, all at once."""
        found = self._keep_files(record)
        with self.database.writing() as connection:
            connection.execute(update(records).where(records.c.id == record.id).values(_row(record)))
            self._write_more(connection, record, found)

    def _keep_files(self, record: Record) -> Sequence[KeptFile]:
        """A record is finished when its files are where they stay: nobody sees one without them."""
        if record.status != "finished":
            return []
        found = describe(self.files.place(record.id))
        self.files.upload(record.id, found)
        return found

    def _write_more(self, connection: Connection, record: Record, found: Sequence[KeptFile]) -> None:
        connection.execute(delete(metrics).where(metrics.c.record == record.id))
        rows = _metric_rows(record)
        if rows:
            connection.execute(insert(metrics), rows)
        self.files.write(connection, record.id, found)

    def find(self, plan: str, machine: str, worker: str, status: str) -> Record | None:
        """The newest record of the same work on the same machine."""
        wanted = (
            select(records.c.document)
            .where(records.c.plan_digest == plan, records.c.status == status)
            .where(records.c.machine_digest == machine, records.c.worker_digest == worker)
            .order_by(records.c.created_at.desc())
            .limit(1)
        )
        with self.database.reading() as connection:
            document = connection.execute(wanted).scalar()
        return _parse(document) if document else None

    def begin(self, plan: Plan, machine: Machine, worker_version: str, worker_digest: str) -> Record:
        """The record that a plan's work goes into: an interrupted one goes on, or a new one starts."""
        record = self.find(plan.digest, machine.digest, worker_digest, "running")
        if record is not None:
            # The same plan, but its files may lie elsewhere by now.
            record = record.model_copy(update={"attempts": record.attempts + 1, "plan": plan})
            self.save(record)
            return record
        record = Record(
            id=new_record_id(),
            status="running",
            created_at=datetime.now(UTC),
            plan_digest=plan.digest,
            plan=plan,
            machine=machine,
            worker_version=worker_version,
            worker_digest=worker_digest,
        )
        self.add(record)
        return record

    def get(self, name: str) -> Record:
        """A record by its id, the beginning of it, or `latest`."""
        query = select(records.c.id, records.c.document).order_by(records.c.created_at.desc())
        if name == "latest":
            query = query.where(records.c.status == "finished").limit(1)
        else:
            query = query.where(records.c.id.startswith(name, autoescape=True)).limit(6)
        with self.database.reading() as connection:
            found = connection.execute(query).all()
        exact = [row for row in found if row.id == name]
        if not found:
            hint = "mlmodelscope records lists them" if name != "latest" else "mlmodelscope evaluate makes one"
            raise UsageError(f"there is no record `{name}`", hint=hint)
        if len(found) > 1 and not exact:
            raise UsageError(f"`{name}` begins several records: {', '.join(row.id for row in found[:5])}")
        return _parse((exact or found)[0].document)

    def list(
        self,
        model: str | None = None,
        dataset: str | None = None,
        status: str | None = None,
        limit: int = 50,
        kind: str | None = None,
    ) -> list[dict[str, Any]]:
        """Summaries, newest first."""
        top1 = select(metrics).where(metrics.c.name == "top1").subquery()
        query = select(
            *(
                records.c[name]
                for name in ("id", "status", "plan_digest", "model", "model_version", "dataset", "dataset_version")
            ),
            *(records.c[name] for name in ("created_at", "finished_at", "samples", "failed", "kind", "scenario")),
            top1.c.value.label("top1"),
            top1.c.low.label("top1_low"),
            top1.c.high.label("top1_high"),
        ).outerjoin(top1, top1.c.record == records.c.id)
        for column, wanted in (
            (records.c.model, model),
            (records.c.dataset, dataset),
            (records.c.status, status),
        ):
            if wanted is not None:
                query = query.where(column == wanted)
        if kind is not None:
            query = query.where(or_(records.c.kind == kind, records.c.scenario == kind))
        query = query.order_by(records.c.created_at.desc()).limit(limit)
        with self.database.reading() as connection:
            rows = [dict(row) for row in connection.execute(query).mappings()]
        for each in rows:
            if each["status"] == "running" and not self.is_locked(each["plan_digest"]):
                each["status"] = "interrupted"
        return rows

    def newest(self, models: Sequence[str] = ()) -> Iterator[Record]:
        """The newest finished record of each work on each machine, newest first; of some models only, where named."""
        light = select(records.c.id, records.c.plan_digest, records.c.machine_digest)
        light = light.where(records.c.status == "finished").order_by(records.c.created_at.desc())
        if models:
            light = light.where(records.c.model.in_(models))
        with self.database.reading() as connection:
            works: dict[tuple[str, str], str] = {}
            for row in connection.execute(light):
                works.setdefault((row.plan_digest, row.machine_digest), row.id)
            ids = list(works.values())
            for start in range(0, len(ids), _AT_ONCE):
                part = ids[start : start + _AT_ONCE]
                query = select(records.c.id, records.c.document).where(records.c.id.in_(part))
                documents = {row.id: row.document for row in connection.execute(query)}
                for name in part:
                    yield _parse(documents[name])

    def delete(self, record: Record) -> None:
        self.files.condemn(record.id)
        with self.database.writing() as connection:
            connection.execute(delete(records).where(records.c.id == record.id))
        self.files.remove(record.id)

    def samples(self, record: Record, only_wrong: bool = False, only_failed: bool = False) -> pa.Table:
        return read_rows(self.samples_file(record), only_wrong=only_wrong, only_failed=only_failed)

    def samples_file(self, record: Record) -> Path:
        """The table of samples; what happened to each batch lies beside it."""
        path = self.folder(record.id) / "samples.parquet"
        if not path.exists():
            why = "it is no evaluation" if record.bench or record.profile else f"it is {record.status}"
            raise StoreError(f"the samples of record {record.id} are not there: {why}")
        return path

    def export(self, record: Record, destination: Path) -> None:
        """A record and its files as one zip file."""
        draft = destination.with_name(destination.name + ".draft")
        try:
            with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as packed:
                packed.writestr("record.json", record.model_dump_json(indent=2))
                folder = self.folder(record.id)
                for name in names_in(folder):
                    packed.write(folder / name, name)
            draft.replace(destination)
        except OSError as error:
            draft.unlink(missing_ok=True)
            raise StoreError(f"cannot write {destination}: {error.strerror}") from None

    @contextlib.contextmanager
    def lock(self, key: str) -> Iterator[None]:
        """One process at a time works on a plan; others wait."""
        folder = self.home / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / key).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def is_locked(self, key: str) -> bool:
        path = self.home / "locks" / key
        if not path.exists():
            return False
        with path.open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False


def _row(record: Record) -> dict[str, Any]:
    kind, scenario = kind_of(record)
    return {
        "kind": kind,
        "scenario": scenario,
        "id": record.id,
        "status": record.status,
        "plan_digest": record.plan_digest,
        "machine_digest": record.machine.digest,
        "worker_digest": record.worker_digest,
        "model": record.plan.model.name,
        "model_version": record.plan.model.version,
        "dataset": record.plan.dataset.name,
        "dataset_version": record.plan.dataset.version,
        "created_at": _naive(record.created_at),
        "finished_at": _naive(record.finished_at),
        "samples": record.samples,
        "failed": record.failed,
        "document": record.model_dump_json(),
    }


def _naive(moment: datetime | None) -> datetime | None:
    """Databases keep UTC without saying so."""
    return moment.replace(tzinfo=None) if moment else None


def _metric_rows(record: Record) -> list[dict[str, Any]]:
    found: dict[str, Interval | float] = {}
    for name in ("top1", "top5"):
        if record.metrics[name] is not None:
            found[name] = record.metrics[name]
    if record.metrics.calibration is not None:
        found["ece"] = record.metrics.calibration["ece"]
    found |= record.metrics.more
    if record.training is not None:
        found |= record.training.metrics
    if record.latency is not None:
        found["latency_p50_s"] = record.latency.p50_s
    if record.bench is not None and record.bench.measured is not None:
        found["samples_per_s"] = record.bench.throughput or record.bench.measured.samples_per_s
        found |= {f"latency_{name}_s": each for name, each in record.bench.measured.percentiles_s.items()}
    return [
        {"record": record.id, "name": name, "value": number.value, "low": number.low, "high": number.high}
        if isinstance(number, Interval)
        else {"record": record.id, "name": name, "value": number, "low": None, "high": None}
        for name, number in found.items()
    ]


def _parse(document: str) -> Record:
    try:
        return Record.model_validate_json(document)
    except ValidationError as error:
        written_by = json.loads(document).get("schema_version")
        raise StoreError(
            f"a record of schema {written_by} cannot be read: {error.errors()[0]['msg']}",
            hint="upgrade mlmodelscope",
        ) from None
