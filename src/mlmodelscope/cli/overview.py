"""`overview`: all that was measured, model by model."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlmodelscope.cli.choices import Limit, SoftwareName, Trust
from mlmodelscope.cli.server_choice import open_store, remote
from mlmodelscope.cli.terminal import AsJson, Offline, console, print_fitting, print_json, print_note, settings, verb
from mlmodelscope.errors import MLModelScopeError, StoreError, UsageError

if TYPE_CHECKING:
    from mlmodelscope.analysis.overview import Entry
    from mlmodelscope.analysis.table import Analysis
    from mlmodelscope.record.store import Store
    from mlmodelscope.settings import Settings

_FORMS = (".html", ".csv", ".json", ".md")
_BESIDE = (
    "dataset",
    "metric",
    "accuracy_low",
    "accuracy_high",
    "part",
    "accuracy_record",
    "latency_record",
    "throughput_record",
)
"""Columns that would make the terminal's table too wide."""


@verb
def overview(
    models: Annotated[
        list[str] | None,
        typer.Argument(help="Models, as name, name@version or manifest; by default all.", metavar="[MODEL]..."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write it to FILE.html, .md, .csv or .json, or all of that to a folder."),
    ] = None,
    measure: Annotated[
        bool, typer.Option("--measure", help="First measure on this machine what is missing of the models named.")
    ] = False,
    dataset: Annotated[
        str | None, typer.Option(help="With --measure: the dataset, where neither the model nor a record names one.")
    ] = None,
    budget: Annotated[float, typer.Option(help="With --measure: seconds for each bench.", min=0.1)] = 20,
    limit: Limit = None,
    software: SoftwareName = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also records that replicate, sensitivity and study made on their way.")
    ] = False,
    trust: Trust = False,
    offline: Offline = False,
    as_json: AsJson = False,
) -> None:
    """Sum up the records: accuracy, graph size, online latency, maximum throughput and optimal batch of each model.

    Each dataset has a table of its own. The newest finished record tells each number, and an accuracy over all samples
    counts before one over some; what is not known is listed with the command that would measure it.
    """
    from mlmodelscope.analysis.overview_table import overview_analyses

    named = models or []
    if measure and not named:
        raise UsageError("--measure needs the names of models", hint="mlmodelscope overview MODEL --measure")
    if output is not None and output.suffix and output.suffix not in _FORMS:
        raise UsageError(f"{output} does not end in {', '.join(_FORMS)}, and is no name of a folder")
    if measure and remote() is not None:
        raise UsageError("--measure measures on this machine", hint="mlmodelscope bench MODEL --server URL")
    found = settings(offline)
    store = open_store(found)
    try:
        entries = _entries(store, named, found, everything)
        if measure:
            for model in named:
                _measure(model, entries, {"dataset": dataset, "software": software}, budget, limit, trust, found)
            entries = _entries(store, named, found, everything)
    finally:
        store.close()
    if not entries:
        what = f" of {', '.join(named)}" if named else ""
        hint = f"mlmodelscope overview {' '.join(named) or 'MODEL'} --measure"
        raise UsageError(f"there are no records{what}", hint=hint)
    analyses = overview_analyses(entries, drawn=output is not None)
    written = _write(analyses, output) if output is not None else []
    if as_json:
        print_json({"overview": [each.to_json() for each in analyses], "files": [str(path) for path in written]})
        return
    _show(analyses)
    for path in written:
        console().print(f"wrote {path}", soft_wrap=True)


def _entries(store: Store, named: list[str], found: Settings, everything: bool) -> list[Entry]:
    from dataclasses import replace

    from mlmodelscope.analysis.overview import make_overview
    from mlmodelscope.provision.artifact import ArtifactStore

    named = [_called(model) for model in named]
    names = [name.partition("@")[0] for name in named]
    versions = {name for name in named if "@" in name}
    bare = {name for name in named if "@" not in name}
    records = (
        record
        for record in store.newest_told(names, all_of_them=everything)
        if not named or record.plan.model.name in bare or record.plan.model.reference in versions
    )
    artifacts = ArtifactStore(replace(found, offline=True))  # sizes of what is here already
    return make_overview(records, artifacts, _is_known if remote() is None else lambda kind, reference: True)


@functools.cache
def _is_known(kind: str, reference: str) -> bool:
    """Whether the catalog has it: a command names what was evaluated from a file by that file."""
    from mlmodelscope.manifest.catalog import find_dataset, find_model

    try:
        find_model(reference) if kind == "model" else find_dataset(reference)
    except MLModelScopeError:
        return False
    return True


