"""Metrics count right, carry intervals, and refuse to speak of nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlmodelscope.errors import MetricError
from mlmodelscope.metric import METRICS
from mlmodelscope.metric.accuracy import Confusion, PerClass, Top1, Top5
from mlmodelscope.metric.calibration import Calibration
from mlmodelscope.metric.interval import percentile_interval, samples_needed, wilson


def test_top_1_and_top_5_count_what_they_say() -> None:
    top1, top5 = Top1(), Top5()
    for label, classes in ((3, [3, 1, 2, 4, 5]), (1, [3, 1, 2, 4, 5]), (9, [3, 1, 2, 4, 5]), (5, [3, 1, 2, 4, 5])):
        top1.update(label, classes, [0.2] * 5)
        top5.update(label, classes, [0.2] * 5)
    assert (top1.compute().value, top5.compute().value) == (0.25, 0.75)


@pytest.mark.parametrize("name", sorted(METRICS))
def test_every_metric_refuses_on_no_data(name: str) -> None:
    with pytest.raises(MetricError, match="is not a number"):
        METRICS[name]().compute()


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


def test_per_class_counts_each_class() -> None:
    metric = PerClass()
    for label, answer in ((0, 0), (0, 1), (2, 2)):
        metric.update(label, [answer], [1.0])
    assert metric.compute() == {0: {"right": 1, "seen": 2}, 2: {"right": 1, "seen": 1}}


def test_confusion_lists_the_most_frequent_mistakes_first() -> None:
    metric = Confusion()
    for label, answer in ((0, 1), (0, 1), (5, 6), (7, 7)):
        metric.update(label, [answer], [1.0])
    assert metric.compute() == [{"label": 0, "answer": 1, "count": 2}, {"label": 5, "answer": 6, "count": 1}]


def test_a_model_that_is_as_sure_as_it_is_right_has_no_calibration_error() -> None:
    metric = Calibration()
    for index in range(10):
        metric.update(0, [0 if index < 8 else 1], [0.8])
    assert metric.compute()["ece"] == pytest.approx(0)


def test_a_model_that_is_always_sure_and_always_wrong_has_the_largest_one() -> None:
    metric = Calibration()
    metric.update(0, [1], [1.0])
    assert metric.compute()["ece"] == pytest.approx(1)


def test_a_percentile_lies_in_its_interval() -> None:
    median = percentile_interval([float(value) for value in range(101)], 0.5)
    assert (median.value, median.low < 50 < median.high) == (50, True)
    with pytest.raises(MetricError):
        percentile_interval([], 0.5)
