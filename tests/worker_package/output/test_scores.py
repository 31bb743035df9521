"""Output steps: softmax, sigmoid, dequantize, only_classes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mlmodelscope_worker.output import OUTPUT_STEPS

logits = hnp.arrays(
    np.float32, st.tuples(st.integers(1, 9), st.integers(1, 100)), elements=st.floats(-80, 80, width=32)
)


def step(name: str, scores: np.ndarray, **parameters: object) -> np.ndarray:
    return np.asarray(OUTPUT_STEPS[name].function(scores, **OUTPUT_STEPS[name].resolve(parameters)))


@given(logits)
def test_softmax_gives_probabilities_in_the_same_order(scores: np.ndarray) -> None:
    probabilities = step("softmax", scores)
    assert np.allclose(probabilities.sum(axis=1), 1, atol=1e-5) and (probabilities >= 0).all()
    best = scores.argmax(axis=1)
    assert (probabilities[np.arange(len(scores)), best] == probabilities.max(axis=1)).all()


@given(logits)
def test_softmax_of_a_sample_does_not_depend_on_its_batch(scores: np.ndarray) -> None:
    together = step("softmax", scores)
    for row in range(len(scores)):
        assert np.array_equal(together[row], step("softmax", scores[row : row + 1].copy())[0])


def test_softmax_survives_large_logits() -> None:
    assert step("softmax", np.array([[1e30, -1e30]], np.float32)).tolist() == [[1.0, 0.0]]
    assert step("softmax", np.array([[60000, 0]], np.float16)).dtype == np.float32


def test_softmax_of_infinity_is_not_a_number() -> None:
    assert np.isnan(step("softmax", np.array([[np.inf, 0]], np.float32))).all()


def test_sigmoid_judges_each_class_alone() -> None:
    assert step("sigmoid", np.array([[0, 1e4, -1e4]], np.float32)).tolist() == [[0.5, 1.0, 0.0]]


def test_dequantize_undoes_the_quantisation() -> None:
    quantized = np.array([[0, 128, 255]], np.uint8)
    assert np.allclose(step("dequantize", quantized, scale=0.5, zero_point=128), [[-64, 0, 63.5]])
    assert step("dequantize", quantized.astype(np.int8), scale=1).dtype == np.float32


@pytest.mark.parametrize("name", OUTPUT_STEPS)
def test_no_output_step_changes_what_the_framework_owns(name: str) -> None:
    scores = np.array([[1, 2, 3]], np.float32)
    scores.flags.writeable = False
    parameters: dict[str, Any] = {"dequantize": {"scale": 2.0}, "only_classes": {"classes": [1]}}.get(name, {})
    assert step(name, scores, **parameters).shape == (1, 3)


def test_only_classes_lets_no_other_win() -> None:
    scores = np.array([[9, 1, 5, 3], [0, 8, 2, 4]], np.float32)
    found = step("only_classes", scores, classes=[1, 3])
    assert found.argmax(axis=1).tolist() == [3, 1] and np.isneginf(found[:, [0, 2]]).all()
    assert np.allclose(step("softmax", found).sum(axis=1), 1) and scores[0, 0] == 9


@pytest.mark.parametrize("classes", [[4], [-1, 2]])
def test_only_classes_refuses_classes_that_the_model_does_not_have(classes: list[int]) -> None:
    with pytest.raises(ValueError, match="there are 4 outputs"):
        step("only_classes", np.zeros((1, 4), np.float32), classes=classes)
