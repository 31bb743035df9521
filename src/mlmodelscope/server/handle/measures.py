"""Numbers that records have in common, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Literal

from mlmodelscope.record.record import Record
from mlmodelscope.report import words
from mlmodelscope.report.numbers import headline_of
from mlmodelscope.task.measure import measure_or_bare
from mlmodelscope.types import Interval

Better = Literal["more", "less"]


def measures_of(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Those that one of them has; `best` is the one that is surely best, where their intervals lie apart."""
    found = []
    judged = [each for each in records if each.metrics]
    same_samples = len({(each.plan.dataset_digest, each.plan.dataset.subset, each.samples) for each in judged}) < 2
    measured = list(_measured(records))
    of_samples = {"failed", *(name for name, *_ in measured)}  # they say nothing beside those of other samples
    for name, title, kind, better, read in (*measured, *_MEASURES):
        values = [read(record) for record in records]
        if any(value is not None for value in values):
            comparable = same_samples or name not in of_samples
            told = [{"value": each.value, "low": each.low, "high": each.high} if each else None for each in values]
            found.append(
                {
                    "name": name,
                    "title": title,
                    "kind": kind,
                    "better": better,
                    "values": told,
                    "best": _best(values, better) if comparable else None,
                    "comparable": comparable,
                }
            )
    return found


def _measured(records: Sequence[Record]) -> Iterator[_Row]:
    """The measures of their tasks, those that come first there first."""
    named = dict.fromkeys(name for record in records for name in headline_of(record))
    named |= dict.fromkeys(name for record in records for name in record.metrics)
    for name in named:
        measure = measure_or_bare(name)
        better: Better = "more" if measure.is_better_higher else "less"
        yield name, words.headed(name), measure.unit.name, better, partial(_number, name)


def _number(name: str, record: Record) -> Interval | None:
    found = record.metrics.get(name)
    return None if found is None else found.interval or _exact(found.value)


def _best(values: Sequence[Interval | None], better: Better) -> int | None:
    known = [(place, value) for place, value in enumerate(values) if value is not None]
    if len(known) < 2:
        return None
    known.sort(key=lambda each: -each[1].value if better == "more" else each[1].value)
    (place, first), (_, second) = known[:2]
    apart = first.low > second.high if better == "more" else first.high < second.low
    return place if apart else None


def _latency(name: str) -> Callable[[Record], Interval | None]:
    def read(record: Record) -> Interval | None:
        if record.bench is not None:
            return record.bench.measured.percentiles_s.get(name) if record.bench.measured is not None else None
        return getattr(record.latency, f"{name}_s") if record.latency is not None else None

    return read


def _throughput(record: Record) -> Interval | None:
    if record.bench is not None:
        measured = record.bench.measured
        return record.bench.throughput or _exact(measured.samples_per_s if measured is not None else None)
    latency = record.latency
    return _exact(latency.batch_size / latency.trimmed_mean_s if latency and latency.trimmed_mean_s > 0 else None)


def _memory(record: Record) -> Interval | None:
    measured = record.bench.measured if record.bench is not None else None
    return _exact(measured.peak_memory_bytes if measured is not None else None)


def _cpu(record: Record) -> Interval | None:
    measured = record.bench.measured if record.bench is not None else None
    return _exact(measured.cpu_s_per_sample if measured is not None else None)


def _exact(value: float | None) -> Interval | None:
    """A number of which no interval is known."""
    return None if value is None else Interval(float(value), float(value), float(value))


def _failed(record: Record) -> Interval | None:
    return _exact(record.failed) if record.samples else None


_Row = tuple[str, str, str, Better, Callable[[Record], Interval | None]]
_MEASURES: tuple[_Row, ...] = (
    ("p50", "Latency, median", "time_s", "less", _latency("p50")),
    ("p90", "Latency, p90", "time_s", "less", _latency("p90")),
    ("p99", "Latency, p99", "time_s", "less", _latency("p99")),
    ("throughput", "Samples a second", "number", "more", _throughput),
    ("cpu", "Processor time for a sample", "time_s", "less", _cpu),
    ("memory", "Most memory", "bytes", "less", _memory),
    ("load", "Load the model", "time_s", "less", lambda record: _exact(record.load_s)),
    ("failed", "Failed samples", "count", "less", _failed),
)
