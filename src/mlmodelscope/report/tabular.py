"""Everything for programs: CSV with a row for each sample, JSON with the whole record and its samples."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from typing import Any

from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.report import words
from mlmodelscope.report.inert import inert
from mlmodelscope.task.quality import quality_of
from mlmodelscope.task.task import task_named

HEADER = ("id", "digest", "label", "label_name", "answer", "answer_name", "score", "right", "error", "best")
PLAIN = ("id", "digest", "target", "answer", "quality", "error")


def write_csv(record: Record, store: Store, artifacts: ArtifactStore) -> str:
    """One row for each sample; `best` holds class numbers, best first, between semicolons."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    table = store.samples(record)
    has_labels = "right" in table.column_names
    writer.writerow(HEADER if has_labels else PLAIN)
    for batch in table.to_batches():
        writer.writerows(_cells(row, record) if has_labels else _plain(row, record) for row in batch.to_pylist())
    return out.getvalue()


def _plain(row: dict[str, Any], record: Record) -> tuple[Any, ...]:
    """Truth and answer as JSON."""
    answer = row["answer"] or spelled_answer(row, record)
    quality = quality_of(row.get("score"))
    return inert(row["id"]), row["digest"], inert(row.get("target")), inert(answer), quality, inert(row["error"])


def spelled_answer(row: Mapping[str, Any], record: Record) -> str | None:
    found = _with_names(task_named(record.plan.task).plain(row), record)
    return None if found is None else json.dumps(found, ensure_ascii=False)


def _with_names(answer: Any, record: Record) -> Any:
    """Things with the names of their classes."""
    if not isinstance(answer, list):
        return answer
    return [
        {**each, "label": words.class_name(record, each["class"])}
        if isinstance(each, dict) and isinstance(each.get("class"), int)
        else each
        for each in answer
    ]


def _cells(row: dict[str, Any], record: Record) -> tuple[Any, ...]:
    classes, scores = row["classes"] or (None,), row["scores"] or (None,)
    label, answer, score = row["label"], classes[0], scores[0]
    return (
        inert(row["id"]),
        row["digest"],
        label,
        _name(record, label),
        answer,
        _name(record, answer),
        f"{score:.9g}" if score is not None else None,  # nine digits give back every 32-bit float
        {True: "true", False: "false", None: None}[row["right"]],
        inert(row["error"]),
        ";".join(str(number) for number in classes[:5] if number is not None),
    )


def _name(record: Record, number: int | None) -> str | None:
    return inert(words.class_name(record, number)) if number is not None else None


def write_json(record: Record, store: Store, artifacts: ArtifactStore) -> str:
    """`{"record": …, "samples": […]}`, a sample on each line."""
    lines = [
        json.dumps(_readable(row, record), ensure_ascii=False, allow_nan=False)
        for batch in store.samples(record).to_batches()
        for row in batch.to_pylist()
    ]
    samples = ",\n".join(lines)
    return f'{{"record": {record.model_dump_json(indent=1)},\n"samples": [\n{samples}\n]}}\n'


def _readable(row: dict[str, Any], record: Record) -> dict[str, Any]:
    """Without what only programs of ours can read; columns that belong together are one answer."""
    plain = _with_names(task_named(record.plan.task).plain(row), record) if "score" in row else None
    if plain is not None:
        target = json.loads(row["target"]) if row.get("target") else None
        about = {"target": target, "answer": plain, "quality": quality_of(row["score"]), "error": row["error"]}
        return {"id": row["id"], "digest": row["digest"], **about}
    kept = {name: value for name, value in row.items() if not isinstance(value, bytes)}
    return kept | ({"scores": _finite(row["scores"])} if "scores" in row else {})


def _finite(scores: list[float] | None) -> list[float | None] | None:
    """JSON knows neither NaN nor infinity."""
    return [score if math.isfinite(score) else None for score in scores] if scores is not None else None
