"""The headline of each finished evaluation, for leaderboards and cards of models.

Records that were made on the way to something else, such as those of `replicate` and `sensitivity`, are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from mlmodelscope.record.database import Database
from mlmodelscope.record.tables import record_facts

_FACTS = record_facts.c
_SHOWN = (
    *(
        "record",
        "model",
        "model_version",
        "manifest_digest",
        "dataset",
        "dataset_version",
        "split",
        "subset",
        "population",
    ),
    *("samples", "failed", "stack", "created_at", "headline", "value", "low", "high", "unit"),
)


def result_rows(database: Database, models: Sequence[str], dataset: str | None, most: int) -> list[dict[str, Any]]:
    """Of the newest evaluations, newest first; of some models or of one dataset where these are named."""
    query = select(*(_FACTS[name] for name in _SHOWN)).where(
        _FACTS.status == "finished", _FACTS.kind == "evaluation", _FACTS.made_for.is_(None), _FACTS.value.is_not(None)
    )
    if models:
        query = query.where(_FACTS.model.in_(models))
    if dataset is not None:
        query = query.where(_FACTS.dataset == dataset)
    with database.reading() as connection:
        found = connection.execute(query.order_by(_FACTS.created_at.desc()).limit(most)).mappings()
        return [dict(row) for row in found]
