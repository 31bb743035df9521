"""What is asked of a bench."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
    most_batch: int = 1024
    cold_starts: int = 5
    loadgen: bool = False
