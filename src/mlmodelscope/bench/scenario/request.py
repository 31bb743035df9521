"""What is asked of a bench."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mlmodelscope.bench.mlperf import limits_of
from mlmodelscope.bench.tokens import Limit
from mlmodelscope.record.bench import EACH, FIRST

Progress = Callable[[str], None]
"""Told what is being done."""


@dataclass(frozen=True)
class Request:
    """What is asked of a bench; only a bound is anybody's to know."""

    scenario: str = "single-stream"
    budget_s: float = 20.0
    queries: int = 1
    """At least so many count in each process, even where that takes longer than the budget; for streams, servers and
    sweeps."""
    processes: int = 2
    rate_qps: float | None = None
    bound_s: float | None = None
    percentile: float = 0.99
    first_s: float | None = None
    """What the first token of a language model may take, at the percentile."""
    each_s: float | None = None
    """What each further token may take."""
    mlperf: str | None = None
    """The rule of MLPerf's that says both."""
    most_batch: int = 1024
    cold_starts: int = 5
    loadgen: bool = False

    @property
    def limits(self) -> tuple[Limit, ...]:
        """What the tokens of a language model's answers must keep to."""
        asked = ((FIRST, self.first_s), (EACH, self.each_s))
        own = tuple(Limit(what, bound_s, self.percentile) for what, bound_s in asked if bound_s is not None)
        return (*own, *(limits_of(self.mlperf) if self.mlperf else ()))
