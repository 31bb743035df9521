"""What a model answered for a batch: as it leaves the worker, and as a journal keeps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mlmodelscope.dataset.sample import Sample

Runs = tuple[tuple[int, int], ...]
"""Classes as (first, last) of neighbours, both included."""


@dataclass(frozen=True)
class Batch:
    """Some samples that the model gets at once; a plan's batches are always cut the same way."""

    index: int
    samples: Sequence[Sample]


@dataclass(frozen=True)
class Answers:
    """What came out for one batch. Buffers hold the samples that did not fail, in order."""

    batch: int
    k: int
    classes: bytes
    """int32, samples x k."""
    scores: bytes
    """float32, samples x k."""
    errors: dict[int, str]
    """Why a sample failed, by its place in the batch."""
    run_ns: int
    improbable: int
    """Samples whose scores were declared probabilities and are none."""
    answers: tuple[str, ...] | None = None
    """Answers that are not classes, as JSON texts, of the samples that did not fail."""
    ties: Mapping[int, Runs] = field(default_factory=dict)
    """By place in the batch: further classes with exactly the score of the last one that was kept."""


def cut_batches(samples: Sequence[Sample], size: int) -> list[Batch]:
    return [Batch(index, samples[index * size : (index + 1) * size]) for index in range(-(-len(samples) // size))]


def runs_from(written: Mapping[str, Sequence[Sequence[int]]]) -> dict[int, Runs]:
    """As JSON has them."""
    return {int(slot): tuple((first, last) for first, last in runs) for slot, runs in written.items()}


def failed_batch(batch: Batch, reason: str) -> Answers:
    """A batch none of whose samples has an answer."""
    return Answers(batch.index, 0, b"", b"", dict.fromkeys(range(len(batch.samples)), reason), 0, 0)
