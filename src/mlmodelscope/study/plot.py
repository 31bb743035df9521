"""Charts that stand alone: one SVG file each, no library, colours of their own for light and dark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from mlmodelscope.report.charts import nice_ticks

_WIDTH = 860
_ROW = 26
_SIDE = 192
_ABREAST = 4
"""Pictures side by side."""
_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1a1d21}.title{font-size:17px;font-weight:600}"
    ".quiet{fill:#5b626b;font-size:12px}.grid{stroke:#e3e3df}.zero{stroke:#5b626b}.bar{fill:#a3cfd0}.bar.loss{fill:#e0a96d}"
    ".whisker{stroke:#1a1d21;stroke-width:1.5}.paper{fill:none;stroke:#8a2be2;stroke-width:2}"
    ".curve{fill:none;stroke:#0e6c74;stroke-width:2}.curve.s1{stroke:#c0711a}.curve.s2{stroke:#7a4fa3}"
    ".dot{fill:#0e6c74}.dot.s1{fill:#c0711a}.dot.s2{fill:#7a4fa3}.ground{fill:#fff}"
    "@media (prefers-color-scheme:dark){.ground{fill:#15191c}text{fill:#e9ebed}.quiet{fill:#9ca5ad}"
    ".grid{stroke:#2a3035}.bar{fill:#286166}.bar.loss{fill:#8a5a22}.whisker{stroke:#e9ebed}.paper{stroke:#c9a3ff}}"
)


@dataclass(frozen=True)
class Bar:
    label: str
    value: float
    low: float | None = None
    high: float | None = None
    paper: float | None = None
    """The paper's number, where it has one to set beside."""


@dataclass(frozen=True)
class Picture:
    caption: str
    uri: str
    """A `data:` address: the file must not need others."""


@dataclass(frozen=True)
class Series:
    name: str
    points: tuple[tuple[float, float], ...]


def bars(
    title: str,
    about: str,
    found: Sequence[Bar],
    unit: str,
    spread: str = "95 % intervals",
    pictures: Sequence[Picture] = (),
    is_better_higher: bool = True,
) -> str:
    """Horizontal bars from zero with lines for their spread; a ring marks the paper's number."""
    if not found:
        return _page(title, about, 60, [_text(20, 50, "nothing to show", "quiet")])
    label = min(380, 24 + 7 * max(len(bar.label) for bar in found))
    ends = [end for bar in found for end in (bar.value, bar.low, bar.high, bar.paper) if end is not None]
    low, high = min(0.0, *ends), max(0.0, *ends)
    ticks = nice_ticks(low, high, 6) if high > low else [-1.0, 0.0, 1.0]
    left, right, top = label + 16, _WIDTH - 90, 70

    def x(number: float) -> float:
        return left + (right - left) * (number - ticks[0]) / (ticks[-1] - ticks[0])

    foot = top + _ROW * len(found)
    parts = []
    for tick in ticks:
        parts.append(_line(x(tick), top - 6, x(tick), foot, "zero" if tick == 0 else "grid"))
        parts.append(_text(x(tick), foot + 18, f"{tick:g}", "quiet", "middle"))
    for index, bar in enumerate(found):
        middle = top + _ROW * index + _ROW / 2
        start, end = sorted((x(0), x(bar.value)))
        kind = "bar loss" if (bar.value < 0) == is_better_higher and bar.value else "bar"
        parts.append(_text(label + 8, middle + 4, _cut(bar.label), "", "end"))
        parts.append(
            f'<rect class="{kind}" x="{start:.1f}" y="{middle - 8:.1f}" width="{end - start:.1f}" height="16"/>'
        )
        if bar.low is not None and bar.high is not None:
            parts.append(_line(x(bar.low), middle, x(bar.high), middle, "whisker"))
            parts += [_line(x(at), middle - 4, x(at), middle + 4, "whisker") for at in (bar.low, bar.high)]
        if bar.paper is not None:
            parts.append(f'<circle class="paper" cx="{x(bar.paper):.1f}" cy="{middle:.1f}" r="6"/>')
        parts.append(_text(right + 10, middle + 4, f"{bar.value:.3g}", "quiet"))
    legend = f"{unit}; lines are {spread}" if any(bar.low is not None for bar in found) else unit
    if any(bar.paper is not None for bar in found):
        legend += "; rings are the paper's numbers"
    parts.append(_text(20, foot + 42, legend, "quiet"))
    rows = -(-len(pictures) // _ABREAST)
    for index, picture in enumerate(pictures):
        left = 20 + (_SIDE + 14) * (index % _ABREAST)
        top = foot + 62 + (_SIDE + 30) * (index // _ABREAST)
        parts.append(
            f'<image x="{left}" y="{top:.1f}" width="{_SIDE}" height="{_SIDE}" href={quoteattr(picture.uri)}/>'
            + _text(left, top + _SIDE + 16, _cut(picture.caption, 30), "quiet")
        )
    return _page(title, about, foot + 62 + (_SIDE + 30) * rows, parts)


def lines(title: str, about: str, series: Sequence[Series], across: str, up: str) -> str:
    """Curves over a few steps that are numbers, such as threads; the steps stand at equal distances."""
    steps = sorted({at for each in series for at, _ in each.points})
    values = [value for each in series for _, value in each.points]
    if not steps:
        return _page(title, about, 60, [_text(20, 50, "nothing to show", "quiet")])
    ticks = nice_ticks(0.0, max(values), 5)
    left, right, top, base = 80, _WIDTH - 40, 80, 340

    def x(step: float) -> float:
        return left + (right - left) * (steps.index(step) + 0.5) / len(steps)

    def y(value: float) -> float:
        return base - (base - top) * (value - ticks[0]) / (ticks[-1] - ticks[0])

    parts = []
    for tick in ticks:
        parts.append(_line(left, y(tick), right, y(tick), "grid"))
        parts.append(_text(left - 8, y(tick) + 4, f"{tick:g}", "quiet", "end"))
    parts += [_text(x(step), base + 20, f"{step:g}", "quiet", "middle") for step in steps]
    for number, each in enumerate(series):
        kind = f"s{number}"
        path = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in each.points)
        parts.append(f'<polyline class="curve {kind}" points="{path}"/>')
        for at, value in each.points:
            parts.append(
                f'<circle class="dot {kind}" cx="{x(at):.1f}" cy="{y(value):.1f}" r="4.5">'
                f"<title>{escape(f'{each.name}, {at:g}: {value:.4g}')}</title></circle>"
            )
        shift = left + 170 * number
        parts.append(f'<circle class="dot {kind}" cx="{shift + 6}" cy="{base + 62}" r="4.5"/>')
        parts.append(_text(shift + 18, base + 66, each.name))
    parts.append(_text((left + right) / 2, base + 42, across, "quiet", "middle"))
    parts.append(_text(20, top - 12, up, "quiet"))
    return _page(title, about, base + 84, parts)


def _page(title: str, about: str, height: float, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{math.ceil(height)}" '
        f'viewBox="0 0 {_WIDTH} {math.ceil(height)}" role="img"><title>{escape(title)}</title><style>{_STYLE}</style>'
        f'<rect class="ground" width="100%" height="100%"/>{_text(20, 28, title, "title")}'
        f"{_text(20, 48, _cut(about, 130), 'quiet')}{''.join(parts)}</svg>\n"
    )


def _cut(text: str, limit: int = 50) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, content: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(content)}</text>'
