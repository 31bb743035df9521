"""PSNR and SSIM are those of scikit-image; what is compared is what the options say."""

import math
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlmodelscope.measure.enhancement import RULE, structural_similarity
from mlmodelscope.measure.interval import intervals
from mlmodelscope.measure.rule import ScoreError
from mlmodelscope_worker.png import write_png


def picture(folder: Path, pixels: np.ndarray, name: str = "true.png") -> dict[str, Any]:
    (folder / name).write_bytes(write_png(pixels))
    return {"picture": {"file": str(folder / name)}, "name": name}


def answer(pixels: np.ndarray, **fields: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    height, width = pixels.shape[:2]
    content = zlib.compress(np.ascontiguousarray(pixels, "<f4").tobytes())
    usual = {"place": [0, 0, height, width], "original": [height, width], "form": "float32", "size": pixels.shape}
    return {"picture": np.frombuffer(content, np.uint8)}, {**usual, **fields}


def scene(height: int = 40, width: int = 50, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def near(pixels: np.ndarray, sigma: float = 10) -> np.ndarray:
    return pixels + np.random.default_rng(1).normal(0, sigma, pixels.shape)


def numbers(*scores: bytes) -> dict[str, float]:
    return RULE.numbers(scores, ("psnr", "ssim"), None)


@pytest.mark.parametrize("channels", [1, 3])
def test_ssim_is_that_of_scikit_image(channels: int) -> None:
    metrics = pytest.importorskip("skimage.metrics", reason="scikit-image is not installed")
    first = scene()[:, :, :channels].astype(np.float64)
    second = near(first)
    expected = metrics.structural_similarity(
        first,
        second,
        data_range=255,
        gaussian_weights=True,
        sigma=1.5,
        use_sample_covariance=False,
        channel_axis=2,
    )
    assert structural_similarity(first, second, 255.0) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("channels", [1, 3])
def test_ssim_with_equal_pixels_is_what_scikit_image_does_by_default(channels: int) -> None:
    metrics = pytest.importorskip("skimage.metrics", reason="scikit-image is not installed")
    first = scene()[:, :, :channels].astype(np.float64)
    second = near(first)
    expected = metrics.structural_similarity(first, second, data_range=255, channel_axis=2)
    assert structural_similarity(first, second, 255.0, "uniform") == pytest.approx(expected, abs=1e-9)


def test_the_window_of_ssim_is_an_option(tmp_path: Path) -> None:
    true = scene()
    made, target = answer(near(true).astype(np.float32)), picture(tmp_path, true)
    usual, plain, equal = (
        numbers(RULE.score(*made, target, {"color": "rgb", **more}))
        for more in ({}, {"window": "gaussian"}, {"window": "uniform"})
    )
    assert usual == plain and equal["psnr"] == plain["psnr"] and equal["ssim"] != plain["ssim"]
    small = scene(9, 9)
    known = RULE.score(
        *answer(small + 1.0), picture(tmp_path, small, "small.png"), {"color": "rgb", "window": "uniform"}
    )
    assert "ssim" in numbers(known) and structural_similarity(small, small, 255.0) is None


def test_psnr_is_twenty_logarithms_of_the_range_over_the_error(tmp_path: Path) -> None:
    true = scene()
    made = near(true).astype(np.float32)
    score = RULE.score(*answer(made), picture(tmp_path, true), {"color": "rgb"})
    rmse = math.sqrt(np.mean((made.astype(float) - true) ** 2))
    assert numbers(score)["psnr"] == pytest.approx(20 * math.log10(255 / rmse))
    half = RULE.score(*answer(made), picture(tmp_path, true), {"color": "rgb", "data_range": 127.5})
    assert numbers(half)["psnr"] == pytest.approx(20 * math.log10(127.5 / rmse))


def test_luma_is_compared_in_its_range(tmp_path: Path) -> None:
    true = scene()
    shifted = true.astype(np.float32) + 10
    expected = {"luma": 10 * 219 / 255, "luma-full": 10.0, "rgb": 10.0}
    for color, error in expected.items():
        score = RULE.score(*answer(shifted), picture(tmp_path, true), {"color": color})
        assert numbers(score)["psnr"] == pytest.approx(20 * math.log10(255 / error), abs=1e-4)


def test_an_answer_of_one_channel_is_luma(tmp_path: Path) -> None:
    true = scene()
    luma = true @ (np.array([65.481, 128.553, 24.966]) / 255) + 16
    score = RULE.score(*answer(luma[:, :, None] + 2), picture(tmp_path, true), {"color": "luma"})
    assert numbers(score)["psnr"] == pytest.approx(20 * math.log10(255 / 2), abs=1e-4)
    with pytest.raises(ScoreError, match="one channel"):
        RULE.score(*answer(luma[:, :, None]), picture(tmp_path, true), {"color": "rgb"})


def test_the_border_is_cut_off_first(tmp_path: Path) -> None:
    true = scene()
    made = true.astype(np.float32)
    made[2:-2, 2:-2] += 5
    score = RULE.score(*answer(made), picture(tmp_path, true), {"color": "rgb", "border": 2})
    assert numbers(score)["psnr"] == pytest.approx(20 * math.log10(255 / 5))
    with pytest.raises(ScoreError, match="without a border of 20"):
        RULE.score(*answer(made), picture(tmp_path, true), {"border": 20})


def test_rounding_is_of_the_answer_or_of_what_is_compared(tmp_path: Path) -> None:
    true = scene()
    made = true + np.float32(0.4)
    equal = RULE.score(*answer(made), picture(tmp_path, true), {"color": "rgb", "rounding": "answer"})
    assert "psnr" not in numbers(equal) and numbers(equal)["ssim"] == pytest.approx(1)
    exact, luma = (
        RULE.score(*answer(near(true)), picture(tmp_path, true), {"rounding": each}) for each in ("answer", "compared")
    )
    assert numbers(exact) != numbers(luma)


def test_an_answer_lies_where_its_frame_says(tmp_path: Path) -> None:
    true = scene()
    part = true[4:24, 6:36].astype(np.float32) + 3
    score = RULE.score(
        *answer(part, place=[4, 6, 24, 36], original=[40, 50]), picture(tmp_path, true), {"color": "rgb"}
    )
    assert numbers(score)["psnr"] == pytest.approx(20 * math.log10(255 / 3))
    wide = np.pad(true.astype(np.float32) + 3, ((2, 4), (1, 5), (0, 0)), constant_values=99)
    padded = answer(wide, place=[-2, -1, 44, 55], original=[40, 50])
    assert numbers(RULE.score(*padded, picture(tmp_path, true), {"color": "rgb"}))["psnr"] == pytest.approx(
        20 * math.log10(255 / 3)
    )


def test_a_true_picture_may_be_larger_than_the_sample(tmp_path: Path) -> None:
    true = scene()
    made = answer(true.astype(np.float32) + 3, place=[0, 0, 10, 12.5], original=[10, 12.5])
    assert numbers(RULE.score(*made, picture(tmp_path, true), {"color": "rgb"}))["psnr"] == pytest.approx(
        20 * math.log10(255 / 3)
    )


def test_damaged_truth_is_told(tmp_path: Path) -> None:
    with pytest.raises(ScoreError, match="its answer is 50 x 40 pixels, the part of the true picture .* is 25 x 20"):
        RULE.score(*answer(scene()), picture(tmp_path, scene(20, 25)), {})
    good = picture(tmp_path, scene())
    Path(good["picture"]["file"]).write_bytes(Path(good["picture"]["file"]).read_bytes()[:900])
    with pytest.raises(ScoreError, match="cannot be read"):
        RULE.score(*answer(scene()), good, {})
    with pytest.raises(ScoreError, match="no picture"):
        RULE.score(*answer(scene()), 7, {})


def test_small_pictures_have_no_ssim(tmp_path: Path) -> None:
    true = scene(8, 9)
    assert numbers(RULE.score(*answer(near(true)), picture(tmp_path, true), {})).keys() == {"psnr"}


def test_the_mean_over_pictures_has_students_interval(tmp_path: Path) -> None:
    scores = [
        RULE.score(*answer(near(scene(seed=each), 5 + each)), picture(tmp_path, scene(seed=each)), {})
        for each in range(5)
    ]
    found = numbers(*scores)
    value, low, high, _ = intervals(RULE, scores, found)["psnr"]
    single = [numbers(each)["psnr"] for each in scores]
    half = 2.7764451052 * np.std(single, ddof=1) / math.sqrt(5)  # of t with four degrees of freedom
    assert value == pytest.approx(np.mean(single)) and (low, high) == pytest.approx((value - half, value + half))
