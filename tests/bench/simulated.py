"""Runs of load that never ran: latencies as a seed makes them."""

import random
from array import array
from collections.abc import Sequence

from mlmodelscope.bench.run import Run
from mlmodelscope.worker.loaded import Loaded


def latencies(count: int, seed: int, median_ns: float = 1e6, spread: float = 0.1, drift: float = 0.0) -> list[int]:
    """Like a framework's call on a quiet machine: skewed, with slow moments that last for several calls."""
    draw = random.Random(seed)
    values, moment = [], 0.0
    for place in range(count):
        moment = 0.9 * moment + draw.gauss(0, spread / 10)
        slow = 1 + drift * place / count
        values.append(round(median_ns * slow * draw.lognormvariate(0, spread) * (1 + moment)))
    return values


def loaded(durations_ns: Sequence[int], due_ns: Sequence[int] | None = None, **changes: object) -> Loaded:
    """Calls one after the other, or where they are due at certain moments, on one lane."""
    started, ended, now = array("q"), array("q"), 0
    for place, duration in enumerate(durations_ns):
        now = max(now, due_ns[place]) if due_ns is not None else now
        started.append(now)
        now += duration
        ended.append(now)
    due = array("q", due_ns) if due_ns is not None else started
    facts = {"batch_size": 1, "lanes": 1, "unanswered": 0, "cpu_ns": sum(durations_ns), "peak_memory_bytes": 1 << 20}
    return Loaded(due, started, ended, array("q"), **{**facts, **changes})  # type: ignore[arg-type]


def run(durations_ns: Sequence[int], process: int = 0, scenario: str = "single-stream", **changes: object) -> Run:
    return Run(scenario, loaded(durations_ns, **changes), process)  # type: ignore[arg-type]