def _measure(
    model: str,
    entries: list[Entry],
    asked: dict[str, Any],
    budget: float,
    limit: int | None,
    trust: bool,
    found: Settings,
) -> None:
    """Run what no record of this machine tells: of each stack that has a row, or of the usual one where none has."""
    from mlmodelscope.provision.machine import describe_machine

    here = describe_machine().digest
    rows = [
        entry
        for entry in entries
        if entry.machine_digest == here and _called(model) in (entry.plan.model.reference, entry.plan.model.name)
    ]
    if asked["software"] is not None or not rows:
        _run(model, {"accuracy", "online latency", "throughput"}, asked, budget, limit, trust, found)
        return
    for row in rows:
        manifest = row.plan.manifests.get("software")
        more: dict[str, Any] = {
            "software": f"{manifest.name}@{manifest.version}" if manifest else None,
            "dataset": asked["dataset"] or _dataset_of(row),
            "options": {name: value for name, value in row.plan.predictor.options.items() if value is not None},
        }
        _run(
            model if _is_file(model) else row.plan.model.reference,
            {each.what.removesuffix(" on all samples") for each in row.missing},
            more,
            budget,
            limit,
            trust,
            found,
        )


def _is_file(model: str) -> bool:
    return model.endswith((".yml", ".yaml"))


def _called(model: str) -> str:
    """What records call a model: a manifest's file has its name inside."""
    from mlmodelscope.manifest.catalog import find_model

    if not _is_file(model):
        return model
    found = find_model(model)
    return f"{found.name}@{found.version}"


def _dataset_of(row: Entry) -> str | None:
    from mlmodelscope.record.bench import RANDOM

    named = row.plan.dataset
    return f"{named.name}@{named.version}" if named.name != RANDOM else None


def _run(
    model: str,
    missing: set[str],
    more: dict[str, Any],
    budget: float,
    limit: int | None,
    trust: bool,
    found: Settings,
) -> None:
    from mlmodelscope.benching import Request, bench
    from mlmodelscope.cli.progress import TerminalWatcher
    from mlmodelscope.evaluation import evaluate
    from mlmodelscope.plan.options import Options

    options = dict(more.get("options", {}))
    asked = Options(threads=options.pop("threads", 1), limit=limit, predictor_options=options)
    with TerminalWatcher() as watcher:
        common: dict[str, Any] = {"software": more["software"], "trust": trust, "settings": found, "watcher": watcher}
        if "accuracy" in missing:
            evaluate(model, more.get("dataset"), asked, **common)
        for what, scenario in (("online latency", "single-stream"), ("throughput", "sweep")):
            if what in missing:
                request = Request(scenario=scenario, budget_s=budget)
                bench(model, more.get("dataset"), Options(**{**vars(asked), "limit": None}), request, **common)


def _show(analyses: list[Analysis]) -> None:
    from rich.markup import escape

    out = console()
    *datasets, missing = analyses
    for place, analysis in enumerate(datasets):
        out.print(f"{chr(10) if place else ''}[bold]{escape(analysis.title)}[/bold]")
        _show_dataset(analysis)
    for row in missing.table.rows:
        out.print(f"missing: {escape(f'{row[4]} of {row[1]}: {row[5]}')}", soft_wrap=True)
    files = [row[5] for row in missing.table.rows if ".yml" in str(row[5])]
    if files:
        out.print("NAME.yml stands for your manifest of that name: the catalog does not have it", soft_wrap=True)


def _show_dataset(analysis: Analysis) -> None:
    from mlmodelscope.analysis.overview_table import samples_words
    from mlmodelscope.analysis.table import spelled

    table = analysis.table
    columns = [column for column in table.without_empty().columns if column.name not in _BESIDE]
    rows = []
    for values in table.rows:
        row = {column.name: value for column, value in zip(table.columns, values, strict=True)}
        rows.append(
            [samples_words(row) if each.name == "samples" else spelled(each, row[each.name]) for each in columns]
        )
    print_fitting([each.title for each in columns], rows, [each.is_number for each in columns])
    for note in analysis.notes:
        print_note(note, "note:")


def _write(analyses: list[Analysis], output: Path) -> list[Path]:
    from mlmodelscope.analysis.overview_page import overview_html, overview_json, overview_markdown
    from mlmodelscope.analysis.overview_table import overview_csv
    from mlmodelscope.report.plot import to_png

    texts: dict[str, Callable[[list[Analysis]], str]] = {
        ".html": overview_html,
        ".md": overview_markdown,
        ".json": overview_json,
        ".csv": overview_csv,
    }
    if output.suffix:
        return [write_text(output, texts[output.suffix](analyses))]
    written = [write_text(output / f"overview{suffix}", make(analyses)) for suffix, make in texts.items()]
    for name, svg in (each for analysis in analyses for each in analysis.plots.items()):
        written.append(write_text(output / f"{name}.svg", svg))
        with contextlib.suppress(UsageError):  # pictures for slides, where the package that makes them is there
            written.append(write_bytes(output / f"{name}.png", to_png(svg)))
    return written


def write_text(path: Path, text: str) -> Path:
    return write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from None
    return path
