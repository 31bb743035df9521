"""`bench`: how fast a model is, at which load."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlmodelscope.cli.choices import (
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
from mlmodelscope.cli.server_choice import open_store, remote
from mlmodelscope.cli.terminal import AsJson, Offline, console, settings, verb_of_a_moment
from mlmodelscope.errors import StoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from mlmodelscope.manifest.schema import DatasetManifest
    from mlmodelscope.record.record import Record

_STREAMS = 8
_SHOWN = 8


class ScenarioName(StrEnum):
    single_stream = "single-stream"
    multi_stream = "multi-stream"
    server = "server"
    offline = "offline"
    cold_start = "cold-start"
    sweep = "sweep"
    max_rate = "max-rate"


@verb_of_a_moment
def bench(
    model: ModelName,
    dataset: DatasetName = None,
    scenario: Annotated[
        ScenarioName,
        typer.Option(
            help="How queries arrive: in turn; several samples together; by chance, as at a server; all at "
            "once. Or: fresh processes; batch sizes doubled until it does not pay; the highest rate below --bound."
        ),
    ] = ScenarioName.single_stream,
    batch_size: Annotated[
        int | None, typer.Option(help="Samples that the model gets at once; for a sweep the first.", min=1)
    ] = None,
    streams: Annotated[int | None, typer.Option(help="Multi-stream: samples in a query.", min=1)] = None,
    threads: Threads = 1,
    rate: Annotated[
        float | None, typer.Option(help="Server: queries a second; by default half of what is possible.", min=1e-3)
    ] = None,
    bound: Annotated[float | None, typer.Option(help="Highest rate: milliseconds that are fast enough.", min=0)] = None,
    percentile: Annotated[
        float,
        typer.Option(
            help="Percentage of the queries, or of a language model's texts, that must be fast enough.",
            min=1,
            max=99.99,
        ),
    ] = 99,
    ttft: Annotated[
        float | None,
        typer.Option(help="Language models: milliseconds that the first token may take, from when it was due.", min=0),
    ] = None,
    tpot: Annotated[
        float | None, typer.Option(help="Language models: milliseconds that each further token may take.", min=0)
    ] = None,
    mlperf: Annotated[
        str | None,
        typer.Option(help="Language models: both by MLPerf's rule, such as llama2-70b-interactive.", metavar="RULE"),
    ] = None,
    budget: Annotated[float, typer.Option(help="Seconds that measuring may take, at most.", min=0.1)] = 20,
    queries: Annotated[
        int, typer.Option(help="Queries that each process answers at least, even if the budget is over.", min=1)
    ] = 1,
    processes: Annotated[
        int, typer.Option(help="Fresh processes that share the budget; what differs between them is noise.", min=1)
    ] = 2,
    starts: Annotated[int, typer.Option(help="Cold start: fresh processes.", min=1)] = 5,
    largest: Annotated[int, typer.Option(help="Sweep: the largest batch size to try.", min=1)] = 1024,
    seed: Seed = 0,
    end_to_end: Annotated[
        bool, typer.Option("--end-to-end", help="Queries go through the whole pipeline, not the framework alone.")
    ] = False,
    random: Annotated[
        bool, typer.Option("--random", help="No samples: random tensors of the shapes that the model takes.")
    ] = False,
    shape: Annotated[
        list[str] | None,
        typer.Option(
            help="With --random: an input's shape, where the model leaves sizes open; tokens of a language model's "
            "`prompt` and `answer`.",
            metavar="INPUT=1,3,8,8",
        ),
    ] = None,
    loadgen: Annotated[
        bool, typer.Option("--loadgen", help="Let MLPerf's own LoadGen drive it; it must be in the stack.")
    ] = False,
    software: SoftwareName = None,
    stacks: StackNames = None,
    relax_framework: RelaxFramework = False,
    hardware: HardwareName = None,
    device: DeviceName = None,
    option: PredictorOption = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Also write every query's times to this CSV file.")
    ] = None,
    trust: Trust = False,
    offline: Offline = False,
    as_json: AsJson = False,
) -> int:
    """Measure a model under load: latency with intervals, throughput, memory, and whether that can be believed.

    Nothing need be guessed: it warms up until it is steady and measures until the intervals are tight, or until the
    budget is spent.
    """
    from mlmodelscope.benching import Request
    from mlmodelscope.benching import bench as run
    from mlmodelscope.cli.progress import TerminalWatcher

    if output is not None and output.suffix != ".csv":
        raise UsageError(f"{output} does not end in .csv, which is all that can be written")
    if shape and not random:
        raise UsageError("--shape goes with --random only")
    streams = _streams(scenario, streams, batch_size)
    options = make_options(
        batch_size or streams or 1, threads, None, False, seed, 5, option, device, relax_framework=relax_framework
    )
    request = Request(
        scenario=scenario.value,
        budget_s=budget,
        queries=queries,
        processes=processes,
        rate_qps=rate,
        bound_s=bound / 1000 if bound is not None else None,
        percentile=percentile / 100,
        first_s=ttft / 1000 if ttft is not None else None,
        each_s=tpot / 1000 if tpot is not None else None,
        mlperf=mlperf,
        most_batch=largest,
        cold_starts=starts,
        loadgen=loadgen,
    )
    there = remote()
    if there is not None and (random or loadgen):
        raise UsageError("--random and --loadgen are for this machine; a server cannot be asked for them")
    found = settings(offline)
    conditions: dict[str, Any] = {"hardware": hardware, "trust": trust}

    def run_in(name: str | None) -> Record:
        with TerminalWatcher() as watcher:
            if there is None:
                how: dict[str, Any] = {"streams": streams, "end_to_end": end_to_end, **conditions}
                how["random"] = _shapes(shape or []) if random else None
                return run(model, dataset, options, request, software=name, settings=found, watcher=watcher, **how)
            asked = {name: value for name, value in asdict(request).items() if name != "loadgen"}
            arguments = {**asked, "streams": streams, "end_to_end": end_to_end}
            where = {"software": name, **conditions}
            return there.run("bench", model, dataset, options, arguments=arguments, watcher=watcher, **where)

    if stacks is not None:
        if software is not None or output is not None:
            raise UsageError("--stacks goes with neither --stack nor --output")
        about = _no_samples(model) if random else dataset
        named = {**conditions, "settings": found, "is_remote": there is not None}
        return _in_stacks(stacks, run_in, (model, about, options), named, as_json)
    _tell(run_in(software), output, as_json)
    return 0


def _in_stacks(
    stacks: str, run: Callable[[str], Record], about: tuple[Any, ...], conditions: dict[str, Any], as_json: bool
) -> int:
    from mlmodelscope.cli.benched_stacks import show_benched_stacks
    from mlmodelscope.cli.stack_sweep import end_sweep, sweep

    done = sweep(stacks, run, *about, **conditions)
    show_benched_stacks(done, as_json)
    return end_sweep(done)


def _no_samples(model: str) -> DatasetManifest:
    """What --random puts in the place of a dataset."""
    from mlmodelscope.benching import no_samples
    from mlmodelscope.manifest.catalog import find_model

    return no_samples(find_model(model).task)


def _tell(record: Record, output: Path | None, as_json: bool) -> None:
    if output is not None:
        _write_csv(record, output)
    if as_json:
        print(record.model_dump_json(indent=2))
        return
    show_bench(record)
    if output is not None:
        console().print(f"queries: {output}", soft_wrap=True)


def _streams(scenario: ScenarioName, streams: int | None, batch_size: int | None) -> int | None:
    """Samples in a query, where a query has several."""
    if scenario is not ScenarioName.multi_stream:
        if streams is not None:
            raise UsageError("--streams goes with --scenario multi-stream only")
        return None
    found = _STREAMS if streams is None else streams
    if batch_size is not None and found % batch_size:
        raise UsageError(f"{found} samples cannot be cut into batches of {batch_size}")
    return found


def _shapes(given: list[str]) -> dict[str, tuple[int, ...]]:
    """`input=1,3,224,224` as {input: (1, 3, 224, 224)}; a shape without a name is that of every input."""
    found = {}
    for each in given:
        name, _, sizes = each.rpartition("=")
        try:
            shape = tuple(int(size) for size in sizes.split(","))
        except ValueError:
            shape = ()
        if not shape or min(shape) < 1:
            raise UsageError(f"`{each}` is no shape", hint="write it as input=1,3,224,224")
        found[name] = shape
    return found


def _write_csv(record: Record, output: Path) -> None:
    from mlmodelscope.record.latencies import csv_lines, load_latencies

    runs = load_latencies(open_store(settings(True)).folder(record.id))
    try:
        with output.open("w", encoding="utf-8") as file:
            file.writelines(csv_lines(runs))
    except OSError as error:
        raise StoreError(f"cannot write {output}: {error.strerror}") from None


def show_bench(record: Record) -> None:
    """The numbers that matter, for a person."""
    from rich.markup import escape
    from rich.table import Table

    from mlmodelscope.report.bench import bench_of, rows, run_head, run_rows

    plan, out, bench = record.plan, console(), bench_of(record)
    packages = ", ".join(f"{name} {version}" for name, version in plan.stack.packages.items())
    if len(plan.stack.packages) > _SHOWN:  # a manifest's own functions may use any of them
        packages = f"{len(plan.stack.packages)} packages of {plan.stack.name}"
    model = f"[bold]{escape(plan.model.name)}[/bold]@{escape(plan.model.version)}"
    out.print(f"{model}, {bench.scenario}{', end to end' if bench.end_to_end else ''}, {escape(packages)}")
    several = run_rows(record)
    if several:
        table = Table(box=None, pad_edge=False)
        for name in run_head(record):
            table.add_column(name, justify="right")
        for row in several:
            table.add_row(*row)
        out.print(table)
        out.print()
    facts = Table(box=None, show_header=False, pad_edge=False)
    for name, value, between in rows(record)[:-1]:
        facts.add_row(escape(name), escape(value), escape(between))
    facts.add_row("record", record.id, "")
    out.print(facts)
    colour = "green" if bench.stability.verdict == "stable" else "red"
    out.print(f"[{colour}]{bench.stability.verdict}[/{colour}]" + (", because" if bench.stability.because else ""))
    for reason in bench.stability.because:
        out.print(f"  {escape(reason)}", soft_wrap=True)
    for note in record.notes:
        out.print(f"[yellow]note:[/yellow] {escape(note)}", soft_wrap=True)
