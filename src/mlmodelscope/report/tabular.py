"""Everything for programs: CSV with a row for each sample, JSON with the whole record and its samples."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.report import words

HEADER = ("id", "digest", "label", "label_name", "answer", "answer_name", "score", "right", "error", "top5")


def write_csv(record: Record, store: Store, artifacts: ArtifactStore) -> str:
    """One row for each sample; `top5` holds class numbers, best first, between semicolons."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADER)
    for batch in store.samples(record).to_batches():
        writer.writerows(_cells(row, record) for row in batch.to_pylist())
    return out.getvalue()


def _cells(row: dict[str, Any], record: Record) -> tuple[Any, ...]:
    classes, scores = row["classes"] or (None,), row["scores"] or (None,)
    label, answer, score = row["label"], classes[0], scores[0]
    return (
        _inert(row["id"]),
        row["digest"],
        label,
        _name(record, label),
        answer,
        _name(record, answer),
        f"{score:.9g}" if score is not None else None,  # nine digits give back every 32-bit float
        {True: "true", False: "false", None: None}[row["right"]],
        _inert(row["error"]),
        ";".join(str(number) for number in classes[:5] if number is not None),
    )


def _name(record: Record, number: int | None) -> str | None:
    return _inert(words.class_name(record, number)) if number is not None else None


def _inert(text: str | None) -> str | None:
    """A spreadsheet must not take somebody's file name for a formula; JSON has the text as it is."""
    return f"'{text}" if text and text[0] in "=+-@\t\r" else text


def write_json(record: Record, store: Store, artifacts: ArtifactStore) -> str:
    """`{"record": …, "samples": […]}`, a sample on each line."""
    lines = [
        json.dumps(row | {"scores": _finite(row["scores"])}, ensure_ascii=False, allow_nan=False)
        for batch in store.samples(record).to_batches()
        for row in batch.to_pylist()
    ]
    samples = ",\n".join(lines)
    return f'{{"record": {record.model_dump_json(indent=1)},\n"samples": [\n{samples}\n]}}\n'


def _finite(scores: list[float] | None) -> list[float | None] | None:
    """JSON knows neither NaN nor infinity."""
    return [score if math.isfinite(score) else None for score in scores] if scores is not None else None
