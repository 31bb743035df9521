"""Accuracy class by class, and what is taken for what."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from mlmodelscope.record.record import Record
from mlmodelscope.record.samples import read_rows
from mlmodelscope.report import words
from mlmodelscope.statistic.interval import wilson

# An accuracy of fewer samples than this says little about a class.
_FEW = 5
_CONFUSED = 100
Pairs = list[tuple[tuple[int, int], int]]


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
    ranked = _ranked(record)
    return [ClassAccuracy(words.class_name(record, each["class"]), each["right"], each["seen"]) for each in ranked]


def _ranked(record: Record) -> list[dict[str, int]]:
    found: list[dict[str, int]] = record.details.get("per_class", []) if "confusion" in record.details else []
    return sorted(found, key=lambda each: (each["right"] / each["seen"], -each["seen"], each["class"]))


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
        for each in record.details.get("confusion", ())
    ]


def class_table(record: Record, pairs: Pairs) -> dict[str, Any]:
    """Every class that occurs with its interval and what it is taken for, worst first; and the most confused pairs."""
    taken_for: dict[int, tuple[int, int]] = {}
    for (label, answer), count in pairs:
        taken_for.setdefault(label, (answer, count))
    ranked = _ranked(record)
    return {
        "items": [
            {
                "label": each["class"],
                "name": words.class_name(record, each["class"]),
                "right": each["right"],
                "seen": each["seen"],
                "accuracy": wilson(each["right"], each["seen"]),
                "taken_for": _taken(record, *taken_for[each["class"]]) if each["class"] in taken_for else None,
            }
            for each in ranked
        ],
        "confused": [
            {
                "label": label,
                "label_name": words.class_name(record, label),
                **_taken(record, answer, count),
            }
            for (label, answer), count in pairs[:_CONFUSED]
        ],
        "about": describe_classes(worst_classes(record)) if ranked else "",
    }


def _taken(record: Record, answer: int, count: int) -> dict[str, Any]:
    return {"answer": answer, "answer_name": words.class_name(record, answer), "count": count}


def wrong_pairs(samples: Path) -> Pairs:
    """((what was there, what was said), how often), the most frequent first; the record itself keeps a hundred."""
    rows = read_rows(samples, columns=["label", "classes", "right"], only_wrong=True)
    rows = rows.filter(pc.greater(pc.list_value_length(rows["classes"]), 0))
    pairs = Counter(zip(rows["label"].to_pylist(), pc.list_element(rows["classes"], 0).to_pylist(), strict=True))
    return sorted(pairs.items(), key=lambda item: (-item[1], item[0]))
