"""What a scenario comes to, before it is a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mlmodelscope.bench.run import Run
from mlmodelscope.record.bench import ColdStart, RateRecord, SweepRecord
from mlmodelscope.types import Interval


@dataclass
class Outcome:
    runs: list[Run]
    """Every run whose queries are kept."""
    counted: Sequence[Run] = ()
    """Those that the record's numbers are of, taken together."""
    stretches: Sequence[Run] = ()
    """The same before they were joined: what differs between them is how sure a rate is."""
    throughput: Interval | None = None
    first_s: tuple[float, ...] = ()
    warm_up_queries: int = 0
    steady: bool | None = None
    tight: bool | None = None
    ended: str = ""
    sweep: SweepRecord | None = None
    rate: RateRecord | None = None
    cold: tuple[ColdStart, ...] = ()
    loadgen: dict[str, Any] | None = None
    doubts: list[str] = field(default_factory=list)
    """Why the numbers should not be believed, beyond the machine's noise."""
    notes: list[str] = field(default_factory=list)
