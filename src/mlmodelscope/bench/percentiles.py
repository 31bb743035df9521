"""Percentiles with intervals, where there are enough values to tell them."""

from __future__ import annotations

import math
from statistics import NormalDist

from mlmodelscope.bench.dependent import dependent_interval
from mlmodelscope.statistic.interval import percentile_interval
from mlmodelscope.types import Interval

PERCENTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}


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


def percentiles(
    latencies_s: list[float], *, independent: bool = True, of: str = "queries"
) -> tuple[dict[str, Interval], dict[str, str]]:
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
                refused[name] = f"{len(ordered)} {of} that wait for one another are too few to tell it"
            else:
                found[name] = interval
        else:
            one = of.replace("queries", "query").removesuffix("s")
            few = f"1 {one} is" if len(ordered) == 1 else f"{len(ordered)} {of} are"
            refused[name] = f"{few} too few: a 95 % interval needs {queries_needed(quantile)}"
    return found, refused
