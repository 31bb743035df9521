"""Which boxes are called by another name than the thing that they lie over."""

from typing import Any

import numpy as np

from mlmodelscope.measure.box_confusion import confused
from mlmodelscope.measure.coco_match import Picture
from mlmodelscope.measure.truth import Truth


def picture(
    answers: list[tuple[list[float], int, float]], truths: list[tuple[list[float], int]], **more: Any
) -> Picture:
    target = {"boxes": [box for box, _ in truths], "classes": [kind for _, kind in truths], **more}
    boxes, classes, scores = (np.array([each[at] for each in answers]) for at in range(3))
    return Picture({"boxes": boxes.reshape(-1, 4), "classes": classes, "scores": scores}, Truth.of(target, {}))


BOX, OTHER = [0.0, 0.0, 10.0, 10.0], [50.0, 50.0, 60.0, 60.0]


def test_a_box_over_a_thing_of_another_class_is_counted() -> None:
    assert confused(picture([(BOX, 7, 0.9), (OTHER, 3, 0.8)], [(BOX, 1), (OTHER, 3)])) == [[1, 7, 1]]


def test_a_thing_that_was_found_by_its_own_name_is_not_confused() -> None:
    found = picture([(BOX, 1, 0.9), (BOX, 7, 0.8)], [(BOX, 1)])
    assert confused(found) == []


def test_unsure_boxes_distant_ones_and_crowds_do_not_count() -> None:
    assert confused(picture([(BOX, 7, 0.1), (OTHER, 7, 0.9)], [(BOX, 1)])) == []
    assert confused(picture([(BOX, 7, 0.9)], [(BOX, 1)], crowd=[True])) == []
    assert confused(picture([], [(BOX, 1)])) == []
