"""Answer steps of detectors do what they say, and refuse what they cannot do."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlmodelscope_worker.output import ANSWER_STEPS
from mlmodelscope_worker.output.boxes import COCO_IDS, Refused, overlaps
from mlmodelscope_worker.parameters import ParameterError
from mlmodelscope_worker.pipeline.frame import Frame

FRAME = Frame((480, 640)).scaled(240, 320)


def run(name: str, values: dict[str, Any], given: Any = None, frame: Frame = FRAME) -> dict[str, Any]:
    step = ANSWER_STEPS[name]
    return step.function(values, frame, **step.resolve(given))


@pytest.mark.parametrize(
    ("given", "numbers"),
    [
        ({"order": "xyxy"}, [10, 20, 50, 80]),
        ({"order": "yxyx"}, [20, 10, 80, 50]),
        ({"order": "xywh"}, [10, 20, 40, 60]),
        ({"order": "cxcywh"}, [30, 50, 40, 60]),
        ({"unit": "share"}, [10 / 320, 20 / 240, 50 / 320, 80 / 240]),
        ({"of": "original"}, [20, 40, 100, 160]),
        ({"of": "original", "unit": "share"}, [20 / 640, 40 / 480, 100 / 640, 160 / 480]),
        ({"plus_one": True}, [10, 20, 49, 79]),
    ],
)
def test_boxes_come_into_one_form(given: dict[str, Any], numbers: list[float]) -> None:
    found = run("boxes", {"boxes": np.array([numbers])}, given)["boxes"]
    assert found[0] == pytest.approx([10, 20, 50, 80])


def test_the_best_class_of_each_box_is_chosen_and_the_background_never() -> None:
    scores = np.array([[0.9, 0.05, 0.05], [0.1, 0.2, 0.7]])
    boxes = np.zeros((2, 4))
    found = run("best_class", {"boxes": boxes, "scores": scores})
    assert found["classes"].tolist() == [0, 2] and found["scores"].tolist() == [0.9, 0.7]
    without = run("best_class", {"boxes": boxes, "scores": scores}, {"background": 0})
    assert without["classes"].tolist() == [1, 2]
    several = run("best_class", {"boxes": boxes, "scores": scores}, {"several": 0.15})
    assert several["classes"].tolist() == [0, 1, 2] and len(several["boxes"]) == 3


def test_first_of_keeps_as_many_as_the_model_says() -> None:
    values = {"boxes": np.arange(12.0).reshape(3, 4), "scores": np.arange(3.0), "count": np.array([2.0])}
    found = run("first_of", values)
    assert len(found["boxes"]) == len(found["scores"]) == 2 and "count" not in found


def test_threshold_and_limit_drop_what_is_worst() -> None:
    values = {"boxes": np.zeros((4, 4)), "scores": np.array([0.1, 0.9, 0.5, 0.3]), "classes": np.arange(4)}
    assert run("threshold", values, 0.3)["classes"].tolist() == [1, 2]
    assert run("threshold", values, {"score": 0.3, "inclusive": True})["classes"].tolist() == [1, 2, 3]
    assert run("limit", values, 2)["classes"].tolist() == [1, 2]


def greedy(boxes: np.ndarray, scores: np.ndarray, classes: np.ndarray, iou: float, among_all: bool) -> set[int]:
    """The plainest suppression there is."""
    kept: list[int] = []
    for at in np.argsort(-scores, kind="mergesort"):
        rivals = [other for other in kept if among_all or classes[other] == classes[at]]
        if all(overlaps(boxes[other], boxes[at : at + 1])[0] <= iou for other in rivals):
            kept.append(int(at))
    return set(kept)


@given(st.integers(0, 10_000), st.sampled_from([0.3, 0.5, 0.7]), st.booleans())
def test_suppression_is_that_of_the_plainest_loop(seed: int, iou: float, among_all: bool) -> None:
    chance = np.random.default_rng(seed)
    corners = chance.uniform(0, 60, (25, 2))
    boxes = np.concatenate([corners, corners + chance.uniform(1, 40, (25, 2))], axis=1)
    scores, classes = np.round(chance.random(25), 1), chance.integers(0, 3, 25)
    values = {"boxes": boxes, "scores": scores, "classes": classes, "place": np.arange(25)}
    found = run("nms", values, {"iou": iou, "among": "all" if among_all else "class"})
    assert set(found["place"].tolist()) == greedy(boxes, scores, classes, iou, among_all)
    assert found["scores"].tolist() == sorted(found["scores"], reverse=True)


def test_soft_suppression_lowers_scores_and_drops_nothing_that_is_far() -> None:
    boxes = np.array([[0, 0, 10, 10], [1, 0, 11, 10], [50, 50, 60, 60]], float)
    values = {"boxes": boxes, "scores": np.array([0.9, 0.8, 0.7]), "classes": np.zeros(3, int)}
    for kind in ("linear", "gaussian"):
        found = run("nms", values, {"iou": 0.5, "soft": kind})
        assert len(found["scores"]) == 3 and sorted(found["scores"])[0] < 0.4 and found["scores"][1] == 0.7


def test_the_ids_of_coco_are_eighty_and_others_are_dropped() -> None:
    assert len(COCO_IDS) == 80
    values = {"boxes": np.zeros((4, 4)), "scores": np.ones(4), "classes": np.array([1.0, 90.0, 12.0, 13.0])}
    found = run("class_ids", values, "coco91")
    assert found["classes"].tolist() == [0, 79, 11]


def test_boxes_end_where_the_picture_ends() -> None:
    found = run("clip_boxes", {"boxes": np.array([[-5.0, 10, 400, 300]])})["boxes"]
    assert found[0] == pytest.approx([0, 10, 320, 240])


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("boxes", {}, "no output of type `boxes`; there is nothing"),
        ("boxes", {"boxes": np.zeros(7)}, "7 numbers are no boxes of four"),
        ("best_class", {"boxes": np.zeros((2, 4)), "scores": np.zeros(2)}, "the scores have 1 axes"),
        ("threshold", {"boxes": np.zeros((2, 4)), "scores": np.zeros(3)}, "2 boxes and 3 scores"),
        ("decode_grid", {"boxes": np.zeros((2, 4))}, "no output of type `tensor`; there is boxes"),
        ("decode_grid", {"tensor": np.zeros((2, 4))}, "a map has 2 axes"),
        ("decode_grid", {"tensor": np.zeros((5, 2, 2))}, "5 channels cannot be 1 anchors with a box and classes"),
        ("decode_distances", {"tensor": np.zeros((4, 2, 2))}, "4 channels cannot be 4 x 1 bins and classes"),
        ("decode_anchors", {"boxes": np.zeros((3, 4)), "anchors": np.zeros((2, 4))}, "3 boxes for 2 anchors"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(name: str, values: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused) as error:
        run(name, values, {"score": 0.5} if name == "threshold" else None)
    assert message in str(error.value)


def test_a_grid_is_decoded_as_yolo_does_it() -> None:
    """One cell of a 2 x 2 grid over 320 x 240 pixels, with an anchor of 100 x 50."""
    cells = np.zeros((2, 2, 7))
    cells[1, 0] = [0.0, 0.0, np.log(2), 0.0, 10.0, 10.0, -10.0]
    found = run("decode_grid", {"tensor": cells.transpose(2, 0, 1)}, {"anchors": [100, 50]})
    assert found["boxes"][2] == pytest.approx([80 - 100, 180 - 25, 80 + 100, 180 + 25])
    assert found["scores"].shape == (4, 2) and found["scores"][2] == pytest.approx([1, 0], abs=1e-3)
    square = run("decode_grid", {"tensor": cells.transpose(2, 0, 1)}, {"anchors": [100, 50], "size": "square"})
    assert square["boxes"][0] == pytest.approx([80 - 50, 60 - 25, 80 + 50, 60 + 25])  # (2 sigmoid(0))^2 is 1


def test_distances_are_decoded_from_the_middle_of_the_cell() -> None:
    cells = np.zeros((2, 2, 5))
    cells[0, 1] = [0.1, 0.2, 0.3, 0.4, 5.0]
    found = run("decode_distances", {"tensor": cells}, {"layout": "HWC"})
    assert found["boxes"][1] == pytest.approx([240 - 16, 60 - 24, 240 + 48, 60 + 48])
    binned = np.full((1, 1, 4 * 16 + 1), -50.0)
    binned[0, 0, [3, 16 + 5, 32 + 7, 48 + 9]] = 50  # each distance falls into one bin
    found = run("decode_distances", {"tensor": binned}, {"layout": "HWC", "bins": 16, "unit": "pixel"})
    assert found["boxes"][0] == pytest.approx([160 - 3, 120 - 5, 160 + 7, 120 + 9])


def test_anchors_of_an_ssd_are_moved_by_their_offsets() -> None:
    made = run("ssd_anchors", {"boxes": np.zeros((12, 4))}, {"maps": [2, 2], "scales": [0.5, 0.8], "ratios": [2.0]})
    assert made["anchors"].shape == (12, 4)
    assert made["anchors"][0] == pytest.approx([0, 0, 0.5, 0.5])
    offsets = np.zeros((12, 4))
    offsets[0] = [1, 0, np.log(2) / 0.2, 0]
    found = run("decode_anchors", {**made, "boxes": offsets})
    center = 0.25 + 0.1 * 0.5
    assert found["boxes"][0] == pytest.approx([(center - 0.5) * 320, 0, (center + 0.5) * 320, 120])


def test_offsets_may_be_factors_and_points_may_follow_a_box() -> None:
    """BlazeFace: anchors of the input's own size, offsets in pixels."""
    made = run("ssd_anchors", {"boxes": 0}, {"maps": [2, 2, 1, 1], "scales": [1, 1, 1], "first": [], "ratios": [1] * 4})
    assert made["anchors"].shape == (2 * 2 * 2 + 6, 4)
    rows = np.zeros((14, 8))
    rows[0] = [8, 6, 32, 24, 16, 12, -16, 0]  # center moves by (8, 6), a box of 32 x 24, two points
    shares = {"size": "factor", "points": True, "variances": [1 / 320, 1 / 240, 1 / 320, 1 / 240]}
    found = run("decode_anchors", {**made, "boxes": rows}, shares)
    assert found["boxes"][0] == pytest.approx([80 + 8 - 16, 60 + 6 - 12, 80 + 8 + 16, 60 + 6 + 12])
    assert found["keypoints"][0] == pytest.approx(np.array([[96, 72], [64, 60]]))
    turned = rows.reshape(14, 4, 2)[:, :, ::-1].reshape(14, 8)
    again = run("decode_anchors", {**made, "boxes": turned}, {**shares, "order": "cycxhw"})
    assert np.array_equal(found["boxes"], again["boxes"]) and np.array_equal(found["keypoints"], again["keypoints"])
    with pytest.raises(Refused, match="5 numbers are not a box and points"):
        run("decode_anchors", {**made, "boxes": np.zeros((14, 5))}, shares)


