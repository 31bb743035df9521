"""F1 and Matthews correlation of classes, from counts of what is taken for what; as scikit-learn has them."""

from __future__ import annotations

import math
from collections import Counter

from mlmodelscope.errors import MetricError
from mlmodelscope.task.class_answer import ClassAnswer


class ClassCounts:
    """How often a class is there, is answered, and is answered where it is."""

    title = ""

    def __init__(self) -> None:
        self.seen = 0
        self.due: Counter[int] = Counter()
        self.said: Counter[int] = Counter()
        self.right: Counter[int] = Counter()

    def update(self, label: int, answer: ClassAnswer) -> None:
        """A sample that failed has no classes: what was due there was not found."""
        self.seen += 1
        self.due[label] += 1
        for number in answer.classes[:1]:
            self.said[number] += 1
            self.right[number] += number == label

    @property
    def classes(self) -> list[int]:
        """Those that are there or are answered."""
        return sorted({*self.due, *self.said})

    def f1(self, *classes: int) -> float:
        """Of these classes counted together; 0 where there is nothing to count."""
        both = sum(self.due[each] + self.said[each] for each in classes)
        return 2 * sum(self.right[each] for each in classes) / both if both else 0.0

    def refuse_nothing(self) -> None:
        if not self.seen:
            raise MetricError(f"{self.title} of no samples is not a number")


class BinaryF1(ClassCounts):
    """F1 of the class 1, where there are no others than 0 and 1."""

    title = "F1"

    def compute(self) -> float:
        self.refuse_nothing()
        if not {*self.classes} <= {0, 1}:
            raise MetricError(
                f"it is F1 of the class 1 of two, and there is a class {self.classes[-1]}: "
                "class-f1-macro, class-f1-micro and class-f1-weighted are of any number of classes"
            )
        return self.f1(1)


class MicroF1(ClassCounts):
    """F1 of all classes counted together."""

    title = "F1"

    def compute(self) -> float:
        self.refuse_nothing()
        return self.f1(*self.classes)


class MacroF1(ClassCounts):
    """Mean of the classes' own F1, over the classes that are there or are answered."""

    title = "F1"

    def compute(self) -> float:
        self.refuse_nothing()
        return sum(map(self.f1, self.classes)) / len(self.classes)


class WeightedF1(ClassCounts):
    """Mean of the classes' own F1, each counted as often as the class is there."""

    title = "F1"

    def compute(self) -> float:
        self.refuse_nothing()
        return sum(self.f1(each) * self.due[each] for each in self.classes) / self.seen


class Matthews(ClassCounts):
    """Correlation of labels and answers, from -1 to 1, of any number of classes; 0 where either never varies."""

    title = "Matthews correlation"

    def compute(self) -> float:
        self.refuse_nothing()
        total = self.seen**2
        together = self.right.total() * self.seen - sum(self.due[each] * self.said[each] for each in self.classes)
        due, said = (total - sum(each**2 for each in counts.values()) for counts in (self.due, self.said))
        return together / (math.sqrt(due) * math.sqrt(said)) if due and said else 0.0
