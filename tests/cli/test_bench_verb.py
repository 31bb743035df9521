"""`mlmodelscope bench` and `mlmodelscope compare`: real workers under a little load; no time is asserted."""

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from mlmodelscope import Settings, evaluate
from mlmodelscope.benching import SCENARIOS, Request, bench
from mlmodelscope.cli.main import app
from mlmodelscope.errors import UsageError, WorkerError
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import DatasetManifest, HardwareManifest, ModelManifest
from mlmodelscope.plan.options import Options
from mlmodelscope.record.latencies import load_latencies
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope_worker.scenario.load.schedule import arrivals
from small_world import DATASET, MODEL

QUICK = {"budget_s": 0.3, "queries": 8, "processes": 1, "cold_starts": 2, "most_batch": 4, "bound_s": 1.0}


@pytest.fixture
def make(
    make_model: Callable[..., ModelManifest], make_dataset: Callable[..., DatasetManifest], make_pictures: Any
) -> Callable[..., tuple[ModelManifest, DatasetManifest]]:
    return lambda **fake: (make_model(fake), make_dataset(make_pictures(6)))


@pytest.fixture
def written(
    make_pictures: Callable[..., Path], tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, str]:
    """A model and a dataset as files, for commands."""
    (tmp_path / "toy.json").write_text(json.dumps({"shape": [None, 3, 8, 8], "classes": 10}))
    (tmp_path / "model.yml").write_text(MODEL)
    (tmp_path / "data.yml").write_text(DATASET)
    make_pictures(6)
    monkeypatch.setenv("MLMODELSCOPE_HOME", str(settings.home))
    monkeypatch.setenv("MLMODELSCOPE_CACHE", str(settings.cache))
    monkeypatch.chdir(tmp_path)
    return "model.yml", "data.yml"


def call(*words: str, code: int = 0) -> Result:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == code, done.output
    return done


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_scenario_makes_a_record_with_its_raw_latencies(
    scenario: str, make: Callable[..., Any], settings: Settings
) -> None:
    request = Request(scenario=scenario, **QUICK)
    streams = 6 if scenario == "multi-stream" else None
    record = bench(*make(), Options(batch_size=2), request, streams=streams, settings=settings)
    store = Store(settings)
    assert store.get(record.id) == record and record.status == "finished" and record.bench is not None
    raw = load_latencies(store.folder(record.id))
    assert [len(run.ended_ns) for run in raw] == [run.queries for run in record.bench.runs] and raw
    assert record.bench.stability.noise and record.bench.ended
    if record.bench.measured is not None:
        assert (
            record.bench.measured.samples_per_query == (6 if scenario == "multi-stream" else 2) or scenario == "sweep"
        )
        assert record.bench.measured.peak_memory_bytes


def test_a_servers_arrivals_can_be_made_again_from_the_record(make: Callable[..., Any], settings: Settings) -> None:
    request = Request(scenario="server", rate_qps=300.0, **QUICK)
    record = bench(*make(), Options(seed=5), request, settings=settings)
    assert record.bench is not None
    for raw, run in zip(load_latencies(Store(settings).folder(record.id)), record.bench.runs, strict=True):
        assert run.rate_qps == 300.0 and run.seed is not None
        assert list(raw.due_ns) == list(arrivals(run.rate_qps, run.queries, run.seed))
        assert len(raw.waiting) == run.queries


def test_two_processes_are_tested_against_each_other(make: Callable[..., Any], settings: Settings) -> None:
    record = bench(*make(), request=Request(budget_s=0.6, queries=8), settings=settings)
    assert record.bench is not None and len(record.bench.stability.noise) == 2
    assert record.bench.stability.processes is not None and record.bench.stability.halves is not None
    assert {run.process for run in record.bench.runs} == {0, 1} and record.bench.first_s


def test_a_sweep_tries_doubled_sizes(make: Callable[..., Any], settings: Settings) -> None:
    record = bench(*make(), request=Request(scenario="sweep", **QUICK), settings=settings)
    assert record.bench is not None and record.bench.sweep is not None
    assert [run.batch_size for run in record.bench.runs] in ([1, 2, 4], [1, 2])
    assert record.bench.measured is not None
    assert record.bench.measured.batch_size == record.bench.sweep.optimal_batch


def test_a_sweep_ends_where_the_model_takes_no_more(make: Callable[..., Any], settings: Settings) -> None:
    record = bench(*make(shape=[1, 3, 8, 8]), request=Request(scenario="sweep", **QUICK), settings=settings)
    assert record.bench is not None and record.bench.sweep is not None
    assert record.bench.sweep.optimal_batch == 1 and "batch size is fixed to 1" in record.bench.sweep.ended


def test_the_machine_is_set_as_the_hardware_manifest_says(make: Callable[..., Any], settings: Settings) -> None:
    last = str(max(os.sched_getaffinity(0)))
    machine = load_manifest({"kind": "hardware", "name": "h", "version": "1.0.0", "settings": {"cpu_affinity": last}})
    assert isinstance(machine, HardwareManifest)
    record = bench(*make(), request=Request(**QUICK), hardware=machine, settings=settings)
    assert [(each.name, each.after) for each in record.settings] == [("cpu_affinity", last)]
    assert record.machine.cores == len(os.sched_getaffinity(0))  # as it was before, and is again
    assert record.bench is not None and record.bench.stability.noise[0].cpus == 1


def test_a_model_that_fails_is_an_error(make: Callable[..., Any], settings: Settings) -> None:
    with pytest.raises(WorkerError, match="the fake model fails above"):
        bench(*make(fail_above=-100), request=Request(**QUICK), settings=settings)
    assert Store(settings).list() == []


