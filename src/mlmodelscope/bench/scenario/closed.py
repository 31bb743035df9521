"""Single-stream and multi-stream: until the intervals are tight, in each of several fresh processes."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from mlmodelscope.bench.adapt import GOALS, Measured, Take, is_tight, measure
from mlmodelscope.bench.lab import Lab, Station
from mlmodelscope.bench.outcome import Outcome
from mlmodelscope.bench.run import Run, join
from mlmodelscope.bench.scenario.pace import samples_per_s
from mlmodelscope.bench.scenario.request import Progress, Request
from mlmodelscope.bench.summary import mean_interval

_SHORT_NS = 10_000_000


@dataclass(frozen=True)
class Stretch:
    """A run as `measure` sees it."""

    run: Run

    @property
    def latencies_ns(self) -> list[int]:
        return self.run.loaded.latencies_ns

    @property
    def duration_s(self) -> float:
        return self.run.loaded.duration_s


def taker(station: Station, scenario: str) -> Take[Stretch]:
    """Stretches of queries. The first query of a stretch finds caches that our own work has filled, so one is made
    before that does not count, unless it is so long that this cannot matter."""
    last: list[Run] = []

    def take(queries: int, seconds: float) -> Stretch:
        short = bool(last) and median(last[-1].loaded.latencies_ns) < _SHORT_NS
        last[:] = [station.closed(scenario, queries, seconds, warm_up_runs=1 if short else 0)]
        return Stretch(last[0])

    return take


def closed(lab: Lab, request: Request, say: Progress) -> Outcome:
    found: list[Measured[Stretch]] = []
    for number in range(request.processes):
        say(f"{request.scenario}, process {number + 1} of {request.processes}")
        with lab.process() as station:
            share_s = request.budget_s / request.processes
            found.append(measure(taker(station, request.scenario), share_s, GOALS, request.queries))
    runs = [join([stretch.run for stretch in each.kept]) for each in found]
    latencies = [value for run in runs for value in run.loaded.latencies_ns]
    return Outcome(
        runs,
        runs,
        [stretch.run for each in found for stretch in each.kept],
        throughput=mean_interval([samples_per_s(stretch.run) for each in found for stretch in each.kept]),
        first_s=tuple(value / 1e9 for value in found[0].first.latencies_ns),
        warm_up_queries=sum(each.warm_up_queries for each in found),
        steady=all(each.steady for each in found),
        tight=is_tight(latencies, GOALS),
        ended=found[-1].ended,
    )
