"""Raw times become numbers: percentiles with intervals, means, throughput, and what a sample cost."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist, fmean, stdev

from mlmodelscope.bench.dependent import dependent_interval
from mlmodelscope.errors import MetricError
from mlmodelscope.record.bench import LoadRecord
from mlmodelscope.statistic.interval import percentile_interval
from mlmodelscope.types import Interval
from mlmodelscope.worker.loaded import Loaded

PERCENTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}

# Student's t for 95 %, by degrees of freedom; beyond, the normal distribution is near enough.
_T = (12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131)


@dataclass(frozen=True)
class Run:
    """One run of load and how it was asked for."""

    scenario: str
    loaded: Loaded
    process: int = 0
    samples_per_query: int = 1
    rate_qps: float | None = None
    seed: int | None = None
    energy_j: Mapping[str, float] | None = None


def has_interval(count: int, quantile: float, confidence: float = 0.95) -> bool:
    """Whether so many values have others on both sides of the percentile's interval."""
    spread = NormalDist().inv_cdf(0.5 + confidence / 2) * math.sqrt(count * quantile * (1 - quantile))
    return math.floor(count * quantile - spread) >= 0 and math.ceil(count * quantile + spread) <= count - 1


def queries_needed(quantile: float) -> int:
    """The fewest queries that tell a percentile with its interval."""
    high = 2
    while not has_interval(high, quantile):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if has_interval(middle, quantile) else (middle, high)
    return high


def percentiles(latencies_s: list[float], *, independent: bool = True) -> tuple[dict[str, Interval], dict[str, str]]:
    """Those that can be told, and why others cannot; values in any order, or in that of arrival where they depend on
    one another."""
    ordered = sorted(latencies_s)
    found, refused = {}, {}
    for name, quantile in PERCENTILES.items():
        if has_interval(len(ordered), quantile):
            interval = (
                percentile_interval(ordered, quantile) if independent else dependent_interval(latencies_s, quantile)
            )
            if interval is None:
                refused[name] = f"{len(ordered)} queries that wait for one another are too few to tell it"
            else:
                found[name] = interval
        else:
            few = "1 query is" if len(ordered) == 1 else f"{len(ordered)} queries are"
            refused[name] = f"{few} too few: {queries_needed(quantile)} tell it with its interval"
    return found, refused


def trimmed_mean(ordered: Sequence[float], share: float = 0.2) -> float:
    """Without the lowest and the highest `share`."""
    cut = int(len(ordered) * share)
    return fmean(ordered[cut : len(ordered) - cut])


def join(runs: Sequence[Run]) -> Run:
    """Runs of the same kind as one: their queries together, their time one after the other."""
    first = runs[0]
    if len(runs) == 1:
        return first
    due, started, ended, depths = array("q"), array("q"), array("q"), array("q")
    energy: dict[str, float] = {}
    begins = 0
    for run in runs:
        loaded = run.loaded
        for whole, part in ((due, loaded.due_ns), (started, loaded.started_ns), (ended, loaded.ended_ns)):
            whole.extend(begins + value for value in part)
        depths.extend(loaded.depths)
        begins += max(loaded.ended_ns, default=0)
        for name, joules in (run.energy_j or {}).items():
            energy[name] = energy.get(name, 0.0) + joules
    memory = [run.loaded.peak_memory_bytes for run in runs if run.loaded.peak_memory_bytes is not None]
    loaded = replace(
        first.loaded,
        due_ns=due,
        started_ns=started,
        ended_ns=ended,
        depths=depths,
        cpu_ns=sum(run.loaded.cpu_ns for run in runs),
        unanswered=sum(run.loaded.unanswered for run in runs),
        peak_memory_bytes=max(memory, default=None),
    )
    return replace(first, loaded=loaded, energy_j=energy or None)


def summarise(run: Run) -> LoadRecord:
    loaded = run.loaded
    ordered = sorted(value / 1e9 for value in loaded.latencies_ns)
    if not ordered:
        raise MetricError("no query was answered: there is nothing to summarise")
    # Queries that one lane answers one after the other do not wait for one another; arrivals do.
    if run.scenario == "server":
        found, refused = percentiles([value / 1e9 for value in loaded.latencies_ns], independent=False)
    else:
        found, refused = percentiles(ordered)
    duration_s = loaded.duration_s
    samples = len(ordered) * run.samples_per_query
    late = lateness_s(loaded) if run.scenario == "server" else []
    return LoadRecord(
        scenario=run.scenario,
        process=run.process,
        batch_size=loaded.batch_size,
        samples_per_query=run.samples_per_query,
        lanes=loaded.lanes,
        rate_qps=run.rate_qps,
        seed=run.seed,
        queries=len(ordered),
        unanswered=loaded.unanswered,
        duration_s=duration_s,
        samples_per_s=samples / duration_s if duration_s else 0.0,
        percentiles_s=found,
        refused=refused,
        mean_s=fmean(ordered),
        trimmed_mean_s=trimmed_mean(ordered),
        cpu_s_per_sample=loaded.cpu_ns / 1e9 / samples,
        peak_memory_bytes=loaded.peak_memory_bytes,
        energy_j_per_sample={name: joules / samples for name, joules in (run.energy_j or {}).items()},
        queue_most=max(loaded.depths, default=None),
        late_p99_s=percentile_interval(late, 0.99).value if late else None,
    )


def lateness_s(loaded: Loaded) -> list[float]:
    """How long after it was due a query was begun, where nothing was before it: the generator's own fault."""
    lanes = loaded.lanes
    found = []
    for query, (due, start) in enumerate(zip(loaded.due_ns, loaded.started_ns, strict=True)):
        earlier = loaded.ended_ns[max(0, query - lanes) : query]
        if len(earlier) < lanes or max(earlier) <= due:
            found.append((start - due) / 1e9)
    return found


def mean_interval(values: Sequence[float], confidence: float = 0.95) -> Interval | None:
    """The mean of a few runs with Student's interval; of two it would be so wide that it says nothing."""
    count = len(values)
    if count < 3:
        return None
    t = _T[count - 2] if count - 2 < len(_T) else NormalDist().inv_cdf(0.5 + confidence / 2)
    centre, half = fmean(values), t * stdev(values) / math.sqrt(count)
    return Interval(centre, max(0.0, centre - half), centre + half, confidence)
