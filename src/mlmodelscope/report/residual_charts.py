"""Numbers that were answered over those that are true, and how far they are off, as small charts."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from mlmodelscope.report.chart_parts import line, svg, text
from mlmodelscope.report.plot.axis import Axis, Scale, scale, tick_labels
from mlmodelscope.report.predictions import Point, Predictions

_TOP, _BASE, _LEFT, _RIGHT = 12.0, 262.0, 13.0, 98.0
_LONGEST_NAME = 80


def predicted_chart(found: Predictions) -> str:
    """Answers over truth; on the dashed line they are equal, where both have one scale."""
    frame = _Frame([(each.truth, each.answer) for each in found.points])
    if found.has_residuals:
        low, high = max(frame.x.low, frame.y.low), min(frame.x.high, frame.y.high)
        if low < high:
            frame.parts.append(line(frame.x(low), frame.y(low), frame.x(high), frame.y(high), "ideal"))
    frame.add_dots(found, [each.answer for each in found.points])
    return frame.drawn(f"Predicted over true numbers, {_counted(found)}")


def residual_chart(found: Predictions) -> str:
    """How much each answer is too large, over the truth."""
    frame = _Frame([(each.truth, each.residual) for each in found.points])
    if frame.y.low <= 0 <= frame.y.high:
        frame.parts.append(line(_LEFT, frame.y(0.0), _RIGHT, frame.y(0.0), "ideal"))
    frame.add_dots(found, [each.residual for each in found.points])
    return frame.drawn(f"Predicted less true numbers over true ones, {_counted(found)}")


def _counted(found: Predictions) -> str:
    return f"{len(found.points):,} of {found.values:,} numbers of {found.samples:,} samples"


class _Frame:
    """Two axes with round numbers, and what is drawn between them."""

    def __init__(self, places: Sequence[tuple[float, float]]) -> None:
        self.x = scale(Axis("true"), [across for across, _ in places], _LEFT, _RIGHT)
        self.y = scale(Axis("answered"), [up for _, up in places], _BASE, _TOP)
        self.parts: list[str] = []
        for tick, label in zip(self.y.ticks, labels(self.y), strict=True):
            self.parts.append(line(_LEFT, self.y(tick), _RIGHT, self.y(tick), "grid"))
            self.parts.append(text(_LEFT, self.y(tick) + 4, label, "scale", "end", "-7"))
        for at, (tick, label) in enumerate(zip(self.x.ticks, labels(self.x), strict=True)):
            self.parts.append(line(self.x(tick), _TOP, self.x(tick), _BASE, "grid"))
            if at % 2 == 0:  # of a narrow chart's names every other one has room
                self.parts.append(text(self.x(tick), _BASE + 18, label, "scale", _anchor(self.x(tick))))
        self.parts.append(line(_LEFT, _BASE, _RIGHT, _BASE, "axis"))

    def add_dots(self, found: Predictions, heights: Sequence[float]) -> None:
        """The largest errors are named, and lie above the others."""
        named = {(each.sample, each.place) for each in found.largest}
        order = sorted(range(len(heights)), key=lambda at: (found.points[at].sample, found.points[at].place) in named)
        for at in order:
            point = found.points[at]
            place = f'cx="{self.x(point.truth):.2f}%" cy="{self.y(heights[at]):.1f}"'
            if (point.sample, point.place) in named:
                told = f"<title>{escape(_told(point, found.is_several))}</title>"
                self.parts.append(f'<circle class="point far" {place} r="4.5">{told}</circle>')
            else:
                self.parts.append(f'<circle class="point" {place} r="3"/>')

    def drawn(self, name: str) -> str:
        return svg(int(_BASE) + 26, name, self.parts)


def _told(point: Point, is_several: bool) -> str:
    place = f", number {point.place + 1}" if is_several else ""
    name = point.sample[:_LONGEST_NAME]
    return f"{name}{place}: true {point.truth:.6g}, predicted {point.answer:.6g}, off by {point.residual:+.6g}"


def labels(found: Scale) -> list[str]:
    """As short as they can be: charts are as narrow as phones."""
    largest = max(abs(tick) for tick in found.ticks)
    if 1e-3 <= largest < 1e15:
        return tick_labels(found)
    return [f"{tick:.3g}" for tick in found.ticks]


def _anchor(place: float) -> str:
    return "end" if place > 90 else "middle"
