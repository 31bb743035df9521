"""An overview as a page, Markdown or JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from mlmodelscope.analysis.overview_table import samples_words
from mlmodelscope.analysis.table import UNKNOWN, Analysis, Table, spelled
from mlmodelscope.report import words
from mlmodelscope.report.sheet import Section, write_sheet

_SOURCES = ("accuracy_record", "latency_record", "throughput_record")
_ABOUT = (
    "Online latency is the mean of single calls without the lowest and highest fifth; the throughput is the highest "
    "over the batch sizes that were measured; at the optimal batch, doubling gains no more than 5\N{NO-BREAK SPACE}%."
)


def overview_html(analyses: Sequence[Analysis]) -> str:
    *datasets, missing = analyses
    sections = []
    for overview in datasets:
        head, rows = _for_people(overview.table)
        sections.append(Section(overview.title, _ABOUT, head=head, rows=rows, notes=overview.notes))
        if overview.plots:
            sections.append(Section(f"Plots, {overview.title}", plots=list(overview.plots.values())))
    if missing.table.rows:
        head, rows = _spelled(missing.table)
        sections.append(Section("Not yet measured", head=head, rows=rows))
    first = datasets[0].table
    everything = [row for overview in datasets for row in overview.table.rows]
    shown = ("dataset", "model", "stack", *_SOURCES)
    places = [at for at, column in enumerate(first.columns) if column.name in shown]
    head = [first.columns[at].title for at in places]
    rows = [[str(row[at] or UNKNOWN) for at in places] for row in everything]
    about = "The newest finished record tells each number; of accuracies, the newest of those over the most samples."
    sections.append(Section("Records", about, head=head, rows=rows))
    models, machines = (
        {str(name) for overview in datasets for name in overview.table.column(column)}
        for column in ("model", "machine")
    )
    where = words.plural(len(machines), "machine") if len(machines) > 1 else next(iter(machines))
    on = words.plural(len(datasets), "dataset")
    lede = f"{words.plural(len(models), 'model')} on {on} and {where}: accuracy, size and speed."
    return write_sheet("Overview", lede, sections)


def overview_markdown(analyses: Sequence[Analysis]) -> str:
    *datasets, missing = analyses
    lines = ["## Overview", "", _ABOUT]
    for overview in datasets:
        lines += ["", f"### {overview.title}", "", *_markdown(*_for_people(overview.table))]
        lines += ["", *(f"> **Note:** {note}" for note in overview.notes)] if overview.notes else []
    if missing.table.rows:
        lines += ["", "### Not yet measured", "", *_markdown(*_spelled(missing.table))]
    return "\n".join(lines) + "\n"


def overview_json(analyses: Sequence[Analysis]) -> str:
    return json.dumps({"overview": [each.to_json() for each in analyses]}, indent=2) + "\n"


def _for_people(table: Table) -> tuple[list[str], list[list[str]]]:
    """Fewer columns: what belongs together stands together, and the machine is named where there are several."""
    several = len(set(table.column("machine"))) > 1
    head = [
        "model",
        "stack",
        *(["machine"] if several else []),
        accuracy_title(table),
        "samples",
        "graph size",
        "online latency",
    ]
    head += ["p90", "latency by", "most samples/s", "throughput by", "optimal batch"]
    rows = []
    for row in table.rows:
        raw = {column.name: value for column, value in zip(table.columns, row, strict=True)}
        said = {column.name: spelled(column, value) for column, value in zip(table.columns, row, strict=True)}
        unstable = str(raw["unstable"] or "")
        ends = f" ({said['accuracy_low']} – {said['accuracy_high']})" if raw["accuracy_low"] is not None else ""
        accuracy = f"{said['accuracy']}{ends}" if raw["accuracy"] is not None else UNKNOWN
        speed = said["samples_per_s"].removesuffix("samples/s").strip()
        speed += f" at batch {said['best_batch']}" if raw["samples_per_s"] is not None else ""
        rows.append(
            [
                said["model"],
                said["stack"],
                *([said["machine"]] if several else []),
                accuracy,
                samples_words(raw),
                said["size_bytes"],
                said["latency_ns"] + (", unstable" if "latency" in unstable else ""),
                said["p90_ns"],
                said["latency_scenario"],
                speed + (", unstable" if "throughput" in unstable else ""),
                said["throughput_scenario"],
                said["optimal_batch"],
            ]
        )
    return head, rows


def accuracy_title(table: Table) -> str:
    return next(column.title for column in table.columns if column.name == "accuracy")


def _spelled(table: Table) -> tuple[list[str], list[list[str]]]:
    rows = [[spelled(*cell) for cell in zip(table.columns, row, strict=True)] for row in table.rows]
    return [column.title for column in table.columns], rows


def _markdown(head: list[str], rows: list[list[str]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    return lines + [f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in rows]
