"""Latency: the framework's call alone, after a warm-up, within a budget."""

import gc

import pytest

from mlmodelscope_worker.scenario import single_stream
from mlmodelscope_worker.scenario.single_stream import measure_latency, measure_parts


class Counting:
    def __init__(self) -> None:
        self.calls = 0
        self.collecting: list[bool] = []

    def run(self, tensors: list) -> None:
        self.calls += 1
        self.collecting.append(gc.isenabled())


def test_every_call_is_counted_and_raw() -> None:
    predictor = Counting()
    warm_up, raw = measure_latency(predictor, [], warm_up_runs=3, max_runs=10, budget_s=60)
    assert (len(warm_up), len(raw), predictor.calls) == (3, 10, 13)
    assert all(isinstance(value, int) and value >= 0 for value in warm_up + raw)


def test_a_spent_budget_ends_it_after_one_call_at_least() -> None:
    assert len(measure_latency(Counting(), [], 0, 1000, budget_s=0)[1]) >= 1


def test_the_clock_stands_around_the_call_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(0, 10_000, 7))
    monkeypatch.setattr(single_stream, "nanoseconds", lambda: next(ticks))
    assert measure_latency(Counting(), [], 2, 5, budget_s=1) == ([7, 7], [7, 7, 7, 7, 7])


def test_nothing_is_collected_inside_the_timed_part() -> None:
    predictor = Counting()
    measure_latency(predictor, [], 0, 3, 60)
    assert predictor.collecting == [False] * 3 and gc.isenabled()


def test_a_predictor_that_fails_leaves_the_collector_as_it_was() -> None:
    class Failing:
        def run(self, tensors: list) -> None:
            raise RuntimeError

    with pytest.raises(RuntimeError):
        measure_latency(Failing(), [], 0, 3, 60)
    assert gc.isenabled()


class InParts(Counting):
    def parts(self) -> list:
        return [("copy to device", None), ("run", None)]

    def run_in_parts(self, tensors: list) -> tuple:
        self.run(tensors)
        return [], [("copy to device", 5, 7), ("run", 7, 10 + self.calls)]


def test_parts_are_measured_in_calls_of_their_own_after_one_that_does_not_count() -> None:
    predictor = InParts()
    raw = measure_parts(predictor, [], budget_s=60)
    assert raw == {"copy to device": [2] * 20, "run": [3 + call for call in range(2, 22)]}
    assert predictor.calls == 21 and predictor.collecting[1:] == [False] * 20 and gc.isenabled()


def test_parts_keep_to_the_budget() -> None:
    assert len(measure_parts(InParts(), [], budget_s=0)["run"]) == 1


def test_a_call_of_one_part_is_not_made_again() -> None:
    class Whole(Counting):
        def parts(self) -> list:
            return [("run", self.run)]

    predictor = Whole()
    assert measure_parts(predictor, [], budget_s=60) == {} and predictor.calls == 0
