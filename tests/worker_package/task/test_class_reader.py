"""Scores become the best classes, the same for every batch size, and nothing is hidden."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mlmodelscope_worker.output.ranking import runs_of, tied_classes, top_classes
from mlmodelscope_worker.task import Read
from mlmodelscope_worker.task.classification import Classification


def classify(scores: Any, k: int = 5, steps: Any = (), **changes: Any) -> Read:
    array = np.asarray(scores, np.float32) if isinstance(scores, list) else scores
    answer = {"steps": [], "top_k": k, "label_offset": 0, "probabilities": False, **changes}
    return Classification([{"role": "logits", "steps": steps}], answer)([array], [None] * len(array))


def classes(*asked: Any, **more: Any) -> list:
    return classify(*asked, **more).buffers[0].tolist()


# Few different values, so that there are ties.
rows = hnp.arrays(np.float32, st.integers(1, 100), elements=st.integers(-5, 5).map(float), fill=st.just(0.0))


@given(rows, st.integers(1, 10))
def test_the_best_come_first_and_of_equals_the_lower_number(scores: np.ndarray, k: int) -> None:
    k = min(k, scores.size)
    expected = sorted(range(scores.size), key=lambda index: (-scores[index], index))[:k]
    assert top_classes(scores, k).tolist() == expected


@given(rows, st.integers(1, 10))
def test_ties_can_be_broken_the_other_way_round(scores: np.ndarray, k: int) -> None:
    k = min(k, scores.size)
    expected = sorted(range(scores.size), key=lambda index: (-scores[index], -index))[:k]
    assert top_classes(scores, k, highest_first=True).tolist() == expected


@given(rows, st.integers(1, 10))
def test_further_classes_with_the_last_score_are_named(scores: np.ndarray, k: int) -> None:
    kept = top_classes(scores, min(k, scores.size))
    ranked = sorted(range(scores.size), key=lambda index: (-scores[index], index))
    expected = [index for index in ranked[kept.size :] if scores[index] == scores[kept[-1]]]
    found = tied_classes(scores, kept)
    assert found.tolist() == expected
    if found.size:
        runs = runs_of(found)
        assert [number for first, last in runs for number in range(first, last + 1)] == expected


def test_ties_are_told_by_row_in_the_numbers_of_the_labels() -> None:
    scores = [[9, 3, 1, 1, 1, 0, 1], [9, 8, 7, 6, 5, 4, 3]]
    assert classify(scores, k=3).content["ties"] == {"0": [[3, 4], [6, 6]]}
    assert classify(scores, k=3, label_offset=1).content["ties"] == {"0": [[2, 3], [5, 5]]}
    assert classify(np.zeros((1, 1000), np.float32), k=5).content["ties"] == {"0": [[5, 999]]}


@pytest.mark.parametrize(("tie_breaking", "first"), [("lowest", 1), ("highest", 2)])
def test_the_plan_says_which_of_equals_comes_first(tie_breaking: str, first: int) -> None:
    assert classes([[0, 5, 5]], k=1, tie_breaking=tie_breaking) == [[first]]


def test_classes_and_scores_go_together() -> None:
    numbers, scores = classify([[0.1, 0.7, 0.2], [0.5, 0.2, 0.3]], k=2).buffers
    assert numbers.tolist() == [[1, 2], [0, 2]] and numbers.dtype == np.int32
    assert np.allclose(scores, [[0.7, 0.2], [0.5, 0.3]]) and scores.dtype == np.float32


def test_there_are_no_more_answers_than_classes() -> None:
    assert classify([[1, 2]], k=5).content["k"] == 2


def test_a_background_class_is_counted_away() -> None:
    assert classes([[0, 9, 5]], k=2, label_offset=1) == [[0, 1]]


def test_output_steps_run_first() -> None:
    softmax = [{"name": "softmax", "parameters": {}}]
    found = classify([[1, 1]], steps=softmax, probabilities=True)
    assert found.buffers[1].tolist() == [[0.5, 0.5]] and found.content["improbable"] == 0


def test_axes_of_size_one_do_not_matter() -> None:
    assert classes(np.arange(6, dtype=np.float32).reshape(2, 3, 1, 1), k=1) == [[2], [2]]


@pytest.mark.parametrize("dtype", ["float16", "float64", "uint8", "int8", "int64"])
def test_every_element_type_is_ranked(dtype: str) -> None:
    assert classes(np.array([[1, 100, 7]], dtype), k=3) == [[1, 2, 0]]


@pytest.mark.parametrize(
    ("scores", "improbable"), [([[0.5, 0.5]], 0), ([[5.0, 3.0]], 1), ([[1.5, -0.5]], 1), ([[0.51, 0.5], [2, 2]], 1)]
)
def test_scores_that_are_no_probabilities_are_counted(scores: list, improbable: int) -> None:
    assert classify(scores, probabilities=True).content["improbable"] == improbable


@pytest.mark.parametrize("outputs", [3, 65, 1000])
def test_one_score_that_is_no_number_spoils_its_sample_alone(outputs: int) -> None:
    """Sorted last by numpy, it would go unnoticed and another class would win."""
    scores = np.zeros((3, outputs), np.float32)
    scores[0, 1] = np.nan
    scores[1, 2] = 1
    found = classify(scores, k=1)
    assert found.failed == {0: "the model answered with not-a-number"}
    assert [each.tolist() for each in found.buffers] == [[[2], [0]], [[1.0], [0.0]]]
    assert found.content["ties"] == {"1": [[1, outputs - 1]]}  # by the row among those that did not fail


@pytest.mark.parametrize("shape", [(), (3,), (1, 4)])
def test_a_model_that_answers_for_others_is_refused(shape: tuple[int, ...]) -> None:
    answer = {"steps": [], "top_k": 5, "label_offset": 0, "probabilities": False}
    with pytest.raises(ValueError, match="rows for 2 samples"):
        Classification([{"role": "logits", "steps": []}], answer)([np.zeros(shape, np.float32)], [None, None])
