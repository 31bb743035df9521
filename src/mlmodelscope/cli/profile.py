"""`profile`: where a model's time goes, level by level."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlmodelscope.cli.choices import (
    BatchSize,
    DatasetName,
    DeviceName,
    HardwareName,
    ModelName,
    PredictorOption,
    RelaxFramework,
    Seed,
    SoftwareName,
    StackNames,
    Threads,
    Trust,
    make_options,
)
from mlmodelscope.cli.server_choice import remote
from mlmodelscope.cli.terminal import AsJson, Offline, console, percent, print_json, seconds, settings, verb_of_a_moment
from mlmodelscope.cli.trace import TraceFile, check_name, send_to, write_file
from mlmodelscope.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table as RichTable

    from mlmodelscope.record.record import Record
    from mlmodelscope.trace.layers import LayerRow
    from mlmodelscope.trace.span import Overhead, Trace


class Level(StrEnum):
    application = "application"
    model = "model"
    framework = "framework"
    library = "library"
    hardware = "hardware"


_NOTICEABLE = 0.05
"""By how much the layers' own medians may miss the median of their sum without a word."""


@verb_of_a_moment
def profile(
    model: ModelName,
    dataset: DatasetName = None,
    level: Annotated[Level, typer.Option(help="How deep to look; each level includes those before.")] = Level.framework,
    runs: Annotated[
        int | None,
        typer.Option(help="Batches to trace, at each level: 10; with --cold fresh processes: 3.", min=1, max=10000),
    ] = None,
    cold: Annotated[
        bool, typer.Option("--cold", help="The layers of the very first call, in fresh processes: nothing is warm.")
    ] = False,
    software: SoftwareName = None,
    stacks: StackNames = None,
    relax_framework: RelaxFramework = False,
    hardware: HardwareName = None,
    batch_size: BatchSize = 1,
    threads: Threads = 1,
    device: DeviceName = None,
    seed: Seed = 0,
    option: PredictorOption = None,
    top: Annotated[int, typer.Option(help="Layers to list.", min=1)] = 10,
    output: TraceFile = None,
    otlp: Annotated[str | None, typer.Option(help="Also send the trace to this OTLP/HTTP address.")] = None,
    trust: Trust = False,
    offline: Offline = False,
    as_json: AsJson = False,
) -> int:
    """Trace a model: pipeline, layers and what these call, on one timeline.

    Each level is measured in runs of its own, so that the upper ones are not disturbed; what each costs is shown.
    """
    from mlmodelscope.cli.progress import TerminalWatcher
    from mlmodelscope.profiling import profile as run
    from mlmodelscope.trace.store import load_trace

    check_name(output)
    options = make_options(batch_size, threads, None, False, seed, 5, option, device, relax_framework=relax_framework)
    times = runs if runs is not None else 3 if cold else 10
    there, found, caller = remote(), settings(offline), os.environ.get("TRACEPARENT")
    conditions: dict[str, Any] = {"hardware": hardware, "trust": trust}

    def run_in(name: str | None) -> tuple[Record, Trace]:
        with TerminalWatcher() as watcher:
            if there is None:
                how: dict[str, Any] = {**conditions, "level": level.value, "runs": times, "cold": cold}
                how["traceparent"] = caller
                return run(model, dataset, options, software=name, settings=found, watcher=watcher, **how)
            arguments = {"level": level.value, "runs": times, "cold": cold}
            arguments |= {"traceparent": caller} if caller else {}
            asked: dict[str, Any] = {"software": name, "arguments": arguments, **conditions}
            record = there.run("profile", model, dataset, options, watcher=watcher, **asked)
            return record, load_trace(there.store().folder(record.id))

    if stacks is not None:
        from mlmodelscope.cli.profiled_stacks import show_profiled_stacks
        from mlmodelscope.cli.stack_sweep import end_sweep, sweep

        if software is not None or output is not None or otlp is not None:
            raise UsageError("--stacks goes with neither --stack nor --output nor --otlp")
        done = sweep(stacks, run_in, model, dataset, options, is_remote=there is not None, settings=found, **conditions)
        show_profiled_stacks(done, as_json)
        return end_sweep(done)
    record, trace = run_in(software)
    if output is not None:
        write_file(trace, output)
    if otlp is not None:
        send_to(trace, otlp, settings(offline))
    if as_json:
        print_json(_json(record, trace))
        return 0
    show_profile(record, trace, top)
    if output is not None:
        console().print(f"trace: {output}", soft_wrap=True)
    return 0


def _json(record: Record, trace: Trace) -> dict[str, object]:
    from dataclasses import asdict

    from mlmodelscope.trace.layers import agreement, kind_rows, layer_rows

    layers, sums = layer_rows(trace), agreement(trace)
    return {
        "record": record.id,
        "trace": trace.id,
        "latency_p50_s": record.latency.p50_s.value if record.latency else None,
        "profile": record.profile.model_dump() if record.profile else None,
        "sum_of_layers": asdict(sums) if sums else None,
        "overheads": [{**asdict(each), "share": each.share} for each in trace.overheads],
        "layers": [asdict(row) for row in layers],
        "types": [asdict(row) for row in kind_rows(layers)],
        "notes": record.notes,
    }


