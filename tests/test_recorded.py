"""Recorded answers are scored, claimed and replicated as if a model had made them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.evaluation import evaluate
from mlmodelscope.plan.claim import parse_claim
from mlmodelscope.plan.options import Options
from mlmodelscope.record.record import Record
from mlmodelscope.replicate.replication import replicate
from mlmodelscope.settings import Settings

TRUTH = {"a": 1.0, "b": 2.0, "c": 4.0, "d": 8.0}
ANSWERS = {"a": 1.5, "b": 2.0, "c": 3.5, "d": 8.5}


def world(place: Path, answers: str, name: str = "answers.csv", **more: object) -> tuple[Path, Path]:
    """A model manifest of recorded answers, and a dataset of four rows."""
    (place / name).write_text(answers)
    model = {
        "name": "published",
        "version": "1.0.0",
        "task": "regression",
        "framework": {"name": "recorded"},
        "source": {"graph_path": name},
        "outputs": [{"type": "number"}],
        **more,
    }
    (place / "model.yml").write_text(yaml.safe_dump(model))
    (place / "truth.csv").write_text("id,x,y\n" + "".join(f"{key},0,{value}\n" for key, value in TRUTH.items()))
    dataset = {
        "name": "four",
        "version": "1.0.0",
        "task": "regression",
        "format": "table",
        "columns": {"id": "id", "features": ["x"], "target": "y"},
        "sources": [{"url": "truth.csv"}],
        "size": 4,
    }
    (place / "four.yml").write_text(yaml.safe_dump(dataset))
    return place / "model.yml", place / "four.yml"


def evaluated(place: Path, settings: Settings, answers: str, name: str = "answers.csv", **more: object) -> Record:
    return evaluate(*world(place, answers, name, **more), Options(timed_runs=1), settings=settings)


PLAIN = "".join(f"{name},{value}\n" for name, value in ANSWERS.items())
NAMED = "note,prediction,sample\n" + "".join(f"-,{value},{name}\n" for name, value in ANSWERS.items())
LINES = "".join(json.dumps({"sample": name, "prediction": value}) + "\n" for name, value in ANSWERS.items())
BY_NAME: dict[str, object] = {
    "inputs": [{"type": "general", "layer_name": "sample"}],
    "outputs": [{"type": "number", "layer_name": "prediction"}],
}


@pytest.mark.parametrize(
    ("answers", "name", "more"),
    [
        (PLAIN, "a.csv", {}),
        (NAMED, "a.csv", BY_NAME),
        (LINES, "a.jsonl", BY_NAME),
        (PLAIN.replace(",", "\t"), "a.tsv", {}),
    ],
)
def test_they_are_scored_whatever_table_has_them(
    tmp_path: Path, settings: Settings, answers: str, name: str, more: dict[str, object]
) -> None:
    record = evaluated(tmp_path, settings, answers, name, **more)
    assert record.metrics["mae"].value == pytest.approx(0.375)
    assert record.metrics["mae"].samples == 4


def test_all_tables_of_a_folder_count(tmp_path: Path, settings: Settings) -> None:
    model, dataset = world(tmp_path, PLAIN, source={"graph_path": "parts"})
    (tmp_path / "parts").mkdir()
    for name, value in ANSWERS.items():
        (tmp_path / "parts" / f"{name}.csv").write_text(f"{name},{value}\n")
    assert evaluate(model, dataset, settings=settings).metrics["mae"].value == pytest.approx(0.375)


def test_a_claim_about_them_is_checked(tmp_path: Path, settings: Settings) -> None:
    model, dataset = world(tmp_path, PLAIN)
    done = replicate(model, dataset, claim=parse_claim("mae=0.375@four"), settings=settings)
    assert done.verdict.kind == "reproduced"
    wrong = replicate(model, dataset, claim=parse_claim("mae=0.125@four"), settings=settings)
    assert wrong.verdict.kind != "reproduced"


def test_a_sample_without_one_fails_and_says_so(tmp_path: Path, settings: Settings) -> None:
    record = evaluated(tmp_path, settings, PLAIN.replace("c,3.5\n", ""))
    assert record.metrics["mae"].samples == 3
    assert record.failed == 1


def numbered(*rows: tuple[object, object]) -> str:
    """As many programs write them: names of samples are numbers."""
    return "".join(json.dumps({"0": name, "1": answer}) + "\n" for name, answer in rows)


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        (PLAIN + "a,9\n", "two recorded answers for `a`"),
        ("a\nb\n", "line 1 of the recorded answers has no column `1`"),
        ('{"id": 1}\n[1]\n', "line 2 of the recorded answers is not an object"),
        ('{"id": 1\n', "line 1 of the recorded answers is not JSON"),
        (numbered((1, 1.0), (1, 100.0)), "two recorded answers for `1`"),
        (numbered((1, 1.0), ("1", 100.0)), "two recorded answers for `1`"),
        (numbered((1, 1.0), (1, True)), "two recorded answers for `1`"),
        (numbered(([1], 1.0)), r"line 1 of the recorded answers names no sample: \[1\] is neither"),
        (numbered((1, 1.0), (None, 1.0)), "line 2 of the recorded answers names no sample"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, settings: Settings, answers: str, reason: str) -> None:
    with pytest.raises(MLModelScopeError, match=reason):
        evaluated(tmp_path, settings, answers)


@pytest.mark.parametrize("answer", ["nan", "inf", "many", "", "1_000"])
def test_an_answer_that_is_no_number_is_a_failed_sample(tmp_path: Path, settings: Settings, answer: str) -> None:
    record = evaluated(tmp_path, settings, PLAIN.replace("c,3.5", f"c,{answer}"))
    assert record.failed == 1 and record.metrics["mae"].samples == 3


def test_the_same_answer_twice_is_one(tmp_path: Path, settings: Settings) -> None:
    record = evaluated(tmp_path, settings, PLAIN + "a,1.5\n")
    assert record.failed == 0 and record.metrics["mae"].value == pytest.approx(0.375)


def test_a_number_that_no_float_holds_is_a_failed_sample(tmp_path: Path, settings: Settings) -> None:
    answers = numbered(*ANSWERS.items()).replace("3.5", "1" + 400 * "0")
    record = evaluated(tmp_path, settings, answers)
    assert record.failed == 1 and "is not a number" in record.failures[0].reason


@pytest.mark.parametrize("answer", [["two"], {"text": "two"}, True])
def test_what_has_parts_is_no_text(tmp_path: Path, settings: Settings, answer: object) -> None:
    """Python would print it in brackets, and the brackets would be scored."""
    model, dataset = world(
        tmp_path,
        numbered(("a", "one"), ("b", answer), ("c", 3), ("d", None)),
        "a.jsonl",
        task="translation",
        outputs=[{"type": "text"}],
    )
    about = yaml.safe_load(dataset.read_text()) | {"task": "translation"}
    about["columns"] = {"id": "id", "text": "x", "target": "y"}
    dataset.write_text(yaml.safe_dump(about))
    record = evaluate(model, dataset, Options(timed_runs=1), settings=settings)
    assert [(each.sample, "is not a text" in each.reason) for each in record.failures] == [("b", True)]
