"""Durations that nobody guesses: warm-up ends when it is steady, measuring when the intervals are tight."""

import random

import pytest
from simulated import latencies, loaded

from mlmodelscope.bench.adapt import GOALS, LOOSE, Measured, is_steady, is_tight, measure
from mlmodelscope.worker.loaded import Loaded


class Model:
    """Calls that take as long as a function of their number says; they never really run."""

    def __init__(self, duration_ns: object) -> None:
        self._duration_ns = duration_ns
        self.calls = 0

    def take(self, queries: int, seconds: float) -> Loaded:
        found: list[int] = []
        spent = 0
        while len(found) < queries and (not found or spent < seconds * 1e9):
            found.append(int(self._duration_ns(self.calls)))  # type: ignore[operator]
            spent += found[-1]
            self.calls += 1
        return loaded(found)


def quiet(median_ns: float, spread: float, seed: int = 0) -> Model:
    draw = random.Random(seed)
    return Model(lambda call: median_ns * draw.lognormvariate(0, spread))


def kept(found: Measured[Loaded]) -> list[int]:
    return [value for each in found.kept for value in each.latencies_ns]


@pytest.mark.parametrize("seed", range(5))
def test_a_quiet_model_ends_early_because_it_is_tight(seed: int) -> None:
    found = measure(quiet(1e6, 0.02, seed).take, budget_s=20)
    assert found.steady and found.tight and found.ended == "the intervals are tight"
    assert sum(kept(found)) / 1e9 < 15 and is_tight(kept(found))


def test_a_spread_model_uses_its_budget_and_no_more() -> None:
    found = measure(quiet(20e6, 0.8).take, budget_s=10)
    assert not found.tight and found.ended == "the budget was spent"
    spent = sum(each.duration_s for each in (found.first, *found.warm_up, *found.kept))
    assert spent < 10 * 1.2


def test_a_slow_model_is_called_even_if_one_call_is_more_than_the_budget() -> None:
    found = measure(Model(lambda call: 30e9).take, budget_s=1)
    assert len(found.kept) == 1 and len(kept(found)) == 1 and not found.tight


def test_a_slow_model_is_called_as_often_as_asked_for_though_the_budget_is_over() -> None:
    found = measure(Model(lambda call: 30e9).take, budget_s=1, least=4)
    assert len(kept(found)) == 4 and found.ended == "the budget was spent"


def test_calls_that_become_faster_are_warm_up() -> None:
    """As with a just-in-time compiler: the first 500 calls take longer and longer are not counted."""
    draw = random.Random(1)
    model = Model(lambda call: (1e6 + max(0, 500 - call) * 2e4) * draw.lognormvariate(0, 0.01))
    found = measure(model.take, budget_s=60)
    assert found.steady and found.warm_up_queries >= 500
    assert max(kept(found)) < 1.2e6


def test_the_very_first_calls_are_kept_apart() -> None:
    found = measure(Model(lambda call: 9e6 if call == 0 else 1e6).take, budget_s=5)
    assert found.first.latencies_ns[0] == 9_000_000 and 9_000_000 not in kept(found)


def test_what_never_becomes_steady_is_said() -> None:
    found = measure(Model(lambda call: 1e6 * 1.002**call).take, budget_s=4)
    assert not found.steady


def test_steady_means_the_same_median_nearly() -> None:
    assert is_steady(loaded([100, 100, 101]), loaded([102, 102, 500]))
    assert not is_steady(loaded([100, 100, 101]), loaded([110, 110, 110]))


def test_tight_means_every_percentile_asked_for() -> None:
    assert is_tight(latencies(20000, 1, spread=0.01))
    assert not is_tight(latencies(200, 1, spread=0.0001))  # too few for the 99th
    assert is_tight(latencies(200, 1, spread=0.0001), GOALS[:2])
    assert is_tight(latencies(5000, 1, spread=0.3), LOOSE) or not is_tight(latencies(5000, 1, spread=0.3), GOALS)
