"""`datasets`: which are there, which are connected, and the folders that hold the others."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlmodelscope.cli.help import HelpGroup
from mlmodelscope.cli.server_choice import remote
from mlmodelscope.cli.terminal import AsJson, print_facts, print_json, settings, verb

if TYPE_CHECKING:
    from mlmodelscope.manifest.schema import DatasetManifest


class Commands(HelpGroup):
    default = "show"
    """`datasets imagenet-val` shows it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """`datasets` alone, and with options of a list, lists them."""
        asks_for_help = any(each in ctx.help_option_names for each in args)
        if not asks_for_help and (not args or args[0].startswith("-")):
            args = ["show", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(help="List the datasets of the catalog, show one, or connect a folder that holds one.")

Name = Annotated[str, typer.Argument(help="The dataset's name, such as imagenet-val.")]


@app.command("show")
@verb
def show(
    name: Annotated[str | None, typer.Argument(help="Show this one.")] = None,
    as_yaml: Annotated[bool, typer.Option("--yaml", help="With a name: print its manifest as written.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the datasets and which are connected, or show one."""
    from mlmodelscope.cli.manifest_tables import print_written, show_catalogue
    from mlmodelscope.errors import UsageError
    from mlmodelscope.manifest.catalog import find_dataset
    from mlmodelscope.manifest.schema import DatasetManifest

    if as_yaml and as_json:
        raise UsageError("--yaml and --json exclude each other")
    if name is None:
        if as_yaml:
            raise UsageError("--yaml prints the manifest of one dataset", hint="mlmodelscope datasets show NAME --yaml")
        titles = ("task", "samples", "files", "license")
        show_catalogue("datasets", titles, _row, as_json)
        return
    there = remote()
    manifest = find_dataset(name) if there is None else there.shelf.find(DatasetManifest, name)
    if as_json:
        print_json(manifest.model_dump(mode="json"))
        return
    if as_yaml:
        print_written(manifest)
    else:
        from mlmodelscope.cli.manifest_summary import dataset_rows

        print_facts(list(dataset_rows(manifest, settings(True), _where(manifest), is_here=there is None)))
    if there is None and manifest.connect is not None:
        _tell_where(manifest)


@app.command("connect")
@verb
def connect(
    name: Name,
    folder: Annotated[Path, typer.Argument(help="The folder that holds it; or a folder above.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Verify every file of a folder once, and use it as this dataset from now on."""
    from mlmodelscope.connection.connect import connect as connect_folder
    from mlmodelscope.connection.resolve import shown_bytes
    from mlmodelscope.manifest.catalog import find_dataset

    _refuse_server("connect")
    with _Bars() as bars:
        found = connect_folder(find_dataset(name), folder, settings(False), bars.show)
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    print(
        f"{found.name} is connected: {found.samples:,} samples in {found.files:,} files, {shown_bytes(found.bytes)}, "
        f"layout {found.layout}, digest {found.digest[:12]}"
    )


@app.command("disconnect")
@verb
def disconnect(name: Name) -> None:
    """Forget the folder of a dataset; the folder itself is left alone."""
    from mlmodelscope.connection.connect import disconnect as forget

    _refuse_server("disconnect")
    forget(name, settings(False))
    print(f"{name} is not connected any more; its files are as they were")


def _row(manifest: DatasetManifest) -> tuple[str, ...]:
    return manifest.task, f"{manifest.size:,}" if manifest.size else "", _where(manifest), manifest.license or ""


def _where(manifest: DatasetManifest) -> str:
    """In a word or two: where the files are."""
    from mlmodelscope.connection.kept import find_connection
    from mlmodelscope.connection.resolve import whole_of
    from mlmodelscope.errors import StoreError

    if remote() is not None or manifest.connect is None:
        return ""
    try:
        found = find_connection(settings(False), whole_of(manifest))
    except StoreError:
        return "connected, damaged"
    if found is None:
        return "fetched when used" if manifest.sources else "not connected"
    if not found.is_there:
        return f"missing: {found.folder}"
    return f"connected: {found.folder}"


def _tell_where(manifest: DatasetManifest) -> None:
    """Not among what was printed, which is a manifest for programs."""
    from mlmodelscope.connection.kept import connect_command, find_connection
    from mlmodelscope.connection.resolve import whole_of

    found = find_connection(settings(False), whole_of(manifest))
    if found is not None:
        print(f"\nconnected from {found.folder} at {found.connected_at}, digest {found.digest[:12]}", file=sys.stderr)
        return
    print(f"\nnot connected; with its files in a folder: {connect_command(whole_of(manifest))}", file=sys.stderr)


def _refuse_server(what: str) -> None:
    from mlmodelscope.errors import UsageError

    if remote() is not None:
        raise UsageError(
            f"`datasets {what}` is about folders of one machine",
            hint="run it where the folder is, on the server or on an agent, without --server",
        )


class _Bars:
    """Progress on standard error, where a person watches."""

    def __init__(self) -> None:
        self._progress: Any = None
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> _Bars:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def show(self, what: str, done: int, total: int) -> None:
        if self._progress is None:
            return
        if what not in self._tasks:
            self._tasks[what] = self._progress.add_task(what, total=total)
        self._progress.update(self._tasks[what], completed=done, total=total)
