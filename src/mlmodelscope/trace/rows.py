"""Rows of a timeline: where on a page each span lies, so that none covers another one.

Spans of a level lie together, those of other lanes than the calling thread's below them; inside such a band a span has
the first row that is free when it begins, which for spans that lie in one another is their depth.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from mlmodelscope.trace.span import LEVELS

_MOST_ROWS = 24
"""Of a band; what finds none lies in the last one."""
_MOST_BANDS = 40


@dataclass(frozen=True)
class Row:
    level: str
    lane: str
    """Where it ran, such as a stream of a device; empty for the thread that called."""
    depth: int
    first_ns: int
    """When the first of its spans begins."""
    last_ns: int
    """When the last of them has ended."""
    spans: int


@dataclass(frozen=True)
class Laid:
    rows: tuple[Row, ...]
    places: pa.Array
    """The row of each span, by its number."""


def lay_out(table: pa.Table) -> Laid:
    """Of spans in the order of their starts, parents before what begins with them."""
    columns = [table[name].to_pylist() for name in ("level", "start_ns", "end_ns", "attributes")]
    free: dict[tuple[str, str], list[int]] = {}
    counts: dict[tuple[str, str, int], int] = {}
    firsts: dict[tuple[str, str, int], int] = {}
    lasts: dict[tuple[str, str, int], int] = {}
    found = []
    for level, start, end, words in zip(*columns, strict=True):
        band = level, _lane(words)
        if band not in free and len(free) >= _MOST_BANDS:
            band = level, ""
        ends = free.setdefault(band, [])
        depth = _first_free(ends, start)
        if depth == len(ends):
            ends.append(end)
        else:
            ends[depth] = max(end, ends[depth])
        key = (*band, depth)
        found.append(key)
        counts[key] = counts.get(key, 0) + 1
        firsts.setdefault(key, start)
        lasts[key] = max(end, lasts.get(key, end))
    ordered = sorted(counts, key=lambda key: (LEVELS.index(key[0]) if key[0] in LEVELS else len(LEVELS), *key))
    places = {key: place for place, key in enumerate(ordered)}
    rows = tuple(Row(*key, firsts[key], lasts[key], counts[key]) for key in ordered)
    return Laid(rows, pa.array([places[key] for key in found], pa.int32()))


def _first_free(ends: Sequence[int], start: int) -> int:
    for depth, end in enumerate(ends):
        if end <= start:
            return depth
    return min(len(ends), _MOST_ROWS - 1)


def _lane(words: str | None) -> str:
    if words is None or '"lane"' not in words:  # most have none, and reading them all takes long
        return ""
    return str(json.loads(words).get("lane") or "")[:100]
