"""What lists show of a record and filter by, as one narrow row."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from typing import Any

from mlmodelscope.plan.plan import Plan
from mlmodelscope.record.headline import headline_name
from mlmodelscope.record.kind import kind_of
from mlmodelscope.record.record import Record
from mlmodelscope.record.work import machine_name, part_of, software_digest, stack_name

_ROOM = {"task": 100, "split": 100, "stack": 300, "framework": 300, "machine": 300, "headline": 100, "unit": 20}
_SEARCHED = (
    *("record", "status", "kind", "scenario", "made_for", "model", "model_version", "dataset", "dataset_version"),
    *("task", "stack", "framework", "machine"),
)
_MOST_CLAIMS = 20
_MOST_SAMPLES = 2**31 - 1
"""What databases count to."""


def facts_row(record: Record) -> dict[str, Any]:
    plan, dataset = record.plan, record.plan.dataset
    kind, scenario = kind_of(record)
    row: dict[str, Any] = {
        "record": record.id,
        "status": record.status,
        "kind": kind,
        "scenario": scenario,
        "made_for": record.made_for,
        "plan_digest": record.plan_digest,
        "model": plan.model.name,
        "model_version": plan.model.version,
        "dataset": dataset.name,
        "dataset_version": dataset.version,
        "split": dataset.split,
        "created_at": naive(record.created_at),
        "finished_at": naive(record.finished_at),
        "samples": record.samples,
        "failed": record.failed,
        "task": plan.task,
        "stack": _stack(plan),
        "framework": stack_name(plan),
        "machine": machine_name(record),
        **_result(record),
        **_speed(record),
        "manifest_digest": plan.manifests["model"].digest if "model" in plan.manifests else None,
        "model_digest": plan.model_digest,
        "dataset_digest": plan.dataset_digest,
        "software_digest": software_digest(plan),
        "subset": _subset(record),
        "population": dataset.size if dataset.size is not None and dataset.size <= _MOST_SAMPLES else None,
        "claims": _claims(plan),
    }
    row |= {name: printable(row[name])[:most] for name, most in _ROOM.items() if row[name] is not None}
    return {**row, "words": search_words(row)}


def search_words(row: dict[str, Any]) -> str:
    """What a search for words looks through."""
    return printable(" ".join(str(row[name]) for name in _SEARCHED if row.get(name)).lower())


def naive(moment: datetime | None) -> datetime | None:
    """Databases keep UTC without saying so."""
    return moment.astimezone(UTC).replace(tzinfo=None) if moment and moment.tzinfo else moment


def printable(text: str) -> str:
    """Records come from strangers, too, and PostgreSQL keeps no character NUL."""
    return "".join(each if each.isprintable() else " " for each in text)


def _stack(plan: Plan) -> str:
    """The software that the manifest names, where it ran in the Python that was there."""
    described = plan.manifests.get("software")
    return described.name if plan.stack.name == "current" and described is not None else plan.stack.name


def _result(record: Record) -> dict[str, Any]:
    name = headline_name(record)
    if name is None:
        return {"headline": None, "value": None, "low": None, "high": None, "unit": None}
    number = record.metrics[name]
    ends = {"value": number.value, "low": number.low, "high": number.high}
    return {"headline": name, "unit": number.unit, **{end: _finite(value) for end, value in ends.items()}}


def _speed(record: Record) -> dict[str, Any]:
    """A bench tells better than an evaluation's few calls."""
    latency = record.latency.p50_s.value if record.latency is not None else None
    speed = None
    if record.bench is not None and record.bench.measured is not None:
        measured = record.bench.measured
        middle = measured.percentiles_s.get("p50")
        latency = middle.value if middle is not None else latency
        speed = measured.samples_per_s if record.bench.throughput is None else record.bench.throughput.value
    took = record.wall_s
    if took is None and record.finished_at is not None:
        took = (record.finished_at - record.created_at).total_seconds()
    return {"latency_s": _finite(latency), "samples_per_s": _finite(speed), "took_s": _finite(took)}


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _subset(record: Record) -> str | None:
    """`70 samples, stratified, seed 1`; nothing where all samples were taken."""
    part = part_of(record)
    if part is None:
        return None
    count, is_stratified, seed = part
    return f"{count} samples, {'stratified, ' if is_stratified else ''}seed {seed}"[:60]


def _claims(plan: Plan) -> str | None:
    """Published numbers of the model, for lists that show them beside what was measured."""
    found = [each.model_dump(mode="json", exclude_defaults=True) for each in plan.claims[:_MOST_CLAIMS]]
    return json.dumps(found) if found else None
