"""Correlations are those of scipy."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy import stats

from mlmodelscope.measure.interval import intervals
from mlmodelscope.measure.pack import unpack
from mlmodelscope.measure.rule import ScoreError
from mlmodelscope.measure.similarity import MEASURES, RULE

THEIRS = {"spearman": stats.spearmanr, "pearson": stats.pearsonr, "kendall": stats.kendalltau}


def scored(truth: Sequence[float], answer: Sequence[float], **options: Any) -> list[bytes]:
    return [
        RULE.score({"values": np.array([said])}, {}, {"values": [float(true)]}, options)
        for true, said in zip(truth, answer, strict=True)
    ]


def drawn(seed: int, samples: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """(truth, answers) with many equal values of both."""
    chance = np.random.default_rng(seed)
    truth = chance.integers(0, 6, samples).astype(float)
    return truth, np.round(truth / 5 + chance.normal(0, 0.3, samples), 1)


@pytest.mark.parametrize("samples", [2, 3, 7, 60, 257])
@pytest.mark.parametrize("seed", range(5))
def test_correlations_are_those_of_scipy(seed: int, samples: int) -> None:
    truth, answer = drawn(seed, samples)
    truth[0], truth[1], answer[0], answer[1] = 0, 5, 0.7, 0.1  # nothing is constant
    found = RULE.numbers(scored(truth, answer), MEASURES, None)
    assert found == pytest.approx({name: each(truth, answer)[0] for name, each in THEIRS.items()}, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_weights_count_samples_as_often_as_they_say(seed: int) -> None:
    truth, answer = drawn(seed)
    weights = np.random.default_rng(seed).integers(0, 4, len(truth))
    found = RULE.numbers(scored(truth, answer), MEASURES, weights.astype(float))
    again = np.repeat(truth, weights), np.repeat(answer, weights)
    assert found == pytest.approx({name: each(*again)[0] for name, each in THEIRS.items()}, abs=1e-12)


@pytest.mark.parametrize("factor", [1e300, 1e-300])
def test_very_large_and_very_small_numbers_are_correlated_like_others(factor: float) -> None:
    truth, answer = drawn(2)
    found = RULE.numbers(scored(truth, answer * factor), MEASURES, None)
    assert found == pytest.approx(RULE.numbers(scored(truth, answer), MEASURES, None), abs=1e-9)


@pytest.mark.parametrize(
    ("truth", "answer", "reason"),
    [
        ([1.0, 2.0], [3.0, 3.0], "all answers are equal"),
        ([1.0, 1.0], [3.0, 4.0], "all true values are equal"),
        ([1.0], [3.0], "two samples"),
    ],
)
def test_what_never_varies_is_not_correlated(truth: list[float], answer: list[float], reason: str) -> None:
    scores = scored(truth, answer)
    assert RULE.numbers(scores, MEASURES, None) == {} and reason in RULE.reasons(scores, MEASURES)["spearman"]


@pytest.mark.parametrize(("target", "answer"), [([1.0, 2.0], [1.0]), ([1.0], [1.0, 2.0]), ([], [1.0])])
def test_a_sample_has_one_value(target: list[float], answer: list[float]) -> None:
    with pytest.raises(ScoreError, match="each has one"):
        RULE.score({"values": np.array(answer)}, {}, {"values": target}, {})


def test_quality_is_near_where_cosine_and_scale_agree() -> None:
    found = [unpack(each)[1]["quality"] for each in scored([5.0, 0.0, 2.5, 9.0], [1.0, 1.0, 0.5, 7.0])]
    assert found == [1.0, 0.0, 1.0, 1.0]
    assert unpack(scored([1.0], [0.5], scale=[0.0, 2.0])[0])[1]["quality"] == 1.0


def test_intervals_hold_the_true_number_about_as_often_as_they_say() -> None:
    chance, held = np.random.default_rng(0), 0
    true = 6 / np.pi * np.arcsin(0.8 / 2)  # Spearman's of two normal variables whose Pearson correlation is 0.8
    for _ in range(120):
        one = chance.normal(size=100)
        scores = scored(one, 0.8 * one + 0.6 * chance.normal(size=100))
        found = intervals(RULE, scores, RULE.numbers(scores, ["spearman"], None))["spearman"]
        held += found[1] <= true <= found[2]
    assert 0.9 <= held / 120 <= 0.99, held
