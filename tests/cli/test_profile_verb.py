"""`mlmodelscope profile` and `mlmodelscope trace`: from a model to a timeline, and out again."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope import Settings, evaluate
from mlmodelscope.cli.profile import show_profile
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.profiling import profile
from mlmodelscope.record.store import Store
from mlmodelscope.trace.layers import agreement
from mlmodelscope.trace.store import load_trace

from .command import Call, Run, run_command
from .toy import write_toy

pytestmark = pytest.mark.usefixtures("small_peak")


@pytest.fixture
def make(
    make_model: Callable[..., ModelManifest], make_dataset: Callable[..., DatasetManifest], make_pictures: Any
) -> Callable[..., tuple[ModelManifest, DatasetManifest]]:
    return lambda **fake: (make_model({"layers": 3, **fake}), make_dataset(make_pictures(6)))


@pytest.fixture
def layered(tmp_path: Path) -> Path:
    """A model of three layers and a dataset as files, for commands."""
    write_toy(tmp_path, 6, layers=3)
    return tmp_path


def test_a_profile_is_a_record_with_a_trace(make: Callable[..., Any], settings: Settings) -> None:
    record, trace = profile(*make(), level="library", runs=4, settings=settings)
    store = Store(settings)
    assert store.get(record.id) == record and load_trace(store.folder(record.id)) == trace
    assert record.profile is not None and record.profile.levels == ("application", "model", "framework", "library")
    assert record.profile.spans == len(trace.spans) and record.latency is not None
    assert len(trace.named("batch", "application")) == 4 and len(trace.at("framework")) == 12
    assert {each.level for each in trace.overheads} == {"model", "framework", "library"}
    for span in trace.spans:
        if span.parent is not None:
            parent = next(each for each in trace.spans if each.id == span.parent)
            assert parent.start_ns <= span.start_ns and span.end_ns <= parent.end_ns


def test_an_evaluation_is_not_answered_from_a_profile(make: Callable[..., Any], settings: Settings) -> None:
    model, dataset = make()
    made, _ = profile(model, dataset, runs=6, settings=settings)
    record = evaluate(model, dataset, settings=settings)
    assert record.id != made.id and record.profile is None and record.metrics.get("top1") is not None


def test_records_from_before_there_were_profiles_still_load(make: Callable[..., Any], settings: Settings) -> None:
    from mlmodelscope.record.record import Record

    record = evaluate(*make(), settings=settings)
    document = json.loads(record.model_dump_json())
    del document["profile"]
    assert Record.model_validate_json(json.dumps(document)) == record


def test_a_real_frameworks_layers_lie_in_its_run(make: Callable[..., Any], settings: Settings, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    from worker_package.predictor.onnx_models import classifier

    model, dataset = make()
    files = classifier(tmp_path)
    source = model.source.model_copy(update={"graph_path": files["graph"]})
    framework = model.framework.model_copy(update={"name": "onnxruntime"})
    model = model.model_copy(update={"source": source, "framework": framework})
    record, trace = profile(model, dataset, level="framework", runs=5, settings=settings)
    assert record.profile is not None and "framework" in record.profile.levels
    sums = agreement(trace)
    assert sums is not None and sums.layers_ns > 0 and sums.of_profiled is not None
    layer = trace.at("framework")[0]
    assert layer.attributes["kind"] and layer.attributes["shapes"] and layer.attributes["memory_bytes"] >= 0


def test_profile_prints_latency_layers_and_costs(call: Call, layered: Path) -> None:
    text = call("profile", "toy.yml", "pictures.yml", "--runs", "3")
    assert "unprofiled" in text and "model level" in text and "framework level" in text
    assert "layers' sum" in text and "of the unprofiled run" in text
    assert "layer0" in text and "Product" in text and "1×3×8×8" in text


def test_profile_gives_programs_json(run: Run, layered: Path) -> None:
    body = json.loads(run("profile", "toy.yml", "pictures.yml", "--runs", "3", "--json").stdout)
    assert [layer["name"] for layer in body["layers"]] == ["layer0", "layer1", "layer2"]
    assert body["profile"]["runs"] == 3 and body["sum_of_layers"]["layers_ns"] > 0


def test_what_a_framework_cannot_tell_is_said(make: Callable[..., Any], settings: Settings) -> None:
    record, trace = profile(*make(layers=0), level="library", runs=2, settings=settings)
    assert record.notes[0].startswith("framework: ") and not trace.at("framework") and agreement(trace) is None


def test_a_profile_writes_its_trace_too(call: Call, layered: Path) -> None:
    call("profile", "toy.yml", "pictures.yml", "--runs", "1", "--level", "model", "--output", "first.json")
    assert json.loads((layered / "first.json").read_text())["traceEvents"]


def test_a_trace_is_shown_and_exported_in_every_form(call: Call, measured: dict[str, str], tmp_path: Path) -> None:
    shown = call("trace", "show", measured["framework"])
    assert "batch" in shown and "decode" in shown and "layer1" in shown
    assert call("trace", measured["framework"]) == shown
    assert "No such command" in call("trace", "exprot", code=2)
    for name in ("a.html", "a.csv", "a.folded", "a.speedscope.json", "a.otlp.json", "a.txt"):
        assert call("trace", "export", "latest", "-o", name) == f"wrote {name}\n"
        assert (tmp_path / name).stat().st_size > 100


def test_the_latest_trace_is_that_of_the_newest_profile(call: Call, measured: dict[str, str]) -> None:
    call("evaluate", "toy.yml", "pictures.yml", "--top-k", "2")
    assert call("trace", "latest") == call("trace", "show", measured["framework"])


def test_a_trace_has_a_name_and_a_form_by_itself(call: Call, measured: dict[str, str], tmp_path: Path) -> None:
    record = measured["framework"]
    assert call("trace", "export", record) == f"wrote trace-{record}.html\n"
    assert call("trace", "export", record, "--format", "speedscope") == f"wrote trace-{record}.speedscope.json\n"
    assert (tmp_path / f"trace-{record}.html").read_text().startswith("<!doctype html>")


def test_a_timeline_begins_with_a_summary_and_has_one_batch(call: Call, measured: dict[str, str]) -> None:
    shown = call("trace", measured["framework"])
    first, _, tree = shown.partition("\n\n")
    assert first.startswith("trace ") and "\nspans " in first and "at the median" in first
    assert len(re.findall(r"(?m)^[├└] batch ", tree)) == 1 and "batches, nearest to the median; --batches" in tree
    everything = call("trace", measured["framework"], "--batches", "1000")
    assert len(re.findall(r"(?m)^[├└] batch ", everything)) > 1 and "nearest to the median" not in everything


def test_mistakes_are_told_before_anything_is_measured(call: Call, layered: Path) -> None:
    assert "does not say which form" in call("profile", "toy.yml", "pictures.yml", "-o", "trace.xml", code=2)
    assert "the name of the file says its form" in call(
        "trace", "export", "latest", "-o", "a.csv", "--format", "csv", code=2
    )
    assert "there is no record" in call("trace", "show", "latest", code=2)


def test_an_evaluation_has_no_trace_and_a_profile_no_samples(call: Call, measured: dict[str, str]) -> None:
    assert "has no trace" in call("trace", "show", measured["evaluation"], code=2)
    assert "is a profile" in call("report", measured["framework"], code=2)
    assert "layers' sum" in call("records", "show", measured["framework"])


def test_offline_sends_nothing(call: Call, measured: dict[str, str]) -> None:
    done = call("trace", "export", "latest", "--otlp", "http://127.0.0.1:9", "--offline", code=1)
    assert "may not be used" in done


def test_layers_that_do_not_add_up_to_their_sum_are_explained(
    make: Callable[..., Any], settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    record, trace = profile(*make(), level="framework", runs=3, settings=settings)
    calm = [replace(each, attributes={**each.attributes, "measured_ns": 1_000_000}) for each in trace.at("framework")]
    shaken = {calm[place].id for place in (0, 4, 8)}  # another layer in each run
    slow = [
        replace(each, attributes={**each.attributes, "measured_ns": 90_000_000}) if each.id in shaken else each
        for each in calm
    ]
    for layers, told in ((calm, False), (slow, True)):
        others = [each for each in trace.spans if each.level != "framework"]
        show_profile(record, replace(trace, spans=tuple([*others, *layers])))
        printed = capsys.readouterr().out
        assert ("listed below" in printed) is told and ("92 ms in a run at the median" in printed) is told


def test_the_hardware_level_shows_what_is_read(make: Callable[..., Any], settings: Settings) -> None:
    _, trace = profile(*make(), level="hardware", runs=2, settings=settings)
    around = {span.id: span.name for span in trace.at("application")}
    found = {around[span.parent or ""]: span for span in trace.named("disk", "hardware")}
    if not Path("/proc/self/io").exists():
        assert not found
        return
    assert found["open"].attributes["files"] > 0 and found["open"].attributes["asked_bytes"] > 1000
    assert 0 < found["batch"].attributes["asked_bytes"] < 1 << 20, "a picture, without what looking reads"


def test_a_program_that_starts_a_profile_finds_it_in_its_own_trace(layered: Path, environment: dict[str, str]) -> None:
    trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    variables = {**environment, "TRACEPARENT": f"00-{trace}-{span}-01"}
    profiling = ("profile", "toy.yml", "pictures.yml", "--runs", "1", "-o", "a.otlp.json")
    done = run_command(*profiling, cwd=layered, environment=variables)
    assert done.returncode == 0, done.stderr
    spans = json.loads((layered / "a.otlp.json").read_text())["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert {each["traceId"] for each in spans} == {trace}
    assert [each["parentSpanId"] for each in spans].count(span) == 1
