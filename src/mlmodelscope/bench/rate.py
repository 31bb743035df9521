"""The most queries in a second whose latency stays below a bound: bisection, with the last step taken twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Trial:
    """One rate that was tried."""

    rate: float
    latency_s: float
    """At the percentile that counts; infinite where queries were left unanswered or too few to tell."""
    passed: bool


@dataclass
class Search:
    rate: float | None = None
    """The highest rate that passed twice."""
    trials: list[Trial] = field(default_factory=list)
    ended: str = ""


def find_rate(
    try_rate: Callable[[float, int], Trial], ceiling: float, tolerance: float = 0.05, most_trials: int = 14
) -> Search:
    """Bisect below `ceiling`, which is what the machine can answer at all; every trial has another seed.

    A rate that passes once may have been lucky with its arrivals: the highest is tried again, and where it fails the
    search goes on below it.
    """
    found = Search()

    def trial(rate: float) -> bool:
        found.trials.append(try_rate(rate, len(found.trials)))
        return found.trials[-1].passed

    low, high, confirmed = 0.0, ceiling, 0.0
    while len(found.trials) < most_trials:
        if high - low > tolerance * high:
            middle = (low + high) / 2
            if trial(middle):
                low = middle
            else:
                high = middle
            if low == 0.0 and high < ceiling / 100:
                found.ended = "no rate passes: a query alone takes longer than the bound"
                return found
        elif low > confirmed:
            if trial(low):
                confirmed = low
            else:
                high = low
                low = max((each.rate for each in found.trials if each.passed and each.rate < high), default=0.0)
        else:
            break
    else:
        found.ended = f"{most_trials} rates were tried"
    if confirmed:
        found.rate = confirmed
        found.ended = found.ended or f"the next higher rate that was tried is less than {100 * tolerance:g} % away"
    else:
        found.ended = f"no rate passed twice, and {found.ended}" if found.ended else "no rate passed twice"
    return found
