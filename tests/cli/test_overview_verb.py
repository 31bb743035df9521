"""`overview`, and what `compare`, `records` and `log` make of every kind of record."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from mlmodelscope import Settings
from mlmodelscope.cli.main import app

from .toy import DATASET, MODEL

QUICK = ("--budget", "0.3", "--processes", "1")


@pytest.fixture(autouse=True)
def world(
    make_pictures: Callable[..., Path], tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Path:
    (tmp_path / "graph.json").write_text(json.dumps({"shape": [None, 3, 8, 8], "classes": 10, "layers": 4}))
    (tmp_path / "open.json").write_text(json.dumps({"shape": [None, 3, None, None], "classes": 10}))
    (tmp_path / "model.yml").write_text(MODEL)
    (tmp_path / "open.yml").write_text(MODEL.replace("graph.json", "open.json").replace("toy", "open"))
    (tmp_path / "data.yml").write_text(DATASET)
    make_pictures(6)
    monkeypatch.setenv("MLMODELSCOPE_HOME", str(settings.home))
    monkeypatch.setenv("MLMODELSCOPE_CACHE", str(settings.cache))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*words: str, code: int = 0) -> Result:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == code, done.output
    return done


def answer(*words: str) -> Any:
    return json.loads(call(*words, "--json").stdout)


def test_an_overview_of_nothing_says_how_to_get_one() -> None:
    assert "there are no records" in call("overview", code=2).output
    assert "--measure needs the names" in call("overview", "--measure", code=2).output
    assert "does not end in .html" in call("overview", "-o", "x.pdf", code=2).output


def test_an_overview_lists_what_is_missing_and_measure_runs_it(world: Path) -> None:
    call("evaluate", "model.yml", "data.yml")
    found = answer("overview")["overview"]
    assert [row["missing"] for row in found[1]["table"]["rows"]] == ["online latency", "throughput"]
    assert "bench toy@1.0.0 pictures@1.0.0 --scenario sweep" in call("overview", "toy").output
    assert "there are no records of toy@2.0.0" in call("overview", "toy@2.0.0", code=2).output


def test_measure_makes_the_row_full(world: Path) -> None:
    words = ("overview", "model.yml", "--dataset", "data.yml", "--measure", "--budget", "0.3", "-o", "out")
    found = answer(*words)["overview"]
    (row,) = found[0]["table"]["rows"]
    assert row["latency_ns"] > 0 and row["samples_per_s"] > 0 and row["optimal_batch"] >= 1
    assert row["latency_record"] and row["throughput_record"] and not found[1]["table"]["rows"]
    names = {path.name for path in (world / "out").iterdir()}
    assert {"overview.html", "overview.md", "overview.csv", "overview.json", "latency-systems.svg"} <= names
    (line,) = csv.DictReader((world / "out" / "overview.csv").read_text().splitlines())
    assert line["model"] == "toy@1.0.0" and line["latency_record"] == row["latency_record"]


def test_records_show_their_kind_and_can_be_chosen_by_it() -> None:
    call("evaluate", "model.yml", "data.yml")
    call("bench", "model.yml", "data.yml", *QUICK)
    call("bench", "model.yml", "data.yml", "--scenario", "offline", *QUICK)
    call("profile", "model.yml", "data.yml", "--runs", "2")
    assert [row["kind"] for row in answer("records", "list")] == ["profile", "bench", "bench", "evaluation"]
    assert [row["scenario"] for row in answer("records", "list", "--kind", "bench")] == ["offline", "single-stream"]
    for kind in ("profile", "offline", "evaluation"):
        assert len(answer("records", "list", "--kind", kind)) == 1
    assert "bench, offline" in call("records", "list").output
    assert "no such records" in call("records", "list", "--kind", "training").output
    assert "did you mean `profile`" in call("records", "list", "--kind", "profil", code=2).output


def test_a_log_is_of_answers() -> None:
    call("bench", "model.yml", "data.yml", *QUICK)
    assert "is a bench: it has no answers" in call("log", "latest", code=2).output
    call("profile", "model.yml", "data.yml", "--runs", "2")
    assert "is a profile: it has no answers" in call("log", "latest", code=2).output


def test_two_evaluations_are_compared_answer_by_answer(world: Path) -> None:
    first = answer("evaluate", "model.yml", "data.yml")["id"]
    second = answer("evaluate", "model.yml", "data.yml", "--top-k", "3")["id"]
    found = answer("compare", first, second)
    assert found["answers"]["samples"] == 6 and found["answers"]["agree"]["value"] == 1.0
    assert "same answer: 100.0" in call("compare", first, second, "-o", "apart.html").output
    assert (world / "apart.html").read_text().count('<svg class="plot"') == 1
    call("compare", first, second, "-o", "apart.csv")
    assert len(list(csv.reader((world / "apart.csv").read_text().splitlines()))) == 7


def test_answers_to_other_samples_are_not_compared(world: Path, make_pictures: Callable[..., Path]) -> None:
    make_pictures(6, name="others")
    (world / "others.yml").write_text(DATASET.replace("pictures", "others"))
    first = answer("evaluate", "model.yml", "data.yml")["id"]
    second = answer("evaluate", "model.yml", "others.yml")["id"]
    assert "the answers are to different samples" in call("compare", first, second).output
    assert "the answers are to different samples" in call("compare", first, second, "-o", "a.csv", code=2).output


def test_two_cold_profiles_are_compared_layer_by_layer(world: Path) -> None:
    first = answer("profile", "model.yml", "data.yml", "--cold", "--runs", "2")
    assert first["profile"]["cold"] and first["profile"]["runs"] == 2 and len(first["layers"]) == 4
    second = answer("profile", "model.yml", "data.yml", "--runs", "2")
    found = answer("compare", first["record"], second["record"])["layers"]
    assert found["paired_by"] == "name" and len(found["layers"]) == 4
    shown = call("compare", first["record"], second["record"], "-o", "layers.html").output
    assert "first call of a process" in shown and "paired by name" in shown
    assert "One run of each" in (world / "layers.html").read_text()
    bench = answer("bench", "model.yml", "data.yml", *QUICK)["id"]
    assert "with another profile only" in call("compare", first["record"], bench, code=2).output


def test_a_cold_profile_shows_layers_only() -> None:
    wrong = call("profile", "model.yml", "data.yml", "--cold", "--level", "library", code=2)
    assert "--cold goes with the level framework only" in wrong.output


def test_a_model_without_samples_is_given_random_tensors() -> None:
    found = answer("bench", "model.yml", "--random", *QUICK)
    assert found["bench"]["random"] == {} and found["plan"]["dataset"]["name"] == "random"
    assert "the model was given random tensors" in found["notes"] and found["bench"]["measured"]["queries"] > 0
    told = call("report", "latest", "--format", "md", "-o", "-").stdout
    assert "mlmodelscope bench toy@1.0.0 --random --scenario single-stream" in told


def test_open_sizes_must_be_said() -> None:
    assert "say them with --shape" in call("bench", "open.yml", "--random", *QUICK, code=1).output
    found = answer("bench", "open.yml", "--random", "--shape", "1,3,16,16", "--batch-size", "2", *QUICK)
    assert found["bench"]["random"] == {"": [1, 3, 16, 16]} and found["bench"]["measured"]["batch_size"] == 2
    assert "no input `inptu`" in call("bench", "open.yml", "--random", "--shape", "inptu=1,3,8,8", code=1).output


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--shape", "1,3,8,8"), "--shape goes with --random only"),
        (("--random", "--shape", "x=1,a"), "`x=1,a` is no shape"),
        (("--random", "--end-to-end"), "goes without --end-to-end"),
        (("data.yml", "--random"), "goes without a dataset"),
    ],
)
def test_what_does_not_go_together_is_said(words: tuple[str, ...], why: str) -> None:
    assert why in call("bench", "model.yml", *words, code=2).output


@pytest.mark.parametrize(
    ("verb", "place"), [("bench", "mlmodelscope.benching.bench"), ("profile", "mlmodelscope.profiling.profile")]
)
def test_what_was_interrupted_is_not_said_to_go_on(verb: str, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(place, interrupted)
    assert "nothing was kept" in call(verb, "model.yml", "data.yml", code=130).output
