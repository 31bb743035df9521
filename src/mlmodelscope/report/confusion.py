"""What is taken for what where no sample is simply wrong: pixels of one class painted as another, boxes misnamed."""

from __future__ import annotations

from dataclasses import dataclass

from mlmodelscope.record.record import Record
from mlmodelscope.report import words
from mlmodelscope.report.classes import Confusion

_UNITS = {
    "pixel_confusion": ("Pixels", "Pixels of one class that were answered as another, the most first."),
    "box_confusion": (
        "Boxes",
        "Boxes with a score of 0.3 or more that lie over a thing of another class (overlap of 0.50 or more).",
    ),
}


@dataclass(frozen=True)
class Taken:
    unit: str
    about: str
    pairs: tuple[Confusion, ...]
    """The most frequent first."""


def taken_for(record: Record) -> Taken | None:
    """None where the task does not say, or there is only one class."""
    for name, (unit, about) in _UNITS.items():
        if name in record.details and len(record.details.get("per_class") or ()) > 1:
            pairs = tuple(
                Confusion(
                    words.class_name(record, each["label"]), words.class_name(record, each["answer"]), each["count"]
                )
                for each in record.details[name]
            )
            return Taken(unit, about, pairs)
    return None
