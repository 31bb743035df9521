"""Tracks: spans that lie in one another or follow one another share one; what runs side by side needs another.

Viewers stack spans by their times alone, so two layers that overlap would spoil each other on one track.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from mlmodelscope.trace.span import Span, Trace


@dataclass
class Track:
    name: str
    spans: list[tuple[Span, int]] = field(default_factory=list)
    """In the order of their starts, each with the number of spans around it."""
    _open: list[Span] = field(default_factory=list)

    def take(self, span: Span) -> bool:
        """Take the span, unless it would cross one that is there."""
        while self._open and self._open[-1].end_ns <= span.start_ns and not _lies_in(span, self._open[-1]):
            self._open.pop()
        if self._open and self._open[-1].end_ns < span.end_ns:
            return False
        self.spans.append((span, len(self._open)))
        self._open.append(span)
        return True


def _lies_in(span: Span, other: Span) -> bool:
    """An empty span at the end of another one lies in it, if that is its parent."""
    return span.parent == other.id and span.end_ns <= other.end_ns


def tracks_of(trace: Trace) -> list[Track]:
    """The calling thread's first, then those of other lanes, and further ones where spans overlap."""
    lanes: dict[str, list[Track]] = {}
    for span in trace.spans:
        tracks = lanes.setdefault(span.lane, [])
        if not any(track.take(span) for track in tracks):
            name = span.lane or "main"
            track = Track(name if not tracks else f"{name}, {len(tracks) + 1}")
            track.take(span)
            tracks.append(track)
    return [track for lane in sorted(lanes) for track in lanes[lane]]


def nested_events(track: Track) -> Iterator[tuple[bool, Span, int]]:
    """(opens, span, moment) in an order in which every span closes before the one that it lies in."""
    around: list[Span] = []
    for span, depth in track.spans:
        while len(around) > depth:
            closed = around.pop()
            yield False, closed, closed.end_ns
        yield True, span, span.start_ns
        around.append(span)
    while around:
        closed = around.pop()
        yield False, closed, closed.end_ns
