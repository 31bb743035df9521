"""Layers' times without what their profiler adds or rounds off; what the framework told is kept."""

from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.profiling import _run_of
from mlmodelscope.trace.layers import agreement
from mlmodelscope.trace.merge import merge, number
from mlmodelscope.trace.span import Trace
from mlmodelscope_worker.messages import Trace as Ask
from mlmodelscope_worker.predictor import Layer, Profile
from mlmodelscope_worker.predictor.litert_profiler import _layers, _totals
from mlmodelscope_worker.predictor.onnxruntime_cost import chain, profiler_ns
from mlmodelscope_worker.scenario import traced
from mlmodelscope_worker.session import Session
from worker_package.pictures import jpeg
from worker_package.tasks import fake_model, task

SUMMARY = Path(__file__).parent / "files" / "litert_summary.txt"  # 10 runs of a quantised MobileNet in LiteRT 2.3


def test_a_correction_keeps_what_was_told_and_never_goes_below_nothing() -> None:
    profile = Profile([Layer("a", "Conv", 5000), Layer("b", "Relu", 1000)])
    profile.correct(-3000, "taken off")
    assert [layer.duration_ns for layer in profile] == [2000, 0]
    assert [layer.more["raw_ns"] for layer in profile] == [5000, 1000] and profile.note == "3.0 µs taken off"
    untouched = Profile([Layer("a", "Conv", 5000)])
    untouched.correct(0, "nothing")
    assert untouched.note is None and "raw_ns" not in untouched[0].more


def test_layers_add_up_to_the_run_once_they_are_corrected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A framework whose profiler adds 4 µs to each of 30 layers of 30 µs, in a run of 0.9 ms."""
    session = Session(task(fake_model(tmp_path)))

    def profile_runs(tensors: Any, runs: int, between: Any) -> list[Profile]:
        made = []
        for _ in range(runs):
            between()
            layers = [Layer("layer%d" % at, "Conv", 34_000, start_ns=50_000 * at) for at in range(30)]
            made.append(Profile(layers, 1_500_000, 0))
            made[-1].correct(-4000, "taken off each layer")
        return made

    monkeypatch.setattr(session.predictor, "profile_runs", profile_runs, raising=False)
    monkeypatch.setattr(traced, "_timed", lambda function, *arguments: 900_000)
    answer = traced.trace(session, Ask([{"buffer": 0}], "framework", 3, 0), [jpeg()])
    assert "4.0 µs taken off each layer" in answer.notes
    spans, _ = merge([_run_of(each) for each in answer.runs])
    sums = agreement(Trace("1" * 32, 0, number(spans, "1" * 32)))
    assert sums is not None and abs(sums.of_unprofiled - 1) < 0.05
    layers = [span for span in spans if span.level == "framework"]
    assert {(span.attributes["raw_ns"], span.attributes["measured_ns"]) for span in layers} == {(34_000, 30_000)}


def test_the_cost_of_onnxruntimes_profiler_is_found_by_a_chain_of_known_nodes() -> None:
    ort = pytest.importorskip("onnxruntime")

    def start(model: bytes, profile_prefix: str | None = None) -> Any:
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        if profile_prefix is not None:
            options.enable_profiling = True
            options.profile_file_prefix = profile_prefix
        return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    (answer,) = start(chain(3)).run(None, {"x0": [[[[2.0]]]]})
    assert answer.tolist() == [[[[54.0]]]]
    disturbed: list[None] = []
    assert profiler_ns(start, lambda: disturbed.append(None)) >= 0 and len(disturbed) >= 27


def test_litert_tells_totals_of_which_each_run_is_a_difference() -> None:
    text = SUMMARY.read_text()
    totals = _totals(text)
    assert len(totals) == 31 and abs(sum(total for _, _, total in totals) - 5_175_000) < 5_000
    assert totals[0][:2] == ("Convolution (NHWC, QU8) IGEMM", "[Delegate]:0") and abs(totals[0][2] - 1_021_000) < 100
    later = [(kind, name, total + 7000) for kind, name, total in totals]
    assert {layer.duration_ns for layer in _layers(later, totals)} == {7000}
    assert [layer.duration_ns for layer in _layers(totals, None)] == [round(total) for _, _, total in totals]
    assert _totals("nothing of the kind") == []
