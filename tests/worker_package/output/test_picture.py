"""A model's output becomes a picture."""

from typing import Any

import numpy as np
import pytest

from mlmodelscope_worker.output import ANSWER_STEPS
from mlmodelscope_worker.output.boxes import Refused
from mlmodelscope_worker.pipeline.frame import Frame

FRAME = Frame((2, 3))


def step(name: str, values: dict[str, Any], parameters: Any = None) -> np.ndarray:
    declared = ANSWER_STEPS[name]
    return np.asarray(declared.function(values, FRAME, **declared.resolve(parameters))["picture"])


def test_picture_knows_axes_and_colors() -> None:
    made = np.arange(18, dtype=np.float32).reshape(2, 3, 3)
    assert np.array_equal(step("picture", {"image": made}, "HWC"), made)
    assert np.array_equal(step("picture", {"image": made.transpose(2, 0, 1)}, "CHW"), made)
    assert np.array_equal(step("picture", {"tensor": made}, {"layout": "HWC", "color": "BGR"}), made[:, :, ::-1])


def test_picture_refuses_what_has_other_channels() -> None:
    with pytest.raises(Refused, match="this has 7: is the layout another"):
        step("picture", {"image": np.zeros((7, 4, 3))}, "CHW")
    with pytest.raises(Refused, match="one output of type image or tensor is needed; there is logits"):
        step("picture", {"logits": np.zeros((3, 4, 3))})


def test_multiply_and_clip_picture_bring_values_to_bytes() -> None:
    values = np.array([[[-0.1, 0.5, 1.2]]], np.float32)
    grown = step("multiply", {"image": values}, 255)
    assert np.allclose(grown[:, :, 0], [[-25.5, 127.5, 306.0]])
    assert step("clip_picture", {"picture": grown}).ravel().tolist() == [0, 127.5, 255]


def test_round_picture_takes_halves_as_told() -> None:
    values = {"picture": np.array([[[0.5], [1.5]]], np.float32)}
    assert step("round_picture", values).ravel().tolist() == [0, 2]
    assert step("round_picture", values, "up").ravel().tolist() == [1, 2]
