"""Latency as a table and a sentence on what was timed."""

from __future__ import annotations

from statistics import median

from mlmodelscope.record.record import LatencyRecord
from mlmodelscope.report import charts, words


def latency_rows(latency: LatencyRecord) -> list[tuple[str, str, str]]:
    """(name, duration, 95 % interval) of each number, all in one unit."""
    unit = words.time_unit(latency.p50_s.value)
    percentiles = [("median (p50)", latency.p50_s), ("p90", latency.p90_s), ("p99", latency.p99_s)]
    rows = [(name, words.duration(each.value, unit), words.duration_range(each, unit)) for name, each in percentiles]
    rows.append(("mean", words.duration(latency.mean_s, unit), ""))
    rows.append(("trimmed mean", words.duration(latency.trimmed_mean_s, unit), ""))
    return rows


def describe_parts(latency: LatencyRecord) -> str:
    """Medians of what a call is made of: `copy to device 0.12 ms, run 1.30 ms, copy from device 0.02 ms`."""
    return ", ".join(f"{name} {words.duration(median(raw) / 1e9)}" for name, raw in latency.parts_ns.items())


def describe_latency(latency: LatencyRecord) -> str:
    runs = len(next(iter(latency.parts_ns.values()), ()))
    parts = f" Its parts, in {words.plural(runs, 'further run')} with a wait between them: {describe_parts(latency)}."
    return (
        f"The framework call alone, one query after the other (single stream), nothing else running: "
        f"{words.plural(len(latency.raw_ns), 'run')} of {words.plural(latency.batch_size, 'sample')} each, "
        f"after {words.plural(len(latency.warm_up_ns), 'warm-up run')} that do not count. "
        "The trimmed mean leaves out the fastest and the slowest 20\N{NO-BREAK SPACE}%."
    ) + (parts if runs else "")


def latency_chart(latency: LatencyRecord) -> str:
    size, unit = words.time_unit(latency.p50_s.value)
    lines = [("p50", latency.p50_s), ("p90", latency.p90_s), ("p99", latency.p99_s)]
    return charts.histogram(
        [nanoseconds / 1e9 / size for nanoseconds in latency.raw_ns],
        [(name, each.value / size) for name, each in lines],
        unit,
    )
