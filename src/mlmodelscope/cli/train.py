"""`train`: carry out a training task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlmodelscope.cli.choices import (
    HardwareName,
    ModelName,
    RelaxFramework,
    Seed,
    SoftwareName,
    Threads,
    Trust,
    make_options,
    pair,
)
from mlmodelscope.cli.server_choice import remote
from mlmodelscope.cli.terminal import AsJson, Offline, console, seconds, settings, verb
from mlmodelscope.errors import UsageError

if TYPE_CHECKING:
    from mlmodelscope.record.record import Record

STOPPED = 4

_BARS = "▁▂▃▄▅▆▇█"


@verb
def train(
    model: ModelName,
    dataset: Annotated[str | None, typer.Argument(help="Dataset; by default the one that the model names.")] = None,
    software: SoftwareName = None,
    relax_framework: RelaxFramework = False,
    hardware: HardwareName = None,
    log: Annotated[str | None, typer.Option("--log", help="Reference log to compare the curve with.")] = None,
    early_stop: Annotated[
        bool, typer.Option("--early-stop/--no-early-stop", help="Stop a training that falls behind the log.")
    ] = True,
    within: Annotated[float, typer.Option(help="How much worse than the log it may be, as a share.", min=0)] = 0.1,
    metric: Annotated[str | None, typer.Option(help="Which metric of the curve is compared.")] = None,
    hyperparameter: Annotated[
        list[str] | None, typer.Option("--set", help="A hyper-parameter, above the manifest's.", metavar="KEY=VALUE")
    ] = None,
    seed: Seed = 0,
    threads: Threads = 1,
    again: Annotated[bool, typer.Option("--again", help="Train even if the same plan has a record.")] = False,
    trust: Trust = False,
    offline: Offline = False,
    as_json: AsJson = False,
) -> int:
    """Train a model as its manifest says, and keep the curve and what was made.

    With a reference log, a training whose metric is not comparable after a quarter of the way is stopped (exit code 4).
    """
    from dataclasses import replace

    from mlmodelscope.cli.progress import TerminalWatcher
    from mlmodelscope.training import EarlyStop
    from mlmodelscope.training import train as run

    options = replace(
        make_options(1, threads, None, False, seed, 5, None, relax_framework=relax_framework),
        hyperparameters=dict(pair(text) for text in hyperparameter or ()),
    )
    there = remote()
    if there is not None and log is not None:
        raise UsageError("a curve is compared with a reference log on this machine, not on a server")
    with TerminalWatcher() as watcher:
        if there is not None:
            asked: dict[str, Any] = {"software": software, "hardware": hardware, "trust": trust, "again": again}
            return _tell(there.run("train", model, dataset, options, watcher=watcher, **asked), as_json)
        record = run(
            model,
            dataset,
            options,
            software=software,
            hardware=hardware,
            reference=log,
            early_stop=EarlyStop(within=within, metric=metric) if early_stop else None,
            trust=trust,
            settings=settings(offline),
            again=again,
            watcher=watcher,
        )
    return _tell(record, as_json)


def _tell(record: Record, as_json: bool) -> int:
    if as_json:
        print(record.model_dump_json(indent=2))
    else:
        show_training(record)
    return STOPPED if record.training is not None and record.training.stopped else 0


def show_training(record: Record) -> None:
    from rich.markup import escape
    from rich.table import Table

    training = record.training
    assert training is not None
    out = console()
    plan = record.plan
    out.print(f"[bold]{escape(plan.model.reference)}[/bold] trained on [bold]{escape(plan.dataset.name)}[/bold]")
    table = Table(box=None, show_header=False, pad_edge=False)
    names = list(dict.fromkeys(name for point in training.curve for name in point.metrics))
    for name in names:
        values = [point.metrics[name] for point in training.curve if name in point.metrics]
        table.add_row(escape(name), f"{_curve(values)}  {values[0]:.4g} → {values[-1]:.4g}")
    for name, value in training.metrics.items():
        table.add_row(escape(f"final {name}"), f"{value:.4g}")
    for key, value in plan.hyperparameters.items():
        table.add_row(escape(key), escape(str(value)))
    table.add_row("seed", str(plan.seed))
    if training.wall_s is not None:
        table.add_row("time", seconds(training.wall_s))
    for file in training.artifacts:
        table.add_row("made", f"{escape(file.name)}  {file.size_bytes} bytes  sha256:{file.sha256[:12]}…")
    table.add_row("record", record.id)
    out.print(table)
    if training.stopped:
        out.print(f"[red]stopped:[/red] {escape(training.stopped)}", soft_wrap=True)
    for note in record.notes:
        if note != training.stopped:
            out.print(f"[yellow]note:[/yellow] {escape(note)}", soft_wrap=True)


def _curve(values: list[float]) -> str:
    low, high = min(values), max(values)
    if not high > low:
        return _BARS[0] * min(len(values), 40)
    step = max(1, len(values) // 40)
    return "".join(_BARS[min(7, int(8 * (value - low) / (high - low)))] for value in values[::step])
