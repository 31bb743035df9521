"""The rows of records in the database: written, found by name, the newest of each work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from mlmodelscope.record.facts import facts_row, naive
from mlmodelscope.record.headline import headline_name
from mlmodelscope.record.kind import kind_of
from mlmodelscope.record.number import MeasuredNumber
from mlmodelscope.record.record import Record
from mlmodelscope.record.tables import metrics, record_facts, records
from mlmodelscope.types import Interval

_AT_ONCE = 200
"""Documents read together."""


def insert_record(connection: Connection, record: Record) -> None:
    connection.execute(insert(records).values(_row(record)))
    connection.execute(insert(record_facts).values(facts_row(record)))


def update_record(connection: Connection, record: Record) -> None:
    connection.execute(update(records).where(records.c.id == record.id).values(_row(record)))
    connection.execute(delete(record_facts).where(record_facts.c.record == record.id))
    connection.execute(insert(record_facts).values(facts_row(record)))


def delete_record(connection: Connection, record_id: str) -> None:
    connection.execute(delete(records).where(records.c.id == record_id))


def write_metrics(connection: Connection, record: Record) -> None:
    """In place of those that the record had before."""
    connection.execute(delete(metrics).where(metrics.c.record == record.id))
    rows = _metric_rows(record)
    if rows:
        connection.execute(insert(metrics), rows)


def find_named(connection: Connection, name: str) -> list[tuple[str, str]]:
    """(id, document) of the finished record that was shown last for `latest`, or of ids that begin so, six at most."""
    query = select(records.c.id, records.c.document)
    if name == "latest":
        asked_for = query.where(records.c.status == "finished", records.c.made_for.is_(None))
        query = asked_for.order_by(records.c.shown_at.desc()).limit(1)
    else:
        begins = query.where(records.c.id.startswith(name, autoescape=True))
        query = begins.order_by(records.c.created_at.desc()).limit(6)
    return [(row.id, row.document) for row in connection.execute(query)]


def newest_documents(connection: Connection, models: Sequence[str], all_of_them: bool) -> Iterator[str]:
    """Of the newest finished record of each work on each machine, newest first; of some models only, where named."""
    # An index holds all that this looks at, in this order: no document is touched.
    work = (records.c.plan_digest, records.c.machine_digest)
    newer = func.row_number().over(partition_by=work, order_by=(records.c.created_at.desc(), records.c.id.desc()))
    light = select(records.c.id, records.c.created_at, newer.label("place")).where(records.c.status == "finished")
    if not all_of_them:
        light = light.where(records.c.made_for.is_(None))
    if models:
        light = light.where(records.c.model.in_(models))
    found = light.subquery()
    newest = select(found.c.id).where(found.c.place == 1).order_by(found.c.created_at.desc(), found.c.id.desc())
    ids = list(connection.scalars(newest))
    for start in range(0, len(ids), _AT_ONCE):
        part = ids[start : start + _AT_ONCE]
        query = select(records.c.id, records.c.document).where(records.c.id.in_(part))
        documents = {row.id: row.document for row in connection.execute(query)}
        yield from (documents[name] for name in part)


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
        "created_at": naive(record.created_at),
        "finished_at": naive(record.finished_at),
        "samples": record.samples,
        "failed": record.failed,
        "made_for": record.made_for,
        "shown_at": naive(record.finished_at or record.created_at),
        "document": record.model_dump_json(),
        "headline": headline_name(record),
    }


def _metric_rows(record: Record) -> list[dict[str, Any]]:
    found: dict[str, MeasuredNumber | Interval | float] = {**record.metrics}
    if record.training is not None:
        found |= record.training.metrics
    if record.latency is not None:
        found["latency_p50_s"] = record.latency.p50_s
    if record.bench is not None and record.bench.measured is not None:
        found["samples_per_s"] = record.bench.throughput or record.bench.measured.samples_per_s
        found |= {f"latency_{name}_s": each for name, each in record.bench.measured.percentiles_s.items()}
    return [{"record": record.id, "name": name, **_columns(number)} for name, number in found.items()]


def _columns(number: MeasuredNumber | Interval | float) -> dict[str, Any]:
    if isinstance(number, float | int):
        return {"value": number, "low": None, "high": None, "unit": None}
    unit = number.unit if isinstance(number, MeasuredNumber) else None
    return {"value": number.value, "low": number.low, "high": number.high, "unit": unit}
