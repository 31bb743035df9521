"""Forecasts are measured by the formulas that the M4 competition published."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from mlmodelscope.measure.forecasting import MEASURES, RULE
from mlmodelscope.measure.pack import unpack
from mlmodelscope.measure.regression import RULE as ERRORS
from mlmodelscope.measure.rule import ScoreError


def scored(target: Mapping[str, Any], answer: Sequence[float], **options: Any) -> bytes:
    return RULE.score({"values": np.asarray(answer, float)}, {}, target, options)


def drawn(seed: int, series: int = 12) -> tuple[list[dict[str, Any]], list[np.ndarray]]:
    """Series of other lengths and other seasons."""
    chance = np.random.default_rng(seed)
    targets, answers = [], []
    for at in range(series):
        history, values = np.round(chance.normal(20, 5, 30 + at), 1), np.round(chance.normal(20, 5, 4 + at % 3), 1)
        targets.append({"values": values.tolist(), "history": history.tolist(), "season": 1 + at % 4})
        answers.append(np.round(values + chance.normal(0, 3, len(values)), 1))
    return targets, answers


@pytest.mark.parametrize("seed", range(4))
def test_every_number_is_that_of_its_formula(seed: int) -> None:
    targets, answers = drawn(seed)
    found = RULE.numbers([scored(*each) for each in zip(targets, answers, strict=True)], MEASURES, None)
    smape, mase, mape = [], [], []
    for target, answer in zip(targets, answers, strict=True):
        truth, history, season = np.array(target["values"]), target["history"], target["season"]
        smape.append(np.mean([2 * abs(y - f) / (abs(y) + abs(f)) for y, f in zip(truth, answer, strict=True)]))
        naive = [abs(history[at] - history[at - season]) for at in range(season, len(history))]
        mase.append(np.mean(np.abs(truth - answer)) / (sum(naive) / len(naive)))
        mape.append(metrics.mean_absolute_percentage_error(truth, answer))
    truth, answer = np.concatenate([each["values"] for each in targets]), np.concatenate(answers)
    expected = {"smape": np.mean(smape), "mase": np.mean(mase), "mape": np.mean(mape)}
    expected["rmse"] = metrics.root_mean_squared_error(truth, answer)
    expected |= {"mae": metrics.mean_absolute_error(truth, answer), "mse": metrics.mean_squared_error(truth, answer)}
    assert found == pytest.approx(expected, abs=1e-12)


def test_weights_count_series_as_often_as_they_say() -> None:
    scores = [scored(*each) for each in zip(*drawn(1), strict=True)]
    weights = np.random.default_rng(3).integers(0, 3, len(scores)).astype(float)
    repeated = [score for score, weight in zip(scores, weights, strict=True) for _ in range(int(weight))]
    assert RULE.numbers(scores, MEASURES, weights) == pytest.approx(RULE.numbers(repeated, MEASURES, None), abs=1e-12)
    assert RULE.numbers(scores, MEASURES, np.zeros(len(scores))) == {}


def test_the_rule_of_regression_reads_rows_of_forecasts() -> None:
    """`rmse` is a measure of both tasks: there is one number of a set of rows, whoever computes it."""
    scores = [scored(*each) for each in zip(*drawn(2), strict=True)]
    assert ERRORS.numbers(scores, ["rmse"], None) == RULE.numbers(scores, ["rmse"], None)


def test_smape_reaches_200_percent_and_is_0_where_both_are_0() -> None:
    assert RULE.numbers([scored({"values": [1.0, -2.0]}, [-1.0, 5.0])], ["smape"], None) == {"smape": 2.0}
    assert RULE.numbers([scored({"values": [0.0, 0.0]}, [0.0, 0.0])], ["smape"], None) == {"smape": 0.0}


def test_the_option_season_overrides_that_of_the_truth() -> None:
    target = {"values": [10.0], "history": [1.0, 5.0, 2.0, 6.0], "season": 1}
    assert unpack(scored(target, [12.0]))[1]["shown"]["mase"] == pytest.approx(2 / (11 / 3))
    assert unpack(scored(target, [12.0], season=2))[1]["shown"]["mase"] == 2.0


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({}, "mase"),
        ({"history": [1.0], "season": 1}, "mase"),
        ({"history": [3.0, 3.0, 3.0]}, "mase"),
        ({"history": [1.0, 2.0], "values": [0.0]}, "mape"),
    ],
)
def test_a_number_that_one_series_does_not_have_is_left_out_with_the_reason(more: dict[str, Any], name: str) -> None:
    whole = {"values": [1.0], "history": [1.0, 2.0, 4.0]}
    scores = [scored(whole, [2.0]), scored({"values": [1.0], **more}, [2.0])]
    assert set(RULE.numbers(scores, MEASURES, None)) == set(MEASURES) - {name}
    assert RULE.reasons(scores, [name])[name].startswith("some ")


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ({"values": [1.0], "season": 0}, "season"),
        ({"values": [1.0], "season": "x" * 999}, "season"),
        ({"values": [1.0], "history": [math.nan]}, "history is not a finite number"),
        ({"values": [1.0], "history": "12"}, "no history"),
        ({"history": [1.0]}, "no values"),
    ],
)
def test_truth_that_is_none_fails_its_sample(target: dict[str, Any], reason: str) -> None:
    with pytest.raises(ScoreError, match=reason) as error:
        scored(target, [1.0])
    assert len(str(error.value)) < 200


def test_numbers_beyond_all_floats_are_left_out() -> None:
    scores = [scored({"values": [1e308], "history": [1e308, -1e308]}, [-1e308])]
    assert set(RULE.numbers(scores, MEASURES, None)) <= {"smape", "mape"} and len(RULE.reasons(scores, MEASURES)) == 6
