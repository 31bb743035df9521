"""One large image whose rows are the samples."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pictures import PIXELS, STRIP, labels, pixels, png

from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.errors import DatasetError

Open = Callable[..., Dataset]
Write = Callable[..., Path]


def test_rows_of_one_image(write: Write, open_as: Open) -> None:
    folder = write({"strip.png": STRIP, "labels.json": json.dumps([3, "1", 4.0, 1])})
    dataset = open_as("rows", folder / "strip.png", folder / "labels.json", shape=(32, 32, 3))
    assert labels(dataset) == [3, 1, 4, 1] and (pixels(dataset) == PIXELS).all()


@pytest.mark.parametrize(
    ("strip", "words", "message"),
    [
        (STRIP, [1, 2, 3], "labels.json has 3 labels for 4 samples"),
        (STRIP, [1, 2, 3, 4, 5], "labels.json has 5 labels for 4 samples"),
        (STRIP, "1234", "labels.json is not a JSON list"),
        (STRIP, {"0": 1}, "labels.json is not a JSON list"),
        (STRIP, [1, 2, 3.5, 4], "label `3.5` of the sample `00002`"),
        (STRIP, [1, 2, None, 4], "sample `00002` has no label"),
        (png(PIXELS.reshape(4, 1024, 3)[:, :100]), [1, 2, 3, 4], "has 100 pixels a row, and pets says 1024"),
        (STRIP[:20], [1, 2, 3, 4], "strip.png is no image"),
        (b"hello", [1, 2, 3, 4], "strip.png is no image"),
    ],
)
def test_rows_that_do_not_fit_are_refused(
    write: Write, open_as: Open, strip: bytes, words: object, message: str
) -> None:
    folder = write({"strip.png": strip, "labels.json": json.dumps(words)})
    with pytest.raises(DatasetError, match=message):
        open_as("rows", folder / "strip.png", folder / "labels.json", shape=(32, 32, 3))


def test_rows_need_labels_and_a_shape(write: Write, open_as: Open) -> None:
    with pytest.raises(DatasetError, match="needs a `labels_url` and a `shape`"):
        open_as("rows", write({"strip.png": STRIP}) / "strip.png")
