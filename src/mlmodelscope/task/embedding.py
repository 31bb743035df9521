"""Embeddings: a vector of each sample, by which queries find documents.

Queries and documents are samples. The truth of a query is `{"role": "query", "id": q, "relevant": {"document": gain}}`,
that of a document `{"role": "document", "id": d}`; an answer is a vector. All documents are ranked for every query by
their similarity; of equal ones the document with the greater id comes first, as trec_eval does it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlmodelscope.task import values
from mlmodelscope.task.measure import MEASURES
from mlmodelscope.task.number_task import number_task, percentage
from mlmodelscope.task.ruled import RuledMeasure
from mlmodelscope.task.shape import LabelShape, Named, Shape, TextShape
from mlmodelscope.task.task import Column, Option
from mlmodelscope_worker.parameters import Choice
from mlmodelscope_worker.registry import add

NAME = "embedding"
OPTIONS = {
    "similarity": Option(
        Choice("What makes two embeddings alike.", "cosine", "dot", "euclidean"),
        "cosine",
    ),
    "same_id": Option(
        Choice(
            "Whether a document whose id is that of the query is ranked like others, or skipped, as BEIR does it.",
            "count",
            "skip",
        ),
        "count",
    ),
}
_NAMED = 3


def _shapes(row: Mapping[str, Any], target: Any, named: Named) -> list[Shape]:
    truth, found = values.truth_of(row, target), list[Shape]()
    if truth.get("role") == "query" and isinstance(truth.get("relevant"), Mapping):
        names = [str(each) for each in truth["relevant"]]
        more = f", … ({len(names)} documents)" if len(names) > _NAMED else ""
        found.append(LabelShape("truth", f"query {truth.get('id')}: {', '.join(names[:_NAMED])}{more}"))
    elif truth.get("role") == "document":
        found.append(LabelShape("truth", f"document {truth.get('id')}"))
    if row.get("values"):
        found.append(TextShape("answer", values.spelled(row["values"])))
    return found


task = number_task(
    NAME,
    "Embedding",
    headline=("ndcg10", "mrr10", "recall10"),
    options=OPTIONS,
    columns=(Column("target", "string"), Column("values", "list<float32>"), Column("score", "binary")),
    shapes=_shapes,
    sentence=percentage("ndcg10", "nDCG@10", ", queries and documents"),
)

_MEASURES = {
    "ndcg10": (
        "nDCG@10",
        "Normalized discounted cumulative gain of the first ten documents: gain / log2(rank + 1), over what the best "
        "order would give.",
        ("ndcg@10", "ndcg-10", "ndcg-cut-10", "ndcg-at-10"),
    ),
    "mrr10": (
        "MRR@10",
        "1 over the rank of the first relevant document, 0 where none is among the first ten.",
        ("mrr@10", "mrr-10", "mrr-at-10"),
    ),
    **{
        f"recall{most}": (
            f"recall@{most}",
            f"Share of a query's relevant documents that are among the first {most}.",
            (f"recall@{most}", f"recall-{most}", f"recall-at-{most}"),
        )
        for most in (1, 5, 10, 100)
    },
    "retrieval-map": (
        "MAP",
        "Mean of the precision at the rank of each relevant document, over all documents; the mean over the queries.",
        ("trec-map", "map-of-queries"),
    ),
}
for _name, (_title, _about, _aliases) in _MEASURES.items():
    # Documents that were not evaluated cannot come before a relevant one: on some samples every number is too good.
    _measure = RuledMeasure(_name, _title, (NAME,), aliases=_aliases, about=_about, is_stable=False)
    add(MEASURES.things, _name, _measure, MEASURES.code)
