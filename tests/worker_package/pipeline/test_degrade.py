"""How a model's input is made of the picture that it is to give back."""

import numpy as np
import pytest

from mlmodelscope_worker.parameters import ParameterError
from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.pipeline.header import ImageError
from mlmodelscope_worker.pipeline.image import Image
from worker_package.pictures import run, scene


def test_crop_multiple_cuts_the_bottom_and_the_right() -> None:
    made = run("crop_multiple", Image(scene(47, 61)), 4)
    assert np.array_equal(made.pixels, scene(47, 61)[:44, :60])
    assert made.frame.covered == (0, 0, 44, 60)


def test_crop_multiple_leaves_a_picture_that_fits_and_refuses_one_that_is_too_small() -> None:
    assert run("crop_multiple", Image(scene(8, 12)), 4).size == (8, 12)
    with pytest.raises(ImageError, match="no multiple of 50"):
        run("crop_multiple", Image(scene(47, 61)), 50)


def bicubic(x: np.ndarray, size: int) -> np.ndarray:
    """The reference of the super-resolution protocol, axis 0 of a 2-D array."""
    n, scale = x.shape[0], size / x.shape[0]
    shrink = min(scale, 1.0)
    center = (np.arange(size) + 0.5) / scale - 0.5
    taps = int(np.ceil(4 / shrink)) + 2
    index = np.floor(center - 2 / shrink).astype(int)[:, None] + np.arange(taps)
    t = np.abs(center[:, None] - index) * shrink
    w = np.where(t <= 1, 1.5 * t**3 - 2.5 * t**2 + 1, np.where(t <= 2, -0.5 * t**3 + 2.5 * t**2 - 4 * t + 2, 0))
    w /= w.sum(axis=1, keepdims=True)
    index %= 2 * n
    index = np.where(index < n, index, 2 * n - 1 - index)
    made: np.ndarray = (w[:, :, None] * x[index]).sum(axis=1)
    return made


@pytest.mark.parametrize("factor", [0.25, 1 / 3, 0.5, 2, 3, 4])
def test_scale_is_matlabs_bicubic(factor: float) -> None:
    plane = np.random.default_rng(0).uniform(0, 255, (24, 36)).astype(np.float32)
    made = run("scale", Image(plane[:, :, None], color="GRAY"), factor)
    size = round(24 * factor), round(36 * factor)
    expected = bicubic(bicubic(plane.astype(np.float64), size[0]).T, size[1]).T
    assert made.size == size and made.array.dtype == np.float32
    assert np.allclose(made.pixels[:, :, 0], expected, atol=1e-4)


def test_scale_keeps_a_constant_picture_and_rounds_bytes_once() -> None:
    flat = np.full((12, 12, 3), 77, np.uint8)
    assert (run("scale", Image(flat), 0.5).array == 77).all()
    assert run("scale", Image(scene(12, 12)), 0.5).array.dtype == np.uint8


def test_scale_tells_the_frame_how_far_it_went() -> None:
    shrunk = run("scale", Image(scene(48, 60)), 0.25)
    assert shrunk.frame.size == (12, 15) and shrunk.frame.covered == (0, 0, 48, 60)


@pytest.mark.parametrize("library", ["pillow", "numpy"])
def test_scale_takes_other_libraries(library: str) -> None:
    method = {"pillow": "bicubic", "numpy": "bilinear_half_pixel"}[library]
    assert run("scale", Image(scene(48, 60)), {"factor": 0.5, "library": library, "method": method}).size == (24, 30)


def test_scale_refuses_a_method_that_the_library_lacks() -> None:
    with pytest.raises(ParameterError, match="matlab cannot resize by `area`"):
        STEPS["scale"].resolve({"factor": 2, "method": "area"})
    with pytest.raises(ParameterError, match="pillow always antialiases"):
        STEPS["scale"].resolve({"factor": 2, "library": "pillow", "antialias": False})


def test_scale_without_antialiasing_takes_single_pixels() -> None:
    ramp = np.arange(16, dtype=np.float32).reshape(1, 16, 1).repeat(4, axis=0)
    plain, smooth = (run("scale", Image(ramp, color="GRAY"), {"factor": 0.25, "antialias": on}) for on in (False, True))
    assert not np.allclose(plain.array, smooth.array)


@pytest.mark.parametrize(("range", "white", "black"), [("studio", 235.0, 16.0), ("full", 255.0, 0.0)])
def test_luma_of_white_and_black_are_the_ends_of_its_range(range: str, white: float, black: float) -> None:
    for level, expected in ((255, white), (0, black)):
        made = run("luma", Image(np.full((2, 3, 3), level, np.uint8)), range)
        assert made.array.shape == (2, 3, 1) and made.color == "GRAY"
        assert np.allclose(made.array, expected, atol=1e-4)


def test_luma_knows_the_order_of_channels_and_axes() -> None:
    rgb = run("luma", Image(scene()), "studio").pixels
    assert np.array_equal(run("luma", Image(scene()[:, :, ::-1], color="BGR"), "studio").pixels, rgb)
    assert np.array_equal(run("luma", Image(scene().transpose(2, 0, 1), layout="CHW"), "studio").pixels, rgb)


def test_round_takes_halves_up_or_to_the_even_number() -> None:
    values = np.array([[[0.5], [1.5], [2.5], [-0.5]]], np.float32)
    assert run("round", Image(values), "up").array.ravel().tolist() == [1, 2, 3, 0]
    assert run("round", Image(values), "even").array.ravel().tolist() == [0, 2, 2, 0]
    assert run("round", Image(scene()), None).array.dtype == np.uint8


def test_clip_brings_values_between_its_bounds() -> None:
    values = np.array([[[-3.0], [7.0], [300.0]]], np.float32)
    assert run("clip", Image(values), None).array.ravel().tolist() == [0, 7, 255]
    assert run("clip", Image(values), {"low": 1, "high": 5}).array.ravel().tolist() == [1, 5, 5]


def test_noise_is_the_same_every_time_and_another_by_its_seed() -> None:
    first, again, other = (run("noise", Image(scene()), {"sigma": 25, "seed": seed}).array for seed in (1, 1, 2))
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    assert 24 < (first - scene()).std() < 26
