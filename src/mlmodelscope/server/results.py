"""The best measured numbers of models and on datasets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mlmodelscope.ledger.moment import spoken
from mlmodelscope.record.database import Database
from mlmodelscope.record.headline import told_number
from mlmodelscope.record.result_rows import result_rows

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
    """Of the whole dataset, where its manifest tells."""
    whole: bool
    stack: str | None
    created_at: datetime | None
    headline: dict[str, Any]

    @property
    def quality(self) -> float:
        """Greater is better, whatever the measure."""
        value: float = self.headline["value"]
        return value if self.headline["better"] == "higher" else -value


def find_results(database: Database, models: Sequence[str] = (), dataset: str | None = None) -> list[Result]:
    """Of the newest records, newest first."""
    return [_result(row) for row in result_rows(database, models, dataset, MOST_ROWS)]


def _result(row: dict[str, Any]) -> Result:
    return Result(
        record=row["record"],
        model=row["model"],
        model_version=row["model_version"],
        digest=row["manifest_digest"],
        dataset=row["dataset"],
        dataset_version=row["dataset_version"],
        split=row["split"],
        samples=row["samples"] - row["failed"],
        total=row["population"],
        whole=row["subset"] is None,
        stack=row["stack"],
        created_at=spoken(row["created_at"]),
        headline=told_number(row["headline"], row["value"], row["low"], row["high"], row["unit"]),
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
