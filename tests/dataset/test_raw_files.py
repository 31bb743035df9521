"""Files of raw values, one for each sample."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.errors import DatasetError
from mlmodelscope_worker.sample import Loader

Open = Callable[..., Dataset]
Write = Callable[..., Path]
FILES = {"x/a_1.bin": b"\xff\x01", "x/b_0.bin": b"\x02\x80", "y.csv": "a_1.bin,12,1\nb_0.bin,12,0\n"}
SIGNED = {"shape": (2, 1, 1), "element_type": "int8", "header": False, "columns": {"file": 0, "target": 2}}


def test_values_are_read_as_the_type_that_the_manifest_says(write: Write, open_as: Open) -> None:
    folder = write(FILES)
    found = open_as("raw", folder / "x", folder / "y.csv", **SIGNED)
    assert [each.target for each in found.samples] == [1, 0]
    assert Loader()(found.samples[0].content, []).array.tolist() == [[[-1]], [[1]]]
    assert found.samples[0].content["parts"]["array"]["element_type"] == "int8"


def test_labels_can_be_in_the_names(write: Write, open_as: Open) -> None:
    found = open_as("raw", write(FILES) / "x", shape=(2, 1, 1), element_type="uint8", rule={"pattern": r"_(\d)\.bin"})
    assert [each.target for each in found.samples] == [1, 0]


def test_any_number_of_dimensions_is_an_array(write: Write, open_as: Open) -> None:
    found = open_as("raw", write(FILES) / "x", shape=(1,), element_type="float16", rule={"pattern": r"_(\d)\.bin"})
    assert found.samples[0].content["parts"]["array"]["shape"] == [1]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"shape": (3, 1, 1)}, "`a_1.bin` has 2 bytes, and 3 x 1 x 1 values of int8 take 3"),
        ({"element_type": None}, "does not say what its files hold"),
        ({"include": "*.dat"}, r"holds no file whose name matches `\*.dat`"),
        ({"columns": {"file": 0, "target": 7}}, "line 1 of y.csv has no column `7`"),
    ],
)
def test_what_does_not_fit_is_said(write: Write, open_as: Open, changes: dict[str, Any], said: str) -> None:
    folder = write(FILES)
    with pytest.raises(DatasetError, match=said):
        open_as("raw", folder / "x", folder / "y.csv", **{**SIGNED, **changes})


def test_a_file_without_a_label_is_named(write: Write, open_as: Open) -> None:
    folder = write({**FILES, "y.csv": "a_1.bin,12,1\n"})
    with pytest.raises(DatasetError, match="the sample `b_0.bin` has no label"):
        open_as("raw", folder / "x", folder / "y.csv", **SIGNED)
