"""What came of a run of load, as the worker kept it."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from mlmodelscope.worker.texts import Texts
from mlmodelscope_worker import messages


def int64s(buffer: bytes) -> array[int]:
    values = array("q")
    values.frombytes(buffer)
    return values


@dataclass(frozen=True)
class Loaded:
    """Times of queries in nanoseconds since the run began, in the order in which they were issued."""

    due_ns: array[int]
    """When each should have been issued."""
    started_ns: array[int]
    ended_ns: array[int]
    depths: array[int]
    """Queries that were waiting when each was begun; empty unless they can wait."""
    batch_size: int
    lanes: int
    unanswered: int
    """Queries that were due and not begun when the run was given up."""
    cpu_ns: int
    peak_memory_bytes: int | None
    first_ns: Sequence[int] = ()
    """Calls before, which do not count."""
    notes: Sequence[str] = ()
    end_to_end: bool = False
    texts: Texts | None = None
    """What a language model was asked and wrote."""

    @cached_property
    def latencies_ns(self) -> list[int]:
        """From when a query was due to its answer: waiting counts."""
        return [end - due for end, due in zip(self.ended_ns, self.due_ns, strict=True)]

    @property
    def duration_s(self) -> float:
        """From the start of the run to the last answer."""
        return max(self.ended_ns, default=0) / 1e9


def loaded_from(message: messages.Loaded, buffers: Sequence[bytes]) -> Loaded:
    due, started, ended, depths, *told = (int64s(buffer) for buffer in buffers)
    return Loaded(
        due,
        started,
        ended,
        depths,
        batch_size=message.batch_size,
        lanes=message.lanes,
        unanswered=message.unanswered,
        cpu_ns=message.cpu_ns,
        peak_memory_bytes=message.peak_memory_bytes,
        first_ns=tuple(message.warm_up_ns),
        notes=tuple(message.notes),
        end_to_end=message.end_to_end,
        texts=Texts(*told) if told else None,
    )
