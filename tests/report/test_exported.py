"""Records of language models in the forms of other harnesses: their own readers open them."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import language_world
from mlmodelscope import Options, Settings, evaluate
from mlmodelscope.errors import UsageError
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.report.report import write_report

PEER = os.environ.get("MLMODELSCOPE_LM_EVAL", "")
LINES = ["the cat sat on the mat\n", "the dog sat on the rug\n"]
CHOICES = [
    {"start": "the cat sat on", "a": "the mat", "b": "mat the", "label": 0},
    {"start": "the dog sat on", "a": "the rug", "b": "gur eht", "label": 1},
    {"start": "the dog", "a": "sat", "b": "é", "label": 0},
]
READ = """
import json, sys
from inspect_ai.log import read_eval_log
from lm_eval.utils import make_table
log = read_eval_log(sys.argv[1])
assert log.status == "success" and len(log.samples) == 3, log.status
metric = log.results.scores[0].metrics[sys.argv[3]].value
table = make_table(json.load(open(sys.argv[2])))
print(json.dumps({"metric": metric, "table": table, "answer": log.samples[0].output.completion}))
"""


def settings(folder: Path) -> Settings:
    return Settings(folder / "home", folder / "cache")


def record_of(folder: Path, task: str = "multiple_choice") -> Record:
    model = language_world.write_arpa(folder / "pets.arpa", [language_world.pieces_of(each, ["the"]) for each in LINES])
    documents = language_world.write_documents(folder / "ends.jsonl", CHOICES)
    asked: dict[str, Any] = {"question": "{{start}}", "choices": ["{{a}}", "{{b}}"], "answer": "label"}
    if task == "language_modeling":
        asked = {"answer": "start"}
    if task == "text_generation":
        asked = {"question": "{{start}}", "answer": "a"}
    ask = {"longest": 4} if task == "text_generation" else None
    dataset = language_world.dataset_of(documents, task, asked, ask)
    return evaluate(language_world.model_of(model), dataset, Options(), settings=settings(folder))


def written(record: Record, folder: Path, form: str) -> str:
    found = settings(folder)
    return write_report(record, Store(found), ArtifactStore(found), form)


def test_results_have_the_harness_names_and_errors(tmp_path: Path) -> None:
    record = record_of(tmp_path)
    found = json.loads(written(record, tmp_path, "lm-eval"))
    scores = found["results"]["ends"]
    assert scores["acc,none"] == record.metrics["choice-accuracy"].value == pytest.approx(2 / 3)
    assert scores["acc_stderr,none"] == pytest.approx(1 / 3)
    assert scores["acc_norm,none"] == record.metrics["choice-accuracy-characters"].value
    assert found["n-samples"]["ends"] == {"original": 3, "effective": 3} and found["n-shot"]["ends"] == 0
    assert found["configs"]["ends"]["output_type"] == "multiple_choice"


def test_samples_have_what_was_right_and_what_was_said(tmp_path: Path) -> None:
    record = record_of(tmp_path)
    first, second, _ = map(json.loads, written(record, tmp_path, "lm-eval-samples").splitlines())
    assert first["doc_id"] == 0 and first["target"] == 0 and second["target"] == 1
    assert [each[0][1] for each in first["resps"]] == [True, False]
    assert first["doc"]["sha256"] == first["doc_hash"] and len(first["target_hash"]) == 64


@pytest.mark.parametrize("task", ["multiple_choice", "language_modeling", "text_generation"])
def test_every_task_of_language_models_has_every_form(task: str, tmp_path: Path) -> None:
    record = record_of(tmp_path, task)
    log = json.loads(written(record, tmp_path, "inspect"))
    assert log["version"] == 2 and len(log["samples"]) == 3
    assert set(log["results"]["scores"][0]["metrics"]) == set(record.metrics)
    assert len(written(record, tmp_path, "lm-eval-samples").splitlines()) == 3
    assert json.loads(written(record, tmp_path, "lm-eval"))["results"]


def test_a_failed_sample_is_an_error_and_no_score(tmp_path: Path) -> None:
    model = language_world.write_arpa(tmp_path / "a.arpa", [["a"]])
    documents = language_world.write_documents(
        tmp_path / "ends.jsonl", [{"a": "a", "label": 0}, {"a": "a", "label": 9}]
    )
    asked = {"question": "q", "choices": ["{{a}}", "b"], "answer": "label"}
    dataset = language_world.dataset_of(documents, "multiple_choice", asked)
    record = evaluate(language_world.model_of(model), dataset, Options(), settings=settings(tmp_path))
    log = json.loads(written(record, tmp_path, "inspect"))
    assert "error" in log["samples"][1] and "scores" not in log["samples"][1]
    assert log["results"]["completed_samples"] == 1 and log["results"]["total_samples"] == 2
    lines = written(record, tmp_path, "lm-eval-samples").splitlines()
    assert "error" in json.loads(lines[1]) and "error" not in json.loads(lines[0])


@pytest.mark.parametrize("form", ["lm-eval", "lm-eval-samples", "inspect"])
def test_other_records_are_refused(form: str, evaluated: Record, report: Callable[..., str]) -> None:
    with pytest.raises(UsageError, match="language models"):
        report(evaluated, form)


@pytest.mark.nightly
@pytest.mark.slow(reason="imports both harnesses")
@pytest.mark.skipif(not PEER, reason="MLMODELSCOPE_LM_EVAL names no Python with lm_eval and inspect_ai")
def test_their_own_readers_open_them(tmp_path: Path) -> None:
    record = record_of(tmp_path)
    log, results = tmp_path / "log.json", tmp_path / "results.json"
    log.write_text(written(record, tmp_path, "inspect"))
    results.write_text(written(record, tmp_path, "lm-eval"))
    command = [PEER, "-c", READ, log, results, "choice-accuracy"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout.splitlines()[-1])
    assert found["metric"] == record.metrics["choice-accuracy"].value and found["answer"] == "the mat"
    assert "acc_norm" in found["table"]
