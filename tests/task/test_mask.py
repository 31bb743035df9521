"""Masks and class maps without numpy, beside what numpy and COCO's own code say of them."""

from base64 import b64decode
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mlmodelscope.task.levels import Levels
from mlmodelscope.task.mask import contour, map_png, mask_png, plane_of
from mlmodelscope.task.png import read_levels, value_range, write_palette, write_png
from mlmodelscope.task.shape import CLEAR, MaskShape, PointsShape, class_map, class_names, read_shapes
from mlmodelscope.task.task import task_named

mask_library = pytest.importorskip("faster_coco_eval.core.mask")


def shown(png: bytes) -> Any:
    return np.asarray(Image.open(BytesIO(png)).convert("RGBA"))


@pytest.mark.parametrize("seed", range(5))
def test_run_lengths_are_those_of_coco(seed: int) -> None:
    chance = np.random.default_rng(seed)
    plane = np.asfortranarray((chance.random((13, 9)) < chance.random()).astype(np.uint8))
    counts = mask_library.encode(plane)["counts"]
    assert plane_of(counts, 13, 9) == plane.tobytes("C")
    assert plane_of(counts.decode("ascii"), 13, 9) == plane.tobytes("C")


def test_polygons_cover_what_they_surround() -> None:
    plane = np.frombuffer(plane_of([[2, 1, 6, 1, 6, 4, 2, 4], [0, 0, 1, 0, 1, 1, 0, 1]], 6, 8), np.uint8).reshape(6, 8)
    assert plane.sum() == 12 + 1 and plane[1:4, 2:6].all() and plane[0, 0]
    beyond = np.frombuffer(plane_of([[-9, -9, 99, -9, 99, 99, -9, 99]], 6, 8), np.uint8)
    assert beyond.all()


@pytest.mark.parametrize("counts", ["", "1", "~~~", "0o0", "P" * 40, "é".encode().decode("latin-1")])
def test_damaged_masks_are_refused(counts: str) -> None:
    with pytest.raises(ValueError):
        plane_of(counts, 6, 8)


@pytest.mark.parametrize("size", [(1 << 20, 1 << 20), (-4, -4), (0, 5)])
def test_masks_of_impossible_sizes_are_refused(size: tuple[int, int]) -> None:
    with pytest.raises(ValueError):
        plane_of("0", *size)


def test_a_contour_lies_on_both_sides_of_a_line_and_does_not_wrap() -> None:
    plane = np.zeros((5, 6), np.uint8)
    plane[:, 3:] = 200
    edge = np.frombuffer(contour(plane.tobytes(), 6, 5).to_bytes(30, "little"), np.uint8).reshape(5, 6)
    assert (edge[:, 2:4] == 1).all() and edge.sum() == 10


def test_truth_is_lines_and_answers_are_tints() -> None:
    plane = np.zeros((40, 40), np.uint8)
    plane[10:30, 10:30] = 1
    filled, lined = (shown(map_png(plane.tobytes(), 40, 40, {1: "#17bebb"}, is_filled=each)) for each in (True, False))
    assert tuple(filled[20, 20]) == (0x17, 0xBE, 0xBB, 150) and filled[0, 0, 3] == 0
    assert lined[20, 20, 3] == 0 and lined[10, 20, 3] == 255 and lined[0, 0, 3] == 0
    thing = shown(mask_png(plane.tobytes(), 40, 40, "#17bebb", is_filled=True))
    assert thing[20, 20, 3] == 110 and thing[10, 20, 3] == 255 and thing[9, 20, 3] == 0


def test_a_map_has_names_and_shares_and_the_background_is_clear() -> None:
    names = ("__background__", "cat")
    shape = class_map(Levels(bytes([0, 0, 1, 255]), 2, 2), lambda number: names[number], void=(255,))
    assert shape.legend == (("__background__", CLEAR), ("cat", "#17bebb")) and shape.shares == (0.5, 0.25)
    assert shape.name == "cat" and shown(b64decode(shape.png))[0, 0, 3] == 0
    brief = class_names(Levels(bytes([0, 0, 1, 255]), 2, 2), lambda number: names[number], void=(255,))
    assert brief.png == "" and brief.shares == shape.shares


def test_the_range_of_a_picture_is_known_where_a_worker_wrote_it() -> None:
    assert value_range(write_png(bytes([3, 9, 200, 7, 7, 7]), 2, 1, 3)) == (3, 200)
    assert value_range(b"") is None and value_range(write_palette(b"\1", 1, 1, {})) is None
    assert read_levels(write_palette(b"\1\2", 2, 1, {})) == Levels(b"\1\2", 2, 1)


def test_a_row_that_is_damaged_shows_its_boxes() -> None:
    row = {
        "target": '{"boxes": [[0, 0, 2, 2]], "classes": [0], "masks": ["zzz"], "size": [4, 4]}',
        "boxes": [0.0, 0.0, 2.0, 2.0],
        "classes": [1],
        "scores": [0.5],
        "runs": b"damaged",
        "lengths": [7],
        "size": [4, 4],
    }
    assert [each.kind for each in task_named("instance_segmentation").shapes(row, None, str)] == ["box", "box"]


def test_points_that_are_not_annotated_are_left_out_with_their_lines() -> None:
    target = {"boxes": [[0, 0, 9, 9]], "classes": [0], "keypoints": [[1, 1, 2, 5, 5, 0, 8, 8, 1]]}
    declared = {**target, "skeleton": [[0, [[0, 1], [0, 2]]]]}
    (shape,) = task_named("keypoint_detection").shapes({}, declared, str)
    assert isinstance(shape, PointsShape) and shape.points == ((1, 1), (8, 8)) and shape.lines == ((0, 1),)
    (plain,) = task_named("keypoint_detection").shapes({}, target, str)
    assert isinstance(plain, PointsShape) and plain.lines == ()


def test_shapes_come_back_from_json_as_they_were() -> None:
    known = {"kind": "mask", "side": "answer", "png": "AA", "legend": [["cat", "#123456"]], "box": [1, 2, 3, 4]}
    (shape,) = read_shapes([{**known, "of_a_newer_release": 1}, {"kind": "hologram"}])
    assert shape == MaskShape("answer", "AA", (("cat", "#123456"),), box=(1, 2, 3, 4))
