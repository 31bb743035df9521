"""Offline: everything at once, for the throughput."""

from __future__ import annotations

from mlmodelscope.bench.lab import Lab, Station
from mlmodelscope.bench.outcome import Outcome
from mlmodelscope.bench.run import Run, join
from mlmodelscope.bench.scenario.pace import batches_for, samples_per_s
from mlmodelscope.bench.scenario.request import Progress, Request
from mlmodelscope.bench.summary import mean_interval


def offline(lab: Lab, request: Request, say: Progress) -> Outcome:
    """Everything at once: runs of equal length, until the throughput's interval is tight."""
    runs: list[Run] = []
    stretches: list[Run] = []
    tight = False
    for number in range(request.processes):
        say(f"offline, process {number + 1} of {request.processes}")
        with lab.process() as station:
            own, tight = _offline(station, request.budget_s / request.processes)
        stretches += own
        runs.append(join(own))
    return Outcome(
        runs,
        runs,
        stretches,
        throughput=mean_interval([samples_per_s(run) for run in stretches]),
        tight=tight,
        ended="the interval of the throughput is tight" if tight else "the budget was spent",
    )


def _offline(station: Station, budget_s: float, runs: int = 8) -> tuple[list[Run], bool]:
    """Runs of about an eighth of the budget each; at least two, and none more once they agree to 2 %."""
    batches = batches_for(station, budget_s / (runs + 2))
    found: list[Run] = []
    spent = 0.0
    while True:
        found.append(station.offline(batches))
        spent += found[-1].loaded.duration_s
        interval = mean_interval([samples_per_s(run) for run in found])
        tight = interval is not None and interval.high - interval.low <= 2 * 0.02 * interval.value
        if (tight and len(found) >= 3) or (spent >= budget_s * runs / (runs + 2) and len(found) >= 2):
            return found, tight
