"""Runs at several levels become one timeline.

Each level was measured in a run of its own, because looking closer slows down what is looked at. The first run has the
times that count. A span of a later run that also stands in the timeline is an *anchor*: its own times are dropped, and
what is new inside it is scaled into the interval that the anchor has in the timeline. So a span at an upper level keeps
its undisturbed time, and a lower one its share of it; what it took in its own run is kept as `measured_ns`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median_low
from typing import Any

from mlmodelscope.statistic.interval import percentile_interval
from mlmodelscope.trace.span import LEVELS, Overhead, Span, span_id_of

_OF_THE_RUN = ("counters", "sample", "symbol", "disk")
"""Kinds that say something of a whole run: a layer that happens to lie around one has nothing to do with it."""
_DEPTH = {level: depth for depth, level in enumerate(LEVELS)}


@dataclass(frozen=True, slots=True)
class Taken:
    """A span as a run took it: times by that run's own clock, its parent a place in the same run."""

    name: str
    level: str
    start_ns: int
    end_ns: int
    parent: int | None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    origin: int | None = field(default=None, compare=False)
    """In a timeline: the parent that it has in its own run, where it may have found a smaller one here."""

    @property
    def duration_ns(self) -> int:
        return self.end_ns - self.start_ns

    @property
    def lane(self) -> str:
        return str(self.attributes.get("lane", ""))


@dataclass(frozen=True)
class LeveledRun:
    """What one run saw, parents before their children; the first span is around all others."""

    level: str
    spans: tuple[Taken, ...]
    compared: str | None = None
    """Name of the spans that show what this level costs."""
    without_ns: tuple[int, ...] = ()
    """The same spans without this level, where they were measured beside it; else the timeline's own are compared."""


def merge(runs: Sequence[LeveledRun]) -> tuple[list[Taken], list[Overhead]]:
    """One timeline, from the least disturbed run to the most disturbed one, and what each level costs."""
    if not runs:
        return [], []
    first = runs[0].spans[0].start_ns if runs[0].spans else 0
    merged = [replace(span, start_ns=span.start_ns - first, end_ns=span.end_ns - first) for span in runs[0].spans]
    overheads = []
    for run in runs[1:]:
        anchors = match(merged, run.spans)
        overhead = _overhead(run, merged, anchors)
        if overhead is not None:
            overheads.append(overhead)
        _add(merged, run.spans, anchors)
    return merged, overheads


def match(merged: Sequence[Taken], spans: Sequence[Taken]) -> dict[int, int]:
    """Places of anchors: {place in the run: place in the timeline}. The same name, again as often, under the same."""
    numbers: dict[Any, int] = {}
    known = {key: place for place, key in enumerate(_keys(merged, numbers))}
    anchors: dict[int, int] = {}
    for place, key in enumerate(_keys(spans, numbers)):
        parent = spans[place].parent
        if key in known and (parent is None or parent in anchors):
            anchors[place] = known[key]
    return anchors


def _keys(spans: Sequence[Taken], numbers: dict[Any, int]) -> list[int]:
    """A number for each span, the same for the same name and level, again as often, under the same number."""
    keys: list[int] = []
    counts: dict[Any, int] = {}
    for span in spans:
        parent = span.parent if span.origin is None else span.origin
        like = (keys[parent] if parent is not None else None, span.name, span.level)
        counts[like] = counts.get(like, 0) + 1
        keys.append(numbers.setdefault((*like, counts[like]), len(numbers)))
    return keys


def _overhead(run: LeveledRun, merged: list[Taken], anchors: Mapping[int, int]) -> Overhead | None:
    """What the level costs; every pair that says so is kept with the span that it is of."""
    found = [
        (at, run.spans[place].duration_ns)
        for place, at in anchors.items()
        if merged[at].name == run.compared and run.spans[place].duration_ns and merged[at].duration_ns
    ]
    if not found or run.compared is None:
        return None
    if len(run.without_ns) == len(found):
        plain = list(run.without_ns)
    elif run.without_ns:  # one run that stands for several, as some frameworks tell their mean
        plain = [round(fmean(run.without_ns))] * len(found)
    else:
        plain = [int(merged[at].attributes.get("measured_ns", merged[at].duration_ns)) for at, _ in found]
    for (at, with_it), without in zip(found, plain, strict=True):
        said = {f"with_{run.level}_ns": with_it, f"without_{run.level}_ns": without}
        merged[at] = replace(merged[at], attributes={**merged[at].attributes, **said})
    ratio = percentile_interval([pair[1] / without for pair, without in zip(found, plain, strict=True)], 0.5)
    bounds = (ratio.low - 1, ratio.high - 1) if len(found) > 5 else (None, None)
    without = median_low(plain)
    return Overhead(run.level, run.compared, without, round(without * ratio.value), *bounds)


