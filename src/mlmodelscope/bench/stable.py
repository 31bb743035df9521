"""Whether numbers can be believed: the machine's noise, and what was measured twice against itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from mlmodelscope.bench.ratio import ratio
from mlmodelscope.errors import MetricError
from mlmodelscope.provision.machine.noise import Noise
from mlmodelscope.record.bench import Outliers, SelfTest, Stability
from mlmodelscope.types import Interval


@dataclass(frozen=True)
class StableLimits:
    """What is still stable."""

    halves: float = 0.03
    """By how much the second half may differ from the first, surely."""
    processes: float = 0.05
    """By how much two fresh processes may differ, surely: memory lies elsewhere in each."""
    outliers: float = 0.01
    """Share of the queries that may take much longer than the rest."""
    outlier_times: float = 3.0
    """How many times the median is much longer."""


def judge(
    times_ns: Sequence[Sequence[float]],
    processes: Sequence[int],
    noise: Sequence[Noise],
    limits: StableLimits | None = None,
    *,
    steady: bool = True,
    extra: Sequence[str] = (),
) -> Stability:
    """The verdict over some runs: `times_ns` of their calls in order, `processes` says which process each ran in."""
    limits = limits or StableLimits()
    runs = [[float(value) for value in run] for run in times_ns]
    halves = self_test_halves(runs)
    between = self_test_processes(runs, processes)
    outliers = find_outliers(runs, limits.outlier_times)
    reasons = [*extra]
    reasons += _told([each.because for each in noise])
    if not steady and not settled(halves, limits.halves):
        reasons.append("it did not become steady while it was warmed up")
    reasons += _reasons(halves, between, outliers, limits)
    return Stability(
        verdict="unstable" if reasons else "stable",
        because=tuple(dict.fromkeys(reasons)),
        noise=tuple(noise),
        halves=halves,
        processes=between,
        outliers=outliers,
    )


def self_test_halves(runs: Sequence[Sequence[float]]) -> SelfTest | None:
    """Each run's second half against its first."""
    first = [run[: len(run) // 2] for run in runs]
    second = [run[len(run) // 2 :] for run in runs]
    return _self_test("the second half of the queries against the first", first, second)


def self_test_processes(runs: Sequence[Sequence[float]], processes: Sequence[int]) -> SelfTest | None:
    """A/A: the two fresh processes whose medians are farthest apart."""
    by_process: dict[int, list[Sequence[float]]] = {}
    for run, process in zip(runs, processes, strict=True):
        if run:
            by_process.setdefault(process, []).append(run)
    if len(by_process) < 2:
        return None
    ordered = sorted(by_process.values(), key=lambda parts: median(value for part in parts for value in part))
    return _self_test("one fresh process against another", ordered[0], ordered[-1])


def _self_test(what: str, first: Sequence[Sequence[float]], second: Sequence[Sequence[float]]) -> SelfTest | None:
    try:
        return SelfTest(what=what, ratio=ratio(first, second))
    except MetricError:
        return None  # too few to tell


def find_outliers(runs: Sequence[Sequence[float]], times: float) -> Outliers | None:
    values = [value for run in runs for value in run]
    if not values:
        return None
    limit = times * median(values)
    return Outliers(share=sum(value > limit for value in values) / len(values), times=times)


def _reasons(
    halves: SelfTest | None, processes: SelfTest | None, outliers: Outliers | None, limits: StableLimits
) -> Iterator[str]:
    for test, limit, words in (
        (halves, limits.halves, "the second half of the queries differs from the first by"),
        (processes, limits.processes, "two fresh processes differ by"),
    ):
        if test is not None and differs(test.ratio, limit):
            yield f"{words} {abs(test.ratio.value - 1):.1%} (limit {limit:.0%})".replace("%", " %")
    if outliers is not None and outliers.share > limits.outliers:
        yield (
            f"{outliers.share:.1%} of the queries took more than {outliers.times:g} times the median "
            f"(limit {limits.outliers:.0%})"
        ).replace("%", " %")


def differs(found: Interval, limit: float) -> bool:
    """Whether a ratio is surely farther from 1 than a limit."""
    return found.low > 1 + limit or found.high < 1 / (1 + limit)


def settled(halves: SelfTest | None, limit: float) -> bool:
    """Whether what was measured is surely the same from its first half to its second.

    A warm-up sees short stretches, of which two in a row may differ by chance; had it really been too short, the first
    half of what counts would be slower than the second.
    """
    return halves is not None and halves.ratio.high <= 1 + limit and halves.ratio.low >= 1 / (1 + limit)


def _told(reasons: Sequence[Sequence[str]]) -> list[str]:
    """Reasons of several processes: the same reason is given once, as the first of them gave it, with their number."""
    kinds: dict[str, list[str]] = {}
    for each in reasons:
        for reason in each:
            kinds.setdefault(re.sub(r"[\d.]+", "#", reason.partition(" (limit")[0]), []).append(reason)
    if len(reasons) < 2:
        return [told[0] for told in kinds.values()]
    return [f"{told[0]}, in {len(told)} of {len(reasons)} processes" for told in kinds.values()]
