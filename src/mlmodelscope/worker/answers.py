"""What a model answered for a batch: as it leaves the worker, and as a journal keeps it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mlmodelscope.dataset.sample import Sample
from mlmodelscope.task.array_answer import array_answers
from mlmodelscope.task.class_answer import ClassAnswer
from mlmodelscope_worker.output.answer import NO_CLASS
from mlmodelscope_worker.task.classification import FORM as CLASSES


@dataclass(frozen=True)
class Batch:
    """Some samples that the model gets at once; a plan's batches are always cut the same way."""

    index: int
    samples: Sequence[Sample]


@dataclass(frozen=True)
class Answers:
    """What came out for one batch, as it travels: content and buffers hold the samples that did not fail, in order."""

    batch: int
    errors: dict[int, str]
    """Why a sample failed, by its place in the batch."""
    run_ns: int
    content: Mapping[str, Any] = field(default_factory=dict)
    """`form`, and what that form has; empty where all samples failed."""
    buffers: tuple[bytes, ...] = ()

    @property
    def rows(self) -> list[Any]:
        """The answers themselves, in the form of their task."""
        return decoded(self.content, self.buffers)


def cut_batches(samples: Sequence[Sample], size: int) -> list[Batch]:
    return [Batch(index, samples[index * size : (index + 1) * size]) for index in range(-(-len(samples) // size))]


def failed_batch(batch: Batch, reason: str) -> Answers:
    """A batch none of whose samples has an answer."""
    return Answers(batch.index, dict.fromkeys(range(len(batch.samples)), reason), 0)


def decoded(content: Mapping[str, Any], buffers: Sequence[bytes]) -> list[Any]:
    """Answers from the form in which they travelled."""
    return _FORMS[content["form"]](content, buffers) if content else []


def _classes(content: Mapping[str, Any], buffers: Sequence[bytes]) -> list[ClassAnswer]:
    k = content["k"]
    classes = struct.unpack(f"<{len(buffers[0]) // 4}i", buffers[0])
    scores = struct.unpack(f"<{len(buffers[1]) // 4}f", buffers[1])
    ties = {int(row): tuple((first, last) for first, last in runs) for row, runs in content["ties"].items()}
    found = []
    for row in range(len(classes) // k if k else 0):
        kept = k
        while kept and classes[row * k + kept - 1] == NO_CLASS:
            kept -= 1
        part = slice(row * k, row * k + kept)
        found.append(ClassAnswer(classes[part], scores[part], ties.get(row, ())))
    return found


def _texts(content: Mapping[str, Any], buffers: Sequence[bytes]) -> list[str]:
    texts: list[str] = content["texts"]
    return texts


_FORMS: Mapping[str, Callable[[Mapping[str, Any], Sequence[bytes]], list[Any]]] = {
    CLASSES: _classes,
    "texts": _texts,
    "arrays": array_answers,
}
