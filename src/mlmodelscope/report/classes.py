"""Accuracy class by class, and what is taken for what."""

from __future__ import annotations

from dataclasses import dataclass

from mlmodelscope.record.record import Record
from mlmodelscope.report import words

# An accuracy of fewer samples than this says little about a class.
_FEW = 5


@dataclass(frozen=True)
class ClassAccuracy:
    name: str
    right: int
    seen: int

    @property
    def share(self) -> float:
        return self.right / self.seen


@dataclass(frozen=True)
class Confusion:
    label: str
    answer: str
    count: int


def worst_classes(record: Record) -> list[ClassAccuracy]:
    """Every class that occurs, worst first; of equally bad ones, those with more samples first."""
    found = record.metrics.per_class or {}
    ranked = sorted(found.items(), key=lambda item: (item[1]["right"] / item[1]["seen"], -item[1]["seen"], item[0]))
    return [ClassAccuracy(words.class_name(record, label), each["right"], each["seen"]) for label, each in ranked]


def split_classes(classes: list[ClassAccuracy]) -> list[tuple[str, int]]:
    """How many classes were answered right always, sometimes, never."""
    always = sum(each.right == each.seen for each in classes)
    never = sum(each.right == 0 for each in classes)
    return [("always right", always), ("sometimes right", len(classes) - always - never), ("never right", never)]


def describe_classes(classes: list[ClassAccuracy]) -> str:
    """One sentence that stays true from two classes to a thousand."""
    seen = sum(each.seen for each in classes)
    text = f"{words.plural(len(classes), 'class')}, {words.significant(seen / len(classes))} samples each on average"
    return f"{text}: too few to say much of any one class." if too_few(classes) else f"{text}; the worst come first."


def too_few(classes: list[ClassAccuracy]) -> bool:
    return sum(each.seen for each in classes) < _FEW * len(classes)


def confusions(record: Record) -> list[Confusion]:
    """The most frequent mistakes first."""
    return [
        Confusion(words.class_name(record, each["label"]), words.class_name(record, each["answer"]), each["count"])
        for each in record.metrics.confusion or ()
    ]
