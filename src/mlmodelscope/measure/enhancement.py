"""Image enhancement: how near a picture comes to the true one, as PSNR and SSIM, the mean over pictures."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mlmodelscope.measure.pack import pack, unpack
from mlmodelscope.measure.picture import file_of, read_colors, read_sent
from mlmodelscope.measure.rule import Arrays, ScoreError, task_rule

MEASURES = ("psnr", "ssim")
_LUMA = {
    "luma": (np.array([65.481, 128.553, 24.966]) / 255, 16.0),
    "luma-full": (np.array([0.299, 0.587, 0.114]), 0.0),
}
_REACH = {"gaussian": 5, "uniform": 3}
_SIGMA = 1.5


@task_rule("image_enhancement")
class Enhancement:
    """A score is the PSNR and the SSIM of one picture."""

    def score(self, arrays: Arrays, fields: Mapping[str, Any], target: Any, options: Mapping[str, Any]) -> bytes:
        answer = _picture(arrays["picture"], fields)
        truth = read_colors(file_of(target, "picture"))
        truth, answer = _overlap(truth, answer, fields)
        truth, answer = _compared(truth.astype(np.float64), answer.astype(np.float64), options)
        border = int(options.get("border", 0))
        if 2 * border >= min(truth.shape[:2]):
            raise ScoreError(
                f"nothing is left of {truth.shape[1]} x {truth.shape[0]} pixels without a border of {border}"
            )
        inner = slice(border, -border or None)
        truth, answer = truth[inner, inner], answer[inner, inner]
        span = float(options.get("data_range", 255.0))
        error = float(np.mean((truth - answer) ** 2))
        psnr = 10 * math.log10(span * span / error) if error > 0 else None
        window = str(options.get("window", "gaussian"))
        shown = {"psnr": psnr, "ssim": structural_similarity(truth, answer, span, window)}
        quality = round(max(0.0, 1 - math.sqrt(error) / span), 9)
        known = {name: value for name, value in shown.items() if value is not None}
        return pack({}, shown=known, error=error, quality=quality)

    def numbers(self, scores: Sequence[bytes], names: Sequence[str], weights: np.ndarray | None) -> dict[str, float]:
        found = {}
        for name in names:
            values = _values(scores, name)
            if np.isfinite(values).all() and (weights is None or weights.any()):
                found[name] = float(np.average(values, weights=weights))
        return found

    def deviations(self, scores: Sequence[bytes], names: Sequence[str]) -> dict[str, float]:
        """Standard deviation of each mean."""
        found = {name: _values(scores, name) for name in names}
        return {
            name: float(np.std(values, ddof=1) / math.sqrt(len(values)))
            for name, values in found.items()
            if np.isfinite(values).all()
        }

    def details(self, scores: Sequence[bytes]) -> dict[str, Any]:
        return {}


def _values(scores: Sequence[bytes], name: str) -> np.ndarray:
    """Of each picture; not-a-number where it has none, such as the PSNR of two equal pictures."""
    return np.array([unpack(each)[1]["shown"].get(name, math.nan) for each in scores])


def _picture(content: np.ndarray, fields: Mapping[str, Any]) -> np.ndarray:
    """Height x width x channels."""
    shape = tuple(fields["size"])
    if fields["form"] == "png":
        return read_sent(content).reshape(shape)
    unpacked = zlib.decompressobj().decompress(content.tobytes(), 4 * math.prod(shape))
    return np.frombuffer(unpacked, "<f4").reshape(shape)


def _overlap(truth: np.ndarray, answer: np.ndarray, fields: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Both where they lie over each other: the model may have seen a part of the picture, or a border around it."""
    rows, columns = (truth.shape[axis] / fields["original"][axis] for axis in (0, 1))
    top, left, bottom, right = (
        round(at * by) for at, by in zip(fields["place"], (rows, columns, rows, columns), strict=True)
    )
    if answer.shape[:2] != (bottom - top, right - left):
        raise ScoreError(
            f"its answer is {answer.shape[1]} x {answer.shape[0]} pixels, "
            f"the part of the true picture that it stands for is {right - left} x {bottom - top}"
        )
    high, wide = min(bottom, truth.shape[0]), min(right, truth.shape[1])
    first, second = max(0, top), max(0, left)
    return truth[first:high, second:wide], answer[first - top : high - top, second - left : wide - left]


def _compared(truth: np.ndarray, answer: np.ndarray, options: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Both in the colors that are compared."""
    color, rounding = options.get("color", "luma"), options.get("rounding", "no")
    if rounding != "no":
        answer = np.floor(answer + 0.5).clip(0, 255)
    if color == "rgb":
        if answer.shape[2] != 3:
            raise ScoreError("its answer has one channel, so `color: rgb` cannot be measured")
        return truth, answer
    weights, black = _LUMA[color]
    truth = (truth @ weights + black)[:, :, None]
    answer = (answer @ weights + black)[:, :, None] if answer.shape[2] == 3 else answer
    return (np.floor(truth + 0.5), np.floor(answer + 0.5)) if rounding == "compared" else (truth, answer)


def structural_similarity(first: np.ndarray, second: np.ndarray, span: float, window: str = "gaussian") -> float | None:
    """SSIM, the mean of the channels.

    `gaussian` is that of Wang et al. 2004: a window of sigma 1.5, population covariance. `uniform` is what scikit-image
    does unless it is told otherwise: 7 x 7 equal pixels, sample covariance.
    """
    weights = _window(window)
    if min(first.shape[:2]) < len(weights):
        return None
    pixels = len(weights) ** 2
    fair = pixels / (pixels - 1) if window == "uniform" else 1.0
    one, two = (0.01 * span) ** 2, (0.03 * span) ** 2
    mean, other = _blurred(first, weights), _blurred(second, weights)
    spread = fair * (_blurred(first * first, weights) - mean * mean)
    other_spread = fair * (_blurred(second * second, weights) - other * other)
    together = fair * (_blurred(first * second, weights) - mean * other)
    top = (2 * mean * other + one) * (2 * together + two)
    return float(np.mean(top / ((mean * mean + other * other + one) * (spread + other_spread + two))))


def _window(name: str) -> np.ndarray:
    """Weights of a pixel's neighbors along one side."""
    reach = _REACH[name]
    places = np.arange(-reach, reach + 1)
    window = np.exp(-0.5 * (places / _SIGMA) ** 2) if name == "gaussian" else np.ones(len(places))
    found: np.ndarray = window / window.sum()
    return found


def _blurred(array: np.ndarray, window: np.ndarray) -> np.ndarray:
    """Where the whole window lies inside."""
    for axis in (0, 1):
        size = array.shape[axis] - len(window) + 1
        moved = np.moveaxis(array, axis, 0)
        found = np.zeros((size, *moved.shape[1:]))
        for start, weight in enumerate(window):
            found += weight * moved[start : start + size]
        array = np.moveaxis(found, 0, axis)
    return array


RULE = Enhancement()
