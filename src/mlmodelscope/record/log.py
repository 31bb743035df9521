"""A record as a reference log: what somebody else needs to check it, as a text file and, for many samples, a table."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mlmodelscope.errors import StoreError, UsageError
from mlmodelscope.manifest.load import parse_manifest
from mlmodelscope.manifest.schema import ReferenceLog
from mlmodelscope.manifest.schema.log import Expected
from mlmodelscope.manifest.write import write_manifest
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.task.task import task_named
from mlmodelscope.types import Interval

_INLINE = 100  # more samples than this go into a table of their own
_INLINE_BYTES = 1 << 18  # and so do larger answers: a manifest is for people
_COLUMNS = ("sample", "digest", "classes", "scores", "answer", "error")


def write_log(record: Record, store: Store, destination: Path, name: str | None = None) -> list[Path]:
    """Write a record's reference log; the files that were written."""
    if record.status != "finished":
        raise UsageError(f"record {record.id} is {record.status}: only a finished one can be referred to")
    for kind, hint in (("bench", "report"), ("profile", "trace export")):
        if getattr(record, kind) is not None:
            raise UsageError(
                f"record {record.id} is a {kind}: it has no answers that somebody else's could be compared with",
                hint=f"mlmodelscope {hint} {record.id} writes what it has",
            )
    data = log_of(record, name or f"{record.plan.model.name}-{record.plan.dataset.name}"[:100])
    contents = {}
    if record.training is None:
        rows = list(expected_rows(record, store))
        table = _csv(rows)
        if len(rows) > _INLINE or len(table) > _INLINE_BYTES:
            place = table_beside(destination)
            contents[place] = table
            data["outputs"] = {"url": place.name, "checksum": f"sha256:{hashlib.sha256(table).hexdigest()}"}
        else:
            data["outputs"] = {"rows": [_compact(row) for row in rows]}
    text = write_manifest(data, "log")
    parse_manifest(text, str(destination))  # a log that cannot be read again is none
    contents[destination] = text.encode()
    try:
        for path, content in contents.items():
            path.write_bytes(content)
    except OSError as error:
        raise StoreError(f"cannot write {destination}: {error.strerror or error}") from None
    return [destination, *(path for path in contents if path != destination)]


def table_beside(destination: Path) -> Path:
    """Where the outputs of many samples go."""
    return destination.with_name(f"{destination.stem}.outputs.csv")


def log_of(record: Record, name: str) -> dict[str, Any]:
    """The log's content without the samples' outputs."""
    plan = record.plan
    data: dict[str, Any] = {
        "name": name,
        "version": "1.0.0",
        "description": f"{plan.model.name} on {plan.dataset.name}, as record {record.id} has it.",
        "task": plan.task,
        "job_type": plan.job_type,
        "created_at": record.created_at.isoformat(timespec="seconds"),
        "plan": record.plan_digest,
        "manifests": {
            aspect: {key: value for key, value in each.model_dump().items() if value is not None}
            for aspect, each in plan.manifests.items()
        },
        "samples": record.samples,
        "failed": record.failed,
        "metrics": dict(_metrics(record)),
        "performance": dict(_performance(record)),
        "options": _options(plan),
        "environment": _environment(record),
    }
    if plan.hyperparameters:
        data["hyperparameters"] = plan.hyperparameters
    if record.training is not None:
        data["curve"] = [{"progress": point.progress, "metrics": point.metrics} for point in record.training.curve]
    return {key: value for key, value in data.items() if value not in ({}, [], None)}


def _metrics(record: Record) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, number in record.metrics.items():
        told = _interval(number.interval) if number.interval is not None else {"value": number.value}
        yield metric_name(name), told if number.unit == "share" else {**told, "unit": number.unit}
    if record.training is not None:
        for name, value in record.training.metrics.items():
            yield metric_name(name), {"value": value}


def metric_name(text: str) -> str:
    """What a training calls a metric, as a manifest's names are written: `val/loss` is `val-loss`."""
    return re.sub(r"[^A-Za-z0-9._+-]", "-", text).lstrip("._+-")[:100] or "metric"


def _performance(record: Record) -> Iterator[tuple[str, dict[str, Any]]]:
    if record.latency is not None:
        for name in ("p50_s", "p90_s", "p99_s"):
            yield f"latency_{name}", {**_interval(getattr(record.latency, name)), "unit": "s"}
        yield "latency_trimmed_mean_s", {"value": record.latency.trimmed_mean_s, "unit": "s"}
    if record.wall_s:
        yield "throughput", {"value": record.samples / record.wall_s, "unit": "samples/s"}
    if record.load_s is not None:
        yield "load_s", {"value": record.load_s, "unit": "s"}
    if record.training is not None and record.training.wall_s:
        yield "training_s", {"value": record.training.wall_s, "unit": "s"}


