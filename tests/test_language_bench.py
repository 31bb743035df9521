"""Language models under load, with real workers and a model that counts; no time is asserted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import language_world
from mlmodelscope import Settings
from mlmodelscope.benching import Request, bench
from mlmodelscope.cli.main import app
from mlmodelscope.errors import UsageError, WorkerError
from mlmodelscope.plan.options import Options
from mlmodelscope.record.record import Record
from mlmodelscope.report.bench import command, rows

pytest.importorskip("jinja2")
LINES = ["the cat sat on the mat\n", "the dog sat on the rug\n", "a cat ran to the dog\n"]
QUICK = {"budget_s": 0.3, "queries": 8, "processes": 1, "cold_starts": 2, "most_batch": 2}
WRITES = {"longest": 6, "stop_tokens": [0]}  # which is never written


@pytest.fixture
def model(tmp_path: Path) -> Any:
    cut = [language_world.pieces_of(each, ["the"]) for each in LINES]
    return language_world.model_of(language_world.write_arpa(tmp_path / "pets.arpa", cut))


def documents(tmp_path: Path, task: str = "text_generation", ask: Any = None) -> Any:
    kept = [{"start": line[:5], "a": "cat", "b": "dog", "label": 0} for line in LINES]
    prompt = {"question": "start", "choices": ["{{a}}", "{{b}}"], "answer": "label"}
    if task == "text_generation":
        prompt = {"question": "start", "answer": "a"}
    path = language_world.write_documents(tmp_path / "starts.jsonl", kept)
    return language_world.dataset_of(path, task, prompt, WRITES if ask is None and task == "text_generation" else ask)


def settings(folder: Path) -> Settings:
    return Settings(folder / "home", folder / "cache")


def measured(record: Record) -> Any:
    assert record.bench is not None and record.bench.measured is not None
    return record.bench.measured


@pytest.mark.parametrize("scenario", ["single-stream", "multi-stream", "server", "offline", "cold-start", "sweep"])
@pytest.mark.parametrize("size", [1, 2])
def test_every_scenario_counts_the_tokens_of_each_text(model: Any, tmp_path: Path, scenario: str, size: int) -> None:
    request = Request(scenario=scenario, **QUICK)
    streams = 4 if scenario == "multi-stream" else None
    record = bench(
        model, documents(tmp_path), Options(batch_size=size), request, streams=streams, settings=settings(tmp_path)
    )
    assert record.bench is not None
    if scenario == "cold-start":
        assert all(run.tokens is not None for run in record.bench.runs)
        return
    found = measured(record)
    tokens = found.tokens
    assert tokens.texts == found.queries * found.samples_per_query and tokens.written == 6 * tokens.texts
    assert tokens.read == pytest.approx(4.33 * tokens.texts, rel=0.4) and tokens.written_per_s > 0
    assert tokens.first_mean_s > 0 and tokens.each_mean_s > 0
    assert any(name == "tokens written" for name, _, _ in rows(record))
    assert not any("functions" in note for note in record.notes)


def test_nothing_is_remembered_from_one_query_to_the_next(model: Any, tmp_path: Path) -> None:
    record = bench(model, documents(tmp_path), None, Request(**QUICK), settings=settings(tmp_path), end_to_end=True)
    tokens = measured(record).tokens
    assert record.bench is not None and record.bench.end_to_end
    assert tokens.each_mean_s > 0, "a text that was known would have come at once"


@pytest.mark.parametrize("task", ["multiple_choice", "language_modeling"])
def test_a_model_that_scores_reads_tokens_and_writes_none(model: Any, tmp_path: Path, task: str) -> None:
    dataset = documents(tmp_path, task) if task == "multiple_choice" else None
    if dataset is None:
        path = language_world.write_documents(tmp_path / "texts.jsonl", [{"text": line} for line in LINES])
        dataset = language_world.dataset_of(path, task, {"answer": "text"})
    record = bench(model, dataset, None, Request(**QUICK), settings=settings(tmp_path))
    tokens = measured(record).tokens
    assert tokens.written == 0 and tokens.read > tokens.texts and tokens.first_s == {}
    assert any(name == "tokens read" for name, _, _ in rows(record))


def test_random_prompts_need_no_dataset(model: Any, tmp_path: Path) -> None:
    shapes = {"prompt": [12], "answer": [5]}
    record = bench(model, None, None, Request(**QUICK), random=shapes, settings=settings(tmp_path))
    tokens = measured(record).tokens
    assert tokens.read == 12 * tokens.texts and tokens.written == 5 * tokens.texts
    assert "--random --shape prompt=12 --shape answer=5" in command(record)


@pytest.mark.parametrize(
    "shapes, said",
    [
        ({"image": [3]}, "not `image`"),
        ({"prompt": [3, 3]}, "is a number of tokens"),
        ({"prompt": [4096]}, "more than the 4096 that the model takes"),
        ({"prompt": [10**12], "answer": [10**12]}, "more than the 4096"),
    ],
)
def test_random_prompts_that_cannot_be_are_refused(model: Any, tmp_path: Path, shapes: Any, said: str) -> None:
    with pytest.raises(WorkerError, match=said):
        bench(model, None, None, Request(**QUICK), random=shapes, settings=settings(tmp_path))


def test_bounds_are_printed_with_who_wants_them(model: Any, tmp_path: Path) -> None:
    request = Request(**{**QUICK, "queries": 600}, first_s=3600.0, each_s=1e-12, mlperf="llama2-70b")
    record = bench(model, documents(tmp_path), None, request, settings=settings(tmp_path))
    told = {(name.split(" within")[0], beside): value for name, value, beside in rows(record) if "within" in name}
    assert told["time to first token, p99", "asked for"] == "met"
    assert told["time to first token, p99", "MLPerf Inference 5.0, llama2-70b"] == "met"
    assert record.bench is not None
    assert [bound.verdict for bound in record.bench.bounds][:2] == ["met", "not met"]
    assert "--ttft 3.6e+06 --tpot 1e-09 --mlperf llama2-70b" in command(record)


def test_the_highest_rate_keeps_to_the_bounds_of_tokens(model: Any, tmp_path: Path) -> None:
    request = Request(scenario="max-rate", **{**QUICK, "budget_s": 1.0}, first_s=60.0)
    record = bench(model, documents(tmp_path), None, request, settings=settings(tmp_path))
    assert record.bench is not None and record.bench.rate is not None
    assert record.bench.rate.bound_s is None and record.bench.rate.rate_qps is not None
    with pytest.raises(UsageError, match="what is fast enough"):
        bench(model, documents(tmp_path), None, Request(scenario="max-rate", **QUICK), settings=settings(tmp_path))


def test_the_command_prints_times_of_tokens(model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLMODELSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MLMODELSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    source = {
        "name": "pets",
        "version": "1.0.0",
        "task": "language_model",
        "framework": {"name": "ngram"},
        "inputs": [{"type": "prompt", "processing": {"encode_prompt": {}}}],
        "source": {"graph_path": "pets.arpa"},
    }
    Path("model.yml").write_text(json.dumps(source))
    words = ["bench", "model.yml", "--random", "--shape", "prompt=8", "--shape", "answer=4", "--budget", "0.3"]
    done = CliRunner().invoke(app, [*words, "--processes", "1", "--ttft", "1000", "--tpot", "1000"])
    assert done.exit_code == 0, done.output
    assert "time to first token" in done.output and "8.0 tokens read, 4.0 written" in " ".join(done.output.split())
    done = CliRunner().invoke(app, [*words, "--mlperf", "llama"])
    assert done.exit_code == 2 and "MLPerf's rules for `llama` are not known here" in done.output
