"""Small charts as inline SVG. Colours come from the page's style sheet, so that dark mode and print work by themselves.

Horizontal places are percentages of the width and vertical ones are pixels: a chart fills its card on any screen and
its letters keep their size.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape

from mlmodelscope.report.chart_parts import line, marked, svg, text
from mlmodelscope.statistic.interval import wilson
from mlmodelscope.task.measure import SHARE, Unit
from mlmodelscope.types import Interval

_MARGIN = 3.0  # percent left and right, so that marks at the ends are not cut


def interval_bar(interval: Interval, published: str | None = None, remark: str = "", unit: Unit = SHARE) -> str:
    """A number with its interval on a labelled axis, and the published one marked where it lies."""
    claim = float(published) if published is not None else None
    low, high, value = (unit.factor * each for each in (interval.low, interval.high, interval.value))
    marks = [low, high] + ([claim] if claim is not None else [])
    reach = max(max(marks) - min(marks), 0.002 * unit.factor)
    first, last = min(marks) - 0.3 * reach, max(marks) + 0.3 * reach
    ticks = nice_ticks(max(0.0, first), min(100.0, last)) if unit is SHARE else nice_ticks(first, last)

    def x(number: float) -> float:
        return _across(number, ticks[0], ticks[-1])

    parts = [line(x(ticks[0]), 34, x(ticks[-1]), 34, "track")]
    for tick in ticks:
        parts.append(line(x(tick), 30, x(tick), 38, "tick"))
        parts.append(text(x(tick), 56, f"{tick:g}", "scale"))
    parts.append(f'<rect class="band" x="{x(low):.2f}%" y="27" width="{x(high) - x(low):.2f}%" height="14" rx="7"/>')
    parts.append(f'<circle class="dot" cx="{x(value):.2f}%" cy="34" r="7"/>')
    symbol = f" {unit.symbol}" if unit.symbol else ""
    label = f"{value:.2f}{symbol}, interval {low:.2f} to {high:.2f}{symbol}"
    if claim is not None:
        parts.append(line(x(claim), 17, x(claim), 46, "claim"))
        # Narrow screens leave the remark out, and show it beside the claim alone.
        content = f'published {escape(published or "")}<tspan class="remark">{escape(remark)}</tspan>'
        parts.append(marked(x(claim), 11, content, "claim-text", _anchor(x(claim))))
        label += f", published {published}{symbol}{remark}"
    return svg(62, label, parts)


def histogram(values: Sequence[float], lines: Sequence[tuple[str, float]], unit: str) -> str:
    """How often each duration occurred, with named vertical lines; a long tail is gathered in the last bar."""
    end = tail_start(values)
    bins = min(40, max(8, round(2 * math.sqrt(len(values)))))
    low = min(values)
    width = (end - low) / bins or max(abs(low), 1.0) * 0.01
    counts = [0] * bins
    for number in values:
        counts[min(int((number - low) / width), bins - 1)] += 1
    ticks = [tick for tick in nice_ticks(low, low + bins * width) if low <= tick <= low + bins * width]

    def x(number: float) -> float:
        return _across(number, low, low + bins * width)

    top, base = 64, 214
    parts = []
    for index, number in enumerate(counts):
        height = (base - top) * number / max(counts)
        start, stop = low + index * width, low + (index + 1) * width
        title = f"{start:.4g} – {stop:.4g} {unit}: {number}"
        if index == bins - 1 and max(values) > stop:
            title = f"{start:.4g} {unit} and more: {number}"
        parts.append(
            f'<rect class="column" x="{x(start):.2f}%" y="{base - height:.1f}" width="{x(stop) - x(start):.2f}%" '
            f'height="{height:.1f}"><title>{escape(title)}</title></rect>'
        )
    parts.append(line(0, base, 100, base, "axis"))
    for tick in ticks:
        parts.append(line(x(tick), base, x(tick), base + 5, "tick"))
        parts.append(text(x(tick), base + 20, f"{tick:g}", "scale"))
    # Each name has a row of its own, the first lowest, and lies above all lines: percentiles may be close together.
    names = []
    for row, (name, place) in enumerate(reversed(lines)):
        at = x(min(place, low + bins * width))
        anchor, nudge = ("end", "-7") if at > 50 else ("start", "7")
        names.append(text(at, 18 * row + 12, f"{name} {place:.4g} {unit}", "quantile-text", anchor, nudge))
        parts.append(line(at, 18 * row + 4, at, base, "quantile"))
    parts += names
    label = f"Histogram of {len(values)} durations; " + ", ".join(f"{name} {place:.4g} {unit}" for name, place in lines)
    return svg(242, label, parts)


def tail_start(values: Sequence[float]) -> float:
    """Where a histogram may end: one call that took ten times as long must not squeeze all others into one bar."""
    ordered = sorted(values)
    middle, late = ordered[len(ordered) // 2], ordered[int(0.95 * (len(ordered) - 1))]
    return min(ordered[-1], middle + 4 * max(late - middle, 0.05 * middle))


def reliability(bins: Sequence[dict[str, Any]]) -> str:
    """Accuracy against confidence; on the diagonal a model is as sure as it should be. Below, how many samples."""
    top, base, foot = 10, 250, 312

    def y(share: float) -> float:
        return base - (base - top) * share

    def x(share: float) -> float:
        return 9 + 89 * share

    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(line(x(0), y(share), x(1), y(share), "grid"))
        parts.append(text(x(0), y(share) + 4, f"{100 * share:g}", "scale", "end", "-7"))
        parts.append(text(x(share), foot + 18, f"{100 * share:g}", "scale"))
    most = max((each["count"] for each in bins), default=1)
    for each in bins:
        left, width = x(each["low"]), x(each["high"]) - x(each["low"])
        whisker = wilson(round(each["accuracy"] * each["count"]), each["count"])
        title = (
            f"confidence {100 * each['confidence']:.1f} %, right {100 * each['accuracy']:.1f} % "
            f"of {each['count']} samples"
        )
        height = 40 * each["count"] / most
        middle = left + width / 2
        parts.append(
            f'<g><title>{escape(title)}</title><rect class="column" x="{left:.2f}%" y="{y(each["accuracy"]):.1f}" '
            f'width="{width:.2f}%" height="{base - y(each["accuracy"]):.1f}"/>'
            f"{line(left, y(each['accuracy']), left + width, y(each['accuracy']), 'cap')}"
            f"{line(middle, y(whisker.low), middle, y(whisker.high), 'whisker')}"
            f'<rect class="count" x="{left:.2f}%" y="{foot - height:.1f}" width="{width:.2f}%" '
            f'height="{height:.1f}"/></g>'
        )
    parts.append(line(x(0), y(0), x(1), y(1), "ideal"))
    parts.append(line(x(0), base, x(1), base, "axis"))
    parts.append(line(x(0), foot, x(1), foot, "axis"))
    return svg(336, f"Reliability diagram of {len(bins)} bins of confidence", parts)


def curve(points: Sequence[tuple[float, float]], name: str) -> str:
    """A metric in the course of a training; progress in percent below."""
    top, base = 14, 190
    values = [value for _, value in points if math.isfinite(value)]
    if not values:
        return svg(20, f"{name}: no finite values", [])
    ticks = nice_ticks(min(values), max(values), 4)

    def y(value: float) -> float:
        return base - (base - top) * (value - ticks[0]) / (ticks[-1] - ticks[0])

    def x(progress: float) -> float:
        return 9 + 88 * progress

    parts = []
    for tick in ticks:
        parts.append(line(x(0), y(tick), x(1), y(tick), "grid"))
        parts.append(text(x(0), y(tick) + 4, f"{tick:g}", "scale", "end", "-7"))
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(text(x(share), base + 20, f"{100 * share:g} %", "scale"))
    known = [(progress, value) for progress, value in points if math.isfinite(value)]
    for (start, low), (end, high) in itertools.pairwise(known):
        parts.append(line(x(start), y(low), x(end), y(high), "whisker"))
    for progress, value in known:
        parts.append(
            f'<circle class="dot" cx="{x(progress):.2f}%" cy="{y(value):.1f}" r="4">'
            f"<title>{escape(f'{100 * progress:.0f} %: {name} {value:.5g}')}</title></circle>"
        )
    return svg(216, f"{name} from {known[0][1]:.4g} to {known[-1][1]:.4g}", parts)


def precision_recall(points: Sequence[dict[str, float]]) -> str:
    """Precision over recall; the area below the line is the average precision."""
    top, base = 10, 250

    def y(share: float) -> float:
        return base - (base - top) * share

    def x(share: float) -> float:
        return 9 + 89 * share

    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(line(x(0), y(share), x(1), y(share), "grid"))
        parts.append(text(x(0), y(share) + 4, f"{100 * share:g}", "scale", "end", "-7"))
        parts.append(text(x(share), base + 20, f"{100 * share:g}", "scale"))
    for before, after in itertools.pairwise(points):
        parts.append(
            line(x(before["recall"]), y(before["precision"]), x(after["recall"]), y(after["precision"]), "cap")
        )
    for each in points:
        title = f"recall {100 * each['recall']:.0f} %: precision {100 * each['precision']:.1f} %"
        parts.append(
            f'<circle class="dot" cx="{x(each["recall"]):.2f}%" cy="{y(each["precision"]):.1f}" r="4.5">'
            f"<title>{escape(title)}</title></circle>"
        )
    parts.append(line(x(0), base, x(1), base, "axis"))
    half = next((each["precision"] for each in points if each["recall"] >= 0.5), 0.0)
    return svg(276, f"Precision over recall; {100 * half:.1f} % at a recall of 50 %", parts)


def qualities(counts: Sequence[int]) -> str:
    """How many samples have which quality, from 0 to 100 %."""
    top, base, most = 20, 150, max(counts, default=0) or 1

    def x(place: float) -> float:
        return _across(place, 0, len(counts))

    parts = []
    for at, count in enumerate(counts):
        height = (base - top) * count / most
        reach = f"{100 * at / len(counts):g} – {100 * (at + 1) / len(counts):g} %: {count:,}"
        parts.append(
            f'<rect class="column" x="{x(at):.2f}%" y="{base - height:.1f}" width="{x(at + 1) - x(at):.2f}%" '
            f'height="{height:.1f}"><title>{escape(reach)}</title></rect>'
        )
    parts.append(line(0, base, 100, base, "axis"))
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(text(x(share * len(counts)), base + 20, f"{100 * share:g}", "scale"))
    parts.append(text(x(counts.index(max(counts)) + 0.5), top - 6, f"{most:,}", "scale"))
    low = sum(counts[: len(counts) // 2])
    return svg(178, f"Quality of {sum(counts):,} samples; {low:,} of them below 50 %", parts)


def nice_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers from at or below `low` to at or above `high`, about so many."""
    rough = max(high - low, 1e-9) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(index * step, 10) for index in range(first, max(last, first + 1) + 1)]


def _across(number: float, low: float, high: float) -> float:
    share = (number - low) / (high - low)
    return _MARGIN + (100 - 2 * _MARGIN) * min(max(share, 0.0), 1.0)


def _anchor(place: float) -> str:
    """Away from an edge that is near: wide letters must not reach beyond it."""
    return "start" if place < 28 else "end" if place > 72 else "middle"


def stacked_bar(parts: Sequence[tuple[str, int]]) -> str:
    """Shares of a whole, side by side in one bar, darkest first; the names stand in the legend."""
    total = sum(number for _, number in parts) or 1
    drawn, at = [], 0.0
    for index, (name, number) in enumerate(parts):
        width = 100 * number / total
        drawn.append(
            f'<rect class="share s{index}" x="{at:.2f}%" y="0" width="{width:.2f}%" height="18">'
            f"<title>{escape(f'{name}: {number}')}</title></rect>"
        )
        at += width
    return svg(18, ", ".join(f"{name}: {number}" for name, number in parts), drawn)
