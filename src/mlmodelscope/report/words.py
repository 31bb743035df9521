"""Numbers as people read them: the same spelling in every format."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from mlmodelscope.record.record import Record
from mlmodelscope.record.spelling import (
    SPACE,
    digits_of,
    half_width,
    measured_range,
    measured_value,
    significant,
    unit_of,
    with_symbol,
)
from mlmodelscope.task.measure import MEASURES, Unit
from mlmodelscope.types import Interval

__all__ = ["digits_of", "half_width", "measured_range", "measured_value", "significant", "unit_of"]
"""Spelled by the record itself, and used beside the words here."""

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def count(number: int) -> str:
    return f"{number:,}"


def plural(number: int, noun: str) -> str:
    """`1 sample`, `2 samples`, `3 classes`."""
    ending = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{count(number)} {noun}{ending}"


def percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f}{SPACE}%"


def percent_range(interval: Interval) -> str:
    digits = digits_of(interval)
    return f"{100 * interval.low:.{digits}f} – {100 * interval.high:.{digits}f}{SPACE}%"


def points(width: float) -> str:
    """Half an interval in percentage points: `±8.8 points`."""
    return f"±{100 * width:.{2 if width < 0.005 else 1}f}{SPACE}points"


def time_unit(seconds: float) -> tuple[float, str]:
    """The unit in which a duration is a number of one to three digits."""
    return next(((size, name) for size, name in _UNITS if seconds >= size), _UNITS[-1])


def duration(seconds: float, unit: tuple[float, str] | None = None) -> str:
    size, name = unit or time_unit(seconds)
    return f"{significant(seconds / size)}{SPACE}{name}"


def duration_range(interval: Interval, unit: tuple[float, str] | None = None) -> str:
    size, name = unit or time_unit(interval.value)
    return f"{significant(interval.low / size)} – {significant(interval.high / size)}{SPACE}{name}"


def title(metric: str) -> str:
    """What people call a metric; its own name where it is from a package that is not installed."""
    found = MEASURES.get(metric)
    return found.title if found is not None else metric


def headed(metric: str) -> str:
    """The same as a heading."""
    name = title(metric)
    return name[:1].upper() + name[1:]


def in_unit(value: float, unit: Unit) -> str:
    """A number without an interval: two digits behind the point, or four where it has no unit."""
    return with_symbol(f"{unit.factor * value:.{2 if unit.symbol else 4}f}", unit)


def size(count_bytes: int) -> str:
    number = float(count_bytes)
    for unit in ("bytes", "KiB", "MiB"):
        if number < 1024:
            return f"{significant(number)}{SPACE}{unit}"
        number /= 1024
    return f"{significant(number)}{SPACE}GiB"


def value(given: Any) -> str:
    """A parameter's value as a manifest would write it."""
    if given is None:
        return "none"
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, float):
        return f"{given:.10g}"
    if isinstance(given, (list, tuple)):
        return f"[{', '.join(value(each) for each in given)}]"
    return str(given)


def shorten(text: str, limit: int = 400) -> str:
    """Somebody's words, cut where they would bury the page; JSON has them whole."""
    return text if len(text) <= limit else f"{text[:limit]}…"


def class_name(record: Record, number: int) -> str:
    """The class's name, or its number where the record knows no name."""
    names = record.class_names
    return names[number] if 0 <= number < len(names) and names[number] else f"class {number}"


def answered(record: Record) -> int:
    """Samples that the metrics are made of."""
    return record.samples - record.failed


def throughput(record: Record) -> str | None:
    return f"{significant(record.samples / record.wall_s)}" if record.wall_s else None


def answered_from_store(record: Record) -> str:
    """What a run reports that is not run, because the same plan has a record."""
    measured = record.finished_at or record.created_at
    return (
        f"answered from the store: record {record.id}, measured on {measured:%Y-%m-%d at %H:%M} UTC "
        f"({ago(datetime.now(UTC) - measured)}); --again measures it again"
    )


def ago(passed: timedelta) -> str:
    """How long since, in the largest unit that fits."""
    seconds = int(passed.total_seconds())
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{plural(seconds // size, unit)} ago"
    return "just now"
