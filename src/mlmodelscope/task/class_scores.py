"""Measures of the probabilities of classes: log loss, Brier score and the area under ROC curves, as in scikit-learn."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

from mlmodelscope.errors import MetricError
from mlmodelscope.task.class_answer import ClassAnswer

_LEAST = sys.float_info.epsilon


class LogLoss:
    """Mean of the negative logarithm of the probability that was given to the label (cross-entropy)."""

    def __init__(self) -> None:
        self._sum = 0.0
        self._seen = self._lacking = 0

    def update(self, label: int, answer: ClassAnswer) -> None:
        self._seen += 1
        if label not in answer.classes:
            self._lacking += 1
            return
        probable = answer.scores[answer.classes.index(label)]
        self._sum -= math.log(min(max(probable, _LEAST), 1 - _LEAST))

    def compute(self) -> float:
        if not self._seen:
            raise MetricError("log loss of no samples is not a number")
        if self._lacking:
            raise MetricError(
                f"the probability of the label was not kept for {self._lacking} of {self._seen} samples: "
                "evaluate with a larger --top-k"
            )
        return self._sum / self._seen


class AllScores:
    """Keeps the scores of all classes of all samples."""

    title = ""

    def __init__(self) -> None:
        self.labels: list[int] = []
        self.classes: tuple[int, ...] = ()
        self.scores: list[tuple[float, ...]] = []
        self._is_whole = True

    def update(self, label: int, answer: ClassAnswer) -> None:
        order = sorted(zip(answer.classes, answer.scores, strict=False))
        classes = tuple(number for number, _ in order)
        self._is_whole &= classes == (self.classes or classes) and bool(classes)
        self.classes = self.classes or classes
        self.labels.append(label)
        self.scores.append(tuple(score for _, score in order))

    def refuse_parts(self) -> None:
        if not self.labels:
            raise MetricError(f"{self.title} of no samples is not a number")
        if not self._is_whole:
            raise MetricError(
                "it needs the scores of all classes, and only the best were kept: evaluate with a larger --top-k"
            )
        beyond = {*self.labels}.difference(self.classes)
        if beyond:
            raise MetricError(f"the answers have no score for the class {min(beyond)}, which is among the labels")


class Brier(AllScores):
    """Mean squared distance of the probabilities from what is true: of two classes that of the class 1, from 0 to 1;
    of several the sum over the classes, from 0 to 2."""

    title = "a Brier score"

    def compute(self) -> float:
        self.refuse_parts()
        if len(self.classes) == 2:
            one = self.classes[1]
            return sum((own[1] - (label == one)) ** 2 for label, own in self._pairs()) / len(self.labels)
        total = sum(
            (score - (label == number)) ** 2
            for label, own in self._pairs()
            for number, score in zip(self.classes, own, strict=True)
        )
        return total / len(self.labels)

    def _pairs(self) -> zip[tuple[int, tuple[float, ...]]]:
        return zip(self.labels, self.scores, strict=True)


class RocAuc(AllScores):
    """Area under the ROC curve of the class 1 of two: how often it has a higher score where it is there, ties half."""

    title = "ROC AUC"

    def compute(self) -> float:
        self.refuse_parts()
        if len(self.classes) != 2:
            raise MetricError(f"it is of two classes, and there are {len(self.classes)}: roc-auc-ovr is of any number")
        return self.area(1)

    def area(self, place: int) -> float:
        """Of one class against all others."""
        number = self.classes[place]
        return _area([own[place] for own in self.scores], [label == number for label in self.labels], number)


class RocAucOvr(RocAuc):
    """Area under the ROC curve of each class against all others, the mean over the classes (macro, one versus rest)."""

    def compute(self) -> float:
        self.refuse_parts()
        return sum(map(self.area, range(len(self.classes)))) / len(self.classes)


def _area(scores: Sequence[float], is_there: Sequence[bool], number: int) -> float:
    positive = sum(is_there)
    negative = len(is_there) - positive
    if not positive or not negative:
        raise MetricError(f"{'no' if not positive else 'every'} label is the class {number}: it has no ROC curve")
    below, found = 0, 0.0
    ranked = sorted(zip(scores, is_there, strict=True))
    for _, group in groupby(ranked, key=itemgetter(0)):
        own = [each for _, each in group]
        hits = sum(own)
        found += hits * (below + (len(own) - hits) / 2)
        below += len(own) - hits
    return found / (positive * negative)
