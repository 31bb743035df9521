"""`profile --stacks`: where one model's time goes in several stacks, with the same kinds of layers for all."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from mlmodelscope.cli.side_by_side_table import framework_of, show_columns
from mlmodelscope.cli.stack_sweep import failures, show_failures
from mlmodelscope.cli.terminal import console, percent, print_json, seconds

if TYPE_CHECKING:
    from mlmodelscope.record.record import Record
    from mlmodelscope.several_stacks import Results
    from mlmodelscope.trace.layers import KindRow
    from mlmodelscope.trace.span import Trace


def show_profiled_stacks(done: Results[tuple[Record, Trace]], as_json: bool) -> None:
    from rich.markup import escape

    if as_json:
        stacks = [{"stack": name, **_json(*each)} for name, each in done.finished.items()]
        print_json({"stacks": stacks, "failed": failures(done.failed)})
        return
    order = sorted(
        {row.kind for _, trace in done.finished.values() for row in _kinds(trace)},
        key=lambda kind: -max(_time(trace, kind) for _, trace in done.finished.values()),
    )
    show_columns({name: _column(record, trace, order) for name, (record, trace) in done.finished.items()})
    for name, (record, _) in done.finished.items():
        for note in record.notes:
            console().print(f"[yellow]note:[/yellow] {escape(name)}: {escape(note)}", soft_wrap=True)
    show_failures(done.failed)


def _kinds(trace: Trace) -> list[KindRow]:
    from mlmodelscope.trace.layers import kind_rows, layer_rows, with_plain_kinds

    return kind_rows(with_plain_kinds(layer_rows(trace)))


def _time(trace: Trace, kind: str) -> float:
    return next((row.time_ns for row in _kinds(trace) if row.kind == kind), 0.0)


def _column(record: Record, trace: Trace, order: list[str]) -> dict[str, str]:
    from mlmodelscope.trace.layers import agreement
    from mlmodelscope.trace.text import spell

    column = {"runs": framework_of(record)}
    if record.latency is not None:
        column["median latency"] = seconds(record.latency.p50_s.value)
    sums, rows = agreement(trace), {row.kind: row for row in _kinds(trace)}
    if sums is not None:
        column["layers' sum"] = f"{spell(sums.layers_ns)}, {percent(sums.of_unprofiled)} of the unprofiled run"
    column["layers"] = str(sum(row.count for row in rows.values()))
    for kind in order:
        row = rows.get(kind)
        column[f"  {kind}"] = f"{row.count}: {spell(row.time_ns)}, {percent(row.share)}" if row is not None else "–"
    return {**column, "record": record.id}


def _json(record: Record, trace: Trace) -> dict[str, Any]:
    return {
        "record": record.id,
        "trace": trace.id,
        "latency_p50_s": record.latency.p50_s.value if record.latency else None,
        "types": [asdict(row) for row in _kinds(trace)],
        "notes": list(record.notes),
    }
