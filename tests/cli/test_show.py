"""`mlmodelscope show`: everything explicit, each value with its origin."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from mlmodelscope.cli.main import app
from mlmodelscope.manifest.load import parse_manifest

OLD = """\
name: old
version: 1.10
framework: {name: Caffe}
inputs: [{type: image, parameters: {dimensions: [3, 8, 8], scale: 255}}]
output: {type: feature}
model: {graph_path: https://example.org/net.pb}
attributes: {Top1: 0.6}
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.yml").write_text(OLD)
    return tmp_path


def show(*words: str, text: str | None = None) -> Result:
    done = CliRunner().invoke(app, ["show", *words], input=text)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def test_each_value_says_where_it_came_from(place: Path) -> None:
    text = show("old.yml").stdout
    assert "version: '1.10'  # line 2\n" in text and "job_type: inference  # default\n" in text
    assert "task: classification  # implied: is what V1's `output.type: feature` stands for\n" in text
    assert "method: bilinear  # implied: V1's agents interpolated bilinearly\n" in text
    assert "dimensions: [8, 8]  # line 4\n" in text and "exif: ignore  # default\n" in text
    assert "# implied: `layout` is not written" in text


def test_what_stands_among_an_outputs_steps_has_its_line(place: Path) -> None:
    shown = show("efficientnet-lite0").stdout
    written = Path(json.loads(show("efficientnet-lite0", "--json").stdout)["file"]).read_text().splitlines()
    for key in ("features_url", "features_checksum"):
        (line,) = [number for number, text in enumerate(written, 1) if text.strip().startswith(f"{key}:")]
        (found,) = [text for text in shown.splitlines() if text.strip().startswith(f"{key}:")]
        assert found.endswith(f"# line {line}")


def test_what_is_shown_is_a_manifest_that_means_the_same(place: Path) -> None:
    text = show("old.yml").stdout
    assert parse_manifest(text).digest == parse_manifest(OLD).digest
    assert f"# sha256:{parse_manifest(OLD).digest}\n" in text


def test_a_strangers_words_stay_inside_comments(place: Path) -> None:
    odd = OLD + 'modality: "a\\nname: b\\e[2J"\npreprocess: "def preprocess(): 0"\n'
    text = show("-", text=odd).stdout
    assert "\x1b" not in text and parse_manifest(text).name == "old"


def test_programs_get_json(place: Path) -> None:
    shown = json.loads(show("old.yml", "--json").stdout)
    assert (shown["kind"], shown["dialect"]) == ("model", "v1") and shown["origins"]["version"] == "line 2"
    assert shown["origins"]["inputs[0].processing[1].resize.method"].startswith("implied")
    assert {note["kind"] for note in shown["notes"]} == {"implied"}


def test_the_catalogue_is_searched_by_name_version_and_digest(place: Path) -> None:
    named = json.loads(show("mnist", "--json").stdout)
    assert named["kind"] == "dataset"
    assert json.loads(show(f"sha256:{named['digest'][:12]}", "--json").stdout) == named
    assert "no version of mnist satisfies ^9; there is 1.0.0" in show("mnist@^9").stderr
    assert "did you mean `mnist`" in show("mnits").stderr and show("mnits").exit_code == 2


def test_a_broken_file_is_told_as_elsewhere(place: Path) -> None:
    done = show("-", text=OLD.replace("255", "0"))
    assert done.exit_code == 1 and "(<stdin>:4:60)" in done.stderr
