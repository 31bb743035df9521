"""Small drawings of a replication as inline SVG; colours come from the page's style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from mlmodelscope.plan.claim import Claim
from mlmodelscope.report.charts import nice_ticks
from mlmodelscope.types import Interval

_EDGE = 2.5  # percent left and right, so that marks at the ends are not cut


class Axis:
    """Numbers between two ends, in the unit of a claim, as percentages of a drawing's width."""

    def __init__(self, numbers: Sequence[float], claim: Claim) -> None:
        self.claim = claim
        factor, bounds = claim.factor, claim.measure.bounds
        low, high = factor * min(numbers), factor * max(numbers)
        reach = max(high - low, 0.002 * factor)
        ends = max(factor * bounds[0], low - 0.12 * reach), min(factor * bounds[1], high + 0.12 * reach)
        self.ticks = nice_ticks(*ends)

    def x(self, number: float) -> float:
        first, last = self.ticks[0], self.ticks[-1]
        place = (self.claim.factor * number - first) / (last - first)
        return _EDGE + (100 - 2 * _EDGE) * min(1.0, max(0.0, place))


def verdict_plot(claim: Claim, low: float, high: float, measured: Interval) -> str:
    """The measured number with its interval, against what may be measured and still be what was claimed."""
    value = claim.value
    axis = Axis([low, high, value, measured.low, measured.high], claim)
    base, x = 46, axis.x
    left, right = x(low), x(high)
    parts = [
        f'<rect class="margin" x="{left:.2f}%" y="18" width="{max(right - left, 0.15):.2f}%" height="{base - 10}"/>',
        _line(x(value), 18, x(value), base + 8, "claim"),
        _text(x(value), 11, f"claimed {claim.published}", "claim-text"),
        _line(_EDGE, base, 100 - _EDGE, base, "track"),
    ]
    for tick in axis.ticks:
        at = x(tick / claim.factor)
        parts += [_line(at, base - 4, at, base + 4, "tick"), _text(at, base + 22, f"{tick:g}", "scale")]
    start, end, middle = x(measured.low), x(measured.high), x(measured.value)
    parts.append(f'<rect class="band" x="{start:.2f}%" y="{base - 7}" width="{end - start:.2f}%" height="14" rx="7"/>')
    parts.append(f'<circle class="dot" cx="{middle:.2f}%" cy="{base}" r="8"/>')
    shown = f"measured {claim.spelled(measured.value)}"
    parts.append(_text(middle, base - 14, shown, "measured-text", near=x(value)))
    ends = " to ".join(f"{claim.factor * end:.{claim.digits(2)}f}" for end in (measured.low, measured.high))
    label = f"{shown}, {ends} {claim.symbol}".rstrip()
    return _svg(base + 28, f"{label}; claimed {claim.published}", parts)


def candidate_plot(axis: Axis, claim: tuple[float, float], own: float, expected: float, deviation: float) -> str:
    """Where a variant's number lies: the claim is a stripe, the plan's own number a thin line."""
    low, high = (axis.x(share) for share in claim)
    width = max(high - low, 0.6)  # a claim of many digits is still to be seen
    start, end = axis.x(expected - 1.96 * deviation), axis.x(expected + 1.96 * deviation)
    parts = [
        _line(_EDGE, 11, 100 - _EDGE, 11, "track"),
        f'<rect class="margin" x="{low:.2f}%" y="0" width="{width:.2f}%" height="22"/>',
        _line(axis.x(own), 3, axis.x(own), 19, "own"),
        f'<rect class="band" x="{start:.2f}%" y="7" width="{end - start:.2f}%" height="8" rx="4"/>',
        f'<circle class="dot" cx="{axis.x(expected):.2f}%" cy="11" r="5"/>',
    ]
    spelled = axis.claim.spelled
    return _svg(22, f"{spelled(expected)} plus or minus {spelled(1.96 * deviation)}", parts)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.2f}%" y1="{y1:g}" x2="{x2:.2f}%" y2="{y2:g}"/>'


def _text(x: float, y: float, content: str, kind: str, near: float | None = None) -> str:
    """A word at a place; it leans away from the ends, and from what it must not cover."""
    anchor = "start" if x < 12 else "end" if x > 88 else "middle"
    if near is not None and abs(near - x) < 16:
        anchor = "end" if x < near or x > 84 else "start"
    return f'<text class="{kind}" x="{x:.2f}%" y="{y:g}" text-anchor="{anchor}">{escape(content)}</text>'


def _svg(height: int, label: str, parts: Sequence[str]) -> str:
    label = quoteattr(label)
    return f'<svg class="chart" width="100%" height="{height}" role="img" aria-label={label}>{"".join(parts)}</svg>'