def test_boxes_that_go_move_the_one_that_stays() -> None:
    values = {
        "boxes": np.array([[0, 0, 10, 10], [2, 0, 12, 10], [50, 50, 60, 60], [1, 0, 11, 10]], float),
        "keypoints": np.array([[[5, 5]], [[9, 5]], [[55, 55]], [[0, 0]]], float),
        "scores": np.array([0.6, 0.2, 0.9, 0.5]),
        "classes": np.array([0, 0, 0, 1]),
    }
    found = run("nms", values, {"iou": 0.3, "soft": "merge"})
    assert found["scores"].tolist() == [0.9, 0.6, 0.5]  # of another class, so it stays by itself
    assert found["boxes"].tolist() == [[50, 50, 60, 60], pytest.approx([0.5, 0, 10.5, 10]), [1, 0, 11, 10]]
    assert found["keypoints"].tolist() == [[[55, 55]], [pytest.approx([6, 5])], [[0, 0]]]
    none = {"boxes": np.zeros((0, 4)), "scores": np.zeros(0), "classes": np.zeros(0)}
    assert len(run("nms", none, {"iou": 0.3, "soft": "merge"})["boxes"]) == 0


def test_grid_anchors_have_their_sizes_around_each_cell() -> None:
    small = Frame((64, 96))
    found = run("grid_anchors", {}, {"strides": [32, 64], "sizes": [8, 16, 40], "counts": [2, 1]}, small)["anchors"]
    pixels = found * [96, 64, 96, 64]
    assert len(pixels) == 2 * 3 * 2 + 1 * 2 * 1  # 96 pixels are one cell and a half of 64
    assert pixels[0].tolist() == [12, 12, 20, 20] and pixels[1].tolist() == [8, 8, 24, 24]
    assert pixels[-1].tolist() == [76, 12, 116, 52]


