"""`compare`: two records side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mlmodelscope.cli.terminal import AsJson, console, print_json, settings, verb

if TYPE_CHECKING:
    from mlmodelscope.record.latencies import RawRun
    from mlmodelscope.record.record import Record
    from mlmodelscope.record.store import Store


@verb
def compare(
    first: Annotated[str, typer.Argument(help="A record's id, or the beginning of it.", metavar="RECORD")],
    second: Annotated[str, typer.Argument(help="The record to compare it with.", metavar="RECORD")],
    as_json: AsJson = False,
) -> None:
    """Compare the latencies of two records: the ratio with its interval, or that there is no difference."""
    from dataclasses import asdict

    from rich.markup import escape
    from rich.table import Table

    from mlmodelscope.bench.compare import compare as run
    from mlmodelscope.record.store import Store

    store = Store(settings(True))
    one, other = records = (store.get(first), store.get(second))
    found = run(one, other, _runs(one, store), _runs(other, store))
    if as_json:
        print_json({"first": records[0].id, "second": records[1].id, **asdict(found)})
        return
    out = console()
    columns = [dict((name, (value, between)) for name, value, between in _rows(record)) for record in records]
    table = Table(box=None, pad_edge=False)
    for name in ("", records[0].id, records[1].id):
        table.add_column(name)
    for difference in found.differences:
        table.add_row(*map(escape, difference))
    for name in columns[0]:
        if name in columns[1]:
            table.add_row(name, *(escape(column[name][0]) for column in columns))
    out.print(table)
    out.print(f"[bold]{escape(found.sentence)}[/bold]", soft_wrap=True)
    for doubt in dict.fromkeys(found.doubts):
        out.print(f"[yellow]note:[/yellow] {escape(doubt)}", soft_wrap=True)


def _runs(record: Record, store: Store) -> list[RawRun]:
    from mlmodelscope.record.latencies import load_latencies

    bench = record.bench
    return load_latencies(store.folder(record.id)) if bench is not None and bench.measured is not None else []


def _rows(record: Record) -> list[tuple[str, str, str]]:
    from mlmodelscope.report.bench import rows
    from mlmodelscope.report.latency import latency_rows

    if record.bench is not None:
        return [row for row in rows(record) if row[0] not in ("ended because",)]
    if record.latency is None:
        return []
    names = {"median (p50)": "latency p50", "p90": "latency p90", "p99": "latency p99"}
    return [(names.get(name, name), value, between) for name, value, between in latency_rows(record.latency)]
