"""Numbers of several labels are those of scikit-learn."""

import numpy as np
import pytest

from mlmodelscope.measure.multilabel import MEASURES, RULE
from mlmodelscope.measure.rule import ScoreError


def drawn(seed: int, samples: int = 60, classes: int = 7) -> tuple[np.ndarray, np.ndarray, list[bytes]]:
    """(truth, probabilities, scores); many probabilities are equal."""
    chance = np.random.default_rng(seed)
    truth = chance.random((samples, classes)) < 0.3
    truth[:, 0] = False  # a class that never occurs
    probable = np.round(np.clip(truth * 0.3 + chance.random((samples, classes)) * 0.7, 0, 1), 2).astype(np.float32)
    scores = [
        RULE.score({"scores": row}, {}, {"classes": np.flatnonzero(own).tolist()}, {})
        for row, own in zip(probable, truth, strict=True)
    ]
    return truth, probable, scores


@pytest.mark.parametrize("seed", range(6))
def test_random_labels_give_the_numbers_of_scikit_learn(seed: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    truth, probable, scores = drawn(seed)
    answered = probable > 0.5
    found = RULE.numbers(scores, MEASURES, None)
    each = [metrics.average_precision_score(truth[:, kind], probable[:, kind]) for kind in range(1, truth.shape[1])]
    assert found["label-ap"] == pytest.approx(np.mean(each), abs=1e-12)
    for name in ("micro", "macro"):
        expected = metrics.f1_score(truth, answered, average=name, zero_division=0)
        assert found[f"label-f1-{name}"] == pytest.approx(expected, abs=1e-12)
    assert found["hamming-loss"] == pytest.approx(metrics.hamming_loss(truth, answered), abs=1e-12)
    assert found["label-exact-match"] == pytest.approx(metrics.accuracy_score(truth, answered), abs=1e-12)


def test_weights_count_samples_as_often_as_they_say() -> None:
    _, _, scores = drawn(3, samples=20)
    weights = np.random.default_rng(1).integers(0, 3, 20).astype(float)
    repeated = [score for score, weight in zip(scores, weights, strict=True) for _ in range(int(weight))]
    assert RULE.numbers(scores, MEASURES, weights) == pytest.approx(RULE.numbers(repeated, MEASURES, None), abs=1e-12)


def test_a_class_that_the_model_does_not_answer_about_fails_the_sample() -> None:
    with pytest.raises(ScoreError, match="class 9"):
        RULE.score({"scores": np.zeros(5, np.float32)}, {}, {"classes": [1, 9]}, {})


def test_a_class_of_which_there_is_nothing_has_no_average_precision() -> None:
    _, _, scores = drawn(0)
    assert RULE.details(scores)["per_class"][0]["ap"] is None
