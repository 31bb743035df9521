"""The wrong answers worth looking at: the most confident ones, with their pictures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.report import words
from mlmodelscope.report.own_content import OwnContent
from mlmodelscope.report.sample_pictures import sample_pictures
from mlmodelscope.report.thumbnail import Thumbnail

SHOWN = 24


@dataclass(frozen=True)
class Answer:
    name: str
    score: str
    share: float | None
    """Length of its bar, 0 to 1; nothing where scores are not probabilities."""
    right: bool


@dataclass(frozen=True)
class Mistake:
    id: str
    label: str
    answers: tuple[Answer, ...]
    thumbnail: Thumbnail
    own: OwnContent = OwnContent()
    """The sample itself, where it is no picture."""


@dataclass(frozen=True)
class Mistakes:
    """What a gallery shows."""

    total: int
    shown: tuple[Mistake, ...]
    without_pictures: str | None
    """Why there are no pictures at all."""


def find_mistakes(record: Record, store: Store, artifacts: ArtifactStore) -> Mistakes:
    wrong = store.samples(record, only_wrong=True)
    if "right" not in wrong.column_names:  # no sample of this task is simply right or wrong
        return Mistakes(0, (), None)
    rows = most_confident(wrong, SHOWN).to_pylist()
    pictures, problem = sample_pictures(rows, record, artifacts)
    shown = tuple(
        Mistake(
            row["id"], words.class_name(record, row["label"]), _answers(row, record), picture.thumbnail, picture.own
        )
        for row, picture in zip(rows, pictures, strict=True)
    )
    return Mistakes(wrong.num_rows, shown, problem)


def most_confident(table: pa.Table, number: int) -> pa.Table:
    """The rows with the highest first score; of equal ones, by id. Columns stay columns: there may be 50,000 rows."""
    if not table.num_rows:
        return table
    ranked = pa.table({"score": pc.list_element(table["scores"], 0), "id": table["id"]})
    order = pc.select_k_unstable(
        ranked, k=min(number, table.num_rows), sort_keys=[("score", "descending"), ("id", "ascending")]
    )
    return table.take(order)


def _answers(row: dict[str, Any], record: Record) -> tuple[Answer, ...]:
    pairs = list(zip(row["classes"], row["scores"], strict=True))[:5]
    bars = record.plan.answer.probabilities and all(0 <= score <= 1 for _, score in pairs)
    return tuple(
        Answer(
            words.class_name(record, number),
            words.percent(score) if bars else words.significant(score),
            score if bars and math.isfinite(score) else None,
            number == row["label"],
        )
        for number, score in pairs
    )
