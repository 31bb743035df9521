"""What a classifier answers: its best classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

CLASS_TASKS = ("classification", "text_classification", "audio_classification", "tabular_classification")
"""Tasks in which a sample has one class. They differ in what a sample is, and in nothing else."""
Runs = tuple[tuple[int, int], ...]
"""Classes as (first, last) of neighbours, both included."""


@dataclass(frozen=True, slots=True)
class ClassAnswer:
    """The best classes for one sample, best first."""

    classes: tuple[int, ...]
    scores: tuple[float, ...]
    tied: Runs = ()
    """Further classes with exactly the score of the last one."""


def label_of(target: int | Sequence[int], answer: ClassAnswer | None) -> Any:
    """The class that a sample counts as: of several that are right, the one that the model finds likeliest.

    It is among the k best classes exactly where any of them is; where none was kept, it is the first.
    """
    if not isinstance(target, (list, tuple)):
        return target
    if answer is None:
        return target[0]
    right = set(target)
    kept = next((each for each in answer.classes if each in right), None)
    if kept is not None:
        return kept
    return next((each for each in target if any(first <= each <= last for first, last in answer.tied)), target[0])
