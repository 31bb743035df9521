"""Axes: from numbers to places, with round numbers marked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mlmodelscope.report.charts import nice_ticks

_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Axis:
    label: str
    unit: str = ""
    log: bool = False

    @property
    def name(self) -> str:
        return f"{self.label} ({self.unit})" if self.unit and self.label else self.label or self.unit

    def takes(self, value: float | None) -> bool:
        """Whether a number has a place on it: zero has none on a logarithmic axis."""
        return value is not None and math.isfinite(value) and (value > 0 or not self.log)

    def spell(self, value: float | None) -> str:
        if value is None:
            return "not known"
        return f"{short(value)} {self.unit}".rstrip()


@dataclass(frozen=True)
class Scale:
    """An axis with its ends in numbers and in pixels."""

    axis: Axis
    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]

    def __call__(self, value: float) -> float:
        if self.axis.log:
            share = (math.log10(max(value, self.low)) - math.log10(self.low)) / math.log10(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + (self.end - self.start) * share

    @property
    def base(self) -> float:
        """Where bars stand."""
        return self(self.low if self.axis.log else min(max(0.0, self.low), self.high))


def scale(axis: Axis, values: Iterable[float], start: float, end: float, from_zero: bool = False) -> Scale:
    """A scale that takes all the numbers and ends at round ones."""
    known = [value for value in values if axis.takes(value)]
    if axis.log:
        return _log_scale(axis, known, start, end, from_zero)
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if from_zero or 0 < low < 0.35 * high:
        low, high = min(low, 0.0), max(high, 0.0)
    if high - low <= 1e-12 * max(abs(low), abs(high), 1e-300):
        high = low + (abs(low) or 1.0)
    power = 10.0 ** math.floor(math.log10(high - low))  # the ticks are made of numbers about one: no rounding to zero
    ticks = tuple(tick * power for tick in nice_ticks(low / power, high / power, 5))
    return Scale(axis, ticks[0], ticks[-1], start, end, ticks)


def _log_scale(axis: Axis, known: Sequence[float], start: float, end: float, whole: bool) -> Scale:
    low, high = (min(known), max(known)) if known else (1.0, 10.0)
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    if whole and first == round(math.log10(low), 9):
        first -= 1  # a bar as low as the axis would not be seen
    if last <= first:
        last = first + 1
    bottom, top = 10.0**first, 10.0**last
    if last - first <= 3 and not whole:  # few decades: the axis need not be mostly empty
        bottom = max(step * 10.0**first for step in (1, 2, 5) if step * 10.0**first <= low * 1.0001)
        top = min(step * 10.0 ** (last - 1) for step in (1, 2, 5, 10) if step * 10.0 ** (last - 1) >= high * 0.9999)
        if top <= bottom:
            bottom, top = 10.0**first, 10.0**last
    every = max(1, -(-(last - first) // 8))
    steps = (1, 2, 5) if last - first <= 3 else (1,)
    ticks = [step * 10.0**power for power in range(first, last + 1, every) for step in steps]
    return Scale(axis, bottom, top, start, end, tuple(tick for tick in ticks if bottom * 0.999 <= tick <= top * 1.001))


def between(found: Scale) -> list[float]:
    """The thin lines between the decades of a logarithmic axis."""
    if not found.axis.log or found.high / found.low > 1e6:
        return []
    first, last = math.floor(math.log10(found.low)), math.ceil(math.log10(found.high))
    lines = [step * 10.0**power for power in range(first, last) for step in range(2, 10)]
    shown = set(found.ticks)
    return [value for value in lines if found.low < value < found.high and value not in shown]


def tick_labels(found: Scale) -> list[str]:
    """The ticks in words: in one size where the axis is even, so that 0.5, 1.0 and 1.5 line up."""
    if found.axis.log:
        return [_log_label(tick) for tick in found.ticks]
    largest = max(abs(tick) for tick in found.ticks)
    factor, prefix = next(((size, name) for size, name in _PREFIXES if largest >= size and largest >= 1e4), (1.0, ""))
    step = min((b - a for a, b in zip(found.ticks, found.ticks[1:], strict=False)), default=1.0) / factor
    if step < 1e-4:
        return [f"{tick:g}" for tick in found.ticks]
    digits = next((count for count in range(7) if abs(round(step, count) - step) < 1e-6 * step), 6)
    return [f"{tick / factor:.{digits}f}{prefix if tick else ''}" for tick in found.ticks]


def _log_label(value: float) -> str:
    if 1e-3 <= value < 1e17:
        return short(value)
    power = math.floor(math.log10(value) + 1e-9)
    factor = round(value / 10.0**power)
    raised = f"10{str(power).translate(_RAISED)}"
    return raised if factor == 1 else f"{factor}·{raised}"


def short(value: float) -> str:
    """A number with three digits that count, and a letter for its thousands: 12.3 k."""
    size = abs(value)
    for factor, name in _PREFIXES:
        if size >= factor and size >= 1e4:
            return f"{value / factor:.3g}\N{NO-BREAK SPACE}{name}"
    return f"{value:.0f}" if 1000 <= size < 1e4 else f"{value:.3g}"
