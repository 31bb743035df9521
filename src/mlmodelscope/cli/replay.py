"""`replay`: do again what a reference log describes, and say what differs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlmodelscope.cli.choices import HardwareName, SoftwareName, Trust
from mlmodelscope.cli.server_choice import remote
from mlmodelscope.cli.terminal import AsJson, Offline, console, print_json, settings, verb

if TYPE_CHECKING:
    from mlmodelscope.client.remote import Remote
    from mlmodelscope.record.record import Record

_RECORD = re.compile(r"[0-9]{8}-[0-9]{6}(-[0-9a-f]{0,6})?|latest")


@verb
def replay(
    log: Annotated[str, typer.Argument(help="A reference log: its path, name, id or digest; or the id of a record.")],
    model: Annotated[str | None, typer.Option(help="Another model manifest.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Another dataset manifest.")] = None,
    software: SoftwareName = None,
    hardware: HardwareName = None,
    again: Annotated[bool, typer.Option("--again", help="Run even if the same plan has a record.")] = False,
    trust: Trust = False,
    offline: Offline = False,
    as_json: AsJson = False,
) -> int:
    """Run a reference log's task again; vary one of its four manifests, or none.

    Exit code 0: every expected output came out again; 1: something differs.
    """
    from tempfile import TemporaryDirectory

    from mlmodelscope.cli.progress import TerminalWatcher
    from mlmodelscope.replay import replay as run

    there = remote()
    more: dict[str, Any] = {"settings": settings(offline)}
    if there is not None:
        more = {"settings": there.settings, "do": _there(there)}
    aspects: dict[str, Any] = {"model": model, "dataset": dataset, "software": software, "hardware": hardware}
    with TerminalWatcher() as watcher, TemporaryDirectory() as folder:
        if _RECORD.fullmatch(log):
            log, came_along = _from_record(log, Path(folder))
            aspects = {name: given if given is not None else came_along.get(name) for name, given in aspects.items()}
        record, differences = run(
            log,
            **aspects,
            again=again,
            trust=trust,
            watcher=watcher,
            **more,
        )
    if as_json:
        print_json({"record": record.id, "same": differences.is_same, **asdict(differences)})
        return int(not differences.is_same)
    from rich.markup import escape
    from rich.table import Table

    out = console()
    if differences.compared:
        out.print(
            f"{differences.agreeing} of {differences.compared} expected answers came out again; "
            f"the scores differ by at most {differences.largest_score_gap:.3g}"
        )
    table = Table(box=None, pad_edge=False)
    for column in ("what", "which", "expected", "here"):
        table.add_column(column)
    for item in differences.items:
        before, after = ("not there" if value is None else str(value) for value in (item.expected, item.found))
        table.add_row(item.aspect, *map(escape, (item.name, before, after)))
    out.print(table if differences.items else "nothing differs")
    out.print(f"record {record.id}")
    return int(not differences.is_same)


def _there(server: Remote) -> Callable[..., Record]:
    """The log's task done on a server."""

    def do(kind: str, *, model: Any, dataset: Any, options: Any, settings: Any, **asked: Any) -> Record:
        return server.run(kind, model, dataset, options, **asked)

    return do


def _from_record(name: str, folder: Path) -> tuple[str, dict[str, Any]]:
    """The reference log of a record, and the manifests that came with it."""
    from mlmodelscope.hub.rerun import write_rerun
    from mlmodelscope.record.store import Store

    store = Store(settings(False))
    try:
        log, manifests = write_rerun(store.get(name), store, folder)
    finally:
        store.close()
    return str(log), manifests
