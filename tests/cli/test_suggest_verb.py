"""`mlmodelscope suggest`: from claims of the shipped catalog and from records, with the evidence of each number."""

import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.command import Run, run_command
from small_world import DATASET, MODEL, write_pictures

CLAIM = "claims: [{metric: top1, value: 75.1, dataset: pictures, source: a paper}]\nlicense: MIT\n"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """The command where a model `toy` and a dataset `pictures` are among the manifests."""
    for kind in ("models", "datasets"):
        (tmp_path / "manifests" / kind).mkdir(parents=True)
    (tmp_path / "manifests" / "models" / "toy.json").write_text('{"shape": [null, 3, 8, 8], "classes": 10}')
    (tmp_path / "manifests" / "models" / "toy.yml").write_text(MODEL + CLAIM)
    (tmp_path / "manifests" / "datasets" / "pictures.yml").write_text(DATASET)
    write_pictures(tmp_path / "manifests" / "datasets" / "pictures", 12)
    variables = {
        "MLMODELSCOPE_HOME": str(tmp_path / "home"),
        "MLMODELSCOPE_CACHE": str(tmp_path / "cache"),
        "MLMODELSCOPE_MANIFESTS": str(tmp_path / "manifests"),
    }
    return partial(run_command, cwd=tmp_path, environment={**os.environ, **variables})


def asked(run: Run, *words: str) -> Any:
    done = run("suggest", *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_claims_are_suggested_with_their_line(run: Run) -> None:
    words = "--task classification --min-top1 84 --license permissive --max-parameters 30M --dataset imagenet-val"
    found = asked(run, *words.split(), "--limit", "50")
    (ranking,) = found["rankings"]
    assert ranking["fitting_total"] == len(ranking["fitting"]) > 10
    for each in ranking["fitting"]:
        assert each["accuracy"]["value"] >= 0.84 and each["parameters"]["value"] <= 30e6 and each["unknown"] == []
        assert each["accuracy"]["kind"] == "claimed" and ".csv:" in each["accuracy"]["source"]
    assert all(each["unknown"] == ["license"] for each in ranking["open"])


def test_the_wish_of_the_issue(run: Run) -> None:
    words = "suggest --task detection --min-ap 30 --max-latency 20ms --license permissive"
    done = run(*words.split())
    assert done.returncode == 0 and done.stdout.startswith("coco-val2017, ap in %\nmay fit")
    assert "latency, license" in done.stdout and "metafile.yml:" in done.stdout
    assert "0 fit" in done.stderr and "wish: object_detection, ap ≥ 30 %, latency ≤ 20 ms" in done.stderr


def test_short_and_long_bounds_mean_the_same(run: Run) -> None:
    words = ["--task", "classification", "--dataset", "imagenet-a"]
    texts = [
        run("suggest", *words, *more).stdout for more in (["--min-top1", "80"], ["--min-top1=80"], ["--min", "top1=80"])
    ]
    assert texts[0] == texts[1] == texts[2] != ""


def test_records_go_before_claims(run: Run) -> None:
    words = ["--task", "classification", "--dataset", "pictures"]
    (before,) = asked(run, *words)["rankings"]
    assert before["fitting"][0]["accuracy"]["kind"] == "claimed" and before["fitting"][0]["latency"] is None
    part = run("evaluate", "toy", "pictures", "--limit", "4", "--json")
    assert part.returncode == 0, part.stderr
    (still,) = asked(run, *words)["rankings"]
    assert still["fitting"][0]["accuracy"]["kind"] == "claimed"  # a part of a dataset does not tell of all of it
    record = json.loads(run("evaluate", "toy", "pictures", "--json").stdout)["id"]
    (after,) = asked(run, *words, "--max-latency", "10s")["rankings"]
    (toy,) = after["fitting"]
    assert toy["accuracy"]["kind"] == "measured" and f"record {record} on " in toy["accuracy"]["source"]
    assert "12 samples" in toy["accuracy"]["source"] and "stack " in toy["accuracy"]["source"]
    assert toy["latency"]["kind"] == "measured" and toy["latency"]["low"] <= toy["latency"]["value"]


def test_a_record_of_another_model_of_that_name_says_nothing(run: Run, tmp_path: Path) -> None:
    other = yaml.safe_load(MODEL) | {"description": "another"}
    other["source"]["graph_path"] = str(tmp_path / "manifests" / "models" / "toy.json")
    (tmp_path / "other.yml").write_text(yaml.safe_dump(other))
    assert run("evaluate", "other.yml", "pictures").returncode == 0
    (ranking,) = asked(run, "--task", "classification", "--dataset", "pictures")["rankings"]
    assert ranking["fitting"][0]["accuracy"]["kind"] == "claimed"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "needs a task or a metric"),
        ("--task detektion", "there is no task"),
        ("--task detection --max-latency 20", "which is not a time"),
        ("--task detection --max-size 20", "which is not a size"),
        ("--task detection --max-parameters lots", "which is not a number of parameters"),
        ("--task detection --min-app 30", "there is no metric `app`"),
        ("--task detection --min-ap", "which is not a number"),
        ("--task classification --min-top1 0.8", "is that a share"),
        ("--task detection --cost money", "is not a cost"),
        ("--task detection --limit 0", "limit"),
    ],
)
def test_a_wish_that_cannot_be_read(words: str, said: str, run: Run) -> None:
    done = run("suggest", *words.split())
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr


def test_nothing_known_is_told(run: Run) -> None:
    done = run("suggest", "--task", "classification", "--dataset", "none")
    assert done.returncode == 0 and "no model that is known here has a number of that metric on none" in done.stderr
    assert asked(run, "--task", "classification", "--dataset", "none")["rankings"] == []
