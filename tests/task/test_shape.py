"""What there is to see of a sample, and how good its answer is."""

import base64
import io
import json

from mlmodelscope.measure.detection import RULE
from mlmodelscope.task.detection import box_shapes
from mlmodelscope.task.levels import Levels
from mlmodelscope.task.quality import quality_of
from mlmodelscope.task.shape import (
    BoxShape,
    TextShape,
    class_map,
    colors_of,
    is_shown,
    named_by,
    read_shapes,
    summary,
)

NAMED = named_by(["cat", "dog"])
TARGET = {"boxes": [[0, 0, 10, 10], [20, 20, 30, 30]], "classes": [0, 1], "crowd": [False, True]}


def row(**more: object) -> dict[str, object]:
    return {
        "target": json.dumps(TARGET),
        "boxes": [0, 0, 9, 9, 5, 5, 9, 9],
        "classes": [0, 7],
        "scores": [0.2, 0.9],
    } | more


def test_boxes_of_the_truth_come_first_then_the_best_answers() -> None:
    shapes = box_shapes(row(), None, NAMED)
    assert [(each.side, each.name, each.score) for each in shapes] == [
        ("truth", "cat", None),
        ("truth", "dog", None),
        ("answer", "class 7", 0.9),
        ("answer", "cat", 0.2),
    ]
    assert shapes[1].remark == "crowd" and (shapes[3].right, shapes[3].bottom) == (9, 9)


def test_a_row_without_truth_or_without_an_answer_shows_the_other() -> None:
    assert {each.side for each in box_shapes(row(target=None), None, NAMED)} == {"answer"}
    assert {each.side for each in box_shapes(row(boxes=None), None, NAMED)} == {"truth"}
    assert len(box_shapes(row(target=None), {"boxes": [[0, 0, 1, 1]], "classes": [1]}, NAMED)) == 3


def test_unsure_answers_are_left_out_of_the_summary() -> None:
    shapes = [*box_shapes(row(), None, NAMED), TextShape("answer", "hello")]
    assert summary(shapes, "truth") == "cat, dog"
    assert summary(shapes, "answer") == "class 7, hello"
    assert summary([BoxShape("answer", 0, 0, 1, 1, "cat", 0.5)] * 3, "answer") == "3 cat"
    assert is_shown(BoxShape("truth", 0, 0, 1, 1, "cat")) and not is_shown(BoxShape("answer", 0, 0, 1, 1, "cat", 0.1))


def test_names_have_colors_in_their_order() -> None:
    colors = colors_of(box_shapes(row(), None, NAMED))
    assert list(colors) == ["cat", "dog", "class 7"] and len(set(colors.values())) == 3


def test_shapes_of_a_newer_release_are_left_out() -> None:
    plain = {"kind": "text", "side": "answer", "text": "hello"}
    assert read_shapes([plain, {"kind": "hologram"}]) == (TextShape("answer", "hello"),)


def test_a_class_map_is_a_picture_that_is_transparent_where_nothing_is() -> None:
    from PIL import Image

    shape = class_map(Levels(bytes([0, 1, 1, 255]), 2, 2), NAMED, void=(0, 255))
    assert [name for name, _ in shape.legend] == ["dog"] and shape.name == "dog"
    with Image.open(io.BytesIO(base64.b64decode(shape.png))) as opened:
        content = opened.convert("RGBA").tobytes()
    pixels = [content[at : at + 4] for at in range(0, 16, 4)]
    assert [each[3] > 0 for each in pixels] == [False, True, True, False]
    assert "#{:02x}{:02x}{:02x}".format(*pixels[1][:3]) == shape.legend[0][1]


def quality(
    boxes: list[list[float]], scores: list[float], target: dict[str, object], **options: object
) -> float | None:
    import numpy as np

    arrays = {
        "boxes": np.array(boxes, float).reshape(-1, 4),
        "scores": np.array(scores, float),
        "classes": np.zeros(len(scores), int),
    }
    return quality_of(RULE.score(arrays, {}, target, options))


def test_the_quality_of_a_picture_falls_with_mistakes_and_misses() -> None:
    one = {"boxes": [[0, 0, 10, 10]], "classes": [0]}
    assert quality([[0, 0, 10, 10]], [1.0], one) == 1
    assert quality([], [], one) == 0
    assert quality([], [], {"boxes": [], "classes": []}) == 1
    mistaken, unsure = quality([[0, 0, 10, 10], [50, 50, 60, 60]], [1, 0.8], one), quality([[0, 0, 10, 7]], [1], one)
    assert mistaken is not None and 0 < mistaken < 1 and unsure == 0.5  # found at five overlaps of ten


def test_a_sample_without_a_score_has_no_quality() -> None:
    assert quality_of(None) is None and quality_of(b"\x07\x00\x00\x00[[],{}]") is None
