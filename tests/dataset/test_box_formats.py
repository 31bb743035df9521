"""Boxes beside pictures: VOC's XML files and YOLO's text files."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.errors import DatasetError

Open = Callable[..., Dataset]
VOC = """<annotation><size><width>20</width><height>10</height></size>
<object><name>dog</name><difficult>1</difficult>
<bndbox><xmin>2</xmin><ymin>3</ymin><xmax>9</xmax><ymax>8</ymax></bndbox></object></annotation>"""


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path, Path]:
    """(pictures, truth, a list of classes)."""
    pictures, truth, classes = tmp_path / "pictures", tmp_path / "truth", tmp_path / "classes.txt"
    pictures.mkdir()
    truth.mkdir()
    Image.new("RGB", (20, 10)).save(pictures / "a.png")
    classes.write_text("cat\ndog\n")
    return pictures, truth, classes


def test_yolos_shares_become_pixels(folders: tuple[Path, Path, Path], open_as: Open) -> None:
    pictures, truth, classes = folders
    (truth / "a.txt").write_text("1 0.5 0.5 0.5 0.2\n")
    found = open_as("yolo", pictures, truth, classes=classes).samples[0].target
    assert found["boxes"] == [pytest.approx([5, 4, 15, 6])] and found["classes"] == [1] and found["size"] == [10, 20]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1 0.5 0.5 nan 0.2", "line 1 of a.txt in `a.png` is not four finite numbers"),
        ("1 5 0.5 0.5 0.2", "line 1 of a.txt in `a.png` lies outside the picture"),
        ("1 0.5 0.5", "line 1 of a.txt is not a class and four numbers"),
        ("7 0.5 0.5 0.5 0.2", "the class 7, which does not exist"),
    ],
)
def test_damaged_lines_are_named(folders: tuple[Path, Path, Path], open_as: Open, line: str, reason: str) -> None:
    pictures, truth, classes = folders
    (truth / "a.txt").write_text(line)
    with pytest.raises(DatasetError, match=reason):
        open_as("yolo", pictures, truth, classes=classes)


def test_vocs_files_are_read(folders: tuple[Path, Path, Path], open_as: Open) -> None:
    pictures, truth, classes = folders
    (truth / "a.xml").write_text(VOC)
    found = open_as("voc", pictures, truth, classes=classes).samples[0].target
    assert len(found["boxes"]) == 1 and found["difficult"] == [True]
