"""A1: throughput and latency over batch sizes, and the batch size at which more of them gains no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlmodelscope.analysis.table import Analysis, Column, Table
from mlmodelscope.record.record import Record
from mlmodelscope.report import words
from mlmodelscope.report.plot import Axis, Line, Mark, scatter

GAIN = 0.05
"""The smallest gain that counts, as in the XSP paper."""


@dataclass(frozen=True)
class Size:
    """What was seen with one batch size."""

    batch_size: int
    trimmed_mean_s: float
    p50_s: float | None
    p90_s: float | None
    samples_per_s: float
    peak_memory_bytes: int | None = None


def model_information(records: Sequence[Record], target_s: float | None = None) -> Analysis | None:
    """None where no record says how long a batch takes."""
    sizes = sizes_of(records)
    if not sizes:
        return None
    best = optimal(sizes, target_s)
    base = sizes[0]
    rows = [
        (
            *(size.batch_size, size.trimmed_mean_s * 1e9, _ns(size.p50_s), _ns(size.p90_s), size.samples_per_s),
            size.samples_per_s / base.samples_per_s if base.samples_per_s else None,
            *(size.samples_per_s / before.samples_per_s - 1 if before else None, size.peak_memory_bytes),
            None if len(sizes) == 1 else "optimal" if size is best else "",
        )
        for size, before in zip(sizes, [None, *sizes], strict=False)
    ]
    columns = (
        Column("batch_size", "batch size", kind="count"),
        Column("trimmed_mean_ns", "trimmed mean", kind="time_ns"),
        Column("p50_ns", "p50", kind="time_ns"),
        Column("p90_ns", "p90", kind="time_ns"),
        Column("samples_per_s", "throughput", "samples/s", "number"),
        Column("speed_up", "speed-up", "×", "number"),
        Column("gain", "gain over the size before", kind="share"),
        Column("peak_memory_bytes", "peak memory", kind="bytes"),
        Column("verdict", ""),
    )
    table = Table("model", "Throughput and latency over batch sizes", columns, rows).without_empty()
    return Analysis(
        "A1", "The model over batch sizes", table, _plots(sizes, best), _notes(records, sizes, best, target_s)
    )


def sizes_of(records: Sequence[Record]) -> list[Size]:
    """By size; a sweep's own runs, or the latency that any other record has. The last one of a size counts."""
    found: dict[int, Size] = {}
    for record in records:
        if record.bench is not None:
            for run in record.bench.runs:
                p50, p90 = run.percentiles_s.get("p50"), run.percentiles_s.get("p90")
                found[run.batch_size] = Size(
                    *(run.batch_size, run.trimmed_mean_s, p50.value if p50 else None, p90.value if p90 else None),
                    *(run.samples_per_s, run.peak_memory_bytes),
                )
        elif record.latency is not None and record.latency.batch_size:
            seen = record.latency
            found[seen.batch_size] = Size(
                *(seen.batch_size, seen.trimmed_mean_s, seen.p50_s.value, seen.p90_s.value),
                seen.batch_size / seen.trimmed_mean_s if seen.trimmed_mean_s else 0.0,
            )
    return [found[size] for size in sorted(found)]


def optimal(sizes: Sequence[Size], target_s: float | None = None) -> Size | None:
    """The smallest that no larger one beats by more than the gain that counts; with a target the fastest within it."""
    if target_s is not None:
        within = [size for size in sizes if (size.p90_s or size.trimmed_mean_s) <= target_s]
        return max(within, key=lambda size: size.samples_per_s, default=None)
    for place, size in enumerate(sizes):
        if all(larger.samples_per_s <= size.samples_per_s * (1 + GAIN) for larger in sizes[place + 1 :]):
            return size
    return None


def _notes(
    records: Sequence[Record], sizes: Sequence[Size], best: Size | None, target_s: float | None
) -> tuple[str, ...]:
    if target_s is not None:
        goal = f"{words.duration(target_s)} at the 90th percentile (on average, where so few calls cannot tell it)"
        chosen = (
            f"the most samples in a second within {goal}: batch size {best.batch_size}"
            if best
            else f"no size stays within {goal}"
        )
    elif best is None or len(sizes) == 1:
        chosen = "one batch size only: `mlmodelscope bench MODEL DATASET --scenario sweep` tries 1, 2, 4 …"
    else:
        chosen = (
            f"the optimal batch size is {best.batch_size}: no larger one that was tried has more than "
            f"{words.percent(GAIN, 0)} more throughput"
        )
    unstable = [
        record for record in records if record.bench is not None and record.bench.stability.verdict == "unstable"
    ]
    return (chosen, *(f"record {record.id} is {record.bench.stability}" for record in unstable if record.bench))


def _plots(sizes: Sequence[Size], best: Size | None) -> dict[str, str]:
    if len(sizes) < 2:
        return {}
    x = Axis("batch size", log=True)
    scale, unit = words.time_unit(min(size.trimmed_mean_s for size in sizes))
    speed = [(float(size.batch_size), size.samples_per_s) for size in sizes]
    time = [(float(size.batch_size), size.trimmed_mean_s / scale) for size in sizes]
    marks = [Mark(*point, "optimal" if best and point[0] == best.batch_size else "", "throughput") for point in speed]
    return {
        "throughput": scatter(
            "Throughput over batch size",
            marks,
            x,
            Axis("throughput", "samples/s"),
            [Line(speed, "throughput", "throughput")],
        ),
        "latency": scatter(
            "Latency over batch size",
            [Mark(*point, "", "latency") for point in time],
            x,
            Axis("trimmed mean", unit),
            [Line(time, "latency", "latency")],
        ),
    }


def _ns(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e9
