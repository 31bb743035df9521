"""The highest rate below a bound, found by bisection and confirmed."""

import random

import pytest

from mlmodelscope.bench.rate import Trial, find_rate


def model(capacity: float, bound_s: float, luck: float = 0.0, seed: int = 0) -> object:
    """A queue of one server: latency grows without bound as the rate comes near the capacity."""
    draw = random.Random(seed)

    def try_rate(rate: float, number: int) -> Trial:
        latency = float("inf") if rate >= capacity else 4.6 / (capacity - rate) * (1 + draw.uniform(-luck, luck))
        return Trial(rate, latency, latency <= bound_s)

    return try_rate


@pytest.mark.parametrize("bound_s", [0.01, 0.1, 1.0])
def test_the_highest_rate_is_found_within_the_tolerance(bound_s: float) -> None:
    true = 1000 - 4.6 / bound_s
    found = find_rate(model(1000, bound_s), ceiling=1100)  # type: ignore[arg-type]
    assert found.rate is not None and 0.93 * true <= found.rate <= true


def test_the_rate_that_counts_has_passed_twice() -> None:
    found = find_rate(model(1000, 0.05), ceiling=1100)  # type: ignore[arg-type]
    assert [each.rate for each in found.trials if each.passed].count(found.rate or 0) == 2


@pytest.mark.parametrize("seed", range(20))
def test_luck_with_the_arrivals_does_not_raise_it(seed: int) -> None:
    found = find_rate(model(1000, 0.02, luck=0.3, seed=seed), ceiling=1100)  # type: ignore[arg-type]
    assert found.rate is not None and found.rate <= 1000 - 4.6 * 0.7 / 0.02


def test_where_a_query_alone_is_too_slow_no_rate_is_given() -> None:
    found = find_rate(lambda rate, number: Trial(rate, 1.0, False), ceiling=100)
    assert found.rate is None and found.ended.startswith("no rate pass") and len(found.trials) <= 14


def test_every_trial_has_a_number_of_its_own() -> None:
    seen: list[int] = []
    find_rate(lambda rate, number: seen.append(number) or Trial(rate, 0.0, rate < 50), ceiling=100)  # type: ignore[func-returns-value]
    assert seen == list(range(len(seen)))
