"""Truth in COCO's, VOC's and YOLO's forms: boxes in pixels of the picture, and damage is named with its id."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from mlmodelscope.errors import DatasetError

FORMS = ("coco", "voc", "yolo")


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name, size in (("a.jpg", (100, 50)), ("b.jpg", (40, 80))):
        Image.new("RGB", size, (9, 99, 199)).save(folder / name)
    return folder


def coco(**changes: Any) -> dict[str, Any]:
    return {
        "images": [
            {"id": 7, "file_name": "a.jpg", "width": 100, "height": 50},
            {"id": 9, "file_name": "b.jpg", "width": 40, "height": 80},
        ],
        "categories": [{"id": 18, "name": "dog"}, {"id": 3, "name": "car"}],
        "annotations": [
            {"id": 1, "image_id": 7, "category_id": 18, "bbox": [10, 5, 20, 30], "area": 123.5, "iscrowd": 0},
            {"id": 2, "image_id": 7, "category_id": 3, "bbox": [0, 0, 100, 50], "area": 5000, "iscrowd": 1},
        ],
        **changes,
    }


def with_annotation(**changes: Any) -> dict[str, Any]:
    good = {"id": 3, "image_id": 9, "category_id": 3, "bbox": [1, 2, 3, 4], "area": 12, "iscrowd": 0}
    return coco(annotations=[{**good, **changes}])


@pytest.fixture
def open_coco(open_as: Callable, pictures: Path, tmp_path: Path) -> Callable:
    def open_one(data: Any) -> Any:
        (tmp_path / "truth.json").write_text(data if isinstance(data, str) else json.dumps(data))
        return open_as("coco", pictures, labels=tmp_path / "truth.json")

    return open_one


def test_cocos_classes_are_numbered_in_the_order_of_their_ids(open_coco: Callable) -> None:
    dataset = open_coco(coco())
    assert dataset.classes == ["car", "dog"]
    first, second = dataset.samples
    assert (first.id, second.id, first.label) == ("a.jpg", "b.jpg", None)
    assert first.target == {
        "boxes": [[10.0, 5.0, 30.0, 35.0], [0.0, 0.0, 100.0, 50.0]],
        "classes": [1, 0],
        "areas": [123.5, 5000.0],
        "crowd": [False, True],
        "size": [50, 100],
    }
    assert second.target == {"boxes": [], "classes": [], "areas": [], "size": [80, 40]}


@pytest.mark.parametrize(
    ("damaged", "message"),
    [
        (with_annotation(bbox=[50, 2, 3, 4]), "annotation 3 in `b.jpg` lies outside the picture of 40 x 80 pixels"),
        (with_annotation(bbox=[1, 2, -3, 4]), "annotation 3 in `b.jpg` ends before it begins"),
        (with_annotation(bbox=[1, 2, 3]), "annotation 3 in `b.jpg` has no `bbox` of four finite numbers"),
        (with_annotation(bbox=None), "annotation 3 in `b.jpg` has no `bbox` of four finite numbers"),
        (with_annotation(bbox=[1, 2, 10**400, 4]), "annotation 3 in `b.jpg` has no `bbox` of four finite numbers"),
        (with_annotation(bbox=[True, 2, 3, 4]), "annotation 3 in `b.jpg` has no `bbox` of four finite numbers"),
        (with_annotation(area=10**400), "annotation 3 in `b.jpg` has an `area` that is not a size"),
        (with_annotation(iscrowd="0"), "annotation 3 in `b.jpg` has an `iscrowd` that is neither 0 nor 1"),
        (with_annotation(area=-1), "annotation 3 in `b.jpg` has an `area` that is not a size"),
        (with_annotation(category_id=4), "annotation 3 of truth.json has the category 4, which does not exist"),
        (with_annotation(image_id=1), "annotation 3 of truth.json is about the image 1, which is not listed"),
        (with_annotation(id="x"), "an annotation of truth.json has no whole number as `id`"),
        (coco(annotations=[coco()["annotations"][0]] * 2), "two annotations with the id 1"),
        (coco(images=[coco()["images"][0]] * 2), "two images with the id 7"),
        (coco(categories=[{"id": 3, "name": "a"}, {"id": 3, "name": "b"}]), "two categories with the id 3"),
        (coco(categories=[]), "lists no `categories`"),
        (coco(images=[{"id": 7, "file_name": "../a.jpg", "width": 1, "height": 1}]), "no usable `file_name`"),
        (
            coco(images=[{"id": 7, "file_name": "c.jpg", "width": 1, "height": 1}], annotations=[]),
            "`c.jpg`, which is not",
        ),
        (
            coco(images=[{"id": 7, "file_name": "c" * 5000, "width": 1, "height": 1}], annotations=[]),
            "ccc`, which is not in",
        ),
        (coco(images=[{"id": 7, "file_name": "a.jpg"}], annotations=[]), "no `height` and `width`"),
        (coco(images=[{"id": 7, "file_name": "a.jpg", "width": True, "height": 1}], annotations=[]), "no `height`"),
        (
            coco(images=[{"id": 7, "file_name": "a.jpg", "width": 10**9, "height": 1}], annotations=[]),
            "the image 7 of truth.json has a side of more than 65,535 pixels",
        ),
        ([], "is not COCO's"),
        ("{", "is not valid JSON"),
    ],
)
def test_damaged_truth_is_named_with_its_id(open_coco: Callable, damaged: Any, message: str) -> None:
    with pytest.raises(DatasetError) as error:
        open_coco(damaged)
    assert message in error.value.message


def test_numbers_that_are_none_are_no_box(open_coco: Callable) -> None:
    text = json.dumps(with_annotation()).replace("[1, 2, 3, 4]", "[NaN, 2, 3, 4]")
    with pytest.raises(DatasetError, match="annotation 3 in `b.jpg` has no `bbox` of four finite numbers"):
        open_coco(text)


def test_a_million_boxes_in_one_picture_are_too_many(open_coco: Callable) -> None:
    one = coco()["annotations"][0]
    with pytest.raises(DatasetError, match=r"`a.jpg` has more than 10,000 boxes"):
        open_coco(coco(annotations=[{**one, "id": number} for number in range(10_001)]))


def test_yolos_shares_become_pixels(open_as: Callable, pictures: Path, tmp_path: Path) -> None:
    truth = tmp_path / "truth"
    truth.mkdir()
    (truth / "a.txt").write_text("1 0.5 0.5 0.2 0.4\n\n0 0.1 0.2 0.2 0.4\n")
    first, second = open_as("yolo", pictures, labels=truth).samples
    assert first.target["boxes"] == [[40.0, 15.0, 60.0, 35.0], [0.0, 0.0, 20.0, 20.0]]
    assert first.target["classes"] == [1, 0] and second.target["boxes"] == []


@pytest.mark.parametrize(
    "line",
    [
        "x 0 0 1 1",
        "1 0.5 0.5 0.2",
        "-1 0.5 0.5 0.2 0.2",
        "1 nan 0.5 0.2 0.2",
        "1 0.5 0.5 0.2 1e999",
        "1 9 9 0.1 0.1",
        "1 0.5 0.5 0.2 0.2 0.9",
        "1 0.1 0.1 0.2 0.2 0.3 0.3 0.4",
        f"{10**30} 0.5 0.5 0.2 0.2",
    ],
)
def test_a_line_of_yolo_that_is_none_is_named(open_as: Callable, pictures: Path, tmp_path: Path, line: str) -> None:
    truth = tmp_path / "truth"
    truth.mkdir()
    (truth / "b.txt").write_text(f"0 0.5 0.5 0.1 0.1\n{line}\n")
    with pytest.raises(DatasetError, match=r"line 2 of b\.txt"):
        open_as("yolo", pictures, labels=truth)


def test_a_class_that_is_not_listed_is_named(open_as: Callable, pictures: Path, tmp_path: Path) -> None:
    (tmp_path / "classes.txt").write_text("cat\ndog\n")
    (tmp_path / "truth").mkdir()
    (tmp_path / "truth" / "a.txt").write_text("7 0.5 0.5 0.5 0.2\n")
    with pytest.raises(DatasetError, match="the class 7, which does not exist"):
        open_as("yolo", pictures, labels=tmp_path / "truth", classes=tmp_path / "classes.txt")


def test_a_polygon_has_its_box_around_it(open_as: Callable, pictures: Path, tmp_path: Path) -> None:
    truth = tmp_path / "truth"
    truth.mkdir()
    (truth / "a.txt").write_text("1 0.1 0.2 0.5 0.2 0.5 0.8\n")
    found = open_as("yolo", pictures, labels=truth).samples[0].target
    assert found["boxes"] == [[10.0, 10.0, 50.0, 40.0]] and found["areas"] == [600.0] and "masks" not in found
    found = open_as("yolo", pictures, labels=truth, truth=("masks",)).samples[0].target
    assert found["masks"] == [[[10.0, 10.0, 50.0, 10.0, 50.0, 40.0]]]


def test_keypoints_stand_behind_the_box(open_as: Callable, pictures: Path, tmp_path: Path) -> None:
    truth = tmp_path / "truth"
    truth.mkdir()
    (truth / "a.txt").write_text("0 0.5 0.5 0.2 0.4 0.5 0.5 2 0.1 0.1 0\n")
    found = open_as("yolo", pictures, labels=truth, truth=("keypoints",)).samples[0].target
    assert found["boxes"] == [[40.0, 15.0, 60.0, 35.0]] and found["keypoints"] == [[50.0, 25.0, 2.0, 10.0, 5.0, 0.0]]


@pytest.mark.parametrize(
    ("line", "truth", "reason"),
    [
        ("0 0.5 0.5 0.2 0.4", "masks", "line 1 of a.txt has a box and no polygon"),
        ("0 0.5 0.5 0.2 0.4", "keypoints", "line 1 of a.txt has 0 numbers behind its box"),
        ("0 0.5 0.5 0.2 0.4 0.5 0.5", "keypoints", "line 1 of a.txt has 2 numbers behind its box"),
    ],
)
def test_what_the_task_needs_and_a_line_lacks_is_named(
    open_as: Callable, pictures: Path, tmp_path: Path, line: str, truth: str, reason: str
) -> None:
    (tmp_path / "truth").mkdir()
    (tmp_path / "truth" / "a.txt").write_text(line)
    with pytest.raises(DatasetError, match=reason):
        open_as("yolo", pictures, labels=tmp_path / "truth", truth=(truth,))


def voc(*things: str) -> str:
    return f"<annotation><size><width>100</width><height>50</height></size>{''.join(things)}</annotation>"


def thing(name: str, box: tuple[object, ...] = (1, 2, 30, 40), more: str = "") -> str:
    sides = "".join(f"<{side}>{at}</{side}>" for side, at in zip(("xmin", "ymin", "xmax", "ymax"), box, strict=False))
    return f"<object><name>{name}</name>{more}<bndbox>{sides}</bndbox></object>"


@pytest.fixture
def open_voc(open_as: Callable, pictures: Path, tmp_path: Path) -> Callable:
    def open_one(text: str) -> Any:
        truth = tmp_path / "truth"
        truth.mkdir(exist_ok=True)
        (truth / "a.xml").write_text(text)
        (truth / "b.xml").write_text(voc())
        return open_as("voc", pictures, labels=truth)

    return open_one


def test_vocs_classes_have_their_usual_numbers_and_others_that_of_the_alphabet(open_voc: Callable) -> None:
    usual = open_voc(voc(thing("cat"), thing("person", more="<difficult>1</difficult>")))
    assert usual.classes[7] == "cat" and usual.samples[0].target["classes"] == [7, 14]
    assert usual.samples[0].target["difficult"] == [False, True]
    assert open_voc(voc(thing("zebra"), thing("ant"))).classes == ["ant", "zebra"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (voc(thing("cat", (1, 2, 3))), "object 1 of a.xml has no `bndbox` of four numbers"),
        (voc(thing("", (1, 2, 3, 4))), "object 1 of a.xml has no `name`"),
        (voc(thing("cat", (900, 2, 950, 4))), "object 1 of a.xml in `a.jpg` lies outside the picture"),
        (voc().replace("100", "inf"), "a.xml does not say how large `a.jpg` is"),
        ("<annotation/>", "a.xml does not say how large `a.jpg` is"),
        ("<annotation>", "a.xml is not XML"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><annotation>&b;</annotation>', "a.xml declares entities"),
    ],
)
def test_an_annotation_of_voc_that_is_damaged_is_named(open_voc: Callable, text: str, message: str) -> None:
    with pytest.raises(DatasetError) as error:
        open_voc(text)
    assert message in error.value.message
