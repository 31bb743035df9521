"""Pictures of any shape, brought to one size without bending them."""

import numpy as np
import pytest

from mlmodelscope_worker.pipeline import STEPS, Pipeline
from mlmodelscope_worker.pipeline.image import Image


def run(height: int, width: int, *steps: tuple[str, object]) -> np.ndarray:
    pixels = np.arange(height * width * 3, dtype=np.uint32).reshape(height, width, 3) % 251
    specs = [{"name": name, "parameters": STEPS[name].resolve(value)} for name, value in steps]
    return Pipeline(specs)(Image(pixels.astype(np.uint8))).array  # type: ignore[no-any-return]


@pytest.mark.parametrize(("mode", "size"), [("cover", (30, 60)), ("contain", (20, 40))], ids=["covers", "stays within"])
def test_fit_keeps_the_aspect_ratio(mode: str, size: tuple[int, int]) -> None:
    assert run(10, 20, ("fit", {"dimensions": [30, 40], "mode": mode})).shape[:2] == size


def test_fit_never_makes_a_side_of_nothing() -> None:
    assert run(1, 500, ("fit", {"dimensions": [10, 10], "mode": "contain"})).shape[:2] == (1, 10)


def test_crop_or_pad_cuts_one_side_while_the_other_gets_a_border() -> None:
    made = run(4, 9, ("crop_or_pad", {"dimensions": [7, 5], "value": [1, 2, 3]}))
    whole = run(4, 9)
    assert made.shape[:2] == (7, 5)
    assert (made[0] == [1, 2, 3]).all() and (made[5:] == [1, 2, 3]).all()
    assert np.array_equal(made[1:5], whole[:, 2:7])


def test_a_picture_of_that_size_stays_as_it_is() -> None:
    assert np.array_equal(run(6, 5, ("crop_or_pad", [6, 5])), run(6, 5))
