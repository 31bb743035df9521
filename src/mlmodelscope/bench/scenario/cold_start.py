"""Cold start: what the first answer of a fresh process takes, part by part."""

from __future__ import annotations

from statistics import median

from mlmodelscope.bench.lab import Lab
from mlmodelscope.bench.outcome import Outcome
from mlmodelscope.bench.run import Run
from mlmodelscope.bench.scenario.request import Progress, Request
from mlmodelscope.record.bench import ColdStart

_COLD_CALLS = 12


def cold_start(lab: Lab, request: Request, say: Progress) -> Outcome:
    cold: list[ColdStart] = []
    runs: list[Run] = []
    for number in range(request.cold_starts):
        say(f"cold start {number + 1} of {request.cold_starts}")
        with lab.process() as station:
            run = station.closed("single-stream", _COLD_CALLS, request.budget_s)
        runs.append(run)
        calls = [value / 1e9 for value in run.loaded.latencies_ns]
        later = calls[len(calls) // 2 :] if len(calls) >= 4 else []
        cold.append(
            ColdStart(
                start_s=max(0.0, station.opened_s - station.load_s),
                load_s=station.load_s,
                first_s=calls[0],
                second_s=calls[1] if len(calls) > 1 else None,
                steady_s=median(later) if later else None,
            )
        )
    return Outcome(
        runs,
        (),
        first_s=tuple(value / 1e9 for value in runs[0].loaded.latencies_ns),
        ended=f"{request.cold_starts} processes were started",
        cold=tuple(cold),
        notes=["the files were in the operating system's cache: after a restart of the machine, loading takes longer"],
    )
