"""`analyze`: what a profile or a sweep says of a model, as the tables and plots of the XSP paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mlmodelscope.cli.terminal import (
    AsJson,
    console,
    print_facts,
    print_fitting,
    print_json,
    print_note,
    settings,
    verb,
)
from mlmodelscope.errors import UsageError

if TYPE_CHECKING:
    from mlmodelscope.analysis.analyse import Analysed, Missing
    from mlmodelscope.analysis.measured import Subject
    from mlmodelscope.analysis.table import Analysis, Value
    from mlmodelscope.record.store import Store

_HIDDEN = frozenset(["read_bytes", "write_bytes", "bytes_per_s", "grid", "block", "library"])
"""Columns that a terminal has no room for; the files have them."""
_LONGEST = 48


@verb
def analyze(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RECORD]...",
            help="Records, by id, the beginning of it, or `latest`, the newest profile or bench; several for batch "
            "sizes.",
        ),
    ] = None,
    only: Annotated[str | None, typer.Option(help="Which analyses, such as A2,A6; all by default.")] = None,
    most: Annotated[int, typer.Option(help="Rows of a table to print; files have all.", min=1)] = 10,
    latency_target: Annotated[
        float | None, typer.Option(help="Milliseconds that the optimal batch size of A1 may take.", min=0)
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write FILE.html with everything, a folder of tables and plots, or FILE.csv or .json.",
        ),
    ] = None,
    png: Annotated[bool, typer.Option("--png", help="In a folder also write plots as PNG.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show where a model's time goes and how far each layer is from the machine's limit.

    Prints what the records' levels allow, and for the rest what is missing and which command would give it.
    """
    from mlmodelscope.analysis.analyse import analyse, choose
    from mlmodelscope.analysis.write import check_output, write_analyses

    wanted = choose(only)
    if output is not None:
        check_output(output, len(wanted))
    subjects = _load(names or ["latest"])
    analysed = analyse(subjects, wanted, None if latency_target is None else latency_target / 1e3)
    if not analysed.analyses:
        raise _nothing(subjects, analysed)
    files = write_analyses(analysed, subjects, output, png) if output is not None else []
    if as_json:
        print_json(
            {
                "records": [each.record.id for each in subjects if each.record is not None],
                "analyses": [each.to_json() for each in analysed.analyses],
                "missing": [vars(each) for each in analysed.missing],
                "files": [str(path) for path in files],
            }
        )
        return
    if output is not None:
        print(f"wrote {output}" if len(files) == 1 else f"wrote {len(files)} files to {output}")
    else:
        if only is None:
            _summarize(subjects, analysed)
        for each in analysed.analyses:
            show(each, most)
    _show_missing(analysed.missing)


def _summarize(subjects: list[Subject], analysed: Analysed) -> None:
    """The figures that matter of each record, and which tables follow."""
    from mlmodelscope.analysis.analyses_page import cards
    from mlmodelscope.analysis.layers import by_kind
    from mlmodelscope.report import words

    for subject in subjects:
        rows = [
            ("model", subject.name),
            *((name.lower(), f"{figure} ({about})") for name, figure, about in cards(subject)),
        ]
        kinds = [(kind, sum(layer.share for layer in own)) for kind, own in by_kind(subject.layers)[:3]]
        if kinds:
            rows.append(("time by type", ", ".join(f"{kind} {words.percent(share)}" for kind, share in kinds)))
        print_facts(rows)
        print()
    names = [each.id for each in analysed.analyses]
    print(f"tables: {', '.join(names)}; --only {names[0]} shows one, --output FILE.html writes all\n")


def _load(names: list[str]) -> list[Subject]:
    from mlmodelscope.analysis.measured import Subject
    from mlmodelscope.cli.server_choice import open_store
    from mlmodelscope.trace.store import NAME, load_trace

    store = open_store(settings(offline=True))
    try:
        found = []
        for name in names:
            record = store.get(_newest(store) if name == "latest" else name)
            folder = store.folder(record.id)
            found.append(Subject(record, load_trace(folder) if (folder / NAME).exists() else None))
        return found
    finally:
        store.close()


def _newest(store: Store) -> str:
    """Of the records that analyses are made of, profiles and benches; where there is none, whatever is newest."""
    rows = [row for kind in ("profile", "bench") for row in store.list(kind=kind, status="finished", limit=1)]
    return str(max(rows, key=lambda row: str(row["created_at"]))["id"]) if rows else "latest"


def _nothing(subjects: list[Subject], analysed: Analysed) -> UsageError:
    """Why none of what was asked for can be shown, and how to get it."""
    names = ", ".join(each.record.id for each in subjects if each.record is not None)
    asked = ", ".join(each.id for each in analysed.missing)
    reasons = list(dict.fromkeys(each.why for each in analysed.missing))
    commands = [each.command for each in analysed.missing if each.command]
    return UsageError(
        f"record {names} does not allow {asked}: {'; '.join(reasons)}", hint=commands[0] if commands else None
    )


def show(analysis: Analysis, most: int) -> None:
    """One table, for a person."""
    from rich.markup import escape

    from mlmodelscope.analysis.table import spelled

    out, rows = console(), analysis.table.rows
    shown = [place for place, column in enumerate(analysis.table.columns) if column.name not in _HIDDEN]
    out.print(f"[bold]{analysis.id}  {escape(analysis.title)}[/bold]")
    columns = [analysis.table.columns[place] for place in shown]
    cells = [
        [_cut(spelled(column, row[place])) for column, place in zip(columns, shown, strict=True)]
        for row in _chosen(analysis, most)
    ]
    print_fitting([each.title for each in columns], cells, [each.is_number for each in columns])
    if len(rows) > most:
        out.print(f"[dim]{most} of {len(rows)} rows; --most {len(rows)} shows all[/dim]")
    for note in analysis.notes:
        print_note(note)
    out.print()


def _cut(text: str) -> str:
    """Names of kernels have hundreds of letters; files have all of them."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _chosen(analysis: Analysis, most: int) -> list[tuple[Value, ...]]:
    """Of many rows those that take most time, where they have one, in their own order."""
    rows = list(analysis.table.rows)
    names = [column.name for column in analysis.table.columns]
    by = next((names.index(name) for name in ("time_ns", "layer_ns", "flops", "memory_bytes") if name in names), None)
    if len(rows) <= most or by is None:
        return rows[:most]
    kept = sorted(range(len(rows)), key=lambda place: -float(rows[place][by] or 0))[:most]  # type: ignore[arg-type]
    return [rows[place] for place in sorted(kept)]


def _show_missing(missing: tuple[Missing, ...]) -> None:
    from rich.markup import escape

    together: dict[tuple[str, str | None], list[str]] = {}
    for each in missing:
        together.setdefault((each.why, each.command), []).append(each.id)
    for (why, command), names in together.items():
        console().print(f"[yellow]not shown:[/yellow] {', '.join(names)}: {escape(why)}", soft_wrap=True)
        if command:
            console().print(f"  {escape(command)}", soft_wrap=True)
