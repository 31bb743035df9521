"""Tasks whose answers are numbers: what all of them declare alike, and their numbers in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from mlmodelscope.task import values
from mlmodelscope.task.ruled import RuledTally
from mlmodelscope.task.task import TASKS, Number, Task
from mlmodelscope_worker.registry import add

Sentence = Callable[[int, Mapping[str, Number]], str]


def number_task(name: str, title: str, headline: Sequence[str], sentence: Sentence, **own: Any) -> Task:
    """Register one. `own` is what such a task has beside what others have, or in place of it."""
    shared: dict[str, Any] = {
        "is_ruled": True,
        "roles": values.ROLES,
        "has_classes": False,
        "columns": values.COLUMNS,
        "values": values.values_of,
        "plain": values.plain,
        "shapes": values.shapes,
    }
    task = Task(
        name, title, partial(RuledTally, name), headline=tuple(headline), sentence=sentence, **{**shared, **own}
    )
    add(TASKS.things, name, task, TASKS.code)
    return task


def on_samples(told: Sequence[str], samples: int, of: str = "") -> str:
    """Some numbers as one sentence, where there are any."""
    return f"{', '.join(told)} on {values.samples_in_words(samples)}{of}" if told else ""


def percentage(name: str, words: str, of: str = "") -> Sentence:
    """A sentence that has one number, in percent."""

    def sentence(samples: int, numbers: Mapping[str, Number]) -> str:
        return on_samples([f"{words} {100 * numbers[name].value:.2f} %"] if name in numbers else [], samples, of)

    return sentence
