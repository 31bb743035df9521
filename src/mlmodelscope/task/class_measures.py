"""Measures of classification that records keep only where they are claimed."""

from __future__ import annotations

import math
from typing import Any

from mlmodelscope.task.class_accuracy import among_best
from mlmodelscope.task.class_answer import CLASS_TASKS, ClassAnswer, label_of
from mlmodelscope.task.class_f1 import BinaryF1, MacroF1, Matthews, MicroF1, WeightedF1
from mlmodelscope.task.class_scores import Brier, LogLoss, RocAuc, RocAucOvr
from mlmodelscope.task.measure import MEASURES, NUMBER, Accumulator, CountedMeasure
from mlmodelscope_worker.registry import add


def _add(name: str, title: str, make: type[Accumulator], *aliases: str, **more: Any) -> None:
    more |= {"good": among_best(1), "true": label_of, "is_recorded": False}
    measure = CountedMeasure(name, title, CLASS_TASKS, make=make, aliases=aliases, **more)
    add(MEASURES.things, name, measure, MEASURES.code)


_NOTHING = ClassAnswer((), ())
_COUNTED: dict[str, Any] = {"failed": _NOTHING, "is_stable": False}
_add("class-f1", "F1 of class 1", BinaryF1, "f1-binary", "binary-f1", **_COUNTED)
_add("class-f1-micro", "F1 of classes, micro", MicroF1, **_COUNTED)
_add("class-f1-macro", "F1 of classes, macro", MacroF1, **_COUNTED)
_add("class-f1-weighted", "F1 of classes, weighted", WeightedF1, "f1-weighted", "weighted-f1", **_COUNTED)
_add(
    "mcc",
    "Matthews correlation",
    Matthews,
    "matthews",
    "matthews-correlation",
    "matthews-corrcoef",
    bounds=(-1.0, 1.0),
    is_stable=False,
)
_OF_SCORES: dict[str, Any] = {"needs_scores": True}
_LOSS: dict[str, Any] = {**_OF_SCORES, "better": "lower", "unit": NUMBER}
_add("log-loss", "log loss", LogLoss, "cross-entropy", "logloss", bounds=(0.0, math.inf), **_LOSS)
_add("brier", "Brier score", Brier, "brier-score", "brier-score-loss", bounds=(0.0, 2.0), kept_classes=2, **_LOSS)
_add("roc-auc", "ROC AUC", RocAuc, "auroc", "roc-auc-score", kept_classes=2, **_OF_SCORES)
_add("roc-auc-ovr", "ROC AUC, one versus rest", RocAucOvr, "auroc-macro", kept_classes=2, **_OF_SCORES)
