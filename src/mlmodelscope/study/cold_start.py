"""Figure 2 of the second paper: what the first inference of a fresh process takes, against the later ones."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

from mlmodelscope.errors import PlanError
from mlmodelscope.report import words
from mlmodelscope.study.bench import Bench, open_bench
from mlmodelscope.study.paper import FACTS, SECOND
from mlmodelscope.study.plot import Bar, bars
from mlmodelscope.study.study import Column, Outcome, Request, Table, study
from mlmodelscope.worker.client import Worker

_PROCESSES = 5
_STEADY_RUNS = 20
_PHASES = {
    "start": "start the process, connect",
    "load": "import the framework, load the model",
    "first": "first inference",
    "second": "second inference",
    "steady": "steady state",
    "to_first": "from nothing to the first answer",
}


@study("cold-start", "The first inference of a fresh process", (SECOND, "Figure 2"), options=("runs", "batch_size"))
def cold_start(request: Request) -> Outcome:
    batch_size = request.batch_sizes[0] if request.batch_sizes else 1
    bench = open_bench(request, batch_size=batch_size, warm_up_runs=2, timed_runs=_STEADY_RUNS)
    found: dict[str, list[float]] = {phase: [] for phase in _PHASES}
    processes = request.runs or _PROCESSES
    for done in range(processes):
        for phase, spent_ns in zip(_PHASES, _start(bench, batch_size), strict=True):
            found[phase].append(spent_ns / 1e9)
        request.watcher.answered(done + 1, processes, 0)
    calm = median(found["steady"])
    rows = [_row(phase, values, calm) for phase, values in found.items()]
    columns = (
        Column("what", "phase"),
        Column("median_s", "median", words.duration),
        Column("least_s", "least", words.duration),
        Column("most_s", "most", words.duration),
        Column("in_inferences", "in warm inferences", lambda ratio: f"{ratio:.3g}"),
    )
    ratio = median(found["first"]) / calm
    return Outcome(
        bench.about,
        (
            Table(
                "phases", f"{words.plural(processes, 'fresh process')}, batch size {batch_size}", columns, tuple(rows)
            ),
        ),
        FACTS["cold-start"],
        (
            f"The first inference takes {ratio:.2f} times as long as a warm one.",
            "The files were in the operating system's cache: a machine that was just switched on takes longer to load.",
            "The paper measured Caffe's AlexNet on a POWER8 with Pascal GPUs and an x86 with a Volta GPU, where "
            "weights are copied to the GPU when they are first needed. Model, software and machine are others here.",
        ),
        bars(
            "Cold start",
            bench.about,
            [
                Bar(_PHASES[phase], 1000 * median(values), 1000 * min(values), 1000 * max(values))
                for phase, values in found.items()
            ],
            "milliseconds, median",
            "the least and the most",
        ),
    )


def _start(bench: Bench, batch_size: int) -> tuple[float, ...]:
    """Nanoseconds of each phase, in a process of its own."""
    started = time.monotonic_ns()
    with Worker(bench.site, bench.plan) as worker:
        opened = time.monotonic_ns() - started
        load = worker.opened.load_ns
        latency = worker.measure_latency(bench.dataset.samples[: batch_size + 32], bench.plan)
    if len(latency.warm_up_ns) < 2 or not latency.raw_ns:
        raise PlanError(f"no sample of {bench.plan.dataset.name} can be prepared for {bench.plan.model.name}")
    first, second = latency.warm_up_ns[:2]
    return opened - load, load, first, second, median(latency.raw_ns), opened + first


def _row(phase: str, values: list[float], steady_s: float) -> dict[str, Any]:
    return {
        "phase": phase,
        "what": _PHASES[phase],
        "median_s": median(values),
        "least_s": min(values),
        "most_s": max(values),
        "in_inferences": median(values) / steady_s,
    }
