"""Anomaly detection: how far a sample is from what is normal.

The truth is `{"anomaly": 0 or 1, "group": "name"}`, an answer one number, the higher the more anomalous. Scores are
compared within a group, such as one machine, and the mean over the groups counts, unless `averaging` is `pooled`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlmodelscope.task import values
from mlmodelscope.task.measure import MEASURES
from mlmodelscope.task.number_task import number_task, percentage
from mlmodelscope.task.ruled import RuledMeasure
from mlmodelscope.task.shape import LabelShape, Named, Shape, TextShape
from mlmodelscope.task.task import Option
from mlmodelscope_worker.parameters import Choice, Flag
from mlmodelscope_worker.parameters import Number as NumberKind
from mlmodelscope_worker.registry import add

NAME = "anomaly_detection"
OPTIONS = {
    "max_fpr": Option(
        NumberKind("Share of normal samples that may be taken for anomalies, for partial AUC.", above=0, at_most=1), 0.1
    ),
    "averaging": Option(
        Choice(
            "The mean over groups, or one curve of all samples: scores of two machines may not be comparable.",
            "groups",
            "pooled",
        ),
        "groups",
    ),
    "standardized": Option(
        Flag("Whether partial AUC is 0.5 for chance (McClish, as scikit-learn has it); else it is area / max_fpr."),
        True,
    ),
    "threshold": Option(
        NumberKind("Above it an answer says anomaly: it gives samples a quality, no number depends on it."), None
    ),
}


def _shapes(row: Mapping[str, Any], target: Any, named: Named) -> list[Shape]:
    truth, found = values.truth_of(row, target), list[Shape]()
    if truth.get("anomaly") is not None:
        group = f" ({truth['group']})" if truth.get("group") else ""
        found.append(LabelShape("truth", ("anomaly" if truth["anomaly"] else "normal") + group))
    if row.get("values"):
        found.append(TextShape("answer", values.spelled(row["values"])))
    return found


task = number_task(
    NAME,
    "Anomaly detection",
    headline=("anomaly-auc", "anomaly-pauc"),
    options=OPTIONS,
    shapes=_shapes,
    quality="Quality is 1 where the answer is on the right side of `threshold`, else 0.",
    sentence=percentage("anomaly-auc", "AUC"),
)

for _each in (
    RuledMeasure(
        "anomaly-auc",
        "AUC",
        (NAME,),
        aliases=("auc", "mean-auc"),
        about="Area under the ROC curve: how often an anomaly has a higher score than a normal sample, ties half. The "
        "mean over the groups, unless `averaging` is `pooled`.",
    ),
    RuledMeasure(
        "anomaly-pauc",
        "partial AUC",
        (NAME,),
        aliases=("pauc", "partial-auc", "mean-pauc"),
        about="The same area up to `max_fpr` false alarms, brought to 0.5 for chance and 1 at best (McClish), unless "
        "`standardized` is false.",
        is_stable=False,
    ),
):
    add(MEASURES.things, _each.name, _each, MEASURES.code)
