"""Two records side by side: the ratio of their latencies with its interval, and whether it is a difference at all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mlmodelscope.bench.ratio import ratio
from mlmodelscope.errors import MetricError, UsageError
from mlmodelscope.record.bench import LoadRecord
from mlmodelscope.record.builds import build_differences
from mlmodelscope.record.latencies import RawRun
from mlmodelscope.record.record import Record
from mlmodelscope.types import Interval

SMALLEST = 0.01
"""What is smaller is no difference: where memory happens to lie makes as much."""


@dataclass(frozen=True)
class Comparison:
    ratio: Interval | None
    """How many times as long the second takes, at the median; None where too few latencies are known, or none."""
    noise: float
    """By how much either differs from itself."""
    verdict: str
    """faster, slower or no difference: the second, against the first; or not judged."""
    sentence: str
    doubts: tuple[str, ...]
    """Why the verdict may be worth little."""
    differences: tuple[tuple[str, str, str], ...]
    """What else is not the same in the two records."""


def compare(
    first: Record, second: Record, first_runs: Sequence[RawRun] = (), second_runs: Sequence[RawRun] = ()
) -> Comparison:
    """Compare two records by their raw latencies; those of a bench lie beside it, others are in the record."""
    if _by_loadgen(first) or _by_loadgen(second):
        return _compare_summaries(first, second)
    noise = max(SMALLEST, own_noise(first), own_noise(second))
    try:
        found = ratio(latencies(first, first_runs), latencies(second, second_runs))
    except MetricError as error:
        words = f"not judged: {error.message}"
        return Comparison(None, noise, "not judged", words, _doubts(first, second), differences(first, second))
    verdict = judge(found, noise)
    sentence = _sentence(found, noise, verdict)
    return Comparison(found, noise, verdict, sentence, _doubts(first, second), differences(first, second))


def _doubts(first: Record, second: Record) -> tuple[str, ...]:
    return tuple(
        f"record {record.id} is {record.bench.stability}"
        for record in (first, second)
        if record.bench is not None and record.bench.stability.because
    )


def _by_loadgen(record: Record) -> bool:
    return record.bench is not None and record.bench.loadgen is not None


def _compare_summaries(first: Record, second: Record) -> Comparison:
    """LoadGen tells percentiles and keeps no latencies: a ratio can be made of them, and no interval."""
    one, other = _middle_s(first), _middle_s(second)
    words = "LoadGen keeps no latencies, so that there is no interval and no verdict"
    if one and other:
        words = f"the second takes {other / one:.3f} times as long at the median; {words}"
    noise = max(SMALLEST, own_noise(first), own_noise(second))
    return Comparison(None, noise, "not judged", words, _doubts(first, second), differences(first, second))


def _middle_s(record: Record) -> float | None:
    """The median latency, by whoever measured it."""
    bench = record.bench
    if bench is None:
        return record.latency.p50_s.value if record.latency else None
    if bench.loadgen is not None:
        found = bench.loadgen.get("result_50.00_percentile_latency_ns")
        return float(found) / 1e9 if found else None
    middle = bench.measured.percentiles_s.get("p50") if bench.measured is not None else None
    return middle.value if middle else None


def judge(found: Interval, noise: float) -> str:
    """A difference is one that is surely not 1 and larger than what the same differs from itself."""
    if found.low <= 1 <= found.high or abs(math.log(found.value)) <= math.log1p(noise):
        return "no difference"
    return "slower" if found.value > 1 else "faster"


def _sentence(found: Interval, noise: float, verdict: str) -> str:
    times = f"{found.value:.3f} times as long (95 % between {found.low:.3f} and {found.high:.3f})"
    if verdict == "no difference":
        if found.low <= 1 <= found.high:
            return f"no difference: the second takes {times}"
        return f"no difference: the second takes {times}, and the same differs from itself by {100 * noise:.1f} %"
    return f"the second is {verdict}: it takes {times}"


def latencies(record: Record, runs: Sequence[RawRun]) -> list[list[float]]:
    """Seconds of the queries that the record's numbers are of, run by run in the order of time."""
    bench = record.bench
    if bench is None:
        if record.latency is None:
            raise UsageError(f"record {record.id} has no latency", hint="mlmodelscope bench makes a record with one")
        return [[value / 1e9 for value in record.latency.raw_ns]]
    if bench.cold:
        return [[each.start_s + each.load_s + each.first_s for each in bench.cold]]
    if bench.measured is None:
        raise UsageError(f"record {record.id} has no latencies that could be compared")
    return [
        [value / 1e9 for value in run.latencies_ns()]
        for run, about in zip(runs, bench.runs, strict=True)
        if _is_counted(about, bench.measured)
    ]


def _is_counted(run: LoadRecord, measured: LoadRecord) -> bool:
    """Whether a run belongs to what the record's numbers are of: a sweep has runs of other sizes as well."""
    return run.batch_size == measured.batch_size and run.rate_qps == measured.rate_qps


def own_noise(record: Record) -> float:
    """By how much the record's own halves and processes differ, as a share."""
    if record.bench is None:
        return 0.0
    tests = (record.bench.stability.halves, record.bench.stability.processes)
    return max((abs(math.expm1(abs(math.log(test.ratio.value)))) for test in tests if test is not None), default=0.0)


def differences(first: Record, second: Record) -> tuple[tuple[str, str, str], ...]:
    """What a reader should know before taking the one thing compared for the cause."""
    pairs = zip(facts_of(first), facts_of(second), strict=True)
    facts = [(name, one, other) for (name, one), (_, other) in pairs if one != other]
    return (*facts, *((name, one, other) for name, (one, other) in build_differences((first, second))))


def facts_of(record: Record) -> list[tuple[str, str]]:
    """What a number depends on, the same names for every record."""
    plan, bench = record.plan, record.bench
    measured = bench.measured if bench is not None else None
    batch = measured.batch_size if measured is not None else plan.scenario.batch_size
    options = {name: value for name, value in plan.predictor.options.items() if name != "threads"}
    return [
        ("model", plan.model.reference),
        ("dataset", plan.dataset.reference),
        ("samples", _samples(record)),
        ("predictor", plan.predictor.name or "functions"),
        ("stack", f"{plan.stack.name}, Python {plan.stack.python}"),
        ("packages", ", ".join(f"{name} {version}" for name, version in sorted(plan.stack.packages.items()))),
        ("variables", " ".join(f"{name}={value}" for name, value in sorted(plan.stack.environment.items()))),
        ("options", ", ".join(f"{name}={value}" for name, value in sorted(options.items()) if value is not None)),
        ("threads", str(plan.predictor.options.get("threads", 1))),
        ("scenario", bench.scenario if bench is not None else "single-stream"),
        ("batch size", str(batch)),
        ("rate", f"{measured.rate_qps:.4g}/s" if measured is not None and measured.rate_qps else ""),
        ("lanes", str(measured.lanes if measured is not None else 1)),
        ("driven by", "LoadGen" if _by_loadgen(record) else ""),
        ("end to end", str(bench.end_to_end if bench is not None else False)),
        ("processor", record.machine.cpu),
        ("machine", record.machine.digest[:12]),
    ]


def _samples(record: Record) -> str:
    """How many of the dataset's samples were taken: of a bench they only take turns, so that it says nothing."""
    if record.bench is not None or record.profile is not None or not record.samples:
        return ""
    limited = record.plan.dataset.subset.count is not None and record.plan.dataset.size not in (None, record.samples)
    return f"{record.samples} of {record.plan.dataset.size}" if limited else f"{record.samples}"
