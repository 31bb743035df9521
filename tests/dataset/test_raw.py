"""What all formats of raw values have in common."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pictures import CIFAR10, DIGITS, GRAY, PIXELS, idx, npy

from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.errors import DatasetError

Open = Callable[..., Dataset]
Write = Callable[..., Path]


@pytest.mark.parametrize(
    ("format", "files", "shape"),
    [
        ("arrays", {"x": npy(PIXELS), "y": npy(np.arange(4))}, (28, 28, 3)),
        ("mnist", {"x": idx(GRAY), "y": idx(DIGITS)}, (28, 28, 3)),
        ("cifar10", {"x": CIFAR10, "y": b""}, (28, 28, 3)),
    ],
)
def test_another_shape_than_the_manifest_says_is_refused(
    write: Write, open_as: Open, format: str, files: dict[str, bytes], shape: tuple[int, ...]
) -> None:
    folder = write(files)
    with pytest.raises(DatasetError, match=r"x holds samples of .* and pets says 28 x 28 x 3"):
        open_as(format, folder / "x", folder / "y", shape=shape)


CASES = {
    "cifar10": (CIFAR10, None, 1),
    "mnist": (idx(GRAY), idx(DIGITS), 16),
    "arrays": (npy(PIXELS), npy(np.arange(4)), len(npy(PIXELS)) - PIXELS.size),
}


@pytest.mark.parametrize("format", CASES)
def test_digests_follow_the_pixels_of_one_sample(write: Write, open_as: Open, format: str) -> None:
    body, words, start = CASES[format]
    changed = bytearray(body)
    changed[start] ^= 1
    folder = write({"x": body, "changed": bytes(changed), "y": words or b""})
    label_file = folder / "y" if words else None
    before, after = (open_as(format, folder / name, label_file).samples for name in ("x", "changed"))
    assert [one.digest == other.digest for one, other in zip(before, after, strict=True)] == [False, True, True, True]
