"""What became of each sample: the answers to a batch, sample by sample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mlmodelscope.dataset.sample import Sample
from mlmodelscope.task.class_answer import ClassAnswer
from mlmodelscope.worker.answers import Answers


@dataclass(frozen=True, slots=True)
class Row:
    sample: Sample
    answer: Any
    """In the form of its task; a JSON text where a manifest's own code made it; None where the sample failed."""
    error: str | None = None

    @property
    def classes(self) -> ClassAnswer | None:
        return self.answer if isinstance(self.answer, ClassAnswer) else None

    @property
    def text(self) -> str | None:
        return self.answer if isinstance(self.answer, str) else None


def rows_of(answers: Answers, samples: Sequence[Sample]) -> Iterator[Row]:
    """A batch's outcome, sample by sample; a failed one has no answer."""
    found = iter(answers.rows)
    for slot, sample in enumerate(samples):
        if slot in answers.errors:
            yield Row(sample, None, answers.errors[slot])
        else:
            yield Row(sample, next(found))
