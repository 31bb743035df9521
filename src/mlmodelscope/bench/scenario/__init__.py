"""The scenarios of a bench: each opens fresh processes in a lab and comes to an outcome, within a budget of seconds."""

from __future__ import annotations

from collections.abc import Callable

from mlmodelscope.bench.lab import Lab
from mlmodelscope.bench.outcome import Outcome
from mlmodelscope.bench.scenario.batch_sweep import batch_sweep
from mlmodelscope.bench.scenario.by_loadgen import by_loadgen
from mlmodelscope.bench.scenario.closed import closed
from mlmodelscope.bench.scenario.cold_start import cold_start
from mlmodelscope.bench.scenario.max_rate import max_rate
from mlmodelscope.bench.scenario.offline import offline
from mlmodelscope.bench.scenario.request import Progress, Request
from mlmodelscope.bench.scenario.server import server

__all__ = ["MLPERF", "SCENARIOS", "Request", "by_loadgen"]

SCENARIOS: dict[str, Callable[[Lab, Request, Progress], Outcome]] = {
    "single-stream": closed,
    "multi-stream": closed,
    "server": server,
    "offline": offline,
    "cold-start": cold_start,
    "sweep": batch_sweep,
    "max-rate": max_rate,
}
MLPERF = ("single-stream", "multi-stream", "server", "offline")
"""The scenarios that LoadGen knows."""
