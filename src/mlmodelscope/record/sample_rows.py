"""What became of each sample: the answers to a batch, sample by sample."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlmodelscope.dataset.sample import Sample
from mlmodelscope.worker.answers import Answers, Runs
from mlmodelscope_worker.output.answer import NO_CLASS


@dataclass(frozen=True, slots=True)
class Row:
    sample: Sample
    classes: tuple[int, ...]
    scores: tuple[float, ...]
    error: str | None
    answer: str | None = None
    """The answer as JSON, where it is no list of classes."""
    tied: Runs = ()
    """Further classes with exactly the score of the last one."""


def rows_of(answers: Answers, samples: Sequence[Sample]) -> Iterator[Row]:
    """A batch's outcome, sample by sample; a failed one has no classes."""
    k = answers.k
    classes = struct.unpack(f"<{len(answers.classes) // 4}i", answers.classes)
    scores = struct.unpack(f"<{len(answers.scores) // 4}f", answers.scores)
    row = 0
    for slot, sample in enumerate(samples):
        if slot in answers.errors:
            yield Row(sample, (), (), answers.errors[slot])
        elif answers.answers is not None:
            yield Row(sample, (), (), None, answers.answers[row])
            row += 1
        else:
            kept = k
            while kept and classes[row * k + kept - 1] == NO_CLASS:
                kept -= 1
            part = slice(row * k, row * k + kept)
            yield Row(sample, classes[part], scores[part], None, tied=answers.ties.get(slot, ()))
            row += 1
