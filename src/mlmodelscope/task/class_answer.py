"""What a classifier answers: its best classes."""

from __future__ import annotations

from dataclasses import dataclass

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
