"""Axes and channels: layout, color, transpose."""

import numpy as np
import pytest

from mlmodelscope_worker.pipeline import STEPS, Pipeline
from mlmodelscope_worker.pipeline.header import ImageError
from mlmodelscope_worker.pipeline.image import Image
from worker_package.pictures import run, scene


@pytest.mark.parametrize("name", ["CHW", "NCHW"])
def test_layout_brings_channels_to_the_front_and_back(name: str) -> None:
    planes = run("layout", Image(scene()), name)
    assert planes.layout == "CHW" and np.array_equal(planes.array, scene().transpose(2, 0, 1))
    assert np.array_equal(run("layout", planes, "NHWC").array, scene())


def test_a_layout_that_is_there_already_costs_nothing() -> None:
    image = Image(scene())
    assert run("layout", image, "NHWC") is image


@pytest.mark.parametrize("layout", ["HWC", "CHW"])
def test_color_turns_the_channels_around_and_back(layout: str) -> None:
    image = run("layout", Image(scene()), layout)
    turned = run("color", image, "BGR")
    assert turned.color == "BGR" and np.array_equal(turned.pixels, scene()[:, :, ::-1])
    assert np.array_equal(run("color", turned, "RGB").pixels, scene())
    assert run("color", turned, "bgr") is turned


def test_grey_has_no_color_order() -> None:
    with pytest.raises(ImageError, match="a grey image has no colour order"):
        run("color", Image(scene()[:, :, :1], color="GRAY"), "RGB")


@pytest.mark.parametrize("layout", ["HWC", "CHW"])
def test_transpose_swaps_height_and_width(layout: str) -> None:
    swapped = run("transpose", run("layout", Image(scene()), layout))
    assert swapped.layout == layout and np.array_equal(swapped.pixels, scene().transpose(1, 0, 2))


def test_a_pipeline_runs_its_steps_in_the_order_written() -> None:
    def pipeline(*names: tuple[str, object]) -> Pipeline:
        return Pipeline([{"name": name, "parameters": STEPS[name].resolve(value)} for name, value in names])

    first = pipeline(("mean", 100), ("rescale", 2))(Image(scene())).array
    second = pipeline(("rescale", 2), ("mean", 100))(Image(scene())).array
    assert np.array_equal(first, (scene().astype(np.float32) - 100) / 2)
    assert not np.array_equal(first, second)


@pytest.mark.parametrize(("name", "shape"), [("NCHW", (3, 48, 64)), ("HWC", (48, 64, 3))])
def test_reinterpret_moves_no_value(name: str, shape: tuple[int, ...]) -> None:
    pixels = np.arange(48 * 64 * 3, dtype=np.uint8).reshape(48, 64, 3)
    taken = run("reinterpret", Image(pixels), name)
    assert taken.layout == name[-3:] and taken.array.shape == shape
    assert np.array_equal(taken.array.reshape(-1), pixels.reshape(-1))
    assert taken.size == (48, 64)
