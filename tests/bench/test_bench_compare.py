"""Two lots of latencies: no difference where there is none, and a small one where there is one."""

import pytest
from simulated import latencies

from mlmodelscope.bench.compare import SMALLEST, judge
from mlmodelscope.bench.ratio import block_medians, ratio
from mlmodelscope.errors import MetricError
from mlmodelscope.types import Interval


def lots(seed: int, slower: float = 1.0, count: int = 2000) -> tuple[list[list[float]], list[list[float]]]:
    """Two runs of each, as two fresh processes make them."""
    first = [[float(v) for v in latencies(count, 4 * seed + run)] for run in range(2)]
    second = [[float(v) for v in latencies(count, 4 * seed + 2 + run, median_ns=1e6 * slower)] for run in range(2)]
    return first, second


def test_the_same_against_itself_is_no_difference_in_at_least_95_of_100() -> None:
    verdicts = [judge(ratio(*lots(seed)), SMALLEST) for seed in range(100)]
    assert verdicts.count("no difference") >= 95


def test_five_percent_are_seen_in_at_least_95_of_100() -> None:
    verdicts = [judge(ratio(*lots(seed, 1.05)), SMALLEST) for seed in range(100)]
    assert verdicts.count("slower") >= 95


def test_faster_is_slower_the_other_way_round() -> None:
    first, second = lots(1, 1.1)
    assert judge(ratio(second, first), SMALLEST) == "faster"
    there, back = ratio(first, second), ratio(second, first)
    assert there.value == pytest.approx(1 / back.value) and there.low == pytest.approx(1 / back.high)


def test_the_interval_holds_the_true_ratio_mostly() -> None:
    held = [found.low <= 1.05 <= found.high for found in (ratio(*lots(seed, 1.05)) for seed in range(100))]
    assert sum(held) >= 88


def test_what_the_same_differs_from_itself_by_is_no_difference() -> None:
    assert judge(Interval(1.04, 1.03, 1.05), 0.01) == "slower"
    assert judge(Interval(1.04, 1.03, 1.05), 0.05) == "no difference"
    assert judge(Interval(1.04, 0.99, 1.09), 0.01) == "no difference"


def test_neighbours_make_one_value() -> None:
    assert len(block_medians([1.0] * 1000)) == 40 and len(block_medians([1.0] * 60)) == 12
    assert block_medians([3.0, 1.0, 2.0]) == [3.0, 1.0, 2.0]


def test_too_few_values_are_not_compared() -> None:
    with pytest.raises(MetricError, match="3 values are too few to compare"):
        ratio([[1.0] * 3], [[1.0] * 9])
