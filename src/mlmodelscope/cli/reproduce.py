"""`reproduce`: a reimplementation tested component by component."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlmodelscope.cli.choices import Trust
from mlmodelscope.cli.server_choice import remote
from mlmodelscope.cli.terminal import AsJson, Offline, console, print_json, settings, verb
from mlmodelscope.errors import MLModelScopeError, UsageError

if TYPE_CHECKING:
    from mlmodelscope.reproduction.result import Checked

app = typer.Typer(
    help="Test a model that you have implemented once more, component by component.", no_args_is_help=True
)

NO_VERDICT = 3
_COLORS = {"passed": "green", "failed": "red", "undecided": "yellow", "skipped": "dim", "waits": "yellow"}


@app.callback()
def group() -> None:
    """Verbs of a reproduction."""


@app.command("check")
@verb
def check(
    file: Annotated[str, typer.Argument(help="Path or name of a reproduction manifest.", metavar="FILE")],
    only: Annotated[
        str | None, typer.Option(help="Only these checks, comma-separated, such as loss,metric.", metavar="CHECKS")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of what is drawn, instead of the manifest's.", min=0, max=2**32 - 1)
    ] = None,
    timeout: Annotated[float, typer.Option(help="Timeout of one check (s).", min=1)] = 300.0,
    report: Annotated[Path | None, typer.Option(help="Also write a page with all checks, as one HTML file.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Also write the checks as a JUnit file.")] = None,
    trust: Trust = False,
    offline: Offline = False,
    as_json: AsJson = False,
) -> int:
    """Check a reimplementation against the original, and name the component to fix first.

    Exit code 0: passed; 1: a check failed; 2: undecided, nothing failed but something could not be compared;
    3: no verdict, the message says why.
    """
    from mlmodelscope.cli.progress import TerminalWatcher
    from mlmodelscope.reproduction.check import Conditions, check_reproduction
    from mlmodelscope.reproduction.history import keep
    from mlmodelscope.reproduction.order import parse_checks

    if remote() is not None:
        raise UsageError("a reproduction is checked on this machine, not on a server", hint="leave out --server")
    checks = parse_checks(only)
    try:
        with TerminalWatcher() as watcher:
            conditions = Conditions(settings(offline), watcher, trust, timeout, seed)
            found = check_reproduction(file, checks, conditions)
    except UsageError:
        raise
    except MLModelScopeError as error:
        error.exit_code = NO_VERDICT
        raise
    keep(settings(offline), found)
    _write(found, report, junit)
    if as_json:
        print_json(found.to_json())
    else:
        _show(found)
    return found.exit_code


@app.command("log")
@verb
def log(
    file: Annotated[str, typer.Argument(help="Path or name of a reproduction manifest.", metavar="FILE")],
    limit: Annotated[int, typer.Option(help="At most so many runs.", min=1, max=10_000)] = 20,
    as_json: AsJson = False,
) -> None:
    """List earlier checks of a reproduction, and which verdicts changed from one to the next."""
    from itertools import pairwise

    from mlmodelscope.manifest.catalog import find_manifest
    from mlmodelscope.manifest.schema import ReproductionManifest
    from mlmodelscope.reproduction.history import changes, runs_of

    if remote() is not None:
        raise UsageError("checks of a reproduction are kept on this machine", hint="leave out --server")
    name = find_manifest(ReproductionManifest, file).name
    runs = runs_of(settings(False), name, limit)
    if as_json:
        print_json([{"id": each.id, "created_at": each.created_at.isoformat(), **each.found} for each in runs])
        return
    if not runs:
        print(f"{name} was not checked yet; mlmodelscope reproduce check {file} does it")
        return
    from mlmodelscope.cli.terminal import print_table

    rows = [
        (
            f"{after.created_at:%Y-%m-%d %H:%M:%S}",
            after.outcome,
            after.first_failed or "",
            (after.code_digest or "")[:12],
            ", ".join(changes(before, after)),
        )
        for before, after in pairwise((None, *runs))
        if after is not None
    ]
    print_table(("date (UTC)", "outcome", "to fix first", "code", "changed"), rows)


def _write(found: Checked, report: Path | None, junit: Path | None) -> None:
    from mlmodelscope.cli.overview import write_text
    from mlmodelscope.reproduction.reproduction_page import reproduction_html, reproduction_junit

    if report is not None:
        write_text(report, reproduction_html(found))
    if junit is not None:
        write_text(junit, reproduction_junit(found))


def _show(found: Checked) -> None:
    from rich.markup import escape
    from rich.table import Table

    out = console()
    color = _COLORS[found.outcome]
    out.print(f"{escape(found.name)} {escape(found.version)}, against {escape(found.original)}", soft_wrap=True)
    out.print(f"[bold {color}]{found.outcome}[/bold {color}]: {escape(found.sentence)}", soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for column in ("check", "component", "verdict", "tolerance", "seed", "what was seen"):
        table.add_column(column, no_wrap=column != "what was seen", overflow="fold")
    for each in found.results:
        shade = _COLORS[each.verdict]
        table.add_row(
            each.check,
            each.component,
            f"[{shade}]{each.verdict}[/{shade}]",
            each.shown_tolerance,
            str(each.seed),
            escape(each.words),
        )
    out.print(table)
