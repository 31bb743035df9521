"""A table with a column for each stack, and a row for each number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlmodelscope.cli.terminal import console

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mlmodelscope.record.record import Record


def framework_of(record: Record) -> str:
    """The packages that the plan uses besides NumPy, with their versions."""
    packages = record.plan.stack.packages
    found = [f"{name} {version}" for name, version in packages.items() if name != "numpy"]
    return ", ".join(found[:2]) + (", …" if len(found) > 2 else "")


def show_columns(columns: Mapping[str, Mapping[str, str]]) -> None:
    """`columns` by stack: its numbers by name, in the order of the first stack that has them."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for stack in columns:
        table.add_column(escape(stack), overflow="fold")
    for name in dict.fromkeys(name for column in columns.values() for name in column):
        table.add_row(escape(name), *(escape(column.get(name, "")) for column in columns.values()))
    console().print(table)
