"""Two tensors side by side as small pictures."""

import base64
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlmodelscope.measure.feature_maps import feature_maps
from mlmodelscope.measure.ruler import ruler

Image = pytest.importorskip("PIL.Image")


def written(folder: Path, name: str, array: np.ndarray) -> dict[str, Any]:
    (folder / name).write_bytes(np.ascontiguousarray(array).tobytes())
    return {"file": name, "shape": list(array.shape), "element_type": array.dtype.name}


def drawn(folder: Path, one: np.ndarray, other: np.ndarray) -> dict[str, Any] | None:
    return feature_maps(folder, {"one": written(folder, "a", one), "other": written(folder, "b", other)})


def pixels(text: str | None) -> np.ndarray:
    assert text is not None
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(text))))


def noise(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def test_the_channels_that_differ_most_are_drawn(tmp_path: Path) -> None:
    one = noise(2, 64, 20, 20)
    other = one.copy()
    other[0, 41] += 3
    found = drawn(tmp_path, one, other)
    assert found is not None and 41 in found["channels"] and len(found["channels"]) == 16 and found["count"] == 64
    assert found["largest"] == pytest.approx(3, rel=1e-6)
    assert pixels(found["difference"]).max() == 255
    assert pixels(found["first"]).shape == pixels(found["second"]).shape


def test_both_sides_are_drawn_with_one_scale(tmp_path: Path) -> None:
    one = np.zeros((1, 1, 8, 8), np.float32)
    one[..., 0, 0], one[..., 0, 1] = -1, 1
    found = drawn(tmp_path, one, one / 2)
    assert found is not None and (found["low"], found["high"]) == (-1, 1)
    assert pixels(found["first"])[0, 0] == 0 and pixels(found["second"])[0, 0] == 64


def test_channels_last_are_turned(tmp_path: Path) -> None:
    one = noise(1, 12, 12, 5)
    found = drawn(tmp_path, one, one.transpose(0, 3, 1, 2) + np.float32(1))
    assert found is not None and found["count"] == 5 and found["size"] == (12, 12)
    assert found["largest"] == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.full((1, 3, 8, 8), np.nan, np.float32), np.ones((1, 3, 8, 8), np.float32)),
        (np.ones((1, 3, 8, 8), np.float32), np.full((1, 3, 8, 8), np.inf, np.float32)),
        (np.zeros((1, 4), np.float32), np.zeros((1, 4), np.float32)),
        (np.full((1, 4), 3e38, np.float32), np.full((1, 4), -3e38, np.float32)),
        (noise(1, 4, 6, 6), noise(1, 4, 3, 3)),
        (noise(1, 4, 6, 6), noise(1, 2, 6, 6)),
        (noise(7), noise(7)),
        (noise(1, 2, 3, 4, 5), noise(1, 2, 3, 4, 5)),
        (np.arange(12, dtype=np.int64).reshape(3, 4), np.arange(12, dtype=np.int64)[::-1].reshape(3, 4)),
        (np.array([[True, False]]), np.array([[False, False]])),
        (noise(1, 1, 1, 100000), noise(1, 1, 1, 100000)),
        (noise(5000, 3), noise(5000, 3)),
    ],
)
def test_odd_tensors_are_drawn_small(tmp_path: Path, one: np.ndarray, other: np.ndarray) -> None:
    found = drawn(tmp_path, one, other)
    assert found is not None
    for name in ("first", "second", "difference"):
        if found[name] is not None:
            assert max(pixels(found[name]).shape) <= 1024 and len(found[name]) < 400_000


def test_nothing_to_draw_is_none(tmp_path: Path) -> None:
    assert drawn(tmp_path, np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32)) is None
    assert drawn(tmp_path, np.float32(1).reshape(()), np.float32(2).reshape(())) is None


def test_the_measuring_process_draws_them(tmp_path: Path) -> None:
    one = noise(1, 3, 8, 8)
    pair = {"one": written(tmp_path, "a", one), "other": written(tmp_path, "b", one + 1)}
    found = ruler().feature_maps(tmp_path, pair)
    assert found is not None and found.channels == (0, 1, 2) and found.size == (8, 8)
    empty = written(tmp_path, "c", np.zeros(0, np.float32))
    assert ruler().feature_maps(tmp_path, {"one": empty, "other": empty}) is None
