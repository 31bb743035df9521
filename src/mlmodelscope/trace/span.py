"""A span: an interval of the timeline at a level. Ids are of OpenTelemetry's size and follow from what they name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any

LEVELS = ("none", "application", "model", "framework", "library", "hardware")
"""Each includes the ones before it."""


@dataclass(frozen=True, slots=True)
class Span:
    trace_id: str
    """32 hexadecimal digits, the same for all spans of a trace."""
    id: str
    """16 hexadecimal digits."""
    parent: str | None
    name: str
    level: str
    start_ns: int
    """Nanoseconds since the trace began."""
    end_ns: int
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def duration_ns(self) -> int:
        """How long it is on the timeline, where nothing of a lower level disturbs it."""
        return self.end_ns - self.start_ns

    @property
    def measured_ns(self) -> int:
        """How long it took in the run that saw it, which lower levels may have slowed down."""
        return int(self.attributes.get("measured_ns", self.duration_ns))

    @property
    def lane(self) -> str:
        """Where it ran, such as a stream of a device; empty for the thread that called."""
        return str(self.attributes.get("lane", ""))


@dataclass(frozen=True)
class Overhead:
    """Profiling overhead: the same spans without a level and with it.

    They take turns, so that both see the same machine, and the median of their ratios counts.
    """

    level: str
    compared: str
    """The spans that are compared, by their name."""
    without_ns: int
    with_ns: int
    low: float | None = None
    """Between here and `high` the true share is, 19 times of 20, where batches took turns."""
    high: float | None = None

    @property
    def share(self) -> float:
        return self.with_ns / self.without_ns - 1 if self.without_ns else 0.0


@dataclass(frozen=True)
class Trace:
    """One timeline: spans in the order of their starts, parents before children."""

    id: str
    began_unix_ns: int
    spans: tuple[Span, ...]
    overheads: tuple[Overhead, ...] = ()
    resource: Mapping[str, str] = field(default_factory=dict)
    """What was traced, by OpenTelemetry's attribute names and ours."""

    @property
    def duration_ns(self) -> int:
        return max((span.end_ns for span in self.spans), default=0)

    @cached_property
    def children(self) -> Mapping[str | None, Sequence[Span]]:
        """Spans by the id of their parent; those without one by None."""
        found: dict[str | None, list[Span]] = {}
        for span in self.spans:
            found.setdefault(span.parent, []).append(span)
        return found

    def walk(self) -> Iterator[tuple[Span, int]]:
        """Every span with its depth, in the order of a tree that is read from top to bottom."""
        waiting = [(span, 0) for span in reversed(self.children.get(None, ()))]
        while waiting:
            span, depth = waiting.pop()
            yield span, depth
            waiting.extend((child, depth + 1) for child in reversed(self.children.get(span.id, ())))

    def named(self, name: str, level: str) -> list[Span]:
        return [span for span in self.spans if span.name == name and span.level == level]

    def at(self, level: str) -> list[Span]:
        return [span for span in self.spans if span.level == level]


def trace_id_of(record: str, seed: int) -> str:
    return _digest(f"trace {record} {seed}", 16)


def span_id_of(trace_id: str, number: int) -> str:
    return _digest(f"span {trace_id} {number}", 8)


def _digest(text: str, size: int) -> str:
    found = blake2b(text.encode(), digest_size=size).hexdigest()
    return found if found.strip("0") else "1".rjust(2 * size, "0")  # all zeros means no id
