"""Intervals agree with known values, contain their value, and refuse to speak of nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlmodelscope.errors import MetricError
from mlmodelscope.statistic.interval import percentile_interval, samples_needed, wilson


def test_wilson_agrees_with_known_values() -> None:
    interval = wilson(58, 70)  # by hand from Wilson's formula
    assert interval.value == pytest.approx(0.828571, abs=1e-6)
    assert (interval.low, interval.high) == pytest.approx((0.723834, 0.899123), abs=1e-6)


@given(st.integers(1, 10_000), st.data())
def test_an_interval_contains_its_value_and_stays_between_0_and_1(trials: int, data: st.DataObject) -> None:
    interval = wilson(data.draw(st.integers(0, trials)), trials)
    assert 0 <= interval.low <= interval.value <= interval.high <= 1


def test_the_samples_needed_make_the_interval_as_narrow_as_asked() -> None:
    needed = samples_needed(0.751, 0.01)
    interval = wilson(round(0.751 * needed), needed)
    assert (interval.high - interval.low) / 2 == pytest.approx(0.01, rel=0.01)
    assert 7000 < needed < 7300


def test_a_percentile_lies_in_its_interval() -> None:
    median = percentile_interval([float(value) for value in range(101)], 0.5)
    assert (median.value, median.low < 50 < median.high) == (50, True)
    with pytest.raises(MetricError):
        percentile_interval([], 0.5)
