"""Durations nobody has to guess: warm up until it is steady, measure until the intervals are tight."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Generic, Protocol, TypeVar

from mlmodelscope.bench.percentiles import has_interval
from mlmodelscope.statistic.interval import percentile_interval


class Timed(Protocol):
    """A stretch of queries that was measured."""

    @property
    def latencies_ns(self) -> Sequence[int]: ...

    @property
    def duration_s(self) -> float: ...


Stretch = TypeVar("Stretch", bound=Timed)
Take = Callable[[int, float], Stretch]
"""Measure at most so many queries, for about so many seconds."""


@dataclass(frozen=True)
class Goal:
    """How tight an interval must be: half of it, as a share of the value."""

    quantile: float
    within: float


GOALS = (Goal(0.5, 0.01), Goal(0.9, 0.02), Goal(0.99, 0.05))
"""For calls in turn."""
LOOSE = (Goal(0.5, 0.05), Goal(0.9, 0.05), Goal(0.99, 0.1))
"""For queries that wait for one another, whose times are spread by the load itself."""

_WARM_UP_SHARE = 0.25
_STEADY_WITHIN = 0.03
_FIRST_QUERIES = 4
_MOST_QUERIES = 200_000  # in one stretch: arrays of a few megabytes
_STRETCHES = 12


@dataclass
class Measured(Generic[Stretch]):
    """What was taken, and how it went."""

    first: Stretch
    """The very first queries."""
    warm_up: list[Stretch] = field(default_factory=list)
    kept: list[Stretch] = field(default_factory=list)
    steady: bool = False
    tight: bool = False
    ended: str = ""

    @property
    def warm_up_queries(self) -> int:
        return sum(len(each.latencies_ns) for each in (self.first, *self.warm_up))


def measure(take: Take[Stretch], budget_s: float, goals: Sequence[Goal] = GOALS, least: int = 1) -> Measured[Stretch]:
    """First queries, warm-up and what counts, all within a budget of seconds (and at least one stretch of each).

    `least` queries count at any rate: the budget may end in the middle of a slow machine's first ones.
    """
    found = Measured(take(_FIRST_QUERIES, budget_s * _WARM_UP_SHARE))
    # The very first call may load and compile for longer than everything else takes: it is not charged.
    spent = found.first.duration_s - found.first.latencies_ns[0] / 1e9
    warm_up_s = budget_s * _WARM_UP_SHARE
    stretch_s = warm_up_s / 8
    while spent < warm_up_s or len(found.warm_up) < 2:
        found.warm_up.append(take(_MOST_QUERIES, stretch_s))
        spent += found.warm_up[-1].duration_s
        if len(found.warm_up) >= 2 and is_steady(found.warm_up[-2], found.warm_up[-1]):
            found.steady = True
            break
        if spent >= budget_s:
            break
    stretch_s = max(budget_s - spent, stretch_s) / _STRETCHES
    while True:
        found.kept.append(take(_MOST_QUERIES, stretch_s))
        spent += found.kept[-1].duration_s
        if len(found.kept) >= 2 and is_tight([value for each in found.kept for value in each.latencies_ns], goals):
            found.tight = True
            found.ended = "the intervals are tight"
            return found
        if spent >= budget_s and sum(len(each.latencies_ns) for each in found.kept) >= least:
            found.ended = "the budget was spent"
            return found


def is_steady(before: Timed, after: Timed, within: float = _STEADY_WITHIN) -> bool:
    """Whether two stretches have the same median, nearly."""
    one, other = median(before.latencies_ns), median(after.latencies_ns)
    return abs(other - one) <= within * one


def is_tight(latencies_ns: Sequence[int], goals: Sequence[Goal] = GOALS) -> bool:
    """Whether every percentile asked for has an interval, and one that is narrow enough."""
    if not all(has_interval(len(latencies_ns), goal.quantile) for goal in goals):
        return False
    ordered = [float(value) for value in sorted(latencies_ns)]
    for goal in goals:
        found = percentile_interval(ordered, goal.quantile)
        if (found.high - found.low) / 2 > goal.within * found.value:
            return False
    return True
