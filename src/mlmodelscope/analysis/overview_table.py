"""An overview as tables and plots, one of each for each dataset."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from mlmodelscope.analysis.overview import Entry, Number, accuracy_measure, by_dataset, pareto, same_samples
from mlmodelscope.analysis.table import UNKNOWN, Analysis, Column, Kind, Table, Value
from mlmodelscope.report import plot
from mlmodelscope.task.measure import SHARE

_COLUMNS = (
    Column("dataset", "dataset"),
    Column("model", "model"),
    Column("stack", "stack"),
    Column("machine", "machine"),
    Column("metric", "metric"),
    Column("accuracy", "accuracy", kind="share"),
    Column("accuracy_low", "from", kind="share"),
    Column("accuracy_high", "to", kind="share"),
    Column("samples", "samples", kind="count"),
    Column("part", "of"),
    Column("size_bytes", "graph size", kind="bytes"),
    Column("latency_ns", "online latency", kind="time_ns"),
    Column("p90_ns", "p90", kind="time_ns"),
    Column("latency_scenario", "latency by"),
    Column("samples_per_s", "most samples/s", "samples/s", kind="number"),
    Column("best_batch", "at batch", kind="count"),
    Column("throughput_scenario", "throughput by"),
    Column("optimal_batch", "optimal batch", kind="count"),
    Column("accuracy_record", "accuracy from"),
    Column("latency_record", "latency from"),
    Column("throughput_record", "throughput from"),
    Column("unstable", "unstable"),
)


def overview_analyses(entries: Sequence[Entry], drawn: bool = True) -> list[Analysis]:
    """A table for each dataset, with what the paper draws of it where that is wanted, then what is missing."""
    parts = by_dataset(entries)
    found = []
    for dataset, rows in parts.items():
        plots = {
            name if len(parts) == 1 else f"{name}-{_file_name(dataset)}": svg
            for name, svg in (_plots(rows) if drawn else ())
            if svg
        }
        table = Table("overview", dataset, _columns(rows), [_row(entry) for entry in rows])
        found.append(Analysis("overview", dataset, table, plots, tuple(overview_notes(rows))))
    return [*found, _missing(entries)]


def _columns(rows: Sequence[Entry]) -> list[Column]:
    """The columns, with the accuracy in the unit of the dataset's measure."""
    measure = accuracy_measure(rows)
    if measure is None:
        return list(_COLUMNS)
    kind: Kind = "share" if measure.unit is SHARE else "number"
    titles = {"accuracy": measure.title, "accuracy_low": "from", "accuracy_high": "to"}
    return [
        Column(each.name, titles[each.name], "" if kind == "share" else measure.unit.symbol, kind)
        if each.name in titles
        else each
        for each in _COLUMNS
    ]


def _plots(rows: Sequence[Entry]) -> Iterator[tuple[str, str]]:
    """Names with drawings; one that would be empty is no text."""
    yield "accuracy-latency", _against(rows, "latency")
    yield "accuracy-throughput", _against(rows, "throughput")
    yield "speed-up", _speed_up(rows)
    yield "latency-systems", _systems(rows)


def overview_csv(analyses: Sequence[Analysis]) -> str:
    """Every dataset's rows under one head; each row names its dataset."""
    rows = [row for analysis in analyses if analysis.id == "overview" for row in analysis.table.rows]
    return Table("overview", "Overview", _COLUMNS, rows).to_csv()


def samples_words(row: Mapping[str, Value]) -> str:
    """`70`, or `12, a part of 70`."""
    if row["samples"] is None:
        return UNKNOWN
    return f"{row['samples']}" if row["part"] == "all" else f"{row['samples']}, {row['part']}"


