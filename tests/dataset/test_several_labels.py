"""Samples with several labels: texts with something in between, lists, a column for each class."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.errors import DatasetError

Open = Callable[..., Dataset]
Write = Callable[..., Path]


@pytest.fixture
def opened(write: Write, open_as: Open, tmp_path: Path) -> Callable[..., list[Any]]:
    def run(text: str, **rule: Any) -> list[Any]:
        folder = write({"a.png": "a", "b.png": "b"})
        labels, classes = tmp_path / "labels.csv", tmp_path / "classes.txt"
        labels.write_text(text)
        classes.write_text("cat\nfish\ndog\n")
        found = open_as("list", folder, labels, classes=classes, rule=rule, truth=("classes",))
        return [sample.target for sample in found.samples]

    return run


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("file,label\na.png,dog;cat\nb.png,\n", {}),
        ("file,label\na.png,2;0\nb.png,\n", {}),
        ("file,label\na.png,3;1\nb.png,\n", {"offset": 1}),
        ("file,label\na.png,dog|cat\nb.png,\n", {"separator": "|"}),
        ('{"a.png": ["dog", "cat"], "b.png": []}', {}),
        ('[{"file": "a.png", "label": [0, 2]}, {"file": "b.png", "label": []}]', {}),
        ("file,cat,fish,dog\na.png,1,0,1\nb.png,0,0,0\n", {"label_columns": ["cat", "fish", "dog"]}),
    ],
)
def test_every_way_to_write_several_labels_is_read(
    opened: Callable[..., list[Any]], text: str, rule: dict[str, Any]
) -> None:
    assert opened(text, **rule) == [{"classes": [0, 2]}, {"classes": []}]


@pytest.mark.parametrize(
    ("text", "rule", "reason"),
    [
        ("file,label\na.png,dog;bird\nb.png,\n", {}, "label `bird` of the sample `a.png`"),
        ("file,label\na.png,dog\n", {}, "the sample `b.png` has no label"),
        ("file,label\na.png,7\nb.png,\n", {}, "label 7 of the sample `a.png` lies beyond"),
        ("file,cat\na.png,perhaps\nb.png,1\n", {"label_columns": ["cat"]}, "perhaps for `a.png` in the column `cat`"),
        ("file,cat\na.png,1\nb.png,1\n", {"label_columns": ["dog"]}, "no columns `file` and `dog`"),
    ],
)
def test_labels_that_mean_nothing_are_refused(
    opened: Callable[..., list[Any]], text: str, rule: dict[str, Any], reason: str
) -> None:
    with pytest.raises(DatasetError, match=reason):
        opened(text, **rule)
