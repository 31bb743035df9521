"""The scenarios of MLPerf by its own LoadGen; what it must be told beforehand is measured."""

from __future__ import annotations

from statistics import median

from mlmodelscope.bench.lab import Lab
from mlmodelscope.bench.outcome import Outcome
from mlmodelscope.bench.scenario.pace import DEFAULT_LOAD, MOST_QUERIES, capacity_of
from mlmodelscope.bench.scenario.request import Progress, Request


def by_loadgen(lab: Lab, request: Request, say: Progress) -> Outcome:
    with lab.process() as station:
        say("what LoadGen wants to know beforehand")
        pilot_s = request.budget_s / 8
        kind = "multi-stream" if request.scenario == "multi-stream" else "single-stream"
        station.closed(kind, 4, pilot_s)
        pilot = station.closed(kind, MOST_QUERIES, pilot_s)
        capacity = capacity_of(station, pilot_s)
        rate = request.rate_qps or DEFAULT_LOAD * capacity / station.batch_size
        say(f"LoadGen, {request.scenario}")
        said = station.loadgen(
            request.scenario,
            request.budget_s * 3 / 4,
            expected_ns=median(pilot.loaded.latencies_ns),
            rate=rate if request.scenario == "server" else 1.2 * capacity,
            bound_s=request.bound_s or request.budget_s,
        )
    doubts, notes = [], []
    if request.scenario == "server" and request.bound_s is None:
        notes.append("no bound was asked for: LoadGen's constraint on latency is so wide that every run meets it")
    if said.get("result_validity") not in (None, "VALID"):
        reason = str(said.get("result_invalid_reason") or said.get("early_stopping_result") or "no reason").strip()
        doubts.append(f"LoadGen says {said['result_validity']}: {reason}")
    return Outcome([], (), ended="LoadGen ended", loadgen=said, doubts=doubts, notes=notes)