def show_profile(record: Record, trace: Trace, top: int = 10) -> None:
    """The numbers that matter, for a person."""
    from rich.markup import escape

    from mlmodelscope.trace.layers import layer_rows

    plan, out = record.plan, console()
    out.print(f"[bold]{escape(plan.model.name)}[/bold]@{escape(plan.model.version)}, {escape(trace.resource['stack'])}")
    out.print(_facts(record, trace))
    layers = layer_rows(trace)
    if layers:
        out.print()
        out.print(_kinds(layers))
        out.print()
        out.print(_longest(layers, top))
        if len(layers) > top:
            command = f"mlmodelscope analyze {record.id} --only A2 --output layers.csv"
            out.print(f"the {top} that take most of {len(layers)}; all: {command}", soft_wrap=True)
    for note in record.notes:
        out.print(f"[yellow]note:[/yellow] {escape(note)}", soft_wrap=True)


def _facts(record: Record, trace: Trace) -> RichTable:
    from rich.table import Table

    from mlmodelscope.report.words import plural
    from mlmodelscope.trace.counters import counter_lines
    from mlmodelscope.trace.kernels import kernel_lines

    made = record.profile
    assert made is not None
    facts = Table(box=None, show_header=False, pad_edge=False)
    if record.latency is not None:
        p50 = record.latency.p50_s
        facts.add_row(
            "latency",
            f"{seconds(p50.value)} at the median (95 % between {seconds(p50.low)} and {seconds(p50.high)}), "
            f"batch {record.latency.batch_size}, {len(record.latency.raw_ns)} runs, unprofiled",
        )
    if made.cold and made.run_ns is not None:
        processes = plural(made.runs, "fresh process")
        facts.add_row("first call", f"{_ns(made.run_ns)} at the median of {processes}, profiled")
    rows = [*(() if made.cold else _stages(trace)), *map(_overhead, trace.overheads), *_sum_of_layers(trace, made.cold)]
    for fact in (*rows, *kernel_lines(trace), *counter_lines(trace)):
        facts.add_row(*fact)
    facts.add_row("trace", f"{len(trace.spans)} spans, levels {', '.join(made.levels)}")
    facts.add_row("record", record.id)
    return facts


def _overhead(cost: Overhead) -> tuple[str, str]:
    """What looking at a level costs."""
    interval = ""
    if cost.low is not None and cost.high is not None:
        interval = f"; 95 % between {100 * cost.low:+.1f} % and {100 * cost.high:+.1f} %"
    times = f"{_ns(cost.without_ns)} without it, {_ns(cost.with_ns)} with"
    return f"{cost.level} level", f"{100 * cost.share:+.1f} % ({cost.compared}: {times}{interval})"


def _sum_of_layers(trace: Trace, cold: bool) -> list[tuple[str, str]]:
    from mlmodelscope.trace.layers import agreement, layer_rows

    sums = agreement(trace)
    if sums is None:
        return []
    listed = sum(row.time_ns for row in layer_rows(trace))
    of = f"{percent(sums.of_unprofiled)} of the {'first call' if cold else 'unprofiled run'}"
    profiled = f", {percent(sums.of_profiled)} of the profiled one" if sums.of_profiled else ""
    rows = [("layers' sum", f"{_ns(sums.layers_ns)} in a run at the median, {of}{profiled}")]
    if abs(listed - sums.layers_ns) > _NOTICEABLE * sums.layers_ns:
        why = "each layer at its own median, which a disturbed run hardly moves"
        rows.append(("  listed below", f"{_ns(listed)}: {why}"))
    return rows


def _kinds(layers: Sequence[LayerRow]) -> RichTable:
    from rich.markup import escape
    from rich.table import Table

    from mlmodelscope.trace.layers import kind_rows

    table = Table(box=None, pad_edge=False)
    table.add_column("type")
    for name in ("layers", "time", "share"):
        table.add_column(name, justify="right")
    table.add_column("")
    for kind in kind_rows(layers):
        table.add_row(escape(kind.kind), str(kind.count), _ns(kind.time_ns), percent(kind.share), _bar(kind.share))
    return table


def _longest(layers: Sequence[LayerRow], top: int) -> RichTable:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("#", justify="right", no_wrap=True)
    for name in ("layer", "type", "shape"):
        table.add_column(name, no_wrap=True)
    table.add_column("memory", justify="right", no_wrap=True)
    for name in ("time", "share"):
        table.add_column(name, justify="right")
    for row in sorted(layers, key=lambda row: -row.time_ns)[:top]:
        shape = "×".join(map(str, row.shapes[0])) if row.shapes else ""
        memory = f"{row.memory_bytes / 1024:.0f} KiB" if row.memory_bytes is not None else ""
        table.add_row(
            str(row.index), escape(row.name), escape(row.kind), shape, memory, _ns(row.time_ns), percent(row.share)
        )
    return table


def _stages(trace: Trace) -> list[tuple[str, str]]:
    """What a batch is made of, in one line."""
    from statistics import median

    batches = trace.named("batch", "application")
    if not batches:
        return []
    rows = [("batch", f"{_ns(median(each.duration_ns for each in batches))} at the median of {len(batches)}")]
    totals: dict[str, int] = {}
    runs = {span.id for span in trace.named("run", "model")}  # on a device they have parts, which count as run
    for span in trace.at("model"):
        if span.name != "sample" and span.parent is not None and span.parent not in runs:
            totals[span.name] = totals.get(span.name, 0) + span.duration_ns
    whole = sum(each.duration_ns for each in batches)
    if totals and whole:
        parts = sorted(totals.items(), key=lambda each: -each[1])
        rows.append(("  of it", ", ".join(f"{name} {percent(spent / whole)}" for name, spent in parts)))
    return rows


def _ns(duration_ns: float) -> str:
    from mlmodelscope.trace.text import spell

    return spell(duration_ns)


def _bar(share: float, width: int = 20) -> str:
    return "█" * round(share * width)
