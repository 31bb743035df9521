"""Scenarios in a made-up lab: which runs are asked for, and what they come to. No process is started."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from simulated import latencies, loaded

from mlmodelscope.bench.run import Run
from mlmodelscope.bench.scenario import SCENARIOS, Request, by_loadgen
from mlmodelscope_worker.scenario.load.schedule import arrivals

closed, server, offline, max_rate, cold_start = (
    SCENARIOS[name] for name in ("single-stream", "server", "offline", "max-rate", "cold-start")
)


class Station:
    """Answers as a model would whose calls take about a millisecond, on one lane."""

    batch_size, samples_per_query, opened_s, load_s = 1, 1, 0.7, 0.2

    def __init__(self, lab: "Lab", number: int) -> None:
        self.lab = lab
        self.number = number

    def _durations(self, count: int) -> list[int]:
        self.lab.taken += 1
        return latencies(count, self.lab.taken, self.lab.median_ns, self.lab.spread)

    def closed(self, scenario: str, queries: int, seconds: float, warm_up_runs: int = 0) -> Run:
        most = max(1, min(queries, round(seconds * 1e9 / self.lab.median_ns)))
        return Run(scenario, loaded(self._durations(most)), self.number)

    def offline(self, batches: int, seconds: float = 3600.0, warm_up_runs: int = 1) -> Run:
        most = max(1, min(batches, round(seconds * 1e9 / self.lab.median_ns)))
        return Run("offline", loaded(self._durations(most)), self.number)

    def server(self, rate: float, queries: int, seed: int, patience_s: float, warm_up_runs: int = 2) -> Run:
        self.lab.asked.append((rate, queries, seed))
        due = list(arrivals(rate, queries, seed))
        found = loaded(self._durations(queries), due)
        limit = due[-1] + patience_s * 1e9
        done = sum(start <= limit for start in found.started_ns)
        cut = {name: getattr(found, name)[:done] for name in ("due_ns", "started_ns", "ended_ns")}
        return Run("server", replace(found, unanswered=queries - done, **cut), self.number, 1, rate, seed)

    def loadgen(self, scenario: str, seconds: float, **more: Any) -> dict[str, Any]:
        self.lab.told = {"scenario": scenario, **more}
        return self.lab.said


class Lab:
    seed, lanes = 7, 1

    def __init__(self, median_ns: float = 1e6, spread: float = 0.02) -> None:
        self.median_ns, self.spread = median_ns, spread
        self.taken = self.opened = 0
        self.asked: list[tuple[float, int, int]] = []
        self.told: dict[str, Any] = {}
        self.said: dict[str, Any] = {"result_validity": "VALID"}

    @contextmanager
    def process(self, batch_size: int | None = None) -> Iterator[Station]:
        self.opened += 1
        yield Station(self, self.opened - 1)


def ask(run: Any, lab: Lab, **request: Any) -> Any:
    return run(lab, Request(**request), lambda what: None)


def test_a_quiet_single_stream_is_steady_and_tight_in_each_process() -> None:
    lab = Lab()
    found = ask(closed, lab, scenario="single-stream", processes=3)
    assert lab.opened == 3 and [run.process for run in found.runs] == [0, 1, 2]
    assert found.steady and found.tight and len(found.first_s) == 4
    assert found.throughput is not None and found.throughput.value == pytest.approx(1000, rel=0.05)


def test_without_a_rate_a_server_gets_half_of_what_it_can_stand() -> None:
    lab = Lab()
    found = ask(server, lab, scenario="server")
    assert {round(rate) for rate, _, _ in lab.asked} == {round(lab.asked[0][0])}
    assert lab.asked[0][0] == pytest.approx(500, rel=0.05) and "50 % of what the model answers" in found.notes[0]


def test_a_servers_runs_double_and_each_has_arrivals_of_its_own() -> None:
    lab = Lab(spread=0.5)
    found = ask(server, lab, scenario="server", rate_qps=400.0, budget_s=8.0)
    assert not found.notes and len(found.runs) == 2
    seeds = [run.seed for run in found.runs]
    assert len(set(seeds)) == 2 and seeds[0] is not None and seeds[0] >= 7
    total = sum(queries for _, queries, _ in lab.asked) / 400.0
    assert total <= 8.0 * 1.1


def test_an_overloaded_server_is_doubted() -> None:
    assert "queries were never begun" in ask(server, Lab(), scenario="server", rate_qps=3000.0).doubts[0]
    assert "the queue grew until the end" in ask(server, Lab(), scenario="server", rate_qps=1200.0).doubts[0]
    assert ask(server, Lab(), scenario="server", rate_qps=800.0).doubts == []


def test_offline_repeats_until_runs_agree() -> None:
    found = ask(offline, Lab(), scenario="offline")
    assert found.tight and found.throughput.value == pytest.approx(1000, rel=0.05)


def test_the_highest_rate_lies_below_what_can_be_answered() -> None:
    lab = Lab()
    found = ask(max_rate, lab, scenario="max-rate", bound_s=0.01, budget_s=60.0)
    assert found.rate.rate_qps is not None and 600 < found.rate.rate_qps < 1000
    assert len(found.counted) == 2 and len({seed for _, _, seed in lab.asked}) == len(lab.asked)


def test_a_bound_below_a_single_call_is_met_by_no_rate() -> None:
    found = ask(max_rate, Lab(), scenario="max-rate", bound_s=0.0005)
    assert found.rate.rate_qps is None and found.counted == []


def test_too_few_queries_for_the_percentile_are_noted() -> None:
    found = ask(max_rate, Lab(), scenario="max-rate", bound_s=0.02, budget_s=1.0)
    assert "too few to be sure of this percentile" in found.notes[0]


def test_a_cold_start_has_its_parts() -> None:
    found = ask(cold_start, Lab(), scenario="cold-start", cold_starts=3)
    assert len(found.cold) == 3 and found.cold[0].start_s == pytest.approx(0.5) and found.cold[0].load_s == 0.2
    assert found.cold[0].second_s is not None and found.cold[0].steady_s is not None


def test_loadgen_is_told_what_was_measured_and_its_verdict_counts() -> None:
    lab = Lab()
    found = ask(by_loadgen, lab, scenario="server")
    assert lab.told["expected_ns"] == pytest.approx(1e6, rel=0.05) and lab.told["rate"] == pytest.approx(500, rel=0.05)
    assert not found.doubts and "no bound was asked for" in found.notes[0]
    lab.said = {"result_validity": "INVALID", "result_invalid_reason": "Reduce target QPS"}
    assert ask(by_loadgen, lab, scenario="offline").doubts == ["LoadGen says INVALID: Reduce target QPS"]
