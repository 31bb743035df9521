"""`bench --stacks`: one model under the same load in several stacks, one table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlmodelscope.cli.side_by_side_table import framework_of, show_columns
from mlmodelscope.cli.stack_sweep import failures, show_failures
from mlmodelscope.cli.terminal import console, print_json

if TYPE_CHECKING:
    from mlmodelscope.record.record import Record
    from mlmodelscope.several_stacks import Results


def show_benched_stacks(done: Results[Record], as_json: bool) -> None:
    from rich.markup import escape

    from mlmodelscope.report.bench import bench_of

    if as_json:
        stacks = [
            {"stack": name, "record": record.id, "bench": bench_of(record).model_dump(mode="json")}
            for name, record in done.finished.items()
        ]
        print_json({"stacks": stacks, "failed": failures(done.failed)})
        return
    first = _median(next(iter(done.finished.values())))
    show_columns({name: _column(record, first) for name, record in done.finished.items()})
    for name, record in done.finished.items():
        for reason in bench_of(record).stability.because:
            console().print(f"{escape(name)} is unstable: {escape(reason)}", soft_wrap=True)
        for note in record.notes:
            console().print(f"[yellow]note:[/yellow] {escape(name)}: {escape(note)}", soft_wrap=True)
    show_failures(done.failed)


def _column(record: Record, first: float | None) -> dict[str, str]:
    from mlmodelscope.report.bench import bench_of, rows

    bench, own = bench_of(record), _median(record)
    column = {"runs": framework_of(record), "scenario": bench.scenario}
    for name, value, between in rows(record)[:-1]:
        column[name] = f"{value} ({between})" if between else value
    if first is not None and own:
        column["times as fast as the first"] = f"{first / own:.2f}"
    return {**column, "stability": bench.stability.verdict, "record": record.id}


def _median(record: Record) -> float | None:
    from mlmodelscope.report.bench import bench_of

    measured = bench_of(record).measured
    found = measured.percentiles_s.get("p50") if measured is not None else None
    return found.value if found is not None else None
