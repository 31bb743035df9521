"""Errors of numbers are those of scikit-learn."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from mlmodelscope.measure.interval import intervals
from mlmodelscope.measure.regression import MEASURES, RULE
from mlmodelscope.measure.rule import ScoreError

THEIRS = {
    "mse": metrics.mean_squared_error,
    "rmse": metrics.root_mean_squared_error,
    "mae": metrics.mean_absolute_error,
    "r2": metrics.r2_score,
    "explained-variance": metrics.explained_variance_score,
    "median-absolute-error": metrics.median_absolute_error,
}


def scored(truth: Sequence[Any], answer: Sequence[Any]) -> list[bytes]:
    return [
        RULE.score({"values": np.atleast_1d(np.asarray(said, float))}, {}, {"values": np.atleast_1d(true).tolist()}, {})
        for true, said in zip(truth, answer, strict=True)
    ]


def drawn(seed: int, samples: int = 40, values: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """(truth, answers); many are equal, and of several values the last never varies."""
    chance = np.random.default_rng(seed)
    truth = chance.integers(-5, 6, (samples, values)).astype(float)
    answer = truth + np.round(chance.normal(0, 2, truth.shape), 1)
    if values > 1:
        truth[:, -1] = 3
    return truth, answer


@pytest.mark.parametrize("values", [1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_random_values_give_the_numbers_of_scikit_learn(seed: int, values: int) -> None:
    truth, answer = drawn(seed, values=values)
    found = RULE.numbers(scored(truth, answer), MEASURES, None)
    for name, theirs in THEIRS.items():
        assert found[name] == pytest.approx(theirs(truth, answer), abs=1e-12), name
    assert found["max-error"] == np.abs(truth - answer).max()


@pytest.mark.parametrize("seed", range(5))
def test_weights_are_those_of_scikit_learn_and_count_samples_again(seed: int) -> None:
    truth, answer = drawn(seed, values=2)
    weights = np.random.default_rng(seed).integers(0, 3, len(truth)).astype(float)
    scores = scored(truth, answer)
    found = RULE.numbers(scores, MEASURES, weights)
    for name, theirs in THEIRS.items():
        if name != "median-absolute-error":  # older releases weight a median otherwise
            assert found[name] == pytest.approx(theirs(truth, answer, sample_weight=weights), abs=1e-12), name
    repeated = [score for score, weight in zip(scores, weights, strict=True) for _ in range(int(weight))]
    assert found == pytest.approx(RULE.numbers(repeated, MEASURES, None), abs=1e-12)


@pytest.mark.parametrize("answer", [[5.0, 5.0, 5.0], [1.0, 2.0, 9.0]])
@pytest.mark.parametrize("truth", [[5.0, 5.0, 5.0], [1.0, 2.0, 3.0]])
def test_truth_or_answers_that_never_vary_are_as_scikit_learn_has_them(truth: list[float], answer: list[float]) -> None:
    found = RULE.numbers(scored(truth, answer), ("r2", "explained-variance"), None)
    for name, value in found.items():
        assert value == pytest.approx(THEIRS[name](truth, answer), abs=1e-12), name


def test_r2_below_zero_and_errors_above_one_are_numbers() -> None:
    found = RULE.numbers(scored([1.0, 2.0], [200.0, -100.0]), MEASURES, None)
    assert found["r2"] < -1000 and found["max-error"] == 199.0


def test_a_single_sample_has_errors_and_no_share_of_the_variance() -> None:
    scores = scored([1.0], [3.0])
    found = RULE.numbers(scores, MEASURES, None)
    assert set(found) == {"mse", "rmse", "mae", "max-error", "median-absolute-error"} and found["mse"] == 4.0
    assert RULE.reasons(scores, ["r2"]) == {"r2": "it needs at least two samples"}
    assert intervals(RULE, scores, found) == {}


def test_samples_with_other_numbers_of_values_have_no_numbers() -> None:
    scores = [*scored([1.0], [2.0]), *scored([[1.0, 2.0]], [[1.0, 2.0]])]
    assert RULE.numbers(scores, MEASURES, None) == {}
    assert "same number of values" in RULE.reasons(scores, MEASURES)["mse"]


def test_errors_beyond_all_floats_are_left_out() -> None:
    scores = scored([1e308, -1e308], [-1e308, 1e308])
    assert RULE.numbers(scores, MEASURES, None) == {}
    assert set(RULE.reasons(scores, MEASURES)) == set(MEASURES)


@pytest.mark.parametrize(
    ("target", "answer", "reason"),
    [
        (None, [1.0], "no values"),
        ({"values": "12"}, [1.0], "no values"),
        ({"values": [1.0, 2.0]}, [1.0], "1 values, its truth has 2"),
        ({"values": []}, [1.0], "has 0"),
        ({"values": [True]}, [1.0], "not a number"),
        ({"values": ["x" * 1000]}, [1.0], "not a number"),
        ({"values": [10**400]}, [1.0], "not a finite number"),
        ({"values": [float("nan")]}, [1.0], "not a finite number"),
        ({"values": [1.0]}, [float("nan")], "not-a-number"),
        ({"values": [1.0]}, [float("inf")], "not-a-number"),
        ({"values": [1.0]}, [], "empty"),
    ],
)
def test_what_cannot_be_compared_fails_its_sample_with_the_reason(
    target: Any, answer: list[float], reason: str
) -> None:
    with pytest.raises(ScoreError, match=reason) as error:
        RULE.score({"values": np.array(answer)}, {}, target, {})
    assert len(str(error.value)) < 200


def test_the_largest_error_has_no_interval() -> None:
    scores = scored(*drawn(1))
    found = RULE.numbers(scores, MEASURES, None)
    assert set(intervals(RULE, scores, found)) == set(MEASURES) - {"max-error"}


def test_intervals_hold_the_true_number_about_as_often_as_they_say() -> None:
    chance, held = np.random.default_rng(0), {"mae": 0, "r2": 0}
    true = {"mae": np.sqrt(2 / np.pi), "r2": 1 - 1 / 5}  # errors of deviation 1, truth of variance 5
    for _ in range(120):
        answer = chance.normal(0, 2, 80)
        scores = scored(answer + chance.normal(0, 1, 80), answer)
        found = intervals(RULE, scores, RULE.numbers(scores, list(held), None))
        for name in held:
            held[name] += found[name][1] <= true[name] <= found[name][2]
    assert all(0.9 <= each / 120 <= 0.99 for each in held.values()), held


def test_least_squares_on_the_diabetes_data_give_the_published_numbers() -> None:
    """scikit-learn's own example: one feature, fitted on all rows but the last 20, which are the test."""
    from sklearn.datasets import load_diabetes

    features, truth = load_diabetes(return_X_y=True)
    slope, start = np.polyfit(features[:-20, 2], truth[:-20], 1)
    found = RULE.numbers(scored(truth[-20:], slope * features[-20:, 2] + start), MEASURES, None)
    assert found["mse"] == pytest.approx(2548.07239872597, rel=1e-9)
    assert found["r2"] == pytest.approx(0.47257544798227147, rel=1e-9)
    assert found["rmse"] == pytest.approx(50.478434986892864, rel=1e-9)
    assert found["mae"] == pytest.approx(41.22709128976145, rel=1e-9)
