"""Measured numbers of all records: what a document tells is read once, since a finished record never changes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mlmodelscope.ledger.moment import spoken
from mlmodelscope.record.database import Database
from mlmodelscope.record.headline import told_number
from mlmodelscope.record.result_rows import Inside, result_ids, result_rows

_KEPT = 100_000
MOST_ROWS = 20_000


@dataclass(frozen=True)
class Result:
    """The headline of one record, and what it is over."""

    record: str
    model: str
    model_version: str
    digest: str | None
    """Of the model's manifest."""
    dataset: str
    dataset_version: str
    split: str | None
    samples: int
    """That were answered."""
    total: int | None
    whole: bool
    stack: str | None
    created_at: datetime | None
    headline: dict[str, Any]

    @property
    def quality(self) -> float:
        """Greater is better, whatever the measure."""
        value: float = self.headline["value"]
        return value if self.headline["better"] == "higher" else -value


class Results:
    def __init__(self, database: Database) -> None:
        self._database, self._lock = database, threading.Lock()
        self._known: OrderedDict[str, Result | None] = OrderedDict()
        """None for a record without a number."""

    def find(self, models: Sequence[str] = (), dataset: str | None = None) -> list[Result]:
        """Of the newest records, newest first."""
        ids = result_ids(self._database, models, dataset, MOST_ROWS)
        with self._lock:
            found = {each: self._known[each] for each in ids if each in self._known}
        unknown = [each for each in ids if each not in found]
        if unknown:
            fresh: dict[str, Result | None] = dict.fromkeys(unknown)
            fresh |= {row["id"]: _result(row, inside) for row, inside in result_rows(self._database, unknown)}
            found |= fresh
            with self._lock:
                self._known.update(fresh)
                while len(self._known) > _KEPT:
                    self._known.popitem(last=False)
        return [result for each in ids if (result := found[each]) is not None]


def _result(row: dict[str, Any], inside: Inside) -> Result:
    moment = row["created_at"]
    made = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    return Result(
        row["id"],
        row["model"],
        row["model_version"],
        inside.digest,
        row["dataset"],
        row["dataset_version"],
        inside.split,
        row["samples"] - row["failed"],
        inside.size,
        inside.is_whole(row["samples"]),
        inside.stack,
        spoken(made),
        told_number(row["headline"], row["value"], row["low"], row["high"], row["unit"]),
    )


def best_first(results: Iterable[Result]) -> list[Result]:
    """Whole datasets before parts; of parts the larger ones first; then the better number."""
    return sorted(results, key=lambda each: (not each.whole, each.headline["name"], _part(each), -each.quality))


def best_of_each(results: Iterable[Result]) -> list[Result]:
    """One for each model, dataset, split, measure and whether it is over all samples; best first."""
    kept: dict[tuple[object, ...], Result] = {}
    for each in best_first(results):
        kept.setdefault((*_work(each), each.whole), each)
    return list(kept.values())


def best_of_models(results: Iterable[Result]) -> list[Result]:
    """One number for each version of a model: over a whole dataset where there is one, else over most samples."""
    kept: dict[tuple[str, str, str | None], Result] = {}
    # Of whole datasets the largest tells most: 98 % on seventy pictures says less than 75 % on fifty thousand.
    for each in sorted(results, key=lambda one: (not one.whole, -one.samples, -one.quality)):
        kept.setdefault((each.model, each.model_version, each.digest), each)
    return list(kept.values())


def _part(result: Result) -> int:
    return 0 if result.whole else -result.samples


def _work(result: Result) -> tuple[object, ...]:
    model = (result.model, result.model_version, result.digest)
    return (*model, result.dataset, result.dataset_version, result.split, result.headline["name"])
