"""Welch's test against numbers of SciPy."""

import pytest

from mlmodelscope.statistic.welch import welch


def test_it_is_the_textbooks() -> None:
    # scipy.stats.ttest_ind(b, a, equal_var=False).df
    found = welch([0.91, 0.93, 0.92, 0.94], [0.95, 0.96, 0.97])
    assert found is not None and found.difference.value == pytest.approx(0.035)
    error = (0.01290994**2 / 4 + 0.01**2 / 3) ** 0.5
    assert found.freedom == pytest.approx(4.9591, abs=1e-3)
    assert found.difference.high - found.difference.value == pytest.approx(2.7764451 * error, rel=1e-5)


def test_a_single_run_says_nothing_and_equal_ones_everything() -> None:
    assert welch([1.0], [1.0, 2.0]) is None and welch([1.0, 2.0], []) is None
    same = welch([1.0, 1.0], [2.0, 2.0])
    assert same is not None and (same.difference.low, same.difference.high) == (1.0, 1.0)
