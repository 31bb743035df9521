"""Classification: which of several classes a sample belongs to.

The truth is a class number, an answer the best classes with their scores. Of equal scores the class with the lowest
number comes first, in every framework; what another order would have given is counted beside it (`ties`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from mlmodelscope.errors import MetricError
from mlmodelscope.task import class_measures  # noqa: F401  (they are the family's, too)
from mlmodelscope.task.class_accuracy import ClassAccuracy, Confusion, PerClass, TopK, among_best
from mlmodelscope.task.class_answer import CLASS_TASKS, ClassAnswer, label_of
from mlmodelscope.task.class_calibration import Calibration, CalibrationError
from mlmodelscope.task.measure import MEASURES, Accumulator, CountedMeasure, Row, find_measure, finite
from mlmodelscope.task.task import TASKS, Column, Number, Outcome, Scored, Task, Terms
from mlmodelscope.task.ties import Ties
from mlmodelscope_worker.registry import add

NAME = "classification"
_TITLES = ("Classification", "Text classification", "Audio classification", "Classification of tables")
_DETAILS: Mapping[str, Callable[[], Accumulator]] = {
    "per_class": PerClass,
    "confusion": Confusion,
    "calibration": Calibration,
}
_OF_SCORES = ("ece", "calibration", "log-loss", "brier", "roc-auc", "roc-auc-ovr")
_OF_ALL_SCORES = ("brier", "roc-auc", "roc-auc-ovr")


class ClassTally:
    """Every measure and detail of classification, in one pass and bounded memory."""

    def __init__(self, terms: Terms, task: str = NAME) -> None:
        self._top_k = terms.parameters.get("top_k", 5)
        self._by_function = terms.by_function
        self._refused: dict[str, str] = {}
        if not terms.parameters.get("probabilities", True):
            reason = "the scores are logits: add `softmax` to the output's processing"
            self._refused = dict.fromkeys(_OF_SCORES, reason)
        claimed = {each.name for each in map(find_measure, terms.claimed) if each is not None}
        kept = [each for each in TASKS[task].measures if each.is_recorded or each.name in claimed]
        recorded = [each for each in kept if isinstance(each, CountedMeasure)]
        wanted = {each.name for each in recorded} | {*_DETAILS}
        self._refused = {name: reason for name, reason in self._refused.items() if name in wanted}
        self._measures = {each.name: each.make() for each in recorded if each.name not in self._refused}
        self._details = {name: make() for name, make in _DETAILS.items() if name not in self._refused}
        self._kept_classes = 0
        self._ties = None if terms.by_function else Ties()

    def take(self, pairs: Sequence[tuple[int, ClassAnswer]]) -> Sequence[Scored]:
        for truth, answer in pairs:
            target = label_of(truth, answer)
            self._kept_classes = max(self._kept_classes, len(answer.classes))
            for each in (*self._measures.values(), *self._details.values()):
                each.update(target, answer)
            if self._ties is not None:
                self._ties.update(target, answer)
        return [Scored()] * len(pairs)

    def outcome(self) -> Outcome:
        refused = {**self._refused, **dict(self._too_little())}
        numbers = dict(_computed(self._measures, refused, finite))
        details = dict(_computed(self._details, refused, lambda found: found))
        ties = self._ties.compute(self._top_k) if self._ties is not None else None
        if ties is not None:
            details["ties"] = ties
        return Outcome(numbers, details, refused, tuple(_tie_notes(ties or {})))

    def _too_little(self) -> Iterator[tuple[str, str]]:
        """What the answers that were kept do not suffice for."""
        if self._top_k < 5 and self._kept_classes == self._top_k:
            yield "top5", f"only the {self._top_k} best answers were kept"
        elif self._by_function and 0 < self._kept_classes < 5:
            yield "top5", f"the answers name {self._kept_classes} of the classes only"
        if self._kept_classes == self._top_k:
            reason = (
                f"it needs the scores of all classes, and the {self._top_k} best that were kept may not be all: "
                "evaluate with a larger --top-k"
            )
            yield from ((name, reason) for name in _OF_ALL_SCORES if name in self._measures)
        if self._by_function and self._kept_classes == 1:
            reason = "the answers are classes without scores"
            yield from ((name, reason) for name in _OF_SCORES if name in {**self._measures, **self._details})


def _computed(
    accumulators: Mapping[str, Accumulator], refused: dict[str, str], check: Callable[[Any], Any]
) -> Iterator[tuple[str, Any]]:
    for name, each in accumulators.items():
        if name not in refused:
            try:
                yield name, check(each.compute())
            except MetricError as error:
                refused[name] = error.message


def _tie_notes(ties: Mapping[str, Any]) -> Iterator[str]:
    """Only where another order of equal scores would be another number."""
    for name, at in ties.items():
        if at["best"] > at["worst"]:
            yield (
                f"{name.replace('top', 'top-')} depends on how ties are broken: {at['samples']} of {at['of']} samples "
                f"have tied scores; it is {100 * at['worst']:.2f} % with every tie against the label and "
                f"{100 * at['best']:.2f} % with every tie in its favor (here the lowest class number comes first)"
            )


def _ends(metric: str, details: Mapping[str, Any], samples: int) -> tuple[int, int] | None:
    """How many samples count with every tie broken against the label, and with every tie in its favor."""
    at = details.get("ties", {}).get(metric.removesuffix("-error"))
    if at is None or at["best"] == at["worst"]:
        return None
    worst, best = (round(at[end] * at["of"]) for end in ("worst", "best"))
    return (worst, best) if not metric.endswith("-error") else (samples - worst, samples - best)


def _not_among_best(k: int) -> Callable[[Row], bool]:
    return lambda row: row[1] is None or label_of(*row) not in row[1].classes[:k]


def _sentence(samples: int, numbers: Mapping[str, Number]) -> str:
    if "top1" not in numbers:
        return ""
    text = (
        f"{round(numbers['top1'].value * samples):,} of {samples:,} sample{'' if samples == 1 else 's'} answered right"
    )
    if "top5" in numbers:
        text += f", {round(numbers['top5'].value * samples):,} with the right class among the first five"
    return text


def _values(truth: Any, answer: ClassAnswer | None, score: bytes | None) -> dict[str, Any]:
    """An empty answer is none."""
    target = None if truth is None else label_of(truth, answer)
    if answer is None:
        return {"label": target}
    right = None if target is None else answer.classes[:1] == (target,)
    return {"label": target, "classes": answer.classes or None, "scores": answer.scores or None, "right": right}


task = Task(
    NAME,
    "Classification",
    ClassTally,
    headline=("top1", "top5"),
    roles=(("probability",), ("logits",)),
    is_single=True,
    columns=(
        Column("label", "int32"),
        Column("classes", "list<int32>"),
        Column("scores", "list<float32>"),
        Column("right", "bool"),
    ),
    values=_values,
    sentence=_sentence,
    ends=_ends,
)
for _name, _title in zip(CLASS_TASKS, _TITLES, strict=True):
    _task = replace(task, name=_name, title=_title, tally=partial(ClassTally, task=_name))
    add(TASKS.things, _name, _task, TASKS.code)

for _each in (
    CountedMeasure(
        "top1",
        "top-1",
        CLASS_TASKS,
        is_of_the_best=True,
        make=partial(TopK, 1),
        outcome=among_best(1),
        aliases=("top-1", "accuracy", "acc", "acc1", "acc@1"),
    ),
    CountedMeasure(
        "top5",
        "top-5",
        CLASS_TASKS,
        make=partial(TopK, 5),
        outcome=among_best(5),
        kept_classes=5,
        aliases=("top-5", "acc5", "acc@5"),
    ),
    CountedMeasure(
        "top1-error",
        "top-1 error",
        CLASS_TASKS,
        better="lower",
        make=partial(TopK, 1, is_error=True),
        outcome=_not_among_best(1),
        aliases=("error", "top-1-error"),
        is_recorded=False,
    ),
    CountedMeasure(
        "top5-error",
        "top-5 error",
        CLASS_TASKS,
        better="lower",
        make=partial(TopK, 5, is_error=True),
        outcome=_not_among_best(5),
        kept_classes=5,
        aliases=("top-5-error",),
        is_recorded=False,
    ),
    CountedMeasure(
        "class-accuracy",
        "mean accuracy of the classes",
        CLASS_TASKS,
        make=ClassAccuracy,
        true=label_of,
        failed=ClassAnswer((), ()),
        good=among_best(1),
        aliases=("mean-per-class-accuracy", "balanced-accuracy"),
        is_recorded=False,
    ),
    CountedMeasure(
        "ece",
        "calibration error",
        CLASS_TASKS,
        better="lower",
        make=CalibrationError,
        true=label_of,
        good=among_best(1),
        needs_scores=True,
    ),
):
    add(MEASURES.things, _each.name, _each, MEASURES.code)
