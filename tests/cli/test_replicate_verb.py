"""`mlmodelscope replicate`: exit codes, files for programs, and errors that say what to do."""

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from mlmodelscope.cli.main import app
from replicate.scenes import describe_colours, describe_seer

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The verb on a model that was told BGR (`seer.yml`) or RGB (`right.yml`) and pictures of three colours."""
    monkeypatch.setenv("MLMODELSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MLMODELSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for name, manifest in (
        ("seer", describe_seer(tmp_path)),
        ("right", describe_seer(tmp_path, "RGB")),
        ("colours", describe_colours(tmp_path)),
    ):
        (tmp_path / f"{name}.yml").write_text(yaml.safe_dump(manifest, sort_keys=False))

    def run(*words: str) -> Result:
        done = CliRunner().invoke(app, ["replicate", *words])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done

    return run


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("right.yml", "colours.yml", "--claim", "top1=100@colours"), 0, "reproduced"),
        (("right.yml", "colours.yml", "--claim", "accuracy=90.0@colours"), 0, "better than claimed"),
        (("seer.yml", "colours.yml", "--claim", "top1=100@colours"), 1, "RGB instead of BGR"),
        (("seer.yml", "colours.yml", "--claim", "top1=100@colours", "--no-explain"), 1, "not reproduced"),
        (("seer.yml", "colours.yml", "--claim", "top1=40@many-colours"), 2, "samples would decide"),
    ],
)
def test_the_exit_code_is_the_verdict(run: Run, words: tuple[str, ...], code: int, said: str) -> None:
    done = run(*words)
    assert done.exit_code == code, done.output
    assert said in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "no model is named"),
        (("nobody", "colours.yml"), "nobody"),
        (("seer.yml", "colours.yml"), "claims nothing"),
        (("seer.yml", "colours.yml", "--claim", "top1=much"), "is no claim"),
        (("seer.yml", "colours.yml", "--claim", "map=40"), "cannot be checked"),
        (("seer.yml", "colours.yml", "--log", "nothing.yml"), "nothing.yml"),
        (("seer.yml", "colours.yml", "--claim", "top1=100@colours", "--stacks", "nowhere"), "nowhere"),
        (("seer.yml", "colours.yml", "--claim", "top1=100@colours", "--report", "seer.yml/page.html"), "cannot write"),
    ],
)
def test_where_there_is_no_verdict_the_message_says_why(run: Run, words: tuple[str, ...], said: str) -> None:
    done = run(*words)
    assert done.exit_code == 3 and said in done.stderr, done.output


def test_programs_get_files_of_the_same(run: Run, tmp_path: Path) -> None:
    words = ("seer.yml", "colours.yml", "--claim", "top1=100@colours", "--json")
    done = run(*words, "--junit", "out/junit.xml", "--summary", "summary.md", "--report", "out/page.html")
    body = json.loads(done.stdout)
    assert body["verdict"] == "not reproduced" and body["explained_by"][0]["pitfalls"] == ["color-layout"]
    assert body["evidence"]["right_now"] == 8 and body["evidence"]["flips"][0]["seen"]["before"]["picture"]
    suite = ElementTree.parse(tmp_path / "out" / "junit.xml").getroot()
    assert suite.get("failures") == "1"
    assert "not reproduced" in (tmp_path / "summary.md").read_text()
    assert "<html" in (tmp_path / "out" / "page.html").read_text()


def test_what_was_seen_is_shown_in_the_terminal(run: Run) -> None:
    done = run("seer.yml", "colours.yml", "--claim", "top1=100@colours")
    assert "Of 12 samples, 8 become right" in done.stdout and "as the manifest says" in done.stdout
    assert "cost:" in done.stdout
