"""`overview`, and what `compare`, `records` and `log` make of every kind of record."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from small_world import DATASET, MODEL, write_pictures

from .command import Call, Run

QUICK = ("--budget", "0.3", "--processes", "1")

Answer = Callable[..., Any]


@pytest.fixture
def answer(run: Run) -> Answer:
    return lambda *words: json.loads(run(*words, "--json").stdout)


def test_an_overview_of_nothing_says_how_to_get_one(call: Call) -> None:
    assert "there are no records" in call("overview", code=2)
    assert "--measure needs the names" in call("overview", "--measure", code=2)
    assert "does not end in .html" in call("overview", "-o", "x.pdf", code=2)


def test_an_overview_lists_what_is_missing_and_measure_runs_it(call: Call, answer: Answer, evaluated: Path) -> None:
    found = answer("overview")["overview"]
    assert [row["missing"] for row in found[1]["table"]["rows"]] == ["online latency", "throughput"]
    shown = call("overview", "toy")
    assert "pictures@1.0.0" in shown and "bench toy.yml pictures.yml --scenario sweep" in shown
    assert "there are no records of toy@2.0.0" in call("overview", "toy@2.0.0", code=2)


def test_a_command_that_an_overview_names_can_be_typed(call: Call, answer: Answer, evaluated: Path) -> None:
    command = answer("overview")["overview"][1]["table"]["rows"][0]["command"].split()
    assert command[:2] == ["mlmodelscope", "bench"] and call(*command[1:], *QUICK)


def test_what_sensitivity_measured_on_its_way_is_shown_only_when_asked_for(
    call: Call, answer: Answer, evaluated: Path
) -> None:
    call("sensitivity", "toy.yml", "pictures.yml", "--limit", "4", "--pitfall", "color-layout")
    (dataset, _) = answer("overview")["overview"]
    assert [(row["samples"], row["part"]) for row in dataset["table"]["rows"]] == [(12, "all")]
    newest = answer("records", "list")[0]
    call("records", "delete", answer("records", "show", "latest")["id"], "--yes")
    assert newest["made_for"] == "sensitivity" and "there are no records" in call("overview", code=2)
    assert "4, a part" in call("overview", "--all")


def test_measure_makes_the_row_full(answer: Answer, toy: Path) -> None:
    words = ("overview", "toy.yml", "--dataset", "pictures.yml", "--measure", "--budget", "0.3", "-o", "out")
    found = answer(*words)["overview"]
    (row,) = found[0]["table"]["rows"]
    assert row["latency_ns"] > 0 and row["samples_per_s"] > 0 and row["optimal_batch"] >= 1
    assert row["latency_record"] and row["throughput_record"] and not found[1]["table"]["rows"]
    names = {path.name for path in (toy / "out").iterdir()}
    assert {"overview.html", "overview.md", "overview.csv", "overview.json", "latency-systems.svg"} <= names
    (line,) = csv.DictReader((toy / "out" / "overview.csv").read_text().splitlines())
    assert line["model"] == "toy@1.0.0" and line["latency_record"] == row["latency_record"]


def test_records_show_their_kind_and_can_be_chosen_by_it(call: Call, answer: Answer, measured: dict[str, str]) -> None:
    kinds = [row["kind"] for row in answer("records", "list")]
    assert kinds == ["profile"] * 3 + ["bench"] * 2 + ["evaluation"] * 2
    assert [row["scenario"] for row in answer("records", "list", "--kind", "bench")] == ["offline", "single-stream"]
    for kind, count in (("profile", 3), ("offline", 1), ("evaluation", 2)):
        assert len(answer("records", "list", "--kind", kind)) == count
    assert "bench, offline" in call("records", "list")
    assert "no such records" in call("records", "list", "--kind", "training")
    assert "did you mean `profile`" in call("records", "list", "--kind", "profil", code=2)


def test_a_log_is_of_answers(call: Call, measured: dict[str, str]) -> None:
    assert "is a bench: it has no answers" in call("log", measured["offline"], code=2)
    assert "is a profile: it has no answers" in call("log", measured["framework"], code=2)


def test_two_evaluations_are_compared_answer_by_answer(
    call: Call, answer: Answer, measured: dict[str, str], tmp_path: Path
) -> None:
    first, second = measured["evaluation"], measured["top 3"]
    found = answer("compare", first, second)
    assert found["answers"]["samples"] == 6 and found["answers"]["agree"]["value"] == 1.0
    assert "same answer: 100.0" in call("compare", first, second, "-o", "apart.html")
    assert (tmp_path / "apart.html").read_text().count('<svg class="plot"') == 1
    call("compare", first, second, "-o", "apart.csv")
    assert len(list(csv.reader((tmp_path / "apart.csv").read_text().splitlines()))) == 7


def test_answers_to_other_samples_are_not_compared(
    call: Call, answer: Answer, measured: dict[str, str], tmp_path: Path
) -> None:
    write_pictures(tmp_path / "others", 6)
    (tmp_path / "others.yml").write_text(DATASET.replace("pictures", "others"))
    first, second = measured["evaluation"], answer("evaluate", "toy.yml", "others.yml")["id"]
    assert "the answers are to different samples" in call("compare", first, second)
    assert "the answers are to different samples" in call("compare", first, second, "-o", "a.csv", code=2)


def test_two_profiles_are_compared_layer_by_layer(
    call: Call, answer: Answer, measured: dict[str, str], tmp_path: Path
) -> None:
    first, second = measured["cold"], measured["framework"]
    shown = answer("records", "show", first)
    assert shown["profile"]["cold"] and shown["profile"]["runs"] == 2
    found = answer("compare", first, second)["layers"]
    assert found["paired_by"] == "name" and len(found["layers"]) == 4
    shown = call("compare", first, second, "-o", "layers.html")
    assert "first call of a process" in shown and "paired by name" in shown
    assert "One run of each" in (tmp_path / "layers.html").read_text()
    assert "with another profile only" in call("compare", first, measured["offline"], code=2)


def test_a_cold_profile_shows_layers_only(call: Call, toy: Path) -> None:
    wrong = call("profile", "toy.yml", "pictures.yml", "--cold", "--level", "library", code=2)
    assert "--cold goes with the level framework only" in wrong


def test_a_model_without_samples_is_given_random_tensors(call: Call, answer: Answer, toy: Path) -> None:
    found = answer("bench", "toy.yml", "--random", *QUICK)
    assert found["bench"]["random"] == {} and found["plan"]["dataset"]["name"] == "random"
    assert "the model was given random tensors" in found["notes"] and found["bench"]["measured"]["queries"] > 0
    told = call("report", "latest", "--format", "md", "-o", "-")
    assert "mlmodelscope bench toy@1.0.0 --random --scenario single-stream" in told


def test_open_sizes_must_be_said(call: Call, answer: Answer, toy: Path) -> None:
    (toy / "open.json").write_text(json.dumps({"shape": [None, 3, None, None], "classes": 10}))
    (toy / "open.yml").write_text(MODEL.replace("toy.json", "open.json").replace("toy", "open"))
    assert "say them with --shape" in call("bench", "open.yml", "--random", *QUICK, code=1)
    found = answer("bench", "open.yml", "--random", "--shape", "1,3,16,16", "--batch-size", "2", *QUICK)
    assert found["bench"]["random"] == {"": [1, 3, 16, 16]} and found["bench"]["measured"]["batch_size"] == 2
    assert "no input `inptu`" in call("bench", "open.yml", "--random", "--shape", "inptu=1,3,8,8", code=1)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--shape", "1,3,8,8"), "--shape goes with --random only"),
        (("--random", "--shape", "x=1,a"), "`x=1,a` is no shape"),
        (("--random", "--end-to-end"), "goes without --end-to-end"),
        (("pictures.yml", "--random"), "goes without a dataset"),
    ],
)
def test_what_does_not_go_together_is_said(call: Call, toy: Path, words: tuple[str, ...], why: str) -> None:
    assert why in call("bench", "toy.yml", *words, code=2)


@pytest.mark.parametrize(
    ("verb", "place"), [("bench", "mlmodelscope.benching.bench"), ("profile", "mlmodelscope.profiling.profile")]
)
def test_what_was_interrupted_is_not_said_to_go_on(
    call: Call, toy: Path, verb: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(place, interrupted)
    assert "nothing was kept" in call(verb, "toy.yml", "pictures.yml", code=130)
