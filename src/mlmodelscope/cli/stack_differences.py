"""`diff --stacks`: one model in several stacks, one table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlmodelscope.cli.terminal import console

if TYPE_CHECKING:
    from pathlib import Path

    from mlmodelscope.diff.stacks import StackDifferences, StackRow

_COLORS = {"same bits": "green", "rounding": "green", "fault": "red", "undecided": "yellow", "no verdict": "yellow"}


def show_stack_differences(found: StackDifferences) -> None:
    from rich.markup import escape
    from rich.table import Table

    from mlmodelscope.diff.stack_page import HEAD, cells

    out = console()
    table = Table(box=None, pad_edge=False)
    for column in HEAD:
        table.add_column(column, no_wrap=column != HEAD[-1])
    for row in found.rows:
        shown = [escape(each) for each in cells(row)]
        color = _COLORS.get(row.judgment)
        at = HEAD.index("verdict")
        shown[at] = f"[{color}]{shown[at]}[/{color}]" if color else shown[at]
        table.add_row(*shown)
    out.print(table)
    for row in found.rows:
        if row.judgment in ("fault", "undecided", "no verdict"):
            out.print(f"[bold]{escape(row.stack)}[/bold]: {escape(row.words)}", soft_wrap=True)
            _show_fault(row)
    for note in found.notes:
        out.print(f"[yellow]note:[/yellow] {escape(note)}", soft_wrap=True)


def _show_fault(row: StackRow) -> None:
    from rich.markup import escape

    if row.difference is None:
        return
    for fault in row.difference.faults[:1]:
        said = f"  it looks like [bold]{escape(fault.kind)}[/bold]: {escape(fault.words)}"
        console().print(said, soft_wrap=True)
    for side in row.difference.sides[1:]:
        for note in side.notes:
            console().print(f"  note: {escape(note)}", soft_wrap=True)


def write_stack_differences(found: StackDifferences, report: Path | None, junit: Path | None) -> None:
    from mlmodelscope.cli.overview import write_text
    from mlmodelscope.diff.stack_page import stacks_html, stacks_junit

    if report is not None:
        write_text(report, stacks_html(found))
    if junit is not None:
        write_text(junit, stacks_junit(found))
