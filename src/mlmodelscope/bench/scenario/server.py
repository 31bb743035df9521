"""A server: Poisson arrivals at one rate."""

from __future__ import annotations

from statistics import median

from mlmodelscope.bench.adapt import LOOSE, is_tight
from mlmodelscope.bench.lab import Lab
from mlmodelscope.bench.outcome import Outcome
from mlmodelscope.bench.run import Run
from mlmodelscope.bench.scenario.pace import DEFAULT_LOAD, capacity_of, queries_for, samples_per_s
from mlmodelscope.bench.scenario.request import Progress, Request
from mlmodelscope.bench.summary import mean_interval

_BEHIND = 0.05


def server(lab: Lab, request: Request, say: Progress) -> Outcome:
    """Poisson arrivals at one rate; runs twice as long as the last until the intervals are tight."""
    kept: list[Run] = []
    notes, doubts = [], []
    rate, tight = request.rate_qps, True
    for number in range(request.processes):
        with lab.process() as station:
            share_s = request.budget_s / request.processes
            capacity = capacity_of(station, share_s / 8)
            if rate is None:
                rate = DEFAULT_LOAD * capacity / station.batch_size
                notes.append(
                    f"no rate was asked for: {rate:.4g} queries a second are {DEFAULT_LOAD:.0%} of what the model "
                    f"answers without a pause".replace("%", " %")
                )
            seconds, spent, attempt = share_s / 8, 0.0, 0
            while True:
                say(f"server at {rate:.4g} queries a second, process {number + 1} of {request.processes}")
                seed = lab.seed + 1000 * number + attempt
                queries = max(request.queries, queries_for(rate, seconds))
                run = station.server(rate, queries, seed, patience_s=max(1.0, seconds))
                spent += run.loaded.duration_s
                if run.loaded.unanswered or is_tight(run.loaded.latencies_ns, LOOSE) or spent >= share_s * 0.7:
                    break
                seconds, attempt = min(2 * seconds, share_s - spent), attempt + 1
            kept.append(run)
            tight = tight and is_tight(run.loaded.latencies_ns, LOOSE)
    if any(run.loaded.unanswered for run in kept):
        left = sum(run.loaded.unanswered for run in kept)
        doubts.append(f"the load was too high: {left} queries were never begun, and the queue grew until the end")
    elif any(is_behind(run) for run in kept):
        doubts.append("the load was too high: the queue grew until the end, and with it the latency")
    return Outcome(
        kept,
        kept,
        kept,
        throughput=mean_interval([samples_per_s(run) for run in kept]),
        tight=tight,
        ended="the intervals are tight" if tight else "the budget was spent",
        doubts=doubts,
        notes=notes,
    )


def is_behind(run: Run) -> bool:
    """Whether the last answers came so long after the last arrival that the model cannot have kept up."""
    loaded = run.loaded
    if not len(loaded.ended_ns):
        return True
    late_ns = max(loaded.ended_ns) - loaded.due_ns[-1]
    calls = [end - start for end, start in zip(loaded.ended_ns, loaded.started_ns, strict=True)]
    return late_ns > _BEHIND * loaded.due_ns[-1] and late_ns > 10 * median(calls)