def _file_name(dataset: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", dataset).strip("-")


def _row(entry: Entry) -> tuple[Value, ...]:
    numbers = {"latency": entry.latency_s, "throughput": entry.samples_per_s}
    unstable = [name for name, number in numbers.items() if number is not None and number.unstable]
    accuracy, latency, speed = entry.accuracy, entry.latency_s, entry.samples_per_s
    return (
        entry.dataset,
        entry.model,
        entry.stack,
        entry.machine,
        accuracy.metric if accuracy else None,
        accuracy.value if accuracy else None,
        accuracy.low if accuracy else None,
        accuracy.high if accuracy else None,
        accuracy.samples if accuracy else None,
        _part(accuracy, entry) if accuracy else None,
        entry.size_bytes,
        _ns(latency),
        _ns(entry.p90_s),
        _how(latency),
        speed.value if speed else None,
        entry.best_batch,
        _how(speed),
        entry.optimal_batch,
        accuracy.record if accuracy else None,
        latency.record if latency else None,
        speed.record if speed else None,
        ", ".join(unstable) or None,
    )


def _how(number: Number | None) -> str | None:
    return f"{number.scenario}, {number.samples}" if number else None


def _part(accuracy: Number, entry: Entry) -> str:
    """What the samples are a part of: `all`, or so many, where the dataset says how many it has."""
    if accuracy.whole:
        return "all"
    size = entry.plan.dataset.size
    return f"a part of {size}" if size else "a part"


def _missing(entries: Sequence[Entry]) -> Analysis:
    columns = (*_COLUMNS[:4], Column("missing", "missing"), Column("command", "measured by"))
    rows = [
        (entry.dataset, entry.model, entry.stack, entry.machine, each.what, each.command)
        for entry in entries
        for each in entry.missing
    ]
    return Analysis("missing", "Not yet measured", Table("missing", "Not yet measured", columns, rows))


def overview_notes(entries: Sequence[Entry]) -> list[str]:
    """What to know about the rows of one dataset."""
    found = []
    comparable = same_samples(entries)
    same = {id(entry) for entry in comparable}  # entries are long to compare, and there may be thousands
    apart = [entry for entry in entries if entry.accuracy is not None and id(entry) not in same]
    if apart:
        found.append(f"over other samples than the rest, so neither drawn nor Pareto-optimal: {_names(apart)}")
    if comparable and comparable[0].accuracy is not None and not comparable[0].accuracy.whole:
        found.append("no accuracy is over all samples of the dataset")
    unswept = [entry for entry in entries if entry.samples_per_s is not None and not entry.swept]
    if unswept:
        found.append(f"no batch sizes were swept: the throughput is the most that was measured, for {_names(unswept)}")
    light = [entry for entry in entries if entry.latency_s is not None and not entry.benched]
    if light:
        found.append(
            f"the latency is of the few calls of an evaluation or profile, not of a bench, for {_names(light)}"
        )
    for entry in entries:
        for name, number in (("latency", entry.latency_s), ("throughput", entry.samples_per_s)):
            if number is not None and number.unstable:
                found.append(f"unstable: the {name} of {entry.model}, {entry.stack} (record {number.record})")
    return found


def _names(entries: Sequence[Entry]) -> str:
    return "; ".join(f"{entry.model}, {entry.stack}" for entry in entries)


def _against(entries: Sequence[Entry], what: str) -> str:
    """Accuracy against a speed; the bubbles are as large as the models."""
    marks, system, measure = [], _systems_of(entries), accuracy_measure(same_samples(entries))
    unit = measure.unit if measure is not None else SHARE
    for entry in same_samples(entries):
        number = entry.latency_s if what == "latency" else entry.samples_per_s
        if entry.accuracy is not None and number is not None:
            at, size = 1000 * number.value if what == "latency" else number.value, entry.size_bytes or 0
            marks.append(plot.Mark(at, unit.factor * entry.accuracy.value, entry.model, system(entry), size))
    if not marks or measure is None:
        return ""
    points = pareto([(mark.x, mark.y) for mark in marks], what != "latency", measure.is_better_higher)
    front = plot.Line(points, "Pareto front")
    axis = plot.Axis("online latency", "ms") if what == "latency" else plot.Axis("most samples a second", "samples/s")
    lines = [front] if len(front.points) > 1 else []
    spread = max(mark.x for mark in marks) > 5 * min(mark.x for mark in marks)
    title = f"Accuracy and {'online latency' if what == 'latency' else 'maximum throughput'}; bubble: graph size"
    across = plot.Axis(axis.label, axis.unit, log=spread)
    return plot.scatter(title, marks, across, plot.Axis(measure.title, unit.symbol), lines)


def _speed_up(entries: Sequence[Entry]) -> str:
    """How many times as fast each batch size is as the smallest that was measured."""
    swept = [entry for entry in entries if len(entry.sweep) > 1]
    if not swept:
        return ""
    sizes = sorted({size for entry in swept for size in entry.sweep})
    values = []
    for entry in swept:
        gained = entry.speed_up
        values.append([gained.get(size) for size in sizes])
    system = _systems_of(swept)
    several = len({system(entry) for entry in swept}) > 1
    names = [f"{entry.model}, {system(entry)}" if several else entry.model for entry in swept]
    title = f"Throughput over batch size, times that of batch {sizes[0]}"
    return plot.heat_map(title, [str(size) for size in sizes], names, values, "×", lambda value: f"{value:.2f}")


def _systems(entries: Sequence[Entry]) -> str:
    timed = [entry for entry in entries if entry.latency_s is not None]
    if not timed:
        return ""
    models = list(dict.fromkeys(entry.model for entry in timed))
    places, system = {model: place for place, model in enumerate(models)}, _systems_of(timed)
    series: dict[str, list[float | None]] = {}
    for entry in timed:
        values = series.setdefault(system(entry), [None] * len(models))
        if entry.latency_s is not None:
            values[places[entry.model]] = 1000 * entry.latency_s.value
    known = [value for values in series.values() for value in values if value is not None]
    axis = plot.Axis("online latency", "ms", log=max(known) > 30 * min(known))
    return plot.grouped_bars("Online latency across systems", models, series, axis)


def _systems_of(entries: Sequence[Entry]) -> Callable[[Entry], str]:
    """What to call an entry's stack and machine, as far as these differ."""
    one_machine = len({each.machine for each in entries}) == 1
    return lambda entry: entry.stack if one_machine else f"{entry.stack} on {entry.machine}"


def _ns(number: Number | None) -> float | None:
    return number.value * 1e9 if number else None
