"""A stranger's task, one file for each place: evaluated, claimed, explained, reported, sharded, and resumed."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .counting import SAMPLES, lay_out

Run = Callable[..., subprocess.CompletedProcess[str]]
PACKAGE = ("mlmodelscope-toy", "1.2.3")
IN_PARTS = """
import sys
from mlmodelscope import Options, Settings, Store
from mlmodelscope.sharding import evaluate_shard, join_shards

settings = Settings.from_environment()
parts = [evaluate_shard("right.yml", "squares.yml", Options(), number, 3, settings=settings) for number in range(3)]
store = Store(settings)
sys.stdout.write(join_shards(parts, store).id)
store.close()
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lay_out(tmp_path_factory.mktemp("counting"))


@pytest.fixture(scope="module")
def run(place: Path, toy: Path) -> Run:
    environment = {
        **os.environ,
        "PYTHONPATH": str(toy),
        "MLMODELSCOPE_HOME": str(place / "home"),
        "MLMODELSCOPE_CACHE": str(place / "cache"),
    }

    def command(*words: str, exits: int = 0, **more: str) -> subprocess.CompletedProcess[str]:
        asked = [sys.executable, *(("-c", words[0]) if words[0] == IN_PARTS else ("-m", "mlmodelscope", *words))]
        done = subprocess.run(
            asked, cwd=place, env={**environment, **more}, capture_output=True, text=True, check=False
        )
        assert done.returncode == exits, done.stderr + done.stdout
        return done

    return command


@pytest.fixture(scope="module")
def record(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("evaluate", "right.yml", "squares.yml", "--json").stdout)
    return found


def samples_of(place: Path, record: str) -> bytes:
    (found,) = place.rglob(f"home/**/{record}/samples.parquet")
    return found.read_bytes()


def test_the_numbers_are_those_that_are_counted_by_hand(record: dict[str, Any]) -> None:
    """Taken down, one picture of eight is off by one square."""
    numbers = record["metrics"]
    assert (record["samples"], record["failed"]) == (SAMPLES, 0)
    assert {name: each["value"] for name, each in numbers.items()} == {
        "toy-count-error": 8 / 64,
        "toy-count-exact": 56 / 64,
    }
    error = numbers["toy-count-error"]
    assert (error["unit"], error["better"], error["samples"]) == ("number", "lower", SAMPLES)
    assert 0 < error["low"] < 8 / 64 < error["high"]
    counted = {name: count for name, count in record["details"].items() if name != "qualities"}
    assert counted == {"too_many": 0, "too_few": 8}


def test_the_plan_names_the_code_that_decides_answers_and_numbers(record: dict[str, Any]) -> None:
    used = {(each["kind"], each["name"]) for each in record["plan"]["plugins"]}
    task = {(kind, "toy_counting") for kind in ("readers", "rules", "tasks")}
    measures = {("measures", name) for name in ("toy-count-error", "toy-count-exact")}
    others = {("answer_steps", "toy_whole"), ("datasets", "toysquares"), ("predictors", "toylinear")}
    assert used == task | measures | others
    assert {(each["package"], each["version"]) for each in record["plan"]["plugins"]} == {PACKAGE}
    assert record["ruler"]["mlmodelscope-toy"] == "1.2.3" and record["ruler"]["numpy"]


def test_its_manifests_are_checked_shown_and_planned(run: Run, record: dict[str, Any]) -> None:
    run("check", "right.yml", "squares.yml")
    assert "toy_counting" in run("show", "right.yml").stdout
    planned = json.loads(run("plan", "right.yml", "squares.yml").stdout)
    assert planned["digest"] == record["plan_digest"]
    assert "toy_counting" in run("schema", "model").stdout


def test_claims_in_units_and_directions_of_their_own_are_reproduced(run: Run, record: dict[str, Any]) -> None:
    lines = run("replicate", "right.yml", "squares.yml").stdout.splitlines()
    assert lines[0].startswith("reproduced: mean count error 0.1250 is claimed on squares, measured 0.1250")
    assert lines[1].startswith("reproduced: exact counts 87.5 % is claimed on squares, measured 87.50 %")


def test_a_pitfall_of_its_own_explains_what_is_not_reproduced(run: Run) -> None:
    found = run("replicate", "wrong.yml", "squares.yml", exits=1).stdout
    assert "not reproduced: mean count error 0.1250 is claimed on squares, measured 0.5000 on all 64 samples." in found
    assert "toy-whole (down) explains the gap of +0.3750: with it, 0.1250 is measured." in found


def test_a_claim_that_says_the_wrong_direction_is_refused(run: Run, place: Path) -> None:
    text = (place / "right.yml").read_text().replace("better: lower", "better: higher")
    (place / "upside.yml").write_text(text)
    done = run("replicate", "upside.yml", "squares.yml", exits=3)
    assert "`toy-count-error` is better the lower it is, the claim says higher" in done.stderr


@pytest.mark.parametrize("form", ["html", "md", "csv", "json"])
def test_reports_show_it(run: Run, record: dict[str, Any], place: Path, form: str) -> None:
    run("report", record["id"], "--format", form, "--output", f"report.{form}")
    text = (place / f"report.{form}").read_text()
    if form == "csv":
        assert "0001," in text and '"{""count"": 2}","{""count"": 2.0}",1.0' in text
    elif form == "json":
        assert json.loads(text)["record"]["metrics"] == record["metrics"]
    else:
        assert "mean count error" in text and "0.125" in text and "87.5" in text and "toy_whole" in text
        assert form == "html" or "top_k" not in text  # a page holds the plan as well


def test_lists_comparisons_and_samples_speak_of_it(run: Run, record: dict[str, Any]) -> None:
    other = json.loads(run("evaluate", "wrong.yml", "squares.yml", "--json").stdout)
    assert "mean count error 0.1250" in run("records").stdout
    shown = run("records", "show", record["id"]).stdout
    assert "mean count error" in shown
    compared = run("compare", record["id"], other["id"]).stdout
    assert "the second is worse (mean count error +0.375, 95 %:" in compared


def test_a_prediction_needs_no_truth(run: Run, place: Path) -> None:
    from PIL import Image

    Image.new("L", (12, 12), 255).save(place / "bright.png")
    text = (place / "right.yml").read_text().replace("processing: {", "processing: {decode: {color_layout: GRAY}, ")
    (place / "decoding.yml").write_text(text)
    (found,) = json.loads(run("predict", "decoding.yml", "bright.png", "--json").stdout)
    assert json.loads(found["answer"]) == {"count": 9.0}


def test_parts_join_to_the_same_bytes(run: Run, record: dict[str, Any], place: Path) -> None:
    joined = run(IN_PARTS).stdout
    assert samples_of(place, joined) == samples_of(place, record["id"])


def test_another_version_is_another_plan(run: Run, record: dict[str, Any], toy: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(toy, tmp_path / "site")
    rule = tmp_path / "site" / "mlmodelscope_toy" / "rule.py"
    rule.write_text(rule.read_text() + "# a change\n")
    planned = json.loads(run("plan", "right.yml", "squares.yml", PYTHONPATH=str(tmp_path / "site")).stdout)
    assert planned["digest"] != record["plan_digest"]


def test_without_the_package_its_task_is_unknown(run: Run) -> None:
    done = run("evaluate", "right.yml", "squares.yml", exits=1, PYTHONPATH="")
    assert "unknown" in done.stderr and "`toy_counting`" in done.stderr and "Traceback" not in done.stderr
    assert "known: classification" in done.stderr