def test_records_from_before_there_were_benches_still_load(make: Callable[..., Any], settings: Settings) -> None:
    record = evaluate(*make(), settings=settings)
    document = json.loads(record.model_dump_json())
    del document["bench"]
    assert Record.model_validate_json(json.dumps(document)) == record


def test_an_evaluation_is_not_answered_from_a_bench(make: Callable[..., Any], settings: Settings) -> None:
    model, dataset = make()
    made = bench(model, dataset, request=Request(**QUICK), settings=settings)
    record = evaluate(model, dataset, settings=settings)
    assert record.id != made.id and record.bench is None and record.metrics.get("top1") is not None


def test_bench_prints_numbers_and_a_verdict_and_every_query(written: tuple[str, str], tmp_path: Path) -> None:
    text = call("bench", *written, "--budget", "0.3", "--processes", "1", "-o", "queries.csv").stdout
    assert "latency p50" in text and "throughput" in text and "peak memory" in text and "stable" in text
    rows = list(csv.DictReader((tmp_path / "queries.csv").read_text().splitlines()))
    assert rows and all(int(row["latency_ns"]) == int(row["ended_ns"]) - int(row["due_ns"]) for row in rows)
    assert "latency p50" in call("records", "show", "latest").stdout
    assert "toy@1.0.0" in call("records").stdout


def test_bench_gives_programs_the_record(written: tuple[str, str]) -> None:
    words = ("--scenario", "offline", "--budget", "0.3", "--processes", "1", "--json")
    body = json.loads(call("bench", *written, *words).stdout)
    assert body["bench"]["scenario"] == "offline" and body["bench"]["measured"]["samples_per_s"] > 0


def test_a_bench_is_reported_in_every_form(written: tuple[str, str], tmp_path: Path) -> None:
    call("bench", *written, "--scenario", "sweep", "--largest", "2", "--budget", "0.3")
    for form in ("html", "md", "json", "csv"):
        call("report", "latest", "--format", form, "-o", f"report.{form}")
    page = (tmp_path / "report.html").read_text()
    assert "optimal batch size" in page and "<svg" in page and "--scenario sweep" in page
    assert "| optimal batch size |" in (tmp_path / "report.md").read_text()
    assert (tmp_path / "report.csv").read_text().startswith("run,query,")


def test_two_benches_are_compared(written: tuple[str, str]) -> None:
    for size in ("1", "4"):
        call("bench", *written, "--budget", "0.4", "--queries", "8", "--processes", "1", "--batch-size", size)
    larger, smaller = (row["id"] for row in json.loads(call("records", "--json").stdout))
    found = json.loads(call("compare", smaller, larger, "--json").stdout)
    assert (
        found["ratio"]["low"] <= found["ratio"]["value"] <= found["ratio"]["high"]
        and ["batch size", "1", "4"] in found["differences"]
    )
    text = call("compare", smaller, larger).stdout
    assert "latency p50" in text and "times as long" in text and "batch size" in text
    assert "no difference" in call("compare", larger, larger).stdout


def test_too_few_queries_are_compared_and_not_judged(written: tuple[str, str]) -> None:
    call("bench", *written, "--scenario", "cold-start", "--starts", "2")
    text = call("compare", "latest", "latest").stdout
    assert "not judged: 2 values are too few to compare: 4 of each are needed" in text and "first call" in text


def test_cold_starts_are_compared_by_what_the_first_answer_takes(written: tuple[str, str]) -> None:
    text = call("bench", *written, "--scenario", "cold-start", "--starts", "4").stdout
    assert "import the framework, load the model" in text and "first call" in text
    assert "no difference" in call("compare", "latest", "latest").stdout


def test_evaluations_are_compared_by_their_latency(written: tuple[str, str]) -> None:
    call("evaluate", *written)
    call("bench", *written, "--budget", "0.3", "--queries", "8", "--processes", "1")
    benched, evaluated = (row["id"] for row in json.loads(call("records", "--json").stdout))
    assert "times as long" in call("compare", evaluated, benched).stdout


def test_mistakes_are_told_before_anything_is_measured(written: tuple[str, str]) -> None:
    assert "--bound" in call("bench", *written, "--scenario", "max-rate", code=2).output
    assert "does not end in .csv" in call("bench", *written, "-o", "queries.txt", code=2).output
    assert "multi-stream only" in call("bench", *written, "--streams", "4", code=2).output
    wrong = ("--scenario", "multi-stream", "--streams", "5", "--batch-size", "2")
    assert "cannot be cut" in call("bench", *written, *wrong, code=2).output
    assert "one sample into a query" in call("bench", *written, "--loadgen", "--batch-size", "2", code=2).output
    assert "LoadGen knows no scenario" in call("bench", *written, "--scenario", "sweep", "--loadgen", code=2).output
    with pytest.raises(UsageError, match="there is no scenario `rush`"):
        bench(*written, request=Request(scenario="rush"))


def test_loadgen_answers_in_its_own_words(make: Callable[..., Any], settings: Settings) -> None:
    pytest.importorskip("mlperf_loadgen", reason="mlcommons-loadgen is not installed")
    record = bench(*make(), request=Request(loadgen=True, **QUICK), settings=settings)
    assert record.bench is not None and record.bench.loadgen is not None
    assert record.bench.loadgen["effective_scenario"] == "SingleStream"
    assert record.bench.loadgen["result_query_count"] > 0
