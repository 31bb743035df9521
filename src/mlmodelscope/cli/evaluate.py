"""`evaluate`: run a model over a dataset and keep the record."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlmodelscope.cli.choices import (
    BatchSize,
    DatasetName,
    DeviceName,
    HardwareName,
    Limit,
    ModelName,
    PredictorOption,
    RelaxFramework,
    Seed,
    SoftwareName,
    StackNames,
    Stratified,
    Threads,
    TopK,
    Trust,
    make_options,
)
from mlmodelscope.cli.server_choice import remote
from mlmodelscope.cli.terminal import (
    SOME_SAMPLES_FAILED,
    AsJson,
    Offline,
    console,
    seconds,
    settings,
    verb,
)
from mlmodelscope.errors import UsageError

if TYPE_CHECKING:
    from mlmodelscope.record.number import MeasuredNumber
    from mlmodelscope.record.record import Record


@verb
def evaluate(
    model: ModelName,
    dataset: DatasetName = None,
    software: SoftwareName = None,
    relax_framework: RelaxFramework = False,
    stacks: StackNames = None,
    hardware: HardwareName = None,
    batch_size: BatchSize = 1,
    threads: Threads = 1,
    device: DeviceName = None,
    limit: Limit = None,
    stratified: Stratified = False,
    seed: Seed = 0,
    top_k: TopK = 5,
    option: PredictorOption = None,
    again: Annotated[bool, typer.Option("--again", help="Run even if the same plan has a record.")] = False,
    report: Annotated[Path | None, typer.Option(help="Also write the HTML report to this file.")] = None,
    trust: Trust = False,
    offline: Offline = False,
    as_json: AsJson = False,
) -> int:
    """Evaluate a model on a dataset.

    The same plan again answers from the store; an interrupted one resumes where it left off.
    """
    from mlmodelscope.cli.progress import TerminalWatcher
    from mlmodelscope.evaluation import evaluate as run

    options = make_options(
        batch_size, threads, limit, stratified, seed, top_k, option, device, relax_framework=relax_framework
    )
    found, there = settings(offline), remote()

    def run_in(name: str | None) -> Record:
        asked: dict[str, Any] = {"software": name, "hardware": hardware, "trust": trust, "again": again}
        with TerminalWatcher() as watcher:
            if there is not None:
                return there.run("evaluate", model, dataset, options, watcher=watcher, **asked)
            return run(model, dataset, options, settings=found, watcher=watcher, **asked)

    if stacks is not None:
        from mlmodelscope.cli.stack_comparison import show_stacks
        from mlmodelscope.cli.stack_sweep import end_sweep, sweep

        if software is not None or report is not None:
            raise UsageError("--stacks goes with neither --stack nor --report")
        named: dict[str, Any] = {"hardware": hardware, "trust": trust, "settings": found}
        done = sweep(stacks, run_in, model, dataset, options, is_remote=there is not None, **named)
        about = [each for each in (model, dataset) if each]
        show_stacks(list(done.finished.values()), about, list(done.finished), found, as_json, done.failed)
        return end_sweep(done) or (SOME_SAMPLES_FAILED if any(each.failed for each in done.finished.values()) else 0)
    record = run_in(software)
    if report is not None:
        from mlmodelscope.cli.report import write

        write(record.id, "html", report)
    if as_json:
        print(record.model_dump_json(indent=2))
    else:
        show_record(record)
        if report is not None:
            console().print(f"report: {report}", soft_wrap=True)
    return SOME_SAMPLES_FAILED if record.failed else 0


def show_record(record: Record) -> None:
    """The numbers that matter, for a person."""
    from rich.markup import escape
    from rich.table import Table

    from mlmodelscope.report import words
    from mlmodelscope.report.claims import compare_claims
    from mlmodelscope.report.numbers import headline_of, other_numbers

    plan = record.plan
    out = console()
    model = f"[bold]{escape(plan.model.name)}[/bold]@{escape(plan.model.version)}"
    out.print(f"{model} on [bold]{escape(plan.dataset.name)}[/bold]@{escape(plan.dataset.version)}")
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, number in {**headline_of(record), **other_numbers(record)}.items():
        shown = with_interval(number) if number is not None else f"refused: {record.refused.get(name, 'no data')}"
        table.add_row(escape(words.title(name)), escape(shown))
    if record.latency is not None:
        p50 = record.latency.p50_s
        table.add_row(
            "latency",
            f"{seconds(p50.value)} at the median (95 % between {seconds(p50.low)} and {seconds(p50.high)}), "
            f"batch {record.latency.batch_size}, {len(record.latency.raw_ns)} runs",
        )
        if record.latency.parts_ns:
            from mlmodelscope.report.latency import describe_parts

            table.add_row("parts", describe_parts(record.latency))
    if record.wall_s:
        table.add_row("throughput", f"{record.samples / record.wall_s:.3g} samples/s")
    if record.server is not None:
        from mlmodelscope.report.reproduction import server_words

        table.add_row("server", escape(server_words(record) or ""))
    table.add_row("samples", f"{record.samples}" + (f", [red]{record.failed} failed[/red]" if record.failed else ""))
    table.add_row("record", record.id)
    out.print(table)
    for comparison in compare_claims(record):
        out.print(escape(comparison.sentence), soft_wrap=True)
    for note in record.notes:
        out.print(f"[yellow]note:[/yellow] {escape(note)}", soft_wrap=True)
    for failure in record.failures[:5]:
        out.print(f"[red]failed:[/red] {escape(failure.sample)}: {escape(failure.reason)}", soft_wrap=True)
    if record.failed > 5:
        out.print(f"all {record.failed} failures: mlmodelscope records show {record.id} --failed")


def show_builds(record: Record) -> None:
    """How the stack's libraries were built."""
    from rich.markup import escape

    from mlmodelscope.record.builds import build_rows

    for library, told in build_rows(record):
        console().print(f"[bold]{escape(library)}[/bold]: {escape(told)}", soft_wrap=True)


def with_interval(number: MeasuredNumber) -> str:
    """A number as one line of a terminal has it."""
    from mlmodelscope.report import words

    value, between = (
        each.replace("\N{NO-BREAK SPACE}", " ") for each in (words.measured_value(number), words.measured_range(number))
    )
    if not between:
        return value
    low, _, high = between.partition(" – ")
    unit = words.unit_of(number).symbol
    return f"{value} (95 % between {low} {unit} and {high})" if unit else f"{value} (95 % between {low} and {high})"
