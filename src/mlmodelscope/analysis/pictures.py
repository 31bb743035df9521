"""Plots that several analyses draw, each in more than one way where that helps to read it."""

from __future__ import annotations

from collections.abc import Sequence

from mlmodelscope.analysis.measured import ABOVE, CACHE, Work
from mlmodelscope.analysis.peak import Peak
from mlmodelscope.report import words
from mlmodelscope.report.plot import Axis, Mark, bars, roofline

MOST_BARS = 500
_BYTES = ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "byte"))
_COUNTS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_FASTER = {CACHE: "its bytes came from a cache", ABOVE: "faster than the best that was measured"}
Bar = tuple[str, float, str, str]
"""Name, value, what the pointer shows, group."""


def bars_in_ways(title: str, label: str, found: Sequence[Bar], unit: str) -> dict[str, str]:
    """In order, the largest first, and in order on a logarithmic axis; `unit` is ns, byte or what is counted."""
    if not found:
        return {}
    scale, spelled = unit_of(max(value for _, value, _, _ in found), unit)
    largest = sorted(found, key=lambda bar: -bar[1])
    ways = {"in order": (found, False), "largest first": (largest, False), "logarithmic": (found, True)}
    plots = {}
    for way, (chosen, log) in ways.items():
        shown = [bar for bar in chosen if bar[1] > 0] if log else list(chosen)
        if len(shown) > MOST_BARS:  # the shortest of thousands would not be seen
            kept = {id(bar) for bar in sorted(shown, key=lambda bar: -bar[1])[:MOST_BARS]}
            shown = [bar for bar in shown if id(bar) in kept]
        if shown:
            plots[way] = bars(
                title,
                [(name, value / scale, tip) for name, value, tip, _ in shown],
                Axis(label, spelled, log),
                [group for _, _, _, group in shown],
            )
    return plots


def unit_of(largest: float, unit: str) -> tuple[float, str]:
    """(what a value is divided by, the unit that it then has)."""
    if unit == "ns":
        size, name = words.time_unit(largest / 1e9)
        return size * 1e9, name
    if unit == "byte":
        return next(((size, name) for size, name in _BYTES if largest >= size), _BYTES[-1])
    size, letter = next(((size, letter) for size, letter in _COUNTS if largest >= size), _COUNTS[-1])
    return size, f"{letter}{unit}"


def roof(title: str, found: Sequence[tuple[str, str, Work]], peak: Peak) -> str:
    """Things with their group and work under the machine's roof; the area of a mark is its share of the time."""
    total = sum(work.time_ns for _, _, work in found) or 1.0
    marks = [
        Mark(work.intensity, work.flops_per_s, name, group, work.time_ns / total, _FASTER.get(work.bound or "", ""))
        for name, group, work in found
        if work.intensity and work.flops_per_s
    ]
    return roofline(title, marks, peak.flops_per_s, peak.bytes_per_s)
