"""Where pixels go: crop, resize, pad."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlmodelscope_worker.parameters import ParameterError
from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.pipeline.header import ImageError
from mlmodelscope_worker.pipeline.image import Image
from worker_package.pictures import run, scene


def step(name: str, pixels: np.ndarray, parameters: object, layout: str = "HWC") -> np.ndarray:
    array = pixels if layout == "HWC" else pixels.transpose(2, 0, 1)
    return np.asarray(run(name, Image(array, layout=layout), parameters).pixels)


# Crop.


@pytest.mark.parametrize("layout", ["HWC", "CHW"])
def test_crop_keeps_the_centre_by_size(layout: str) -> None:
    assert np.array_equal(step("crop", scene(), {"dimensions": [11, 21]}, layout), scene()[18:29, 20:41])


def test_crop_keeps_the_top_left_corner_by_size() -> None:
    parameters = {"method": "top_left", "dimensions": [11, 21]}
    assert np.array_equal(step("crop", scene(), parameters), scene()[:11, :21])


def test_crop_by_percentage_of_each_side() -> None:
    assert np.array_equal(step("crop", scene(40, 80), {"percentage": 75}), scene(40, 80)[5:35, 10:70])
    assert step("crop", scene(40, 80), {"percentage": 75, "method": "top_left"}).shape == (30, 60, 3)
    assert step("crop", scene(2, 2), {"percentage": 1}).shape == (1, 1, 3)


def test_crop_by_percentage_of_the_shorter_side_is_square() -> None:
    assert np.array_equal(step("crop", scene(40, 80), {"percentage": 75, "square": True}), scene(40, 80)[5:35, 25:55])


@given(st.integers(1, 100), st.integers(1, 3000))
def test_a_whole_percentage_is_exact(percentage: int, hundreds: int) -> None:
    """0.29 * 100 is 28.999999999999996 to a computer, and 29 to everybody else."""
    image = Image(np.zeros((1, 100 * hundreds, 1), np.uint8))
    assert run("crop", image, {"percentage": percentage}).size == (1, percentage * hundreds)


@pytest.mark.parametrize(("offset", "left"), [("floor", 2), ("ceil", 3), ("round", 2)])
def test_half_a_pixel_of_crop_offset_is_rounded_as_told(offset: str, left: int) -> None:
    cropped = step("crop", scene(5, 10), {"dimensions": [5, 5], "offset": offset})
    assert np.array_equal(cropped, scene(5, 10)[:, left : left + 5])


def test_crop_refuses_more_than_there_is() -> None:
    with pytest.raises(ImageError, match=r"cannot crop 90 x 40 \(width x height\) out of 61 x 47"):
        step("crop", scene(), {"dimensions": [40, 90]})


@pytest.mark.parametrize("parameters", [None, {}, {"percentage": 50, "dimensions": 9}])
def test_crop_needs_a_percentage_or_a_size(parameters: object) -> None:
    with pytest.raises(ParameterError, match="exactly one of percentage, dimensions is needed"):
        STEPS["crop"].resolve(parameters)


def test_a_square_crop_goes_with_percentage() -> None:
    with pytest.raises(ParameterError, match="`square` goes with `percentage`"):
        STEPS["crop"].resolve({"dimensions": 9, "square": True})


# Resize: how large. How well is each library's affair, and tested there.


@pytest.mark.parametrize("layout", ["HWC", "CHW"])
def test_resize_to_a_size(layout: str) -> None:
    assert step("resize", scene(), {"dimensions": [20, 30]}, layout).shape == (20, 30, 3)
    assert STEPS["resize"].resolve([3, 299, 299])["dimensions"] == [299, 299]


def test_resize_by_the_shorter_or_the_longer_side() -> None:
    assert step("resize", scene(40, 80), {"short_side": 20}).shape == (20, 40, 3)
    assert step("resize", scene(80, 40), {"short_side": 20}).shape == (40, 20, 3)
    assert step("resize", scene(40, 80), {"max_dimension": 20}).shape == (10, 20, 3)


def test_resize_keeps_the_aspect_ratio_by_cutting_the_centre_out() -> None:
    kept = step("resize", scene(40, 80), {"dimensions": [20, 20], "keep_aspect_ratio": True, "library": "opencv"})
    scaled = step("resize", scene(40, 80), {"dimensions": [20, 40], "library": "opencv"})
    assert np.array_equal(kept, scaled[:, 10:30])


@pytest.mark.parametrize(("rounding", "width"), [("floor", 25), ("ceil", 26), ("round", 26)])
def test_the_side_that_follows_is_rounded_as_told(rounding: str, width: int) -> None:
    assert step("resize", scene(47, 61), {"short_side": 20, "rounding": rounding}).shape == (20, width, 3)


@given(st.integers(1, 500), st.integers(1, 500), st.integers(1, 500))
def test_the_side_that_was_asked_for_is_exact(height: int, width: int, side: int) -> None:
    image = Image(np.zeros((height, width, 1), np.uint8))
    for rounding in ("floor", "ceil", "round"):
        parameters = {"short_side": side, "rounding": rounding, "method": "nearest", "library": "opencv"}
        assert min(run("resize", image, parameters).size) == side


def test_resize_to_the_same_size_changes_nothing() -> None:
    image = Image(scene())
    assert run("resize", image, {"dimensions": [47, 61]}) is image


@pytest.mark.parametrize("name", ["resize", "pad"])
def test_enormous_results_are_refused(name: str) -> None:
    with pytest.raises(ImageError, match="65535 x 65535 pixels are more than the 268435456 allowed"):
        step(name, scene(), {"dimensions": 65535})


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "exactly one of dimensions, short_side, max_dimension is needed, saw none"),
        ({"dimensions": 9, "short_side": 9}, "saw dimensions and short_side"),
        ({"dimensions": 9, "method": "area"}, "pillow cannot resize by `area`"),
        ({"dimensions": 9, "antialias": False}, "pillow always antialiases when it resizes by `bilinear`"),
        ({"dimensions": 9, "library": "opencv", "antialias": True}, "opencv cannot antialias"),
        (
            {"dimensions": 9, "method": "nearest", "antialias": True},
            "pillow cannot antialias when it resizes by `nearest`",
        ),
    ],
)
def test_resize_refuses_what_does_not_go_together(parameters: dict, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        STEPS["resize"].resolve(parameters)


def test_resize_settles_what_was_left_open() -> None:
    resolved = STEPS["resize"].resolve({"short_side": 9})
    assert (resolved["antialias"], resolved["keep_aspect_ratio"]) == (True, True)
    assert STEPS["resize"].resolve({"dimensions": 9, "library": "tensorflow"})["antialias"] is False
    assert STEPS["resize"].resolve({"dimensions": 9, "library": "torchvision"})["antialias"] is True
    assert (
        STEPS["resize"].resolve({"dimensions": 9, "library": "torchvision", "method": "nearest"})["antialias"] is False
    )


# Pad.


@pytest.mark.parametrize("layout", ["HWC", "CHW"])
def test_pad_puts_the_image_into_the_middle(layout: str) -> None:
    padded = step("pad", scene(), {"dimensions": [50, 70], "value": 9}, layout)
    assert padded.shape == (50, 70, 3) and np.array_equal(padded[1:48, 4:65], scene())
    assert (padded[0] == 9).all() and (padded[:, 65:] == 9).all()


def test_pad_into_the_top_left_corner_with_a_colour() -> None:
    padded = step("pad", scene(), {"dimensions": [50, 70], "method": "top_left", "value": [1, 2, 3]})
    assert np.array_equal(padded[:47, :61], scene()) and padded[49, 69].tolist() == [1, 2, 3]


def test_pad_with_fractions_stays_exact() -> None:
    padded = step("pad", np.ones((2, 2, 3), np.float32), {"dimensions": 4, "value": -0.5})
    assert padded.dtype == np.float32 and padded[0, 0].tolist() == [-0.5] * 3


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"dimensions": [40, 90]}, r"cannot pad 61 x 47 \(width x height\) to 90 x 40"),
        ({"dimensions": 90, "value": [1, 2]}, "2 values for an image of 3 channels"),
        ({"dimensions": 90, "value": 300}, "a border of 300.0 does not fit into uint8"),
        ({"dimensions": 90, "value": [0, 0, -1]}, "does not fit into uint8"),
    ],
)
def test_pad_refuses_what_does_not_fit(parameters: dict, message: str) -> None:
    with pytest.raises(ImageError, match=message):
        step("pad", scene(), parameters)


# To multiples.


@pytest.mark.parametrize(
    ("height", "width", "parameters", "size"),
    [
        (40, 80, {"multiple": 32}, (32, 64)),  # 40 / 32 and 80 / 32 = 2.5, half to even
        (50, 100, {"multiple": 32}, (64, 96)),
        (30, 50, {"multiple": 32, "short_side": 60}, (64, 96)),
        (90, 70, {"multiple": 32, "short_side": 60}, (96, 64)),  # it is never shrunk for that
        (4, 4, {"multiple": 32}, (32, 32)),
    ],
)
def test_resize_to_multiple_brings_sides_to_the_nearest(
    height: int, width: int, parameters: dict[str, int], size: tuple[int, int]
) -> None:
    found = step("resize_to_multiple", scene(height, width), {**parameters, "library": "pillow"})
    assert found.shape[:2] == size
    assert np.array_equal(found, step("resize", scene(height, width), {"dimensions": list(size)}))


def test_multiples_are_resized_by_what_a_library_can() -> None:
    with pytest.raises(ParameterError, match="pillow cannot resize by `area`"):
        STEPS["resize_to_multiple"].resolve({"multiple": 32, "method": "area"})
