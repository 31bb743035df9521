"""Where records are kept: rows in a database, samples in Parquet files beside it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import zipfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlmodelscope.errors import StoreError, UsageError
from mlmodelscope.provision.blobs import open_blobs
from mlmodelscope.record.database import open_database
from mlmodelscope.record.files import KeptFile, RecordFiles, describe, names_in
from mlmodelscope.settings import Settings

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlalchemy import Connection

    from mlmodelscope.plan.plan import Plan
    from mlmodelscope.provision.machine import Machine
    from mlmodelscope.record.record import MadeFor, Record
    from mlmodelscope.record.told import Told

# Listing and finding are what short commands do: SQLAlchemy, pyarrow and the schema of records are imported by what
# needs them, and the queries are plain SQL.
_FIND = """
SELECT document FROM records
WHERE plan_digest = :plan AND status = :status AND machine_digest = :machine AND worker_digest = :worker
  AND NOT EXISTS (SELECT 1 FROM origins WHERE origins.record = records.id)
ORDER BY created_at DESC LIMIT 1
"""
_LIST = """
SELECT id, status, plan_digest, model, model_version, dataset, dataset_version, created_at, finished_at, samples,
  failed, kind, scenario, made_for, headline, metrics.value AS value, metrics.low AS low, metrics.high AS high,
  metrics.unit AS unit, {stack} AS stack, {software} AS software
