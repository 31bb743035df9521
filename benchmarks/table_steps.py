"""What steps of tables cost beside a bare numpy loop: 30 columns, filled, coded, scaled, put in order, as float32.

Both get each row as the host sends it, and make the same bits of it. The bare loop knows its columns by their places
and checks nothing; ours knows them by name, and refuses what is not a number, not there or too large for the type.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import harness
import numpy as np

from mlmodelscope_worker.pipeline import STEPS, Pipeline
from mlmodelscope_worker.pipeline.row import read_row

NUMBERS, GOAL_US = 28, 60
GROUPS, COLORS = ["low", "medium", "high"], ["red", "green", "blue", "pink"]
NAMES = [f"c{number}" for number in range(NUMBERS)]
ORDER = [*reversed(NAMES), "group", "color"]
FILLS = dict.fromkeys(NAMES[::4], 0.5)
MEANS, STDS = ({name: at / 7 + more for at, name in enumerate(NAMES)} for more in (0.25, 1.5))
STEPS_HERE: list[tuple[str, Any]] = [
    ("fill_missing", {"values": FILLS}),
    ("encode", {"categories": {"group": GROUPS, "color": COLORS}}),
    ("scale_columns", {"mean": MEANS, "std": STDS}),
    ("columns", ORDER),
    ("cast", "float32"),
]


def rows(count: int) -> list[dict[str, Any]]:
    """Rows in which every tenth cell of the columns that are filled is missing."""
    chance = np.random.default_rng(0)
    found = []
    for _ in range(count):
        cells: dict[str, Any] = dict(zip(NAMES, chance.normal(0, 2, NUMBERS).tolist(), strict=True))
        for name in FILLS:
            if chance.random() < 0.1:
                cells[name] = None
        found.append({**cells, "group": GROUPS[chance.integers(3)], "color": COLORS[chance.integers(4)]})
    return found


def bare(samples: list[dict[str, Any]]) -> list[np.ndarray]:
    mean, std = (np.array([each[name] for name in NAMES]) for each in (MEANS, STDS))
    fills = np.array([FILLS.get(name, np.nan) for name in NAMES])
    groups, colors = ({name: at for at, name in enumerate(some)} for some in (GROUPS, COLORS))
    made = []
    for cells in samples:
        *numbers, group, color = cells.values()
        row = np.array(numbers, np.float64)  # None becomes NaN
        row = (np.where(np.isnan(row), fills, row) - mean) / std
        made.append(np.array([*row[::-1], groups[group], colors[color]], np.float32))
    return made


def ours(samples: list[dict[str, Any]]) -> list[np.ndarray]:
    steps = [{"name": name, "parameters": STEPS[name].resolve(given)} for name, given in STEPS_HERE]
    pipeline = Pipeline(steps)
    return [pipeline(read_row({"cells": cells})).rows[0] for cells in samples]


def cpu_s(call: Callable[[Any], Any], samples: Any) -> tuple[float, Any]:
    start = time.process_time()
    told = call(samples)
    return time.process_time() - start, told


def main() -> None:
    arguments = harness.options(__doc__ or "").parse_args()
    count, times = (500, 3) if arguments.quick else (20_000, 7)
    samples = rows(count)
    cpu_s(ours, samples[:2])  # whatever is imported late
    runs = [{name: cpu_s(call, samples) for name, call in CALLS.items()} for _ in range(times)]
    faults: list[str] = []
    if not all(np.array_equal(*pair) for pair in zip(runs[0]["bare loop"][1], runs[0]["ours"][1], strict=True)):
        faults = ["the bare loop has other numbers"]
    spent_us = {name: 1e6 * median(each[name][0] for each in runs) / count for name in CALLS}
    head = (f"{count} rows of {NUMBERS + 2} columns", "µs CPU a row")
    harness.print_table(head, [(name, f"{each:.1f}") for name, each in spent_us.items()])
    print(f"\ngoal: {GOAL_US} µs a row")
    results = {"bare_us": spent_us["bare loop"], "ours_us": spent_us["ours"], "rows": count, "columns": NUMBERS + 2}
    meaning = "CPU time of a row's steps, ours / a bare numpy loop"
    ratio = spent_us["ours"] / spent_us["bare loop"]
    harness.finish("table_steps", ratio, meaning, arguments.quick, results, faults)


CALLS: dict[str, Callable[[list[dict[str, Any]]], Any]] = {"bare loop": bare, "ours": ours}


if __name__ == "__main__":
    main()
