"""Measured numbers as people read them: as many digits as their interval deserves, and their unit."""

from __future__ import annotations

import math

from mlmodelscope.record.number import MeasuredNumber
from mlmodelscope.task.measure import NUMBER, SHARE, UNITS, Unit
from mlmodelscope.types import Interval

SPACE = "\N{NO-BREAK SPACE}"


def measured_value(number: MeasuredNumber) -> str:
    """A number with as many digits as its interval deserves, and its unit."""
    return with_symbol(_written(number.value, number), unit_of(number))


def measured_range(number: MeasuredNumber) -> str:
    """Both ends of its interval; empty where it has none."""
    if number.low is None or number.high is None:
        return ""
    return with_symbol(f"{_written(number.low, number)} – {_written(number.high, number)}", unit_of(number))


def unit_of(number: MeasuredNumber) -> Unit:
    return UNITS.get(number.unit, NUMBER)


def with_symbol(text: str, unit: Unit) -> str:
    return f"{text}{SPACE}{unit.symbol}" if unit.symbol else text


def _written(value: float, number: MeasuredNumber) -> str:
    unit, interval = unit_of(number), number.interval
    if unit is SHARE:
        return f"{100 * value:.{digits_of(interval) if interval is not None else 1}f}"
    return f"{value * unit.factor:.2f}" if unit is not NUMBER else significant(value)


def half_width(interval: Interval) -> float:
    return (interval.high - interval.low) / 2


def digits_of(interval: Interval) -> int:
    """As many decimals of a percentage as the interval deserves."""
    return 2 if half_width(interval) < 0.005 else 1


def significant(number: float) -> str:
    """Three significant digits, never in powers of ten."""
    if number == 0 or not math.isfinite(number):
        return f"{number:g}"
    return f"{number:,.{max(0, 2 - math.floor(math.log10(abs(number))))}f}"
