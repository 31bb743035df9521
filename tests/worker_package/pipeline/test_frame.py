"""Frames map places of a model's input back to the picture, exactly, whatever was done to it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlmodelscope_worker.pipeline import STEPS, Pipeline
from mlmodelscope_worker.pipeline.frame import Frame, place
from mlmodelscope_worker.pipeline.image import Image

sizes = st.tuples(st.integers(2, 400), st.integers(2, 400))


def moved(frame: Frame, data: st.DataObject) -> Frame:
    """One more step, drawn at random."""
    height, width = frame.size
    kind = data.draw(st.sampled_from(["cut", "scale", "pad", "transpose"]))
    if kind == "cut":
        top, left = data.draw(st.integers(0, height - 1)), data.draw(st.integers(0, width - 1))
        return frame.cut(top, left, data.draw(st.integers(1, height - top)), data.draw(st.integers(1, width - left)))
    if kind == "scale":
        return frame.scaled(*data.draw(sizes))
    if kind == "pad":
        top, left = data.draw(st.integers(0, 50)), data.draw(st.integers(0, 50))
        return frame.padded(top, left, height + top + 7, width + left + 3)
    return frame.transposed()


@given(sizes, st.integers(0, 6), st.data())
def test_there_and_back_is_where_one_was(size: tuple[int, int], steps: int, data: st.DataObject) -> None:
    frame = Frame(size)
    for _ in range(steps):
        frame = moved(frame, data)
    x, y = data.draw(st.floats(0, frame.size[1])), data.draw(st.floats(0, frame.size[0]))
    there = place(frame.to_original, x, y)
    assert place(frame.from_original, *there) == (pytest.approx(x, abs=1e-6), pytest.approx(y, abs=1e-6))
    assert frame.original == size


def test_thirds_are_exact() -> None:
    frame = Frame((300, 300))
    for _ in range(20):
        frame = frame.scaled(100, 100).scaled(300, 300)
    assert frame.to_original == (1.0, 0.0, 0.0, 0.0, 1.0, 0.0)


def test_every_step_that_moves_pixels_moves_the_frame_with_them() -> None:
    """A single bright pixel is followed through crop, resize, pad and transpose."""
    pixels = np.zeros((60, 90, 3), np.uint8)
    pixels[24:28, 40:44] = 255
    written = [
        ("crop", {"dimensions": [40, 60], "method": "center"}),
        ("resize", {"dimensions": [80, 120], "method": "nearest"}),
        ("pad", {"dimensions": [100, 140], "method": "top_left"}),
        ("transpose", None),
        ("layout", "CHW"),
    ]
    steps = [{"name": name, "parameters": STEPS[name].resolve(given)} for name, given in written]
    found = Pipeline(steps)(Image(pixels))
    rows, columns = np.nonzero(found.array[0] > 128)
    corners = (columns.min(), rows.min()), (columns.max() + 1, rows.max() + 1)
    places = sorted(place(found.frame.to_original, *corner) for corner in corners)
    assert places == [(40.0, 24.0), (44.0, 28.0)]
    assert found.frame.original == (60, 90) and found.frame.size == (140, 100)


def test_what_is_covered_ends_with_the_picture() -> None:
    frame = Frame((50, 80)).padded(10, 10, 100, 100)
    assert frame.covered == (0, 0, 50, 80)
    assert Frame((50, 80)).cut(5, 6, 20, 30).scaled(200, 300).covered == (5, 6, 25, 36)
