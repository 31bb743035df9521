"""Raw times become numbers: percentiles with intervals, means, throughput, and what a sample cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist, fmean, stdev

from mlmodelscope.bench.percentiles import percentiles
from mlmodelscope.bench.run import Run
from mlmodelscope.bench.tokens import tokens_of
from mlmodelscope.errors import MetricError
from mlmodelscope.record.bench import LoadRecord
from mlmodelscope.statistic.interval import percentile_interval
from mlmodelscope.types import Interval
from mlmodelscope.worker.loaded import Loaded

# Student's t for 95 %, by degrees of freedom; beyond, the normal distribution is near enough.
_T = (12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131)


def trimmed_mean(ordered: Sequence[float], share: float = 0.2) -> float:
    """Without the lowest and the highest `share`."""
    cut = int(len(ordered) * share)
    return fmean(ordered[cut : len(ordered) - cut])


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
        tokens=tokens_of(run),
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
