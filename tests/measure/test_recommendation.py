"""Hits among the first k candidates, and what becomes of ties."""

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from mlmodelscope.measure.interval import intervals
from mlmodelscope.measure.recommendation import MEASURES, RULE
from mlmodelscope.measure.rule import ScoreError


def scored(values: Any, relevant: Any, **options: Any) -> bytes:
    return RULE.score({"values": np.asarray(values, float)}, {}, {"relevant": relevant}, options)


@pytest.mark.parametrize("k", [1, 3, 10, 100])
@pytest.mark.parametrize("seed", range(5))
def test_ndcg_is_that_of_scikit_learn_where_nothing_is_tied(seed: int, k: int) -> None:
    chance = np.random.default_rng(seed)
    values = [chance.permutation(40) / 40 for _ in range(20)]
    gains = [np.where(chance.random(40) < 0.1, chance.integers(1, 4, 40), 0) for _ in range(20)]
    for each in gains:
        each[0] = 1
    relevant = [{str(at): int(gain) for at, gain in enumerate(each) if gain} for each in gains]
    found = RULE.numbers([scored(*each, k=k) for each in zip(values, relevant, strict=True)], MEASURES, None)
    assert found["hit-ndcg"] == pytest.approx(ndcg_score(gains, values, k=k), abs=1e-12)
    hits = [any(own[np.argsort(-each)[:k]]) for own, each in zip(gains, values, strict=True)]
    assert found["hit-rate"] == np.mean(hits)


def test_one_relevant_candidate_gives_the_numbers_of_leave_one_out() -> None:
    """As papers on collaborative filtering have them: log 2 / log(rank + 1), the rank from 1 on."""
    found = RULE.numbers([scored([0.9, 0.8, 0.7, 0.6], {"2": 1})], MEASURES, None)
    assert found == pytest.approx({"hit-rate": 1.0, "hit-ndcg": np.log(2) / np.log(4)}, abs=1e-12)


@pytest.mark.parametrize(("ties", "hits"), [("against", [0, 0, 0]), ("in favor", [1, 1, 1]), ("order", [1, 1, 0])])
def test_ties_are_broken_by_the_rule(ties: str, hits: list[int]) -> None:
    scores = [scored([0.5] * 4, {str(at): 1}, k=2, ties=ties) for at in range(3)]
    assert [RULE.numbers([each], ["hit-rate"], None)["hit-rate"] for each in scores] == hits


def test_weights_count_samples_as_often_as_they_say() -> None:
    chance = np.random.default_rng(0)
    scores = [scored(chance.random(30), {str(at): 1 + at % 2}) for at in range(20)]
    weights = chance.integers(0, 3, 20).astype(float)
    repeated = [score for score, weight in zip(scores, weights, strict=True) for _ in range(int(weight))]
    assert RULE.numbers(scores, MEASURES, weights) == pytest.approx(RULE.numbers(repeated, MEASURES, None), abs=1e-12)
    assert RULE.numbers(scores, MEASURES, np.zeros(20)) == {}
    found = intervals(RULE, scores, RULE.numbers(scores, MEASURES, None))
    assert all(low < value < high for value, low, high, _ in found.values())


@pytest.mark.parametrize(
    ("values", "relevant", "reason"),
    [
        ([1.0, 2.0], {"2": 1}, "the candidate '2' is relevant, and the model scored 2"),
        ([1.0, 2.0], {"-1": 1}, "the candidate '-1'"),
        ([1.0, 2.0], {"x" * 999: 1}, "the candidate"),
        ([1.0, 2.0], {"9" * 5000: 1}, "the candidate"),
        ([1.0, 2.0], {"²": 1}, "the candidate"),
        ([1.0, 2.0], {"0": None}, "a gain is"),
        ([1.0, 2.0], {"0": 0, "1": -3}, "no candidate is relevant"),
        ([1.0, 2.0], {}, "no candidate is relevant"),
        ([1.0, 2.0], [0], "does not name"),
        ([np.nan, 1.0], {"0": 1}, "not-a-number"),
        ([], {"0": 1}, "empty"),
    ],
)
def test_what_cannot_be_ranked_fails_its_sample(values: list[float], relevant: Any, reason: str) -> None:
    with pytest.raises(ScoreError, match=reason) as error:
        scored(values, relevant)
    assert len(str(error.value)) < 200


def test_very_large_gains_are_numbers() -> None:
    assert RULE.numbers([scored([2.0, 1.0, 0.0], {"1": 1e308, "2": 1e308})], ["hit-ndcg"], None)["hit-ndcg"] < 1
