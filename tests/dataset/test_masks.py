"""Pictures with masks, COCO's panoptic annotations, and pictures that are their own truth."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from mlmodelscope.dataset.sample import Dataset
from mlmodelscope.errors import DatasetError
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import DatasetManifest, Labels
from mlmodelscope.plan.plan import PlannedDataset, Subset

Open = Callable[..., Dataset]


def picture(mode: str = "RGB") -> bytes:
    made = io.BytesIO()
    Image.new(mode, (3, 2)).save(made, "PNG")
    return made.getvalue()


def files(folder: Path, *names: str, mode: str = "RGB") -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(picture(mode))
    return folder


def test_a_mask_has_the_name_of_its_picture(tmp_path: Path, open_as: Open) -> None:
    pictures = files(tmp_path / "pictures", "a.jpg", "b/c.png")
    masks = files(tmp_path / "masks", "a.png", "b/c.png", mode="L")
    found = open_as("masks", pictures, masks).samples
    assert [each.id for each in found] == ["a.jpg", "b/c.png"]
    assert [each.target["name"] for each in found] == ["a.png", "b/c.png"]
    assert Path(found[0].target["mask"]["file"]).read_bytes() == picture("L")


def test_a_missing_mask_names_the_picture(tmp_path: Path, open_as: Open) -> None:
    pictures, masks = files(tmp_path / "pictures", "a.jpg", "b.jpg"), files(tmp_path / "masks", "a.png", mode="L")
    with pytest.raises(DatasetError, match=r"`b.jpg` of pets has no mask: masks holds no `b.png`"):
        open_as("masks", pictures, masks)
    assert [each.id for each in open_as("masks", pictures, masks, rule={"missing": "skip"}).samples] == ["a.jpg"]
    with pytest.raises(DatasetError, match="names no `labels_url`"):
        open_as("masks", pictures)


def test_targets_know_how_values_become_classes(tmp_path: Path, open_as: Open) -> None:
    pictures, masks = (
        files(tmp_path / "pictures", "a.jpg", "b.jpg"),
        files(tmp_path / "masks", "a.png", "b.png", mode="L"),
    )
    (tmp_path / "classes.txt").write_text("background\ncat\n")
    rule = {"map": {"7": 1}, "other": 0, "void": [255]}
    first, second = open_as("masks", pictures, masks, rule=rule, classes=tmp_path / "classes.txt").samples
    assert first.target["labels"] == {"map": [[7, 1]], "other": 0, "void": [255], "classes": 2}
    assert first.target["labels"] is second.target["labels"]


def planned(**labels: Any) -> PlannedDataset:
    return PlannedDataset(
        **{"name": "pets", "version": "1.0.0", "format": "masks", "sources": (), "include": "*", "classes": None},
        **{"shape": None, "size": None, "subset": Subset(count=None, stratified=False, seed=0)},
        labels=Labels(**labels),
    )


def test_a_dataset_without_a_map_is_identified_as_ever() -> None:
    assert planned().model_dump(mode="json", exclude_defaults=True)["labels"] == {}
    assert planned(map={"7": 1}).model_dump(mode="json", exclude_defaults=True)["labels"] == {"map": {"7": 1}}


@pytest.mark.parametrize("labels", [{"map": {"cat": 1}}, {"map": {"1": -1}}, {"other": -1}, {"missing": "drop"}])
def test_a_map_that_is_none_is_refused(labels: dict[str, Any]) -> None:
    data = {"name": "pets", "version": "1.0.0", "format": "masks", "sources": [{"url": "x"}], "labels": labels}
    with pytest.raises(Exception, match="labels"):
        load_manifest(data)
    assert isinstance(load_manifest({**data, "labels": {"map": {7: 1}}}), DatasetManifest)


# COCO's panoptic annotations.


def panoptic(folder: Path, **changes: Any) -> Path:
    files(folder / "panoptic", "1.png", "2.png")
    data = {
        "images": [{"id": 1, "file_name": "1.jpg"}, {"id": 2, "file_name": "2.jpg"}],
        "categories": [{"id": 9, "name": "dog"}, {"id": 4, "name": "cat"}],
        "annotations": [
            {"image_id": 2, "file_name": "2.png", "segments_info": [{"id": 300, "category_id": 9}]},
            {"image_id": 1, "file_name": "1.png", "segments_info": [{"id": 5, "category_id": 4}]},
        ],
        **changes,
    }
    (folder / "panoptic.json").write_text(json.dumps(data))
    return folder


def test_panoptic_segments_have_the_classes_of_their_categories(tmp_path: Path, open_as: Open) -> None:
    pictures, labels = files(tmp_path / "pictures", "1.jpg", "2.jpg"), panoptic(tmp_path / "labels")
    found = open_as("panoptic", pictures, labels)
    assert found.classes == ["cat", "dog"]
    assert [(each.id, each.target["segments"]) for each in found.samples] == [
        ("2.jpg", [[300, 1]]),
        ("1.jpg", [[5, 0]]),
    ]
    assert found.samples[0].target["labels"] == {"void": [], "classes": 2}


def test_a_panoptic_map_is_about_category_ids(tmp_path: Path, open_as: Open) -> None:
    pictures, labels = files(tmp_path / "pictures", "1.jpg", "2.jpg"), panoptic(tmp_path / "labels")
    found = open_as("panoptic", pictures, labels, rule={"map": {"9": 1}, "other": 0}).samples[0]
    assert found.target["segments"] == [[300, 9]]
    assert found.target["labels"] == {"map": [[9, 1]], "other": 0}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"annotations": []}, "`1.jpg` has no annotation"),
        ({"annotations": [{"image_id": 3, "file_name": "1.png"}]}, "the image 3 of panoptic.json is not listed"),
        (
            {"annotations": [{"image_id": 1, "file_name": "9.png", "segments_info": []}]},
            "`1.jpg` has no mask: there is no `9.png`",
        ),
        ({"annotations": [{"image_id": 1, "file_name": "../1.png"}]}, "no usable `file_name` of its mask"),
        ({"images": [{"id": 1, "file_name": "/etc/passwd"}]}, "no usable `file_name`"),
        (
            {
                "annotations": [
                    {"image_id": 1, "file_name": "1.png", "segments_info": [{"id": 5, "category_id": 7}]},
                ]
            },
            "the segment 5 of `1.jpg` has the category 7, which does not exist",
        ),
    ],
)
def test_damaged_panoptic_annotations_are_told(
    tmp_path: Path, open_as: Open, changes: dict[str, Any], message: str
) -> None:
    pictures, labels = files(tmp_path / "pictures", "1.jpg", "2.jpg"), panoptic(tmp_path / "labels", **changes)
    with pytest.raises(DatasetError, match=message):
        open_as("panoptic", pictures, labels)


# Pictures.


def test_pictures_are_their_own_truth_or_have_one_of_their_name(tmp_path: Path, open_as: Open) -> None:
    low, high = files(tmp_path / "low", "a.png", "b.png"), files(tmp_path / "high", "a.png", "b.jpg")
    own = open_as("pictures", low).samples
    assert own[0].target == {"picture": {"file": own[0].content["file"]}, "name": "a.png"}
    pairs = open_as("pictures", low, high).samples
    assert [each.target["name"] for each in pairs] == ["a.png", "b.jpg"]
    (high / "b.jpg").unlink()
    with pytest.raises(DatasetError, match="`b.png` of pets has no true picture of its name in high"):
        open_as("pictures", low, files(tmp_path / "high"))