def test_grid_anchors_keep_their_area_whatever_their_ratio() -> None:
    given = {"strides": [64], "sizes": [8, 16], "ratios": [1, 4], "order": "ratios", "offset": 0}
    found = run("grid_anchors", {}, given, Frame((64, 64)))["anchors"] * 64
    assert found.tolist() == [[-4, -4, 4, 4], [-8, -2, 8, 2], [-8, -8, 8, 8], [-16, -4, 16, 4]]
    clipped = run("grid_anchors", {}, {**given, "clip": True}, Frame((64, 64)))["anchors"] * 64
    assert clipped.min() == 0


@pytest.mark.parametrize(
    "given",
    [
        {"strides": [8, 16], "sizes": [4, 8, 16]},
        {"strides": [8, 16], "sizes": [4, 8, 16], "counts": [1, 1]},
        {"strides": [8, 16], "sizes": [4, 8, 16], "counts": [1.5, 1.5]},
        {"strides": [0], "sizes": [4]},
        {"strides": [8], "sizes": [-4]},
        {"strides": [8], "sizes": [4], "ratios": [0]},
    ],
)
def test_anchors_that_cannot_be_are_refused_in_the_manifest(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        ANSWER_STEPS["grid_anchors"].resolve(given)


def test_countless_anchors_are_refused() -> None:
    with pytest.raises(Refused, match="more than 1048576 anchors"):
        run("grid_anchors", {}, {"strides": [0.001], "sizes": [4]})
