"""`predict` with segmenters, instances, keypoints, enhancers and taggers: tables, pictures, and all for programs."""

import base64
import json
from pathlib import Path

import pytest
from PIL import Image

from cli.command import Call
from seen_world import WORLDS

pytest.importorskip("onnxruntime")


def predicted(call: Call, folder: Path, task: str, *words: str) -> str:
    model, _ = WORLDS[task](folder / "world")
    return call("predict", str(model), str(model.parent / "pictures" / "1.png"), *words)


def table(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()[1:]]


def test_a_class_map_is_shares_of_pixels_the_largest_first(call: Call, tmp_path: Path) -> None:
    rows = table(predicted(call, tmp_path, "semantic_segmentation"))
    assert rows[0] == ["class", "share", "of", "pixels"]
    assert rows[1:-1] == [["background", "65.6", "%"], ["cat", "18.8", "%"], ["<b>dog</b>", "15.6", "%"]]


def test_instances_have_class_score_box_and_area(call: Call, tmp_path: Path) -> None:
    rows = table(predicted(call, tmp_path, "instance_segmentation"))
    assert rows[0] == ["class", "score", "box", "area"]
    assert rows[1] == ["class", "1", "0.900", "16.0,", "9.0", "–", "56.0,", "45.0", "1,132"] and len(rows) == 5


def test_keypoints_have_their_places(call: Call, tmp_path: Path) -> None:
    rows = table(predicted(call, tmp_path, "keypoint_detection"))
    assert rows[0] == ["class", "score", "box", "points"]
    assert rows[1][-4:] == ["24.0,14.0", "40.0,12.0", "52.0,20.0", "30.0,40.0"]


def test_an_enhanced_picture_has_a_size_and_a_range_of_values(call: Call, tmp_path: Path) -> None:
    text = predicted(call, tmp_path, "image_enhancement")
    assert "80 x 60 pixels" in text and "RGB" in text and "0 to 241" in text


def test_labels_have_scores(call: Call, tmp_path: Path) -> None:
    assert table(predicted(call, tmp_path, "multilabel_classification"))[:3] == [
        ["class", "score"],
        ["cat", "0.953"],
        ["dog", "0.731"],
    ]


@pytest.mark.parametrize("task", [each for each in WORLDS if each != "image_enhancement"])
def test_every_kind_of_answer_is_drawn_into_the_picture(call: Call, tmp_path: Path, task: str) -> None:
    assert "wrote seen.png" in predicted(call, tmp_path, task, "--draw", "seen.png")
    with Image.open(tmp_path / "seen.png") as seen, Image.open(tmp_path / "world/pictures/1.png") as plain:
        assert seen.width == plain.width
        # A legend of masks lies below the picture.
        assert (seen.height > plain.height) == (task in ("semantic_segmentation", "instance_segmentation"))
        assert seen.crop((0, 0, *plain.size)).tobytes() != plain.convert("RGB").tobytes()


def test_a_class_map_is_a_tint_of_its_classes(call: Call, tmp_path: Path) -> None:
    predicted(call, tmp_path, "semantic_segmentation", "--draw", "seen.png")
    with Image.open(tmp_path / "seen.png") as seen:
        assert seen.getpixel((1, 1)) == (0, 0, 0)  # the background is not painted
        assert seen.getpixel((20, 20)) == pytest.approx((14, 112, 110), abs=2)  # 150 of 255 of the second color


def test_an_enhanced_picture_is_written_as_it_is_and_beside_its_input(call: Call, tmp_path: Path) -> None:
    said = predicted(call, tmp_path, "image_enhancement", "--draw", "folder")
    assert "folder/1.png" in said and "folder/1-beside.png" in said
    with Image.open(tmp_path / "folder/1.png") as own, Image.open(tmp_path / "folder/1-beside.png") as beside:
        assert own.size == (80, 60) and beside.size == (162, 60)
        assert beside.crop((82, 0, 162, 60)).tobytes() == own.tobytes()
        with Image.open(tmp_path / "world/pictures/1.png") as plain:
            assert beside.crop((0, 0, 80, 60)).tobytes() == plain.tobytes()


@pytest.mark.parametrize(
    ("task", "fields"),
    [
        ("semantic_segmentation", {"height", "width", "no_class", "png"}),
        ("image_enhancement", {"height", "width", "channels", "form", "content"}),
        ("instance_segmentation", {"box", "class", "score", "label", "mask"}),
        ("keypoint_detection", {"box", "class", "score", "label", "keypoints"}),
        ("multilabel_classification", {"class", "score", "label"}),
    ],
)
def test_programs_get_the_whole_answer(call: Call, tmp_path: Path, task: str, fields: set[str]) -> None:
    (said,) = json.loads(predicted(call, tmp_path, task, "--json", "--threshold", "1"))
    answer = json.loads(said["answer"])
    first = answer[0] if isinstance(answer, list) else answer
    assert first.keys() == fields
    if "png" in fields:
        assert base64.b64decode(first["png"])[:4] == b"\x89PNG"


def test_places_that_cannot_be_written_are_refused_before_anything_runs(call: Call, tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_text("")
    (tmp_path / "plain").write_text("")
    where = call("predict", "no-such-model", "a.png", "--draw", "file.txt/deep/one.png", code=2)
    assert "is not a folder" in where
    assert "its name does not end in .png" in call("predict", "no-such-model", "a.png", "--draw", "plain", code=2)


def test_a_folder_without_permission_is_refused_before_anything_runs(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mlmodelscope.cli import prediction_drawing

    monkeypatch.setattr(prediction_drawing.os, "access", lambda place, mode: False)  # root may write everywhere
    text = call("predict", "no-such-model", "a.png", "--draw", "locked/one.png", code=2)
    assert "there is no permission to write" in text
