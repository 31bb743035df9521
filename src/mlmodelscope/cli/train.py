"""`train`: carry out a training task."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
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
from mlmodelscope.cli.terminal import AsJson, Offline, console, print_json, seconds, settings, verb
from mlmodelscope.errors import UsageError

if TYPE_CHECKING:
    from mlmodelscope.record.record import Record
    from mlmodelscope.settings import Settings

STOPPED = 4
_MOST_SEEDS = 1000

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
    epochs: Annotated[int | None, typer.Option(help="Epochs, in place of the manifest's.", min=1)] = None,
    steps: Annotated[int | None, typer.Option(help="Steps, in place of the manifest's epochs.", min=1)] = None,
    batch_size: Annotated[int | None, typer.Option(help="Samples of a step.", min=1)] = None,
    target: Annotated[
        list[str] | None,
        typer.Option(help="Stop where a metric is this good, and report the time.", metavar="METRIC=VALUE"),
    ] = None,
    seed: Seed = 0,
    seeds: Annotated[
        str | None, typer.Option(help="Train with each of these seeds, comma-separated, and sum them up.")
    ] = None,
    threads: Threads = 1,
    export: Annotated[
        Path | None,
        typer.Option("--export", help="Write the trained model as a manifest, FILE.yml, that `evaluate` takes."),
    ] = None,
    without_head: Annotated[
        bool, typer.Option("--without-head", help="Export it without the layers that the manifest names as its head.")
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Train even if the same plan has a record.")] = False,
    trust: Trust = False,
    offline: Offline = False,
    as_json: AsJson = False,
) -> int:
    """Train a model as its manifest says, and keep the curve and what was made.

    With a reference log, a training whose metric is not comparable after a quarter of the way is stopped (exit code 4).
    A training with checkpoints that was interrupted, even by `kill -9`, resumes where the same command is given again.
    """
    from dataclasses import replace

    from mlmodelscope.cli.progress import TerminalWatcher
    from mlmodelscope.training import EarlyStop
    from mlmodelscope.training import train as run

    options = replace(
        make_options(1, threads, None, False, seed, 5, None, relax_framework=relax_framework),
        hyperparameters=dict(pair(text) for text in hyperparameter or ()),
        training=_settings_of(epochs, steps, batch_size, target),
    )
    there = remote()
    if without_head and export is None:
        raise UsageError("--without-head goes with --export FILE.yml")
    if there is not None and export is not None:
        raise UsageError("a trained model is exported where it was trained, not from a server")
    if there is not None and log is not None:
        raise UsageError("a curve is compared with a reference log on this machine, not on a server")
    exported = _exporter(model, export, without_head, settings(offline)) if export is not None else None
    numbers = _numbers(seeds) if seeds is not None else [seed]
    if len(numbers) > 1 and export is not None:
        raise UsageError("several seeds make several models: export one, with --seed")
    done = []
    with TerminalWatcher() as watcher:
        for number in numbers:
            chosen = replace(options, seed=number)
            if there is not None:
                asked: dict[str, Any] = {"software": software, "hardware": hardware, "trust": trust, "again": again}
                done.append(there.run("train", model, dataset, chosen, watcher=watcher, **asked))
                continue
            record = run(
                model,
                dataset,
                chosen,
                software=software,
                hardware=hardware,
                reference=log,
                early_stop=EarlyStop(within=within, metric=metric) if early_stop else None,
                trust=trust,
                settings=settings(offline),
                again=again,
                watcher=watcher,
            )
            done.append(record)
    code = _tell_all(done, as_json) if seeds is not None else _tell(done[0], as_json)
    if exported is not None:
        exported(done[0])
        if not as_json:
            console().print(f"wrote {export}", soft_wrap=True)
    return code


def _numbers(text: str) -> list[int]:
    parts = text.split(",")
    if len(parts) > _MOST_SEEDS or not all(each.strip().isdecimal() and len(each.strip()) < 10 for each in parts):
        raise UsageError(f"`{text[:100]}` is not a list of seeds, such as 1,2,3")
    return list(dict.fromkeys(int(each) for each in parts))


def _tell_all(records: list[Record], as_json: bool) -> int:
    from rich.markup import escape
    from rich.table import Table

    from mlmodelscope.analysis.training_seeds import seed_rows, seeds_json

    if as_json:
        print_json(seeds_json(records))
    else:
        for record in records:
            show_training(record)
        table = Table(box=None, show_header=False, pad_edge=False)
        for name, value in seed_rows(records):
            table.add_row(escape(name), escape(value))
        console().print(table)
    return STOPPED if any(each.training is not None and each.training.stopped for each in records) else 0


def _exporter(model: str, export: Path, without_head: bool, where: Settings) -> Callable[[Record], None]:
    """What exports a record, refused before the training where it could not."""
    from mlmodelscope.cli.server_choice import open_store
    from mlmodelscope.manifest.catalog import find_manifest
    from mlmodelscope.manifest.schema import ModelManifest
    from mlmodelscope.training import check_exportable, export_trained

    manifest = find_manifest(ModelManifest, model)
    check_exportable(manifest, export, without_head)

    def write(record: Record) -> None:
        export_trained(record, manifest, open_store(where), export, without_head)

    return write


def _settings_of(
    epochs: int | None, steps: int | None, batch_size: int | None, target: list[str] | None
) -> dict[str, Any]:
    if epochs is not None and steps is not None:
        raise UsageError("--epochs and --steps: a training has one of them")
    given: dict[str, Any] = {"epochs": epochs, "steps": steps, "batch_size": batch_size}
    if target:
        given["target"] = dict(pair(text) for text in target)
    return {name: value for name, value in given.items() if value is not None}


def _tell(record: Record, as_json: bool) -> int:
    if as_json:
        print(record.model_dump_json(indent=2))
    else:
        show_training(record)
    return STOPPED if record.training is not None and record.training.stopped else 0


def show_training(record: Record) -> None:
    from rich.markup import escape
    from rich.table import Table

    from mlmodelscope.report.training import loop_rows

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
    for name, text in loop_rows(training):
        table.add_row(escape(name), escape(text))
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
