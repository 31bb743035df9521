"""Figure 9 of the first paper: the same inference call from Python's lists, from NumPy and from C."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from mlmodelscope.report import words
from mlmodelscope.study.bench import Bench, open_bench
from mlmodelscope.study.callers import Caller, CCaller, Missing, PythonCaller, PythonProcess, Spent, open_python
from mlmodelscope.study.paper import FACTS, FIRST, LANGUAGE_CPU, SECOND
from mlmodelscope.study.plot import Bar, bars
from mlmodelscope.study.study import Column, Outcome, Request, Table, study
from mlmodelscope_worker.predictor.predictor import pick

_BATCHES = (1, 4)
_RUNS = 30
_ROUND = 5
"""Calls of one language before the next has its turn: what slows the machine down slows all of them."""
_WARM_UP = 3
_NAMES = {"c": "C", "numpy": "Python, NumPy", "lists": "Python, lists"}


@study(
    "language",
    "Python lists, NumPy and C for the same call",
    (FIRST, "Figure 9"),
    (SECOND, "Figure 3"),
    options=("runs", "batch_size"),
)
def language(request: Request) -> Outcome:
    bench = open_bench(request)
    tensor = bench.first_tensor()
    runs = request.runs or _RUNS
    rows: list[dict[str, Any]] = []
    notes = []
    with tempfile.TemporaryDirectory(prefix="mlmodelscope-study-") as place, _open(bench, Path(place)) as opened:
        process, callers, missing = opened
        for batch_size in request.batch_sizes or _BATCHES:
            takes_lists = process.take(tensor, batch_size, Path(place))
            for caller in callers.values():
                caller.take(tensor, batch_size, Path(place))
            spent = _interleaved(callers, runs)
            answers = {name: caller.answer(Path(place)) for name, caller in callers.items()}
            rows += _rows(batch_size, spent, answers, missing)
        if not takes_lists:
            notes.append("The framework takes no lists: NumPy makes an array of them in each call, which is counted.")
    base = "c" if "c" in callers else "numpy"
    if missing:
        notes.append(f"No C row: {missing}. Times are against NumPy.")
    notes += [
        f"{words.plural(runs, 'call')} each, {_ROUND} at a time in turn, of the same tensor; the model's time counts.",
        "The paper measured TensorFlow 1.13's Inception-v3 on an Intel Core i7-7820X. Model, framework and machine are "
        "others here. What Python's lists add grows with the input, so a quick model shows more of it.",
    ]
    columns = (
        Column("batch_size", "batch"),
        Column("name", "language"),
        Column("latency_s", "median latency", words.duration),
        Column("cpu_s", "CPU time a call", words.duration),
        Column("latency_ratio", f"latency / {_NAMES[base]}", lambda ratio: f"{ratio:.2f}"),
        Column("cpu_ratio", f"CPU / {_NAMES[base]}", lambda ratio: f"{ratio:.2f}"),
        Column("paper_ratio", "paper, CPU: latency / C++", lambda ratio: f"{ratio:.2f}"),
        Column("answer", "answer"),
        Column("missing", ""),
    )
    for row in rows:
        beside = next(each for each in rows if (each["batch_size"], each["language"]) == (row["batch_size"], base))
        if row["latency_s"] is not None:
            row["latency_ratio"] = row["latency_s"] / beside["latency_s"]
            row["cpu_ratio"] = row["cpu_s"] / beside["cpu_s"]
    chart = bars(
        f"CPU time of a call, relative to {_NAMES[base]}",
        bench.about,
        [
            Bar(f"batch {row['batch_size']}, {row['name']}", row["cpu_ratio"], paper=row["paper_ratio"])
            for row in rows
            if row.get("cpu_ratio")
        ],
        "times; the paper's are of latency",
    )
    return Outcome(
        bench.about, (Table("languages", "languages", columns, tuple(rows)),), FACTS["language"], tuple(notes), chart
    )


Opened = tuple[PythonProcess, dict[str, Caller], str | None]


@contextmanager
def _open(bench: Bench, folder: Path) -> Iterator[Opened]:
    """Every caller that there can be here, and why C is not among them where it is not."""
    with open_python(bench, folder) as process:
        output = pick(_named(process.described["outputs"]), bench.plan.outputs[0].layer_name, "output")
        callers: dict[str, Caller] = {}
        missing = None
        native = None
        try:
            native = CCaller(bench, process.described, output, folder)
            callers["c"] = native
        except Missing as reason:
            missing = str(reason)
        callers |= {form: PythonCaller(process, form, output) for form in ("numpy", "lists")}
        try:
            yield process, callers, missing
        finally:
            if native is not None:
                native.close()


class _Named:
    def __init__(self, name: str) -> None:
        self.name = name


def _named(tensors: list[dict[str, Any]]) -> list[_Named]:
    return [_Named(tensor["name"]) for tensor in tensors]


def _interleaved(callers: Mapping[str, Caller], runs: int) -> dict[str, Spent]:
    spent = {name: Spent([], []) for name in callers}
    for caller in callers.values():
        caller.run(_WARM_UP)
    for start in range(0, runs, _ROUND):
        for name, caller in callers.items():
            some = caller.run(min(_ROUND, runs - start))
            spent[name].wall_ns.extend(some.wall_ns)
            spent[name].cpu_ns.extend(some.cpu_ns)
    return spent


def _rows(
    batch_size: int, spent: Mapping[str, Spent], answers: Mapping[str, bytes], missing: str | None
) -> Iterator[dict[str, Any]]:
    for name, title in _NAMES.items():
        row: dict[str, Any] = {"batch_size": batch_size, "language": name, "name": title, "latency_s": None}
        row["paper_ratio"] = LANGUAGE_CPU[name]
        if name not in spent:
            yield {**row, "missing": missing}
            continue
        same = answers[name] == answers["numpy"]
        yield {
            **row,
            "latency_s": median(spent[name].wall_ns) / 1e9,
            "cpu_s": median(spent[name].cpu_ns) / 1e9,
            "answer": "same bits" if same else "other bits",
        }
