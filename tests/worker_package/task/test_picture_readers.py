"""Maps and pictures as they travel."""

import io
import zlib
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mlmodelscope_worker.pipeline.frame import Frame
from mlmodelscope_worker.png import write_png
from mlmodelscope_worker.task import reader_of


class Prepared:
    def __init__(self, frame: Frame) -> None:
        self.frame = frame


def read(task: str, role: str, tensor: np.ndarray, frame: Frame, offset: int = 0) -> Any:
    outputs = [{"role": role, "steps": []}]
    return reader_of(task, outputs, {"steps": [], "label_offset": offset})([tensor[None]], [Prepared(frame)])


def pixels(buffer: np.ndarray) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(buffer.tobytes())))


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_a_png_is_what_pillow_reads(kind: type) -> None:
    plane = np.random.default_rng(0).integers(0, np.iinfo(kind).max, (7, 5)).astype(kind)
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(write_png(plane)))), plane)
    if kind is np.uint8:
        colors = np.random.default_rng(0).integers(0, 255, (7, 5, 3), np.uint8)
        assert np.array_equal(np.asarray(Image.open(io.BytesIO(write_png(colors)))), colors)


def test_a_map_of_another_size_comes_back_in_that_of_the_original() -> None:
    found = read("semantic_segmentation", "masks", np.array([[1, 2], [3, 4]]), Frame((4, 4)).scaled(2, 2))
    (told,) = found.content["answers"]
    assert told["fields"] == {"size": [4, 4], "none": 255, "covered": [0, 0, 4, 4]}
    assert pixels(found.buffers[0])[0].tolist() == [1, 1, 2, 2]


def test_classes_below_the_offset_are_none() -> None:
    found = read("semantic_segmentation", "masks", np.array([[0, 1], [2, 0]]), Frame((2, 2)), offset=1)
    assert pixels(found.buffers[0]).tolist() == [[255, 0], [1, 255]]


def test_many_classes_need_two_bytes() -> None:
    found = read("semantic_segmentation", "masks", np.array([[0, 300], [-1, 255]]), Frame((2, 2)))
    assert found.content["answers"][0]["fields"]["none"] == 65535
    assert pixels(found.buffers[0]).tolist() == [[0, 300], [65535, 255]]


def test_scores_without_argmax_fail_the_sample_with_a_hint() -> None:
    found = read("semantic_segmentation", "logits", np.zeros((3, 2, 2), np.float32), Frame((2, 2)))
    assert "argmax_map" in found.failed[0] and not found.buffers


def test_a_picture_travels_as_bytes_where_nothing_is_lost_and_as_floats_elsewhere() -> None:
    whole = read("image_enhancement", "image", np.full((3, 4, 6), 7, np.float32), Frame((4, 6)))
    assert whole.content["answers"][0]["fields"]["form"] == "png" and (pixels(whole.buffers[0]) == 7).all()
    part = read("image_enhancement", "image", np.full((1, 4, 6), 7.25, np.float32), Frame((4, 6)))
    assert part.content["answers"][0]["fields"]["form"] == "float32"
    assert (np.frombuffer(zlib.decompress(part.buffers[0].tobytes()), "<f4") == 7.25).all()


def test_a_picture_says_where_in_the_original_it_lies() -> None:
    frame = Frame((9, 14)).cut(0, 0, 8, 12).scaled(2, 3)
    found = read("image_enhancement", "image", np.zeros((3, 8, 12), np.float32), frame)
    fields = found.content["answers"][0]["fields"]
    assert fields["place"] == [0, 0, 8, 12] and fields["original"] == [9, 14] and fields["size"] == [8, 12, 3]


def test_a_picture_with_not_a_number_fails() -> None:
    found = read("image_enhancement", "image", np.full((3, 4, 6), np.nan, np.float32), Frame((4, 6)))
    assert "not-a-number" in found.failed[0]
