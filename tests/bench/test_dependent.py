"""Percentiles of queries that wait for one another: simulated queues, whose percentiles are known."""

import random

import pytest

from mlmodelscope.bench.dependent import dependent_interval
from mlmodelscope.statistic.interval import percentile_interval


def waiting_times(load: float, count: int, seed: int) -> list[float]:
    """An M/D/1 queue by Lindley's rule, once it has settled: arrivals by chance, each answer takes 1."""
    draw, waits, found = random.Random(seed), 0.0, []
    for place in range(count + 1000):
        if place >= 1000:
            found.append(waits + 1)
        waits = max(0.0, waits + 1 - draw.expovariate(load))
    return found


@pytest.mark.parametrize(("load", "quantile"), [(0.5, 0.5), (0.5, 0.9), (0.8, 0.5), (0.8, 0.9)])
def test_at_least_nine_of_ten_intervals_hold_the_true_percentile(load: float, quantile: float) -> None:
    long = sorted(waiting_times(load, 300_000, 10**6))
    true = long[int(quantile * len(long))]
    intervals = [dependent_interval(waiting_times(load, 4000, seed), quantile) for seed in range(60)]
    told = [each for each in intervals if each is not None]
    assert len(told) >= 50 and sum(each.low <= true <= each.high for each in told) >= 0.9 * len(told)


def test_it_is_never_narrower_than_for_independent_queries() -> None:
    draw = random.Random(1)
    values = [draw.random() for _ in range(1000)]
    found, alone = dependent_interval(values, 0.5), percentile_interval(values, 0.5)
    assert found is not None and found.value == alone.value
    assert found.low <= alone.low and found.high >= alone.high


def test_one_long_queue_is_wider_than_the_same_answers_mixed() -> None:
    values = [1.0 + (0.5 <= place / 5000 < 0.6) + random.Random(place).random() for place in range(5000)]
    mixed = list(values)
    random.Random(0).shuffle(mixed)
    one, other = dependent_interval(values, 0.5), dependent_interval(mixed, 0.5)
    assert one is not None and other is not None and one.high - one.low > other.high - other.low


def test_too_few_bad_moments_tell_no_tail() -> None:
    assert dependent_interval([1.0] * 199, 0.5) is None
    one_bad_moment = [1.0] * 9900 + [50.0] * 100
    assert dependent_interval(one_bad_moment, 0.995) is None
