"""`evaluate --stacks`: one model in several stacks, one table."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mlmodelscope.cli.terminal import console, print_json, seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlmodelscope.analysis.stack_comparison import PackageChange, Row
    from mlmodelscope.record.record import Record
    from mlmodelscope.settings import Settings


def show_stacks(records: Sequence[Record], settings: Settings, as_json: bool) -> None:
    from mlmodelscope.analysis.stack_comparison import compare_stacks
    from mlmodelscope.record.store import Store

    store = Store(settings)
    try:
        rows, changes = compare_stacks(records, store)
    finally:
        store.close()
    if as_json:
        body = [{"record": record.id, **asdict(row)} for record, row in zip(records, rows, strict=True)]
        print_json({"stacks": body, "causes": [{**asdict(each), "sentence": each.sentence} for each in changes]})
        return
    _print(rows, changes)


def _print(rows: Sequence[Row], changes: Sequence[PackageChange]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from mlmodelscope.report import words

    out = console()
    names = [
        name
        for name in dict.fromkeys(name for row in rows for name in row.packages)
        if len({row.packages.get(name) for row in rows}) > 1
    ]
    table = Table(box=None, pad_edge=False)
    for column in ("stack", *names, "accuracy", "same answer", "same bits", "latency"):
        table.add_column(column, no_wrap=True)
    for row in rows:
        table.add_row(
            escape(row.stack),
            *(row.packages.get(name, "") for name in names),
            words.measured_value(row.accuracy) if row.accuracy is not None else "",
            f"{row.same_classes} of {row.samples}",
            f"{row.same_scores} of {row.samples}",
            seconds(row.p50_s) if row.p50_s is not None else "",
        )
    out.print(table)
    for change in changes:
        out.print(escape(change.sentence), soft_wrap=True)
    if len(rows) > 1 and not changes:
        out.print("no two of these stacks differ in one package alone, so no package can be named")
