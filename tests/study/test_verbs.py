"""`study` and `sensitivity` as people and programs use them."""

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from mlmodelscope.cli.main import app
from mlmodelscope.study import STUDIES

MODEL = """
name: toy
version: 1.0.0
task: classification
framework: {name: fake}
inputs:
  - type: image
    processing: {decode: , resize: {dimensions: [8, 8]}, mean: 127.5, rescale: 127.5, layout: NCHW}
outputs: [{type: logits, processing: [softmax]}]
source: {graph_path: toy.json}
"""
DATASET = "name: pictures\nversion: 1.0.0\ntask: classification\nformat: folder\nsources: [{url: pictures}]\n"

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, make_pictures: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Run:
    make_pictures(9)
    (tmp_path / "toy.json").write_text(json.dumps({"shape": [None, 3, 8, 8], "classes": 10}))
    (tmp_path / "toy.yml").write_text(MODEL)
    (tmp_path / "pictures.yml").write_text(DATASET)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLMODELSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MLMODELSCOPE_CACHE", str(tmp_path / "cache"))
    return lambda *words: CliRunner().invoke(app, list(words))


def test_without_a_name_all_studies_are_listed(run: Run) -> None:
    shown = run("study")
    assert shown.exit_code == 0 and all(name in shown.stdout for name in STUDIES)
    assert [each["name"] for each in json.loads(run("study", "--json").stdout)][0] == "color-layout"


def test_a_study_prints_our_numbers_and_the_papers(run: Run) -> None:
    shown = run("study", "color-layout", "toy.yml", "pictures.yml", "--plot", "out.svg")
    assert shown.exit_code == 0, shown.output
    assert "BGR instead of RGB" in shown.stdout and "67.44 %" in shown.stdout and "Figure 3" in shown.stdout
    ElementTree.parse("out.svg")
    told = json.loads(run("study", "color-layout", "toy.yml", "pictures.yml", "--json").stdout)
    assert told["tables"]["accuracy"][1]["paper_top1"] == 0.6744


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["colour-layout"], "no study is called"),
        (["threads", "toy.yml", "pictures.yml", "--threads", "1,x"], "--threads takes whole numbers"),
        (["color-layout", "--threads", "2"], "has no meaning for the study"),
        (["color-layout", "toy.yml", "pictures.yml", "--plot", "out.png"], "is no .svg"),
        (["color-layout", "no-such-model"], "no-such-model"),
    ],
)
def test_a_wrong_request_says_what_is_wrong(words: list[str], said: str, run: Run) -> None:
    shown = run("study", *words)
    assert shown.exit_code != 0 and said in shown.output


def test_sensitivity_tells_programs_more(run: Run) -> None:
    shown = run("sensitivity", "toy.yml", "pictures.yml", "--pitfall", "color-layout", "--plot", "out.svg", "--json")
    (row,) = json.loads(shown.stdout)
    assert {"pitfall", "words", "value", "others", "difference", "gained", "lost", "samples", "same_as"} <= row.keys()
    assert row["difference_low"] <= row["difference"] <= row["difference_high"] and 0 < row["p_value"] <= 1
    ElementTree.parse("out.svg")


def test_sensitivity_says_so_when_nothing_changes(run: Run) -> None:
    shown = run("sensitivity", "toy.yml", "pictures.yml", "--pitfall", "exif")  # these pictures carry no orientation
    assert "no pitfall that could be tried changes any answer" in shown.stdout and "EXIF" in shown.stdout


def test_a_limit_draws_the_same_share_of_each_class(run: Run) -> None:
    (row,) = json.loads(
        run("sensitivity", "toy.yml", "pictures.yml", "--pitfall", "color-layout", "--limit", "6", "--json").stdout
    )
    assert row["samples"] == 6
