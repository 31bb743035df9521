"""`mlmodelscope analyze`: from records to tables, plots and a page."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope import Settings
from mlmodelscope.profiling import profile
from mlmodelscope.record.store import Store
from mlmodelscope.trace.store import NAME, load_trace, save_trace

from .command import Call, Run


@pytest.fixture
def analyze(call: Call) -> Call:
    return partial(call, "analyze")


def test_a_profile_is_shown_as_far_as_its_levels_go(analyze: Call, measured: dict[str, str]) -> None:
    said = analyze(measured["framework"])
    assert all(f"{name}  " in said for name in ("A1", "A2", "A3", "A5", "A6"))
    assert "not shown: A8" in said and "mlmodelscope profile toy@1.0.0" in said and "--level library" in said


def test_a_summary_comes_before_the_tables(analyze: Call, measured: dict[str, str]) -> None:
    shown = analyze(measured["framework"])
    summary, _, tables = shown.partition("\nA1  ")
    assert summary.startswith("model ") and "time by type" in summary and "\ntables: A1, A2" in summary
    assert "A2  Layers" in tables and "tables:" not in analyze(measured["framework"], "--only", "A2")


def test_latest_is_the_newest_record_that_has_something_to_analyze(
    analyze: Call, call: Call, measured: dict[str, str], settings: Settings
) -> None:
    call("evaluate", "toy.yml", "pictures.yml", "--again")
    assert analyze("--json") == analyze("latest", "--json")
    shown = json.loads(analyze("latest", "--json"))
    store = Store(settings)
    kinds = {row["id"]: row["kind"] for row in store.list()}
    store.close()
    assert [kinds[each] for each in shown["records"]][0] in ("profile", "bench")
    assert kinds[max(kinds)] == "evaluation"


def test_the_machines_best_goes_with_the_profile(
    settings: Settings, make_model: Callable[..., Any], make_dataset: Callable[..., Any], make_pictures: Any
) -> None:
    made = make_model({"layers": 3}), make_dataset(make_pictures(6))
    record, trace = profile(*made, level="framework", runs=2, settings=settings)
    assert float(trace.resource["peak.flops_per_s"]) > 0 and trace.resource["peak.device"] == "cpu"
    assert not any("peak" in note for note in record.notes)


def test_what_layers_call_has_tables_too(analyze: Call, measured: dict[str, str]) -> None:
    found = json.loads(analyze(measured["library"], "--json"))
    names = [each["id"] for each in found["analyses"]]
    assert {"A8", "A10", "A11", "A13"} <= set(names) and found["files"] == []
    layers = next(each for each in found["analyses"] if each["id"] == "A2")
    assert len(layers["table"]["rows"]) == 4


def test_some_analyses_and_some_rows_can_be_chosen(analyze: Call, measured: dict[str, str]) -> None:
    said = analyze("latest", "--only", "a2", "--most", "1")
    assert "1 of 4 rows" in said and "A3" not in said
    assert "there is no analysis" in analyze("--only", "A99", code=2)


def test_files_are_written_as_their_name_says(analyze: Call, measured: dict[str, str], tmp_path: Path) -> None:
    analyze("latest", "-o", "all.html")
    assert (tmp_path / "all.html").read_text().startswith("<!doctype html>")
    analyze("latest", "-o", "folder")
    assert (tmp_path / "folder" / "A2-layers.csv").exists()
    analyze("latest", "--only", "A2", "-o", "layers.csv")
    assert len((tmp_path / "layers.csv").read_text().splitlines()) == 5
    assert "room for one table" in analyze("latest", "-o", "all.csv", code=2)


def test_records_of_several_batch_sizes_are_one_table(run: Run, evaluated: Path) -> None:
    words = ("evaluate", "toy.yml", "pictures.yml", "--json")
    first, second = (json.loads(run(*words, *more).stdout)["id"] for more in ((), ("--batch-size", "2")))
    found = json.loads(run("analyze", first, second, "--only", "A1", "--json").stdout)
    assert [row["batch_size"] for row in found["analyses"][0]["table"]["rows"]] == [1, 2]
    assert found["records"] == [first, second]


def test_a_record_without_a_trace_says_how_to_make_one(analyze: Call, evaluated: Path) -> None:
    said = analyze("latest", "--only", "A2", code=2)
    assert "there is no trace" in said and "mlmodelscope profile toy@1.0.0" in said


def test_a_trace_without_a_peak_still_gives_the_rest(
    analyze: Call, measured: dict[str, str], settings: Settings
) -> None:
    store = Store(settings)
    folder = store.folder(measured["framework"])
    store.close()
    trace = load_trace(folder)
    bare = {name: value for name, value in trace.resource.items() if not name.startswith("peak.")}
    (folder / NAME).unlink()
    save_trace(replace(trace, resource=bare), folder)
    said = analyze("latest", "--only", "A2")
    assert "peak was not measured" in said and "layer" in said
