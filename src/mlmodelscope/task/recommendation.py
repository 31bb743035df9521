"""Recommendation: which of a sample's candidates come first.

The truth is `{"relevant": {"place of a candidate": gain}}`, an answer a score of every candidate. Of equal scores the
relevant candidate comes last, unless `ties` says otherwise: a model that gives everything the same score has found
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlmodelscope.task import values
from mlmodelscope.task.measure import MEASURES
from mlmodelscope.task.number_task import number_task, percentage
from mlmodelscope.task.ruled import RuledMeasure
from mlmodelscope.task.shape import LabelShape, Named, Shape
from mlmodelscope.task.task import Option
from mlmodelscope_worker.parameters import Choice, Integer
from mlmodelscope_worker.registry import add

NAME = "recommendation"
_SHOWN = 10
OPTIONS = {
    "k": Option(Integer("How many candidates are looked at, the best ones.", at_least=1), 10),
    "ties": Option(
        Choice(
            "Of equal scores the relevant candidate comes last, first, or the one with the lower place does.",
            "against",
            "in favor",
            "order",
        ),
        "against",
    ),
}


def _best(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    scores = row.get("values") or []
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    return [{"candidate": at, "score": scores[at]} for at in order[:_SHOWN]]


def _plain(row: Mapping[str, Any]) -> Any:
    """The best candidates, best first."""
    return _best(row) if row.get("values") is not None else None


def _shapes(row: Mapping[str, Any], target: Any, named: Named) -> list[Shape]:
    relevant = values.truth_of(row, target).get("relevant")
    names = list(relevant)[:_SHOWN] if isinstance(relevant, Mapping) else []
    found: list[Shape] = [LabelShape("truth", f"candidate {each}") for each in names]
    # Scores of candidates are no probabilities: a low one is no reason to hide it.
    return found + [LabelShape("answer", f"candidate {each['candidate']}") for each in _best(row)]


task = number_task(
    NAME,
    "Recommendation",
    headline=("hit-rate", "hit-ndcg"),
    options=OPTIONS,
    plain=_plain,
    shapes=_shapes,
    quality="Quality is the nDCG of a sample's first k candidates.",
    sentence=percentage("hit-rate", "hit rate"),
)

for _each in (
    RuledMeasure(
        "hit-rate",
        "hit rate",
        (NAME,),
        aliases=("hr", "hit-ratio"),
        about="Share of samples of which a relevant candidate is among the first `k` (HR@k).",
    ),
    RuledMeasure(
        "hit-ndcg",
        "nDCG of the first k",
        (NAME,),
        aliases=("ndcg", "ndcg-k"),
        about="Gain / log2(rank + 1) of the first `k` candidates, over what the best order would give (NDCG@k).",
    ),
):
    add(MEASURES.things, _each.name, _each, MEASURES.code)
