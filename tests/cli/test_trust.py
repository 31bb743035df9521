"""`trust` as people use it: what it remembers, and what it forgets."""

import json
from pathlib import Path

import pytest

from .command import Run

MODEL = """name: coded
version: 1.0.0
task: general
run: |
  def run(ctx, data):
      return data
postprocess: |
  def postprocess(ctx, data):
      return [len(open(p).read()) for p in data["data"]]
"""
DATA = "name: texts\nversion: 1.0.0\nformat: files\nsources: [{url: texts}]\n"


@pytest.fixture(autouse=True)
def manifests(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a").write_text("1234")
    (tmp_path / "my").mkdir()
    (tmp_path / "my" / "coded.yml").write_text(MODEL)
    (tmp_path / "texts.yml").write_text(DATA)
    environment["MLMODELSCOPE_MANIFESTS"] = str(tmp_path / "my")


def evaluate(run: Run, *words: str) -> int:
    return run("evaluate", "my/coded.yml", "texts.yml", *words).returncode


def test_trusted_code_runs_without_asking_until_a_letter_changes(run: Run, tmp_path: Path) -> None:
    assert evaluate(run) == 1
    done = run("trust", "my/coded.yml")
    assert done.returncode == 0 and done.stdout.startswith("trusted: ") and "coded@1.0.0" in done.stdout
    assert evaluate(run) == 0
    (tmp_path / "my" / "coded.yml").write_text(MODEL.replace("return data", "return data "))
    assert evaluate(run) == 1


def test_what_is_trusted_is_listed(run: Run) -> None:
    assert "no code is trusted" in run("trust").stdout
    (told,) = json.loads(run("trust", "coded", "--json").stdout)
    listed = json.loads(run("trust", "--json").stdout)
    assert list(listed) == [told["digest"]] and listed[told["digest"]]["name"] == "coded@1.0.0"
    assert told["digest"] in run("trust").stdout


@pytest.mark.parametrize("way", ["file", "name", "digest", "beginning"])
def test_trust_is_taken_back_in_any_way_it_was_given(run: Run, way: str) -> None:
    (told,) = json.loads(run("trust", "my/coded.yml", "--json").stdout)
    named = {"file": "my/coded.yml", "name": "coded", "digest": told["digest"], "beginning": told["digest"][:8]}
    done = run("trust", "--remove", named[way])
    assert done.returncode == 0 and "no longer trusted: " + told["digest"] in done.stdout
    assert evaluate(run) == 1


def test_the_digest_that_a_refusal_names_can_be_trusted(run: Run) -> None:
    (told,) = json.loads(run("trust", "my/coded.yml", "--json").stdout)
    run("trust", "--remove", told["digest"])
    assert run("trust", f"sha256:{told['digest']}").returncode == 0
    assert evaluate(run) == 0


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("texts.yml",), "texts@1.0.0 carries no code, so there is nothing to trust"),
        (("nothing-like-it",), "there is no manifest `nothing-like-it`"),
        (("--remove", "abcd"), "no trusted digest begins with abcd"),
        (("--remove", "nothing-like-it"), "there is no manifest `nothing-like-it`"),
    ],
)
def test_what_cannot_be_trusted_says_why(run: Run, words: tuple[str, ...], reason: str) -> None:
    done = run("trust", *words)
    assert done.returncode == 2 and reason in done.stderr and "Traceback" not in done.stderr


def test_a_broken_list_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "home" / "trusted.json").write_text('{"a": "b"}')
    for words in (("trust",), ("trust", "my/coded.yml"), ("evaluate", "my/coded.yml", "texts.yml")):
        done = run(*words)
        assert done.returncode == 1 and "trusted.json is not a list of trusted digests" in done.stderr
        assert "delete the file" in done.stderr


def test_trust_for_once_is_not_remembered(run: Run) -> None:
    assert evaluate(run, "--trust") == 0
    assert evaluate(run) == 1 and json.loads(run("trust", "--json").stdout) == {}
