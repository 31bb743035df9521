"""Multi-label classification: which of several classes a sample belongs to, any number of them.

The truth is a set of classes, an answer a probability for each class by itself. Those above `threshold` are what the
model says is there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from mlmodelscope.task.array_answer import ArrayAnswer
from mlmodelscope.task.measure import MEASURES, Better
from mlmodelscope.task.ruled import RuledMeasure, RuledTally
from mlmodelscope.task.shape import LabelShape, Named
from mlmodelscope.task.task import TASKS, Column, Number, Option, Task
from mlmodelscope_worker.parameters import Number as NumberKind
from mlmodelscope_worker.registry import add

NAME = "multilabel_classification"
_SHOWN = 20


def _values(target: Any, answer: ArrayAnswer | None, score: bytes | None) -> dict[str, Any]:
    classes = sorted(set(target["classes"])) if isinstance(target, dict) else None
    found: dict[str, Any] = {"target": json.dumps({"classes": classes}) if classes is not None else None}
    if answer is not None:
        found["scores"] = answer.arrays["scores"].tolist()
    return {**found, "score": score}


def _answer(row: Mapping[str, Any]) -> Any:
    """The most probable classes, best first."""
    if row.get("scores") is None:
        return None
    order = sorted(range(len(row["scores"])), key=lambda at: -row["scores"][at])
    return [{"class": at, "score": row["scores"][at]} for at in order[:_SHOWN]]


def _shapes(row: Mapping[str, Any], target: Any, named: Named) -> list[LabelShape]:
    """What is true, then the most probable classes, best first."""
    truth = target if isinstance(target, dict) else json.loads(row.get("target") or "{}")
    found = [LabelShape("truth", named(number)) for number in truth.get("classes") or ()]
    return found + [LabelShape("answer", named(each["class"]), each["score"]) for each in _answer(row) or ()]


def _sentence(samples: int, numbers: Mapping[str, Number]) -> str:
    if "label-ap" not in numbers:
        return ""
    return f"mean AP {100 * numbers['label-ap'].value:.1f} % on {samples:,} sample{'' if samples == 1 else 's'}"


task = Task(
    NAME,
    "Multi-label classification",
    partial(RuledTally, NAME),
    headline=("label-ap", "label-f1-micro", "label-f1-macro"),
    is_ruled=True,
    options={"threshold": Option(NumberKind("A class is there where it is more probable than this."), 0.5)},
    roles=(("probability",), ("logits",)),
    is_single=True,
    truth=("classes",),
    columns=(Column("target", "string"), Column("scores", "list<float32>"), Column("score", "binary")),
    values=_values,
    plain=_answer,
    shapes=_shapes,
    quality="Quality is the F-measure of a sample's labels: of those above the threshold, and those that are true.",
    sentence=_sentence,
)
add(TASKS.things, NAME, task, TASKS.code)

_MEASURES: dict[str, tuple[str, str, tuple[str, ...], Better, bool]] = {
    "label-ap": (
        "mean AP of labels",
        "Average precision of each class over all samples, the mean over classes that occur.",
        ("label-map", "multilabel-map", "mean-average-precision"),
        "higher",
        False,
    ),
    "label-f1-micro": (
        "F1, micro",
        "F1 of all labels of all classes counted together.",
        ("f1-micro", "micro-f1", "of1"),
        "higher",
        False,
    ),
    "label-f1-macro": (
        "F1, macro",
        "F1 of each class, the mean over all classes; 0 for one that neither occurs nor is answered.",
        ("f1-macro", "macro-f1"),
        "higher",
        False,
    ),
    "hamming-loss": ("Hamming loss", "Share of labels that are wrong, classes times samples.", (), "lower", True),
    "label-exact-match": (
        "exact match",
        "Share of samples whose labels are all right.",
        ("subset-accuracy", "exact-match-ratio"),
        "higher",
        True,
    ),
}
for _name, (_title, _about, _aliases, _better, _stable) in _MEASURES.items():
    _measure = RuledMeasure(_name, _title, (NAME,), better=_better, aliases=_aliases, about=_about, is_stable=_stable)
    add(MEASURES.things, _name, _measure, MEASURES.code)
