"""How fast a model is, roughly: what a run must be told beforehand is measured, so that nobody has to guess."""

from __future__ import annotations

from mlmodelscope.bench.lab import Station
from mlmodelscope.bench.run import Run

MOST_QUERIES = 200_000
"""In one run: arrays of a few megabytes."""
DEFAULT_LOAD = 0.5
"""Share of what a model can answer that a server gets where nobody says a rate."""


def capacity_of(station: Station, seconds: float) -> float:
    """Samples in a second that the model answers when it never waits, on all lanes."""
    return samples_per_s(station.offline(batches_for(station, seconds)))


def batches_for(station: Station, seconds: float) -> int:
    """About so many batches take so many seconds; the model is warm afterwards."""
    station.closed("single-stream", 2, seconds)
    pilot = station.offline(MOST_QUERIES, seconds / 4)
    return max(station.lab.lanes, round(len(pilot.loaded.ended_ns) * seconds / max(pilot.loaded.duration_s, 1e-9)))


def queries_for(rate: float, seconds: float) -> int:
    return max(2, min(MOST_QUERIES, round(rate * seconds)))


def samples_per_s(run: Run) -> float:
    duration = run.loaded.duration_s
    return len(run.loaded.ended_ns) * run.samples_per_query / duration if duration else 0.0
