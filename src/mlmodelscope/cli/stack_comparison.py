"""`evaluate --stacks`: one model in several stacks, one table."""

from __future__ import annotations

import math
import shlex
from dataclasses import asdict, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mlmodelscope.cli.stack_sweep import failures, show_failures
from mlmodelscope.cli.terminal import console, print_json, seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mlmodelscope.analysis.stack_comparison import PackageChange, Row
    from mlmodelscope.errors import MLModelScopeError
    from mlmodelscope.record.record import Record
    from mlmodelscope.settings import Settings


def show_stacks(
    records: Sequence[Record],
    about: Sequence[str],
    names: Sequence[str],
    settings: Settings,
    as_json: bool,
    failed: Mapping[str, MLModelScopeError] = MappingProxyType({}),
) -> None:
    """`about` is the model and the dataset, and `names` are the stacks, as the user spelled them.

    `failed` are those that could not be built or did not finish.
    """
    from mlmodelscope.analysis.answer_distance import precision_of
    from mlmodelscope.analysis.stack_comparison import compare_stacks
    from mlmodelscope.record.store import Store

    store = Store(settings)
    try:
        rows, changes = compare_stacks(records, store, precision_of([each.plan for each in records], settings))
    finally:
        store.close()
    rows = [replace(row, stack=_called(row, name)) for row, name in zip(rows, names, strict=True)]
    if as_json:
        body = [{"record": record.id, **_plain(row)} for record, row in zip(records, rows, strict=True)]
        causes = [{**asdict(each), "sentence": each.sentence} for each in changes]
        print_json({"stacks": body, "causes": causes, "failed": failures(failed)})
        return
    _print(rows, changes)
    show_failures(failed)
    _advise(about, dict(zip(names, rows, strict=True)))


def _called(row: Row, asked: str) -> str:
    """Where this Python is what a manifest describes, the stack is called as it was asked for."""
    return asked if row.stack == "current" else row.stack


def _plain(row: Row) -> dict[str, Any]:
    """For JSON, which has no infinity: a score that is NaN in one stack is as far from a number."""
    body = asdict(row)
    body["accuracy"] = row.accuracy.model_dump(mode="json") if row.accuracy is not None else None
    if row.distance is not None:
        far = {name: getattr(row.distance, name) for name in ("largest", "relative")}
        body["distance"] |= {name: value if math.isfinite(value) else None for name, value in far.items()}
        body["distance"]["words"] = row.distance.words
    return body


def _advise(about: Sequence[str], rows: Mapping[str, Row]) -> None:
    """Where the answers differ by more than rounding, the command that looks for the layer."""
    judged = {name: row.distance for name, row in rows.items() if row.distance is not None}
    far = {name: distance for name, distance in judged.items() if distance.judgment in ("fault", "unclear")}
    if not far:
        return
    out = console()
    for name, distance in far.items():
        out.print(f"{name}: {distance.words}", markup=False, soft_wrap=True)
    command = shlex.join(["mlmodelscope", "diff", *about, "--stacks", ",".join((next(iter(rows)), *far))])
    out.print(f"for the first layer that differs: {command}", markup=False, soft_wrap=True)


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
    for column in ("stack", *names, "accuracy", "same answer", "same bits", "largest difference", "verdict", "latency"):
        table.add_column(column, no_wrap=True)
    for row in rows:
        table.add_row(
            escape(row.stack),
            *(row.packages.get(name, "") for name in names),
            words.measured_value(row.accuracy) if row.accuracy is not None else "",
            f"{row.same_classes} of {row.samples}",
            f"{row.same_scores} of {row.samples}",
            f"{row.distance.largest:.1e}" if row.distance is not None else "",
            row.distance.judgment if row.distance is not None else "",
            seconds(row.p50_s) if row.p50_s is not None else "",
        )
    out.print(table)
    for change in changes:
        out.print(escape(change.sentence), soft_wrap=True)
    if len(rows) > 1 and not changes:
        out.print("no two of these stacks differ in one package alone, so no package can be named")
