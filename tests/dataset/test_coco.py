"""COCO's annotations with masks and keypoints: what is read, and what is refused by its id."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.dataset.coco_masks import compress
from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.errors import DatasetError

Open = Callable[..., Dataset]
Write = Callable[..., Path]
SHARED = (
    Path(os.environ.get("MLMODELSCOPE_SHARED") or Path(__file__).parents[2].parent / "shared") / "tasks" / "detection"
)


def document(**more: Any) -> dict[str, Any]:
    thing = {"id": 71, "image_id": 5, "category_id": 9, "bbox": [1, 2, 3, 4], "area": 7.5, "iscrowd": 0}
    return {
        "images": [
            {"id": 5, "file_name": "a.png", "height": 4, "width": 6},
            {"id": 6, "file_name": "b.png", "height": 4, "width": 6},
        ],
        "categories": [{"id": 9, "name": "person", "keypoints": ["nose", "ear"]}],
        "annotations": [{**thing, **more}],
    }


@pytest.fixture
def opened(write: Write, open_as: Open, tmp_path: Path) -> Callable[..., Dataset]:
    def run(truth: tuple[str, ...], **more: Any) -> Dataset:
        folder = write({"a.png": "a", "b.png": "b"})
        labels = tmp_path / "truth.json"
        labels.write_text(json.dumps(document(**more)))
        return open_as("coco", folder, labels, truth=truth)

    return run


def test_boxes_alone_are_read_where_nothing_else_is_needed(opened: Callable[..., Dataset]) -> None:
    found = opened((), segmentation="nonsense", keypoints=None)
    assert found.samples[0].target == {"boxes": [[1, 2, 4, 6]], "classes": [0], "areas": [7.5], "size": [4, 6]}
    assert found.samples[1].target["boxes"] == []


def test_polygons_stay_and_run_lengths_are_compressed(opened: Callable[..., Dataset]) -> None:
    polygon = [[0, 0, 3, 0, 3, 3]]
    assert opened(("masks",), segmentation=polygon).samples[0].target["masks"] == [polygon]
    counts = [4, 6, 14]
    for written in (counts, compress(counts)):
        runs = {"size": [4, 6], "counts": written}
        assert opened(("masks",), segmentation=runs, iscrowd=1).samples[0].target["masks"] == [compress(counts)]


@pytest.mark.parametrize(
    ("segmentation", "reason"),
    [
        (None, "annotation 71 in `a.png` has no `segmentation`"),
        ([], "annotation 71 .* has no `segmentation`"),
        ([[0, 0, 3, 0, 3]], "annotation 71 .* a polygon of 5 numbers"),
        ([[0, 0, 3, 0]], "annotation 71 .* a polygon of 4 numbers"),
        ([[0, 0, 3, "x", 3, 3]], "annotation 71 .* not a list of finite numbers"),
        ([[0, 0, 3, float("nan"), 3, 3]], "annotation 71 .* not a list of finite numbers"),
        ([[0, 0, 3, 0, 1e9, 3]], r"annotation 71 .* far outside the picture of 6 x 4 pixels: \[1e\+09, 3\]"),
        ([[0.0, 0.0] * 200_000], "annotation 71 .* more than 200,000 numbers"),
        ({"size": [6, 4], "counts": [24]}, r"annotation 71 .* another size: \[6, 4\] in place of \[4, 6\]"),
        ({"size": [4, 6], "counts": [20]}, "annotation 71 .* of 20 pixels; the picture has 24"),
        ({"size": [4, 6], "counts": [25, -1]}, "annotation 71 .* not whole numbers"),
        ({"size": [4, 6], "counts": "h"}, "annotation 71 .* end in the middle"),
        ({"size": [4, 6], "counts": "\x01"}, "annotation 71 .* cannot be read"),
        ({"size": [4, 6], "counts": "o" * 40}, "annotation 71 .* cannot be read"),
    ],
)
def test_an_odd_mask_is_named_by_its_id(opened: Callable[..., Dataset], segmentation: Any, reason: str) -> None:
    with pytest.raises(DatasetError, match=reason):
        opened(("masks",), segmentation=segmentation)


def test_keypoints_are_read(opened: Callable[..., Dataset]) -> None:
    assert opened(("keypoints",), keypoints=[1, 2, 2, 0, 0, 0]).samples[0].target["keypoints"] == [[1, 2, 2, 0, 0, 0]]
    assert opened(("keypoints",), iscrowd=1).samples[0].target["keypoints"] == [[0] * 6]


@pytest.mark.parametrize(
    ("keypoints", "reason"),
    [
        (None, "annotation 71 in `a.png` has no `keypoints`"),
        ([1, 2, 2], "annotation 71 .* has 3 numbers as `keypoints`; 2 keypoints of three"),
        ([1, 2, 2, 0, 0], "annotation 71 .* has 5 numbers"),
        ([1, float("nan"), 2, 0, 0, 0], "annotation 71 .* of finite numbers"),
    ],
)
def test_odd_keypoints_are_named_by_their_id(opened: Callable[..., Dataset], keypoints: Any, reason: str) -> None:
    with pytest.raises(DatasetError, match=reason):
        opened(("keypoints",), keypoints=keypoints)


@pytest.mark.skipif(not SHARED.exists(), reason="needs the data of ../shared")
def test_official_annotations_are_read_whole(open_as: Open, tmp_path: Path) -> None:
    file = SHARED / "instances_train2017_first128_official.json"
    data = json.loads(file.read_text())
    folder = tmp_path / "pictures"
    folder.mkdir()
    for each in data["images"]:
        (folder / each["file_name"]).write_text(each["file_name"])
    found = open_as("coco", folder, file, truth=("masks",)).samples
    masks = [each for sample in found for each in sample.target.get("masks", ())]
    assert len(masks) == 939 and sum(isinstance(each, str) for each in masks) == 10
