"""Student's t, beside a printed table."""

import pytest

from mlmodelscope.statistic.student import t_chance, t_quantile


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [(1, 12.7062), (2, 4.30265), (3, 3.18245), (4, 2.77645), (5, 2.57058), (9, 2.26216), (30, 2.04227), (100, 1.98397)],
)
def test_the_quantile_is_that_of_the_table(freedom: int, expected: float) -> None:
    assert t_quantile(0.975, freedom) == pytest.approx(expected, abs=1e-5 * expected)


def test_many_degrees_of_freedom_are_the_normal_distribution() -> None:
    assert t_quantile(0.975, 100_000) == pytest.approx(1.959964, abs=1e-6)
    assert t_quantile(0.975, 2000) == pytest.approx(1.959964, abs=2e-3)


@pytest.mark.parametrize(("probability", "freedom"), [(0.2, 4), (1.0, 4), (0.975, 0)])
def test_what_has_no_quantile_is_refused(probability: float, freedom: int) -> None:
    with pytest.raises(ValueError, match="no quantile"):
        t_quantile(probability, freedom)


@pytest.mark.parametrize("freedom", [1, 2, 4, 9, 30, 100, 5000])
def test_beyond_the_quantile_is_what_is_left(freedom: int) -> None:
    assert t_chance(t_quantile(0.975, freedom), freedom) == pytest.approx(0.05, abs=1e-9)
    assert t_chance(-t_quantile(0.975, freedom), freedom) == pytest.approx(0.05, abs=1e-9)
    assert t_chance(0.0, freedom) == 1.0


def test_no_degrees_of_freedom_have_no_chance() -> None:
    with pytest.raises(ValueError, match="no chance"):
        t_chance(1.0, 0)
