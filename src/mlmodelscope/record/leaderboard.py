"""Results on a dataset, best first: one table for each metric and each set of samples, since no others may be compared.

Records that another command needed on its way are left out. Of several records of the same model in the same software
on the same samples the one with the most answers counts, and of those the newest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, func, select

from mlmodelscope.record.tables import record_facts
from mlmodelscope.task.measure import measure_or_bare

_FACTS = record_facts.c
_SAME = (_FACTS.dataset_digest, _FACTS.task, _FACTS.headline, _FACTS.subset)
_SHOWN = (
    *("record", "model", "model_version", "framework", "stack", "machine", "value", "low", "high", "unit"),
    *("samples", "failed", "created_at", "latency_s"),
)


@dataclass(frozen=True)
class Board:
    """A table whose numbers may be compared."""

    id: str
    dataset: str
    version: str
    split: str | None
    task: str
    metric: str
    subset: str | None
    """Which part of the dataset; nothing where it is all samples."""
    models: int
    records: int
    newest: datetime
    digest: str


@dataclass(frozen=True)
class Place:
    """A row of a table."""

    rank: int
    ties_first: bool
    """Whether its interval and that of the first overlap."""
    row: dict[str, Any]


def find_boards(connection: Connection, dataset: str | None = None) -> list[Board]:
    """All tables by dataset; in each those over all samples first, then the largest."""
    names = (_FACTS.dataset, _FACTS.dataset_version, _FACTS.split)
    models = func.count(_FACTS.model_digest.distinct()).label("models")
    counts = (models, func.count().label("records"), func.max(_FACTS.created_at).label("newest"))
    query = _comparable(select(*names, *_SAME, *counts), dataset).group_by(*names, *_SAME)
    found = [_board(row) for row in connection.execute(query).mappings()]
    return sorted(found, key=lambda each: (each.dataset, each.subset is not None, -each.models, each.metric, each.id))


def find_places(connection: Connection, board: Board) -> list[Place]:
    """All rows of a table."""
    work = (_FACTS.model_digest, _FACTS.software_digest)
    answered = _FACTS.samples - _FACTS.failed
    order = (answered.desc(), _FACTS.created_at.desc(), _FACTS.record.desc())
    number = func.row_number().over(partition_by=work, order_by=order).label("number")
    columns = [_FACTS[name] for name in _SHOWN]
    inner = _comparable(select(*columns, number), board.dataset).where(
        _FACTS.dataset_version == board.version,
        _FACTS.split == board.split if board.split is not None else _FACTS.split.is_(None),
        _FACTS.dataset_digest == board.digest,
        _FACTS.task == board.task,
        _FACTS.headline == board.metric,
        _FACTS.subset == board.subset if board.subset is not None else _FACTS.subset.is_(None),
    )
    found = inner.subquery()
    value = found.c.value.asc() if _is_lower_better(board.metric) else found.c.value.desc()
    query = select(*(found.c[name] for name in _SHOWN)).where(found.c.number == 1)
    rows = connection.execute(query.order_by(value, found.c.model, found.c.record)).mappings()
    return _ranked([dict(row) for row in rows])


def claims_in(connection: Connection, records: Sequence[str]) -> dict[str, str]:
    """What each record's manifest published, as JSON."""
    query = select(_FACTS.record, _FACTS.claims).where(_FACTS.record.in_(records), _FACTS.claims.is_not(None))
    return {row.record: row.claims for row in connection.execute(query)}


def _comparable(query: Select[Any], dataset: str | None) -> Select[Any]:
    found = query.where(
        _FACTS.status == "finished",
        _FACTS.kind != "training",
        _FACTS.made_for.is_(None),
        _FACTS.value.is_not(None),
        _FACTS.dataset_digest.is_not(None),
    )
    return found.where(_FACTS.dataset == dataset) if dataset is not None else found


def _board(row: Any) -> Board:
    said = "\0".join(str(row[name]) for name in ("dataset", "dataset_version", "split", *(each.name for each in _SAME)))
    return Board(
        id=hashlib.sha256(said.encode()).hexdigest()[:12],
        dataset=row["dataset"],
        version=row["dataset_version"],
        split=row["split"],
        task=row["task"],
        metric=row["headline"],
        subset=row["subset"],
        models=row["models"],
        records=row["records"],
        newest=row["newest"],
        digest=row["dataset_digest"],
    )


def _is_lower_better(metric: str) -> bool:
    return measure_or_bare(metric).better == "lower"


def _ranked(rows: Sequence[dict[str, Any]]) -> list[Place]:
    found: list[Place] = []
    for number, row in enumerate(rows, 1):
        is_equal = bool(found) and found[-1].row["value"] == row["value"]
        found.append(Place(found[-1].rank if is_equal else number, _overlap(row, rows[0]), row))
    return found


def _overlap(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Without an interval a number is the interval."""
    return _end(one, "low") <= _end(other, "high") and _end(other, "low") <= _end(one, "high")


def _end(row: dict[str, Any], name: str) -> float:
    return float(row["value"] if row[name] is None else row[name])
