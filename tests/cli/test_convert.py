"""`mlmodelscope convert` as people use it: one file, many, in place, in a pipe."""

import json
import os
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from mlmodelscope.cli.main import app
from mlmodelscope.manifest.load import load_manifest

OLD = """\
# the old form
name: old
version: 1.0
framework: {name: Caffe, version: 1.0}
inputs: [{type: image, parameters: {dimensions: [3, 8, 8], scale: 255}}] # one
output: {type: feature, parameters: {probailities_layer: prob}}
model: {graph_path: nets/net.prototxt}
"""
CODE = """\
name: carrier
version: 1.0.0
framework: {name: PyTorch}
modality: image_classification
inputs: [{type: image}]
outputs: [{type: classification}]
preprocess: |
  def preprocess(ctx, data):
    return data
model: {graph_path: net.pt}
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.yml").write_text(OLD)
    (tmp_path / "code.yml").write_text(CODE)
    (tmp_path / "bad.yml").write_text(OLD.replace("scale: 255", "scale: 0"))
    (tmp_path / "out").mkdir()
    return tmp_path


def convert(*words: str, text: str | None = None) -> Result:
    done = CliRunner().invoke(app, ["convert", *words], input=text)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def test_a_manifest_is_printed_in_todays_form(place: Path) -> None:
    done = convert("old.yml")
    assert done.exit_code == 0 and done.stdout.startswith("# the old form\nname: old\nversion: 1.0\ntask:")
    assert "note: old.yml: the key `probailities_layer` is read as `probabilities_layer` (line 6)" in done.stderr
    assert "V1's agents" in convert("old.yml", "--explain").stdout


def test_code_may_move_to_another_line(place: Path) -> None:
    done = convert("code.yml")
    assert done.exit_code == 0 and "gets: sample" in done.stdout


def test_standard_input_goes_to_standard_output_or_a_file(place: Path) -> None:
    assert convert("-", text=OLD).stdout == convert("old.yml").stdout
    assert convert("-", "-o", "new.yml", text=OLD).exit_code == 0
    assert (place / "new.yml").read_text() == convert("old.yml").stdout
    assert convert("-", "-o", "out", text=OLD).exit_code == 2


def test_in_place_keeps_mode_and_links(place: Path) -> None:
    os.chmod("old.yml", 0o640)
    os.symlink("old.yml", "link.yml")
    before = load_manifest("old.yml")
    assert convert("link.yml", "code.yml", "--in-place").exit_code == 0
    assert Path("link.yml").is_symlink() and stat.S_IMODE(os.stat("old.yml").st_mode) == 0o640
    assert load_manifest("old.yml") == before and Path("old.yml").read_text().count("# one") == 1
    assert sorted(path.name for path in place.iterdir()) == ["bad.yml", "code.yml", "link.yml", "old.yml", "out"]


def test_nothing_is_overwritten_unasked(place: Path) -> None:
    assert convert("old.yml", "-o", "code.yml").exit_code == 2
    assert (place / "code.yml").read_text() == CODE
    assert convert("old.yml", "-o", "code.yml", "--force").exit_code == 0


def test_files_that_were_beside_it_are_mentioned(place: Path) -> None:
    assert "lead elsewhere from out/old.yml" in convert("old.yml", "-o", "out").stderr
    assert "elsewhere" not in convert("old.yml", "-o", "beside.yml").stderr


def test_several_need_a_folder_and_names_of_their_own(place: Path) -> None:
    assert convert("old.yml", "code.yml").exit_code == 2
    (place / "other").mkdir()
    (place / "other" / "old.yml").write_text(OLD)
    assert "several of these" in convert("old.yml", "other/old.yml", "-o", "out").stderr
    assert not list((place / "out").iterdir())
    assert convert("old.yml", "--in-place", "-o", "out").exit_code == 2


def test_a_broken_one_is_told_with_its_own_lines_and_stops_no_other(place: Path) -> None:
    done = convert("bad.yml", "none.yml", "old.yml", "-o", "out")
    assert done.exit_code == 1 and (place / "out" / "old.yml").exists() and not (place / "out" / "bad.yml").exists()
    assert "a divisor cannot be 0" in done.stderr and "(bad.yml:5:60)" in done.stderr and "No such file" in done.stderr


def test_programs_get_json(place: Path) -> None:
    done = convert("old.yml", "bad.yml", "-o", "out", "--json")
    first, second = json.loads(done.stdout)
    assert (first["dialect"], first["kind"], first["written"]) == ("v1", "model", "out/old.yml")
    assert first["text"] == (place / "out" / "old.yml").read_text() and "divisor" in second["error"]


def test_a_place_that_cannot_be_written_is_said(place: Path) -> None:
    done = convert("old.yml", "-o", "nowhere/new.yml")
    assert done.exit_code == 1 and "cannot write nowhere/new.yml" in done.stderr


@pytest.fixture
def tree(place: Path) -> Path:
    """Manifests in folders, one of them broken, beside YAML of other programs."""
    for name in ("a", "a/b", ".hidden"):
        (place / "in" / name).mkdir(parents=True, exist_ok=True)
        (place / "in" / name / "old.yml").write_text(OLD)
    (place / "in" / "bad.yaml").write_text(OLD.replace("scale: 255", "scale: 0"))
    (place / "in" / "torn.yml").write_text("name: [")
    (place / "in" / "ci.yml").write_text("on: push\njobs: {test: {runs-on: x}}\n")
    (place / "in" / "list.yml").write_text("- 1\n- 2\n")
    return place / "in"


def test_a_folder_is_converted_into_a_folder(tree: Path) -> None:
    done = convert("in", "-o", "new")
    assert done.exit_code == 1 and done.stdout.endswith("2 converted, 2 failed, 2 other YAML files skipped\n")
    written = sorted(str(path.relative_to("new")) for path in Path("new").rglob("*") if path.is_file())
    assert written == ["a/b/old.yml", "a/old.yml"]
    assert "a divisor cannot be 0" in done.stderr and "torn.yml" in done.stderr
    assert load_manifest("new/a/old.yml").name == "old"


def test_globs_keep_the_folders_below_what_they_name(tree: Path) -> None:
    assert convert("in/**/old.yml", "-o", "new").exit_code == 0
    assert Path("new/a/old.yml").exists() and Path("new/a/b/old.yml").exists()
    none = convert("in/**/nothing.yml", "-o", "new")
    assert none.exit_code == 2 and "no .yml or .yaml file matches" in none.stderr


def test_a_second_run_neither_overwrites_nor_converts_its_own_files(tree: Path) -> None:
    assert convert("in/a", "-o", "in/a/new").exit_code == 0
    again = convert("in/a", "-o", "in/a/new")
    assert again.exit_code == 1 and again.stderr.count("is there already") == 2
    assert again.stdout.endswith("0 converted, 2 failed\n")
    assert convert("in/a", "-o", "in/a/new", "--force").stdout.endswith("2 converted, 0 failed\n")
    assert len(list(Path("in/a/new").rglob("*.yml"))) == 2


def test_a_folder_needs_a_place_for_its_files(tree: Path) -> None:
    for words in (["in"], ["in/a", "-o", "old.yml"]):
        done = convert(*words)
        assert done.exit_code == 2 and "need --in-place, or a folder as --output" in done.stderr
    assert (Path("old.yml").read_text()) == OLD
    empty = convert(".hidden-not-there", "old.yml", "-o", "out")
    assert empty.exit_code == 1 and Path("out/old.yml").exists()


def test_a_folder_is_converted_in_place(tree: Path) -> None:
    done = convert("in/a", "--in-place")
    assert done.exit_code == 0 and done.stdout.endswith("2 converted, 0 failed\n")
    assert "task:" in Path("in/a/b/old.yml").read_text() and Path("in/ci.yml").read_text().startswith("on: push")


def test_programs_get_every_file_of_a_folder(tree: Path) -> None:
    results = json.loads(convert("in", "-o", "new", "--json").stdout)
    assert len(results) == 4 and sum("error" in each for each in results) == 2