def _add(merged: list[Taken], spans: Sequence[Taken], anchors: Mapping[int, int]) -> None:
    """Append what is not there yet, scaled into its anchor, below the smallest span that it lies in."""
    layers = _Inside(merged)
    at: dict[int, int] = dict(anchors)
    above: dict[int, int] = {}  # place in the run: the anchor whose scale holds there
    for place, span in enumerate(spans):
        if place in anchors:
            above[place] = place
            continue
        anchor = _around(span, spans, above[span.parent]) if span.parent is not None else None
        above[place] = anchor if anchor is not None else place
        scaled = span if anchor is None else _scale(span, spans[anchor], merged[anchors[anchor]])
        if anchor is not None and (shift := _beside(span, spans, merged, anchors, anchor)):
            scaled = replace(scaled, start_ns=scaled.start_ns + shift, end_ns=scaled.end_ns + shift)
        parent = at[span.parent] if span.parent is not None else None
        origin = parent
        if parent is not None and span.parent in anchors and span.attributes.get("kind") not in _OF_THE_RUN:
            parent = layers.smallest(parent, scaled)
        merged.append(
            replace(
                scaled,
                parent=parent,
                origin=origin,
                attributes={"measured_ns": span.duration_ns, **dict(span.attributes)},
            )
        )
        at[place] = len(merged) - 1


def _around(span: Taken, spans: Sequence[Taken], anchor: int) -> int:
    """The anchor whose scale holds for a span. What runs beside its parent, such as the launches that are ahead of a
    device, would be thrown far off by the scale of a parent that took next to no time."""
    while span.lane and not (spans[anchor].start_ns <= span.start_ns and span.end_ns <= spans[anchor].end_ns):
        above = spans[anchor].parent
        if above is None:
            break
        anchor = above
    return anchor


def _beside(
    span: Taken, spans: Sequence[Taken], merged: Sequence[Taken], anchors: Mapping[int, int], place: int
) -> int:
    """How far a span must still be moved that began before its parent and ends in it, as a kernel does that starts
    while the last blocks of another still run: with its parent, which may be elsewhere in the timeline."""
    if span.parent is None or span.parent == place or span.parent not in anchors:
        return 0
    parent = spans[span.parent]
    if not (parent.start_ns < span.end_ns and span.start_ns < parent.end_ns):
        return 0
    return merged[anchors[span.parent]].end_ns - _scale(parent, spans[place], merged[anchors[place]]).end_ns


def _scale(span: Taken, source: Taken, target: Taken) -> Taken:
    """Whole numbers all the way: what is inside stays inside, and what is outside, as on a device, stays outside."""

    def move(moment: int) -> int:
        if source.duration_ns == 0:
            return min(max(moment - source.start_ns + target.start_ns, target.start_ns), target.end_ns)
        return target.start_ns + (moment - source.start_ns) * target.duration_ns // source.duration_ns

    return replace(span, start_ns=move(span.start_ns), end_ns=move(span.end_ns))


class _Inside:
    """Which spans of the timeline lie below another one: what has no better parent is found one by its interval."""

    def __init__(self, merged: Sequence[Taken]) -> None:
        self._merged = merged
        self._children: dict[int, list[int]] = {}
        for place, span in enumerate(merged):
            if span.parent is not None and not span.lane:
                self._children.setdefault(span.parent, []).append(place)
        for below in self._children.values():
            below.sort(key=lambda place: merged[place].start_ns)

    def smallest(self, parent: int, span: Taken) -> int:
        """The smallest span of an upper level, below this parent, that a span lies in; else the parent itself."""
        below = self._children.get(parent, [])
        at = bisect_right(below, span.start_ns, key=lambda place: self._merged[place].start_ns) - 1
        while at >= 0:
            each = self._merged[below[at]]
            if each.start_ns <= span.start_ns and span.end_ns <= each.end_ns and _is_above(each, span):
                return self.smallest(below[at], span)
            if each.end_ns < span.start_ns:  # siblings follow one another: those before end even earlier
                break
            at -= 1
        return parent


def _is_above(each: Taken, span: Taken) -> bool:
    return _DEPTH[each.level] < _DEPTH[span.level]


def number(spans: Sequence[Taken], trace_id: str) -> tuple[Span, ...]:
    """Spans with ids, in the order of their starts, parents first."""
    depths: list[int] = []
    for span in spans:
        depths.append(0 if span.parent is None else depths[span.parent] + 1)
    ids = [span_id_of(trace_id, place) for place in range(len(spans))]
    ordered = sorted(range(len(spans)), key=lambda place: (spans[place].start_ns, depths[place], place))
    return tuple(
        Span(
            trace_id,
            ids[place],
            None if (above := spans[place].parent) is None else ids[above],
            spans[place].name,
            spans[place].level,
            spans[place].start_ns,
            spans[place].end_ns,
            spans[place].attributes,
        )
        for place in ordered
    )
