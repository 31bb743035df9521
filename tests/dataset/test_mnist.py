"""MNIST's idx files."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from pictures import DIGITS, GRAY, idx, labels, pixels

from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.errors import DatasetError

Open = Callable[..., Dataset]
Write = Callable[..., Path]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_mnist(write: Write, open_as: Open, pack: Callable[[bytes], bytes]) -> None:
    folder = write({"images": pack(idx(GRAY)), "labels": pack(idx(DIGITS))})
    dataset = open_as("mnist", folder / "images", folder / "labels", shape=(28, 28, 1))
    assert labels(dataset) == [3, 1, 4, 1] and (pixels(dataset)[..., 0] == GRAY).all()
    assert dataset.samples[0].content["color"] == "GRAY"


@pytest.mark.parametrize(
    ("images", "words", "message"),
    [
        (idx(GRAY)[:-1], idx(DIGITS), "images has not the size that its header promises"),
        (idx(GRAY)[:10], idx(DIGITS), "images is not an idx file of 3 dimension"),
        (idx(DIGITS), idx(DIGITS), "images is not an idx file of 3 dimension"),
        (b"", idx(DIGITS), "images is not an idx file"),
        (b"\0\0\x0d\3" + idx(GRAY)[4:], idx(DIGITS), "images is not an idx file"),
        (idx(GRAY), idx(DIGITS[:3]), "labels has 3 labels for 4 samples"),
        (idx(GRAY), idx(DIGITS) + b"x", "labels has not the size"),
        (b"\0\0\x08\3" + b"\xff" * 12, idx(DIGITS), "images has not the size"),
        (idx(GRAY[:, :0]), idx(DIGITS), "pets has no samples"),
    ],
)
def test_a_damaged_mnist_file_is_named(write: Write, open_as: Open, images: bytes, words: bytes, message: str) -> None:
    folder = write({"images": images, "labels": words})
    with pytest.raises(DatasetError, match=message):
        open_as("mnist", folder / "images", folder / "labels")


def test_mnist_needs_labels_and_files(write: Write, open_as: Open) -> None:
    folder = write({"images": idx(GRAY), "labels": idx(DIGITS)})
    with pytest.raises(DatasetError, match="needs a `labels_url`"):
        open_as("mnist", folder / "images")
    with pytest.raises(DatasetError, match="cannot read .*data.*directory"):
        open_as("mnist", folder, folder / "labels")