FROM records LEFT OUTER JOIN metrics ON metrics.record = records.id AND metrics.name = records.headline
{where} ORDER BY created_at DESC LIMIT :limit
"""
_INSIDE = {"stack": ("plan", "stack", "name"), "software": ("plan", "manifests", "software", "name")}
"""What a list tells that is in the document alone."""
_WHERE = {
    "model": "model = :model",
    "dataset": "dataset = :dataset",
    "status": "status = :status",
    "kind": "(kind = :kind OR scenario = :kind)",
}


_SHOWN = "UPDATE records SET shown_at = :now WHERE id = :id"
_ASKED_FOR = "UPDATE records SET shown_at = :now, made_for = NULL, document = :document WHERE id = :id"
_LISTED = "UPDATE record_facts SET made_for = NULL WHERE record = :id"


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
        from mlmodelscope.record.record_rows import insert_record

        found = self._keep_files(record)
        with self.database.writing() as connection:
            insert_record(connection, record)
            if record.status == "finished":
                self._write_more(connection, record, found)
            if also is not None:
                also(connection)
        self.files.place(record.id).mkdir(parents=True, exist_ok=True)

    def save(self, record: Record) -> None:
        """Replace a record by its newer self, all at once."""
        from mlmodelscope.record.record_rows import update_record

        found = self._keep_files(record)
        with self.database.writing() as connection:
            update_record(connection, record)
            self._write_more(connection, record, found)
        self.files.spare(record.id)

    def _keep_files(self, record: Record) -> Sequence[KeptFile]:
        """A record is finished when its files are where they stay: nobody sees one without them."""
        if record.status != "finished":
            return []
        found = describe(self.files.place(record.id))
        self.files.upload(record.id, found)
        return found

    def _write_more(self, connection: Connection, record: Record, found: Sequence[KeptFile]) -> None:
        from mlmodelscope.record.record_rows import write_metrics

        write_metrics(connection, record)
        self.files.write(connection, record.id, found)

    def find(self, plan: str, machine: str, worker: str, status: str) -> Record | None:
        """The newest record of the same work on the same machine; one that was taken in may only say that it is."""
        wanted = {"plan": plan, "machine": machine, "worker": worker, "status": status}
        found = self.database.rows(_FIND, wanted)
        return _parse(found[0]["document"]) if found else None

    def shown(self, record: Record) -> Record:
        """Note that a record is the answer to a command: it is `latest`, and no longer one that was made on the way."""
        moment = {"id": record.id, "now": datetime.now(UTC).replace(tzinfo=None)}
        if record.made_for is None:
            self.database.write(_SHOWN, moment)
            return record
        asked_for = record.model_copy(update={"made_for": None})
        self.database.write(_ASKED_FOR, {**moment, "document": asked_for.model_dump_json()})
        self.database.write(_LISTED, {"id": record.id})
        return asked_for

    def begin(
        self,
        plan: Plan,
        machine: Machine,
        worker_version: str,
        worker_digest: str,
        made_for: MadeFor | None = None,
    ) -> Record:
        """The record that a plan's work goes into: an interrupted one goes on, or a new one starts."""
        from mlmodelscope.record.record import Record, new_record_id

        record = self.find(plan.digest, machine.digest, worker_digest, "running")
        if record is not None:
            # The same plan, but its files may lie elsewhere by now.
            more = {"attempts": record.attempts + 1, "plan": plan, "made_for": made_for and record.made_for}
            record = record.model_copy(update=more)
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
            made_for=made_for,
        )
        self.add(record)
        return record

    def get(self, name: str) -> Record:
        """A record by its id, the beginning of it, or `latest`: the finished one that a command answered with last."""
        from mlmodelscope.record.record_rows import find_named

        with self.database.reading() as connection:
            found = dict(find_named(connection, name))
        if not found:
            hint = "mlmodelscope records lists them" if name != "latest" else "mlmodelscope evaluate makes one"
            raise UsageError(f"there is no record `{name}`", hint=hint)
        if len(found) > 1 and name not in found:
            raise UsageError(f"`{name}` begins several records: {', '.join([*found][:5])}")
        return _parse(found.get(name) or next(iter(found.values())))

    def list(
        self,
        model: str | None = None,
        dataset: str | None = None,
        status: str | None = None,
        limit: int = 50,
        kind: str | None = None,
    ) -> list[dict[str, Any]]:
        """Summaries, newest first."""
        from mlmodelscope.record.headline import listed

        wanted = {"model": model, "dataset": dataset, "status": status, "kind": kind}
        given = {name: value for name, value in wanted.items() if value is not None}
        where = f"WHERE {' AND '.join(_WHERE[name] for name in given)}" if given else ""
        inside = {name: self.database.inside("document", path) for name, path in _INSIDE.items()}
        rows = self.database.rows(_LIST.format(where=where, **inside), {**given, "limit": limit})
        for each in rows:
            described = each.pop("software")
            each["stack"] = described if each["stack"] == "current" and described else each["stack"]
            each |= {name: _moment(each[name]) for name in ("created_at", "finished_at")}
            if each["status"] == "running" and not self.is_locked(each["plan_digest"]):
                each["status"] = "interrupted"
        return [listed(each) for each in rows]

    def newest(self, models: Sequence[str] = (), all_of_them: bool = False) -> Iterator[Record]:
        """The newest finished record of each work on each machine, newest first; of some models only, where named.

        Records that were made on the way to something else are left out, unless all are wanted.
        """
        return map(_parse, self._newest(models, all_of_them))

    def newest_told(self, models: Sequence[str] = (), all_of_them: bool = False) -> Iterator[Record | Told]:
        """The same, with what overviews need of them."""
        return map(_parse_told, self._newest(models, all_of_them))

    def _newest(self, models: Sequence[str], all_of_them: bool) -> Iterator[str]:
        from mlmodelscope.record.record_rows import newest_documents

        with self.database.reading() as connection:
            yield from newest_documents(connection, models, all_of_them)

    def delete(self, record: Record) -> None:
        from mlmodelscope.record.record_rows import delete_record

        self.files.condemn(record.id)
        try:
            with self.database.writing() as connection:
                delete_record(connection, record.id)
        except Exception:  # the database is away, or refuses: the record is still there
            self.files.spare(record.id)
            raise
        self.files.remove(record.id)

    def samples(self, record: Record, only_wrong: bool = False, only_failed: bool = False) -> pa.Table:
        from mlmodelscope.record.samples import read_rows

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


def _moment(value: str | datetime | None) -> datetime | None:
    return datetime.fromisoformat(value) if isinstance(value, str) else value


def _parse(document: str) -> Record:
    from mlmodelscope.record.record import Record

    with _read(document):
        return Record.model_validate_json(document)


def _parse_told(document: str) -> Told:
    from mlmodelscope.record.told import Told

    with _read(document):
        return Told.model_validate_json(document)


@contextlib.contextmanager
def _read(document: str) -> Iterator[None]:
    from pydantic import ValidationError

    try:
        yield
    except ValidationError as error:
        written_by = json.loads(document).get("schema_version")
        raise StoreError(
            f"a record of schema {written_by} cannot be read: {error.errors()[0]['msg']}",
            hint="upgrade mlmodelscope",
        ) from None


def samples(record: Record, settings: Settings | None = None) -> pa.Table:
    """The samples of a record with truth, answer and what went wrong: a row each, for pandas, Polars or DuckDB."""
    store = Store(settings or Settings.from_environment())
    try:
        return store.samples(record)
    finally:
        store.close()