def _interval(number: Interval) -> dict[str, Any]:
    return {"value": number.value, "low": number.low, "high": number.high, "confidence": number.confidence}


def _options(plan: Plan) -> dict[str, Any]:
    """What the evaluator chose, in the words of the options."""
    chosen = {
        "batch_size": plan.scenario.batch_size,
        "threads": plan.predictor.options.get("threads", 1),
        "top_k": plan.answer.top_k,
        "limit": plan.dataset.subset.count,
        "stratified": plan.dataset.subset.stratified,
        "seed": plan.seed,
        "warm_up_runs": plan.scenario.warm_up_runs,
        "timed_runs": plan.scenario.timed_runs,
        "timed_budget_s": plan.scenario.timed_budget_s,
        "relax_framework": plan.stack.relaxed is not None,
        "predictor_options": {key: value for key, value in plan.predictor.options.items() if key != "threads"},
    }
    usual = Options()
    return {key: value for key, value in chosen.items() if value != getattr(usual, key) and value is not None}


def options_of(log: ReferenceLog) -> Options:
    """The same choices again."""
    known = set(Options.__dataclass_fields__)
    unknown = sorted(set(log.options) - known)
    if unknown:
        raise UsageError(f"{log.reference} has options that this release does not know: {', '.join(unknown)}")
    return Options(**without_places({**log.options, "hyperparameters": log.hyperparameters}))


def without_places(value: Any) -> Any:
    """What was read from a file, without its places there: it goes into plans, and to programs."""
    return json.loads(json.dumps(value, default=str))


def _environment(record: Record) -> dict[str, Any]:
    machine = record.machine.model_dump(mode="json", exclude={"hostname", "server", "details"}, exclude_none=True)
    found: dict[str, Any] = {"machine": {key: value for key, value in machine.items() if value not in ({}, [])}}
    if record.stack is not None:
        found["python"] = f"{record.stack.implementation} {record.stack.python}"
        found["packages"] = record.stack.packages
    if record.server is not None:
        found["server"] = record.server.model_dump(mode="json", exclude={"address"}, exclude_none=True)
    found["mlmodelscope"] = record.worker_version
    return found


def expected_rows(record: Record, store: Store) -> Iterator[Expected]:
    task = task_named(record.plan.task)
    for row in store.samples(record).to_pylist():
        is_classes = "right" in row
        yield Expected(
            sample=row["id"],
            digest=row["digest"],
            classes=tuple(row["classes"] or ()) if is_classes else (),
            scores=tuple(row["scores"] or ()) if is_classes else (),
            answer=json.loads(row["answer"]) if row.get("answer") else task.plain(row),
            error=row["error"],
        )


def _compact(row: Expected) -> dict[str, Any]:
    """Without what is empty; but an empty answer is an answer: a detector may find nothing."""
    return {
        key: value
        for key, value in row.model_dump(mode="json").items()
        if value is not None and (value or key not in ("classes", "scores"))
    }


def _csv(rows: list[Expected]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in rows:
        writer.writerow(
            (
                row.sample,
                row.digest or "",
                " ".join(map(str, row.classes)),
                " ".join(f"{score:.9g}" for score in row.scores),
                "" if row.answer is None else json.dumps(row.answer, sort_keys=True, ensure_ascii=False),
                row.error or "",
            )
        )
    return out.getvalue().encode()


def read_outputs(log: ReferenceLog, table: Path | None) -> dict[str, Expected]:
    """Expected outputs by sample, from the log itself or from its table."""
    if log.outputs is None:
        return {}
    rows = [row.model_copy(update={"answer": without_places(row.answer)}) for row in log.outputs.rows]
    if table is not None:
        csv.field_size_limit(sys.maxsize)  # an answer may be a whole picture
        try:
            with table.open(encoding="utf-8", newline="") as file:
                rows += [_parse(row) for row in csv.DictReader(file)]
        except KeyError as error:
            raise StoreError(f"the outputs of {log.reference} have no column {error}") from None
        except (OSError, ValueError, AttributeError, ArithmeticError, RecursionError, csv.Error) as error:
            raise StoreError(f"the outputs of {log.reference} cannot be read: {error}") from None
    return {row.sample: row for row in rows}


def _single(text: str) -> float:
    """Nine digits name a 32-bit number exactly; read as a 64-bit one they would be another."""
    return float(struct.unpack("<f", struct.pack("<f", float(text)))[0])


def _parse(row: dict[str, str]) -> Expected:
    return Expected(
        sample=row["sample"],
        digest=row["digest"] or None,
        classes=tuple(int(part) for part in row["classes"].split()),
        scores=tuple(_single(part) for part in row["scores"].split()),
        answer=json.loads(row["answer"]) if row["answer"] else None,
        error=row["error"] or None,
    )
