"""`predict` with a model that finds things: a table, a picture, or everything for programs; and forms of reports."""

import json
from pathlib import Path

import pytest

from cli.command import Call
from detector_world import write_detector
from mlmodelscope.report import drawing


@pytest.fixture
def finder(tmp_path: Path) -> str:
    return str(write_detector(tmp_path)[0])


def test_what_was_found_is_a_table(finder: str, call: Call) -> None:
    text = call("predict", finder, "things/0003.png", "--threshold", "0")
    lines = text.splitlines()
    assert lines[1].split() == ["class", "score", "box"]
    assert len(lines) == 2 + 4 + 1 and "0.0, 0.0 – 32.0, 24.0" in text


def test_what_is_left_out_is_said(finder: str, call: Call) -> None:
    text = call("predict", finder, "things/0003.png", "--threshold", "1.01")
    assert "all 4 answers have a score below 1.01; --threshold 0 shows all" in text


def test_programs_get_every_digit_and_every_answer(finder: str, call: Call) -> None:
    said = json.loads(call("predict", finder, "things/0003.png", "--json", "--threshold", "1.01"))[0]
    assert set(said) == {"image", "classes", "names", "scores", "error", "answer", "stages", "value", "prompt"}
    found = json.loads(said["answer"])
    assert len(found) == 4 and found[0].keys() == {"box", "class", "score", "label"} and said["value"] == found


def test_boxes_are_drawn_into_a_file_or_a_folder(finder: str, call: Call, tmp_path: Path) -> None:
    from PIL import Image

    call("predict", finder, "things/0003.png", "--draw", "seen.png", "--threshold", "0")
    with Image.open(tmp_path / "seen.png") as seen, Image.open(tmp_path / "things" / "0003.png") as plain:
        assert seen.size == plain.size and seen.convert("RGB").tobytes() != plain.convert("RGB").tobytes()
    assert "wrote" in call("predict", finder, "things/0003.png", "things/0004.png", "--draw", "folder")
    assert sorted(each.name for each in (tmp_path / "folder").iterdir()) == ["0003.png", "0004.png"]


def test_what_cannot_be_drawn_is_refused_before_anything_runs(
    finder: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "--draw FOLDER" in call("predict", finder, "a.png", "b.png", "--draw", "one.png", code=2)
    assert "--draw writes PNG files, not .jpg" in call("predict", finder, "a.png", "--draw", "one.jpg", code=2)
    monkeypatch.setattr(drawing.importlib.util, "find_spec", lambda name: None)
    text = call("predict", finder, "a.png", "--draw", "one.png", code=2)
    assert "drawing needs Pillow" in text and "pip install" in text


def test_a_report_has_the_form_that_its_file_is_named_for(finder: str, call: Call, tmp_path: Path) -> None:
    call("evaluate", finder, "things.yml")
    for name, begin in {
        "a.csv": "id,digest",
        "a.md": "## finder",
        "a.json": '{"record"',
        "a.html": "<!doctype",
    }.items():
        call("report", "latest", "--output", name)
        assert (tmp_path / name).read_text().startswith(begin)
    call("report", "latest", "--format", "md", "--output", "b.csv")
    assert (tmp_path / "b.csv").read_text().startswith("## finder")


def test_samples_that_are_not_simply_wrong_come_the_worst_first(finder: str, call: Call) -> None:
    call("evaluate", finder, "things.yml")
    lines = call("records", "show", "latest", "--wrong").splitlines()
    assert len(lines) == 12 and "cat, dog → " in lines[0]
    found = json.loads(call("records", "show", "latest", "--wrong", "--json"))
    assert [each["quality"] for each in found] == sorted(each["quality"] for each in found)
    assert call("records", "show", "latest", "--failed") == ""
