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
SEVERAL = [
    {"metric": "top1", "value": "100.0", "dataset": "colours"},
    {"metric": "top5", "value": "99.0", "dataset": "colours"},
    {"metric": "class-accuracy", "value": "100", "dataset": "colours"},
    {"metric": "mood", "value": "5", "dataset": "colours"},
    {"metric": "top1", "value": "75.1", "dataset": "far"},
]


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
        ("several", describe_seer(tmp_path, "RGB") | {"claims": SEVERAL}),
        (
            "elsewhere",
            describe_seer(tmp_path, "RGB") | {"claims": [{"metric": "top1", "value": 75.1, "dataset": "far"}]},
        ),
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
        (("right.yml", "colours.yml", "--claim", "accuracy=90.0@colours"), 4, "better than claimed"),
        (("several.yml", "colours.yml"), 4, "reproduced: top-1 100.0 % is claimed"),
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
        (("elsewhere.yml", "colours.yml"), "--claim METRIC=VALUE@colours"),
        (("elsewhere.yml",), "seer claims top1 75.1 on far, and no manifest here describes that dataset"),
        (("seer.yml", "colours.yml", "--claim", "top1=much"), "is not a claim"),
        (("seer.yml", "colours.yml", "--claim", "map=40"), "cannot be checked"),
        (("seer.yml", "colours.yml", "--claim", "top1=99@colours", "--claim", "top5=100@colours"), "2 were given"),
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
    assert body["evidence"]["fixed"] == 8 and body["evidence"]["flips"][0]["seen"]["before"]["picture"]
    suite = ElementTree.parse(tmp_path / "out" / "junit.xml").getroot()
    assert suite.get("failures") == "1"
    assert "not reproduced" in (tmp_path / "summary.md").read_text()
    assert "<html" in (tmp_path / "out" / "page.html").read_text()


def test_what_was_seen_is_shown_in_the_terminal(run: Run) -> None:
    done = run("seer.yml", "colours.yml", "--claim", "top1=100@colours")
    assert "Of 12 samples, 8 become right" in done.stdout and "as the manifest says" in done.stdout
    assert "cost:" in done.stdout


def test_every_claim_about_the_dataset_is_judged(run: Run, tmp_path: Path) -> None:
    done = run("several.yml", "colours.yml", "--json", "--junit", "junit.xml", "--summary", "summary.md")
    body = json.loads(done.stdout)
    found = {each["claim"]["metric"]: each["verdict"] for each in body["verdicts"]}
    assert found == {"top1": "reproduced", "top5": "better than claimed", "class-accuracy": "reproduced"}
    assert (body["verdict"], body["claim"]["metric"]) == ("better than claimed", "top5") and done.exit_code == 4
    assert body["unchecked"] == ["mood 5 on colours: `mood` is not a number that can be measured here"]
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert [suite.get(name) for name in ("tests", "failures", "skipped")] == ["4", "1", "1"]
    summary = (tmp_path / "summary.md").read_text()
    assert "- reproduced: top-1 100.0 % is claimed" in summary and "- not checked: mood" in summary


def test_one_claim_that_fails_is_the_verdict_on_all(run: Run, tmp_path: Path) -> None:
    claims = [SEVERAL[0], {"metric": "top5", "value": "99.0", "dataset": "colours"}]
    manifest = describe_seer(tmp_path, "BGR") | {"claims": claims}  # top-1 is 33.3, top-5 of three classes always right
    (tmp_path / "false.yml").write_text(yaml.safe_dump(manifest))
    done = run("false.yml", "colours.yml", "--no-explain")
    assert done.exit_code == 1, done.output
    assert (
        done.stdout.startswith("not reproduced: top-1 100.0 %") and "better than claimed: top-5 99.0 %" in done.stdout
    )


def test_no_hint_moves_a_claim_to_another_dataset(run: Run) -> None:
    for words in (("elsewhere.yml",), ("elsewhere.yml", "far"), ("elsewhere.yml", "colours.yml")):
        said = run(*words).stderr
        assert "75.1@" not in said and "did you mean" not in said, said


def test_that_nothing_is_claimed_is_said_before_anything_runs(run: Run, tmp_path: Path) -> None:
    assert run("elsewhere.yml", "colours.yml").exit_code == 3
    assert not list((tmp_path / "home").glob("records/*"))


def test_without_a_dataset_it_is_the_one_that_the_claims_name(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLMODELSCOPE_MANIFESTS", str(tmp_path))
    assert run("several.yml").exit_code == 4  # three of its claims are about colours, one is about another
    assert run("seer.yml", "--claim", "top1=33.3@colours").exit_code == 0
    undecided = describe_seer(tmp_path, "RGB") | {"claims": [SEVERAL[0], SEVERAL[-1]]}
    (tmp_path / "undecided.yml").write_text(yaml.safe_dump(undecided))
    done = run("undecided.yml")
    assert done.exit_code == 3 and "claims numbers on colours and far: name one of these datasets" in done.stderr
