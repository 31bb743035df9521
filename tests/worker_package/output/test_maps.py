"""Scores and maps of classes, brought back to the original picture."""

from typing import Any

import numpy as np
import pytest

from mlmodelscope_worker.output import ANSWER_STEPS
from mlmodelscope_worker.output.boxes import Refused
from mlmodelscope_worker.parameters import ParameterError
from mlmodelscope_worker.pipeline.frame import Frame


def step(name: str, values: dict[str, Any], frame: Frame, parameters: Any = None) -> dict[str, Any]:
    declared = ANSWER_STEPS[name]
    found: dict[str, Any] = declared.function(values, frame, **declared.resolve(parameters))
    return found


FRAME = Frame((2, 3))


def test_argmax_map_takes_the_lowest_of_equal_scores() -> None:
    scores = np.zeros((3, 2, 3), np.float32)
    scores[2, 0, 0], scores[1:, 1, 1] = 1, 2
    assert step("argmax_map", {"logits": scores}, FRAME)["map"].tolist() == [[2, 0, 0], [0, 1, 0]]
    channels_last = step("argmax_map", {"tensor": scores.transpose(1, 2, 0)}, FRAME, {"layout": "HWC"})
    assert channels_last["map"].tolist() == [[2, 0, 0], [0, 1, 0]]


def test_argmax_map_can_leave_a_class_out() -> None:
    scores = np.zeros((3, 2, 3), np.float32)
    scores[0], scores[2] = 5, 1
    assert (step("argmax_map", {"logits": scores}, FRAME, {"leave_out": 0})["map"] == 2).all()


def test_argmax_map_refuses_not_a_number_and_other_shapes() -> None:
    with pytest.raises(Refused, match="not-a-number"):
        step("argmax_map", {"logits": np.full((2, 2, 3), np.nan)}, FRAME)
    with pytest.raises(Refused, match="3 axes, these have 4"):
        step("argmax_map", {"logits": np.zeros((2, 2, 2, 3))}, FRAME)
    with pytest.raises(Refused, match="`threshold_map` makes two classes"):
        step("argmax_map", {"logits": np.zeros((1, 2, 3))}, FRAME)


@pytest.mark.parametrize("shape", [(2, 3), (1, 2, 3), (2, 3, 1)])
def test_argmax_map_leaves_a_map_alone(shape: tuple[int, ...]) -> None:
    chosen = np.arange(6, dtype=np.int64).reshape(shape)
    assert step("argmax_map", {"masks": chosen}, FRAME)["map"].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_threshold_map_makes_two_classes() -> None:
    scores = np.array([[[0.2, 0.5, 0.7], [0.9, 0.0, 0.6]]], np.float32)
    assert step("threshold_map", {"tensor": scores}, FRAME)["map"].tolist() == [[0, 0, 1], [1, 0, 1]]


def test_cut_padding_keeps_what_the_picture_covers() -> None:
    frame = Frame((10, 20)).scaled(4, 8).padded(2, 0, 8, 8)
    made = step("cut_padding", {"masks": np.arange(64).reshape(8, 8)}, frame)
    assert np.array_equal(made["map"], np.arange(64).reshape(8, 8)[2:6])
    assert made["placed"].covered == (0, 0, 10, 20)


def test_resize_back_of_a_map_is_nearest_in_the_originals_size() -> None:
    frame = Frame((4, 8)).scaled(2, 4)
    made = step("resize_back", {"masks": np.arange(8).reshape(2, 4)}, frame)
    assert np.array_equal(made["map"], np.arange(8).reshape(2, 4).repeat(2, axis=0).repeat(2, axis=1))


def test_resize_back_of_scores_mixes_them_before_the_class_is_chosen() -> None:
    frame = Frame((1, 8)).scaled(1, 2)
    scores = np.zeros((2, 1, 2), np.float32)
    scores[0, 0], scores[1, 0] = [3, 0], [0, 1]
    before = step("argmax_map", step("resize_back", {"logits": scores}, frame, "bilinear"), frame)["map"]
    after = step("resize_back", step("argmax_map", {"logits": scores}, frame), frame)["map"]
    assert before.tolist() == [[0, 0, 0, 0, 0, 1, 1, 1]] and after.tolist() == [[0, 0, 0, 0, 1, 1, 1, 1]]


def test_resize_back_marks_what_a_crop_left_unseen() -> None:
    frame = Frame((4, 6)).cut(0, 1, 4, 4)
    made = step("resize_back", {"masks": np.ones((4, 4), np.int64)}, frame)
    assert made["map"][:, 0].tolist() == [-1] * 4 and made["map"][:, 5].tolist() == [-1] * 4
    assert made["covered"] == (0, 1, 4, 5)


@pytest.mark.parametrize("size", [(342, 427), (385, 480), (256, 513), (17, 31), (90, 45)])
def test_resize_back_in_pillows_arithmetic_is_pillows(size: tuple[int, int]) -> None:
    from PIL import Image

    small, large = size
    plane = np.random.default_rng(0).integers(0, 21, (small, small), np.uint8)
    made = step("resize_back", {"masks": plane}, Frame((large, large)).scaled(small, small), {"alignment": "pillow"})
    assert np.array_equal(
        made["map"], np.asarray(Image.fromarray(plane).resize((large, large), Image.Resampling.NEAREST))
    )


def test_resize_back_with_aligned_corners_keeps_the_corners() -> None:
    scores = np.arange(9, dtype=np.float32).reshape(1, 3, 3)
    made = step(
        "resize_back",
        {"tensor": np.concatenate([scores, -scores])},
        Frame((9, 9)).scaled(3, 3),
        {"method": "bilinear", "alignment": "align_corners"},
    )["scores"]
    assert made[0, 0, 0] == 0 and made[0, 8, 8] == 8 and made[0, 4, 4] == 4


def test_resize_back_does_not_mix_classes() -> None:
    with pytest.raises(Refused, match="cannot be mixed"):
        step("resize_back", {"map": np.zeros((2, 3), int)}, FRAME, "bilinear")
    with pytest.raises(ParameterError, match="does not go with"):
        ANSWER_STEPS["resize_back"].resolve({"method": "nearest", "alignment": "align_corners"})


def test_map_classes_gives_the_datasets_numbers_and_none_to_what_it_does_not_list() -> None:
    made = step("map_classes", {"masks": np.array([[0, 1, 2], [7, 1, 0]])}, FRAME, [3, -1, 5])
    assert made["map"].tolist() == [[3, -1, 5], [-1, -1, 3]]
