"""What finished evaluations measured, a row each: for leaderboards, without reading whole records.

Records that were made on the way to something else, such as those of `replicate` and `sensitivity`, are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlmodelscope.record.database import Database

_AT_ONCE = 200
_IDS = """
SELECT id FROM records
WHERE status = 'finished' AND kind = 'evaluation' AND made_for IS NULL{narrowed}
ORDER BY created_at DESC LIMIT :most
"""
_ROWS = """
SELECT records.id AS id, model, model_version, dataset, dataset_version, samples, failed, created_at,
  headline, metrics.value AS value, metrics.low AS low, metrics.high AS high, metrics.unit AS unit, {told}
FROM records JOIN metrics ON metrics.record = records.id AND metrics.name = records.headline
WHERE records.id IN ({listed})
"""
_INSIDE = {
    "size": ("plan", "dataset", "size"),
    "count": ("plan", "dataset", "subset", "count"),
    "split": ("plan", "dataset", "split"),
    "digest": ("plan", "manifests", "model", "digest"),
    "stack": ("plan", "stack", "name"),
    "software": ("plan", "manifests", "software", "name"),
}


@dataclass(frozen=True)
class Inside:
    """What only a record's document tells."""

    size: int | None
    """Samples of the whole dataset, where its manifest gives them."""
    count: int | None
    """Samples that were asked for; None for all."""
    split: str | None
    digest: str | None
    """Of the model's manifest."""
    stack: str | None

    def is_whole(self, samples: int) -> bool:
        """Whether so many samples are all of them; a limit that is no limit takes all."""
        return self.count is None or samples < self.count or (self.size or self.count + 1) <= self.count


def result_ids(database: Database, models: Sequence[str], dataset: str | None, most: int) -> list[str]:
    """The newest evaluations, of some models or of one dataset where these are named; no document is touched."""
    names = {f"model{place}": name for place, name in enumerate(models)}
    narrowed = f" AND model IN ({', '.join(f':{each}' for each in names)})" if names else ""
    values: dict[str, Any] = {**names, "most": most}
    if dataset is not None:
        narrowed += " AND dataset = :dataset"
        values["dataset"] = dataset
    return [str(row["id"]) for row in database.rows(_IDS.format(narrowed=narrowed), values)]


def result_rows(database: Database, ids: Sequence[str]) -> Iterator[tuple[dict[str, Any], Inside]]:
    """(the row with its headline, what the document tells) of each that has a headline."""
    told = ", ".join(f"{database.inside('document', path)} AS {name}" for name, path in _INSIDE.items())
    for start in range(0, len(ids), _AT_ONCE):
        names = {f"id{place}": each for place, each in enumerate(ids[start : start + _AT_ONCE])}
        listed = ", ".join(f":{each}" for each in names)
        for row in database.rows(_ROWS.format(told=told, listed=listed), names):
            yield row, _inside(row)


def _inside(row: Mapping[str, Any]) -> Inside:
    described = row["stack"] == "current" and row["software"]
    stack = row["software"] if described else row["stack"]
    return Inside(_whole(row["size"]), _whole(row["count"]), row["split"], row["digest"], stack)


def _whole(value: Any) -> int | None:
    """PostgreSQL answers numbers within JSON as text."""
    return None if value is None else int(value)
