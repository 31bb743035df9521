"""`mlmodelscope analyze`: from records to tables, plots and a page."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from mlmodelscope import Settings, evaluate
from mlmodelscope.cli.main import app
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.plan.options import Options
from mlmodelscope.profiling import profile
from mlmodelscope.record.store import Store
from mlmodelscope.trace.store import NAME


@pytest.fixture
def made(
    make_model: Callable[..., ModelManifest],
    make_dataset: Callable[..., DatasetManifest],
    make_pictures: Any,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[ModelManifest, DatasetManifest]:
    monkeypatch.setenv("MLMODELSCOPE_HOME", str(settings.home))
    monkeypatch.setenv("MLMODELSCOPE_CACHE", str(settings.cache))
    return make_model({"layers": 3}), make_dataset(make_pictures(6))


def call(*words: str, code: int = 0) -> Result:
    done = CliRunner().invoke(app, ["analyze", *words])
    assert done.exit_code == code, done.output
    return done


def test_a_profile_is_shown_as_far_as_its_levels_go(made: Any, settings: Settings) -> None:
    profile(*made, level="framework", runs=3, settings=settings)
    said = call("latest").output
    assert all(f"{name}  " in said for name in ("A1", "A2", "A3", "A5", "A6"))
    assert "not shown: A8" in said and "mlmodelscope profile toy@1.0.0" in said and "--level library" in said


def test_the_machines_best_goes_with_the_profile(made: Any, settings: Settings) -> None:
    record, trace = profile(*made, level="framework", runs=2, settings=settings)
    assert float(trace.resource["peak.flops_per_s"]) > 0 and trace.resource["peak.device"] == "cpu"
    assert not any("peak" in note for note in record.notes)


def test_what_layers_call_has_tables_too(made: Any, settings: Settings) -> None:
    profile(*made, level="library", runs=3, settings=settings)
    found = json.loads(call("latest", "--json").output)
    names = [each["id"] for each in found["analyses"]]
    assert {"A8", "A10", "A11", "A13"} <= set(names) and found["files"] == []
    layers = next(each for each in found["analyses"] if each["id"] == "A2")
    assert len(layers["table"]["rows"]) == 3


def test_some_analyses_and_some_rows_can_be_chosen(made: Any, settings: Settings) -> None:
    profile(*made, level="framework", runs=2, settings=settings)
    said = call("latest", "--only", "a2", "--most", "1").output
    assert "1 of 3 rows" in said and "A3" not in said
    assert "there is no analysis" in call("--only", "A99", code=2).output


def test_files_are_written_as_their_name_says(made: Any, settings: Settings, tmp_path: Path) -> None:
    profile(*made, level="framework", runs=2, settings=settings)
    call("latest", "-o", str(tmp_path / "all.html"))
    assert (tmp_path / "all.html").read_text().startswith("<!doctype html>")
    call("latest", "-o", str(tmp_path / "folder"))
    assert (tmp_path / "folder" / "A2-layers.csv").exists()
    call("latest", "--only", "A2", "-o", str(tmp_path / "layers.csv"))
    assert len((tmp_path / "layers.csv").read_text().splitlines()) == 4
    assert "room for one table" in call("latest", "-o", str(tmp_path / "all.csv"), code=2).output


def test_records_of_several_batch_sizes_are_one_table(made: Any, settings: Settings) -> None:
    first = evaluate(*made, settings=settings)
    second = evaluate(*made, Options(batch_size=2), settings=settings)
    found = json.loads(call(first.id, second.id, "--only", "A1", "--json").output)
    assert [row["batch_size"] for row in found["analyses"][0]["table"]["rows"]] == [1, 2]
    assert found["records"] == [first.id, second.id]


def test_a_record_without_a_trace_says_how_to_make_one(made: Any, settings: Settings) -> None:
    evaluate(*made, settings=settings)
    said = call("latest", "--only", "A2", code=2).output
    assert "there is no trace" in said and "mlmodelscope profile toy@1.0.0" in said


def test_a_trace_without_a_peak_still_gives_the_rest(made: Any, settings: Settings) -> None:
    from dataclasses import replace

    from mlmodelscope.trace.store import save_trace

    record, trace = profile(*made, level="framework", runs=2, settings=settings)
    bare = {name: value for name, value in trace.resource.items() if not name.startswith("peak.")}
    folder = Store(settings).folder(record.id)
    (folder / NAME).unlink()
    save_trace(replace(trace, resource=bare), folder)
    said = call("latest", "--only", "A2").output
    assert "peak was not measured" in said and "layer" in said
