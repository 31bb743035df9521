"""The highest rate whose latency stays below a bound."""

from __future__ import annotations

from mlmodelscope.bench.lab import Lab
from mlmodelscope.bench.outcome import Outcome
from mlmodelscope.bench.percentiles import has_interval, queries_needed
from mlmodelscope.bench.rate import Trial, find_rate
from mlmodelscope.bench.run import Run
from mlmodelscope.bench.scenario.pace import capacity_of, queries_for
from mlmodelscope.bench.scenario.request import Progress, Request
from mlmodelscope.bench.tokens import keeps_to
from mlmodelscope.errors import PlanError
from mlmodelscope.record.bench import RateRecord
from mlmodelscope.statistic.interval import percentile_interval

_RATE_TRIALS = 14


def max_rate(lab: Lab, request: Request, say: Progress) -> Outcome:
    """Servers at one rate after the other, in one process."""
    bound_s, limits = request.bound_s, request.limits
    if bound_s is None and not limits:
        raise PlanError("the highest rate depends on what is fast enough", hint="add --bound MILLISECONDS")
    longest_s = bound_s if bound_s is not None else max(limit.bound_s for limit in limits)
    runs: list[Run] = []
    with lab.process() as station:
        trial_s = request.budget_s / _RATE_TRIALS
        capacity = capacity_of(station, trial_s / 2) / station.batch_size

        def try_rate(rate: float, number: int) -> Trial:
            patience_s = min(trial_s, max(0.1, 2 * longest_s))
            run = station.server(rate, queries_for(rate, trial_s), lab.seed + number, patience_s)
            runs.append(run)
            seconds = [value / 1e9 for value in run.loaded.latencies_ns]
            lost = run.loaded.unanswered or not seconds
            latency = float("inf") if lost else percentile_interval(seconds, request.percentile).value
            passed = not lost and (bound_s is None or latency <= bound_s) and keeps_to(run, limits)
            say(f"{rate:.4g} queries a second: {'passed' if passed else 'too slow'}")
            return Trial(rate, latency, passed)

        found = find_rate(try_rate, 1.1 * capacity, most_trials=_RATE_TRIALS)
    counted = [run for run in runs if run.rate_qps == found.rate]
    notes = []
    if any(not has_interval(len(run.loaded.ended_ns), request.percentile) for run in counted):
        notes.append(
            f"a trial had {min(len(run.loaded.ended_ns) for run in counted)} queries, too few to be sure of this "
            f"percentile: {queries_needed(request.percentile)} are, with a larger budget"
        )
    return Outcome(
        runs,
        counted,
        ended=found.ended,
        notes=notes,
        rate=RateRecord(bound_s=bound_s, percentile=request.percentile, rate_qps=found.rate, ended=found.ended),
    )
