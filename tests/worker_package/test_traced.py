"""Traced batches: what is in them, at which level, and that nothing of it is there unless asked for."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlmodelscope_worker import clock
from mlmodelscope_worker import session as sessions
from mlmodelscope_worker.function_session import FunctionSession
from mlmodelscope_worker.messages import Trace, Traced
from mlmodelscope_worker.predictor import Layer, ModelError, Profile
from mlmodelscope_worker.scenario import traced
from mlmodelscope_worker.session import Session
from worker_package.pictures import jpeg
from worker_package.predictor.onnx_models import classifier
from worker_package.tasks import fake_model, task

STEPS = ["load", "decode", "crop", "resize", "normalize", "layout"]
PICTURE = jpeg()


def ask(session: Any, level: str = "library", runs: int = 3, samples: int = 1, buffers: tuple = (PICTURE,)) -> Traced:
    return traced.trace(session, Trace([{"buffer": n} for n in range(samples)], level, runs, 2), list(buffers))


def spans_of(answer: Traced, number: int) -> list[list]:
    return answer.runs[number]["spans"]


def below(spans: list[list], place: int) -> list[str]:
    return [span[0] for span in spans if span[4] == place]


def check(spans: list[list]) -> None:
    """Parents come first and hold their children."""
    for place, (_, level, start, end, parent, _) in enumerate(spans):
        assert start <= end and level in traced.LEVELS
        if parent is not None:
            assert parent < place and spans[parent][2] <= start and end <= spans[parent][3]


def test_a_batch_is_made_of_its_samples_steps_and_the_run(tmp_path: Path) -> None:
    answer = ask(Session(task(fake_model(tmp_path), batch_size=2)), "model")
    application, model = spans_of(answer, 0), spans_of(answer, 1)
    assert below(application, 0) == ["open", "warm up", "warm up", "batch", "batch", "batch"]
    assert below(model, 0) == ["batch"] * 3 and below(model, 1) == ["sample", "sample", "collate", "run", "post"]
    assert below(model, 2) == STEPS
    check(application)
    check(model)


def test_steps_leave_no_gap(tmp_path: Path) -> None:
    model = spans_of(ask(Session(task(fake_model(tmp_path))), "model"), 1)
    batch = model[1]
    inside = [span for span in model if span[4] == 1]
    assert batch[2] == inside[0][2] and batch[3] == inside[-1][3]
    assert all(one[3] == other[2] for one, other in zip(inside, inside[1:], strict=False))


def test_layers_come_with_type_shape_and_memory(tmp_path: Path) -> None:
    answer = ask(Session(task(fake_model(tmp_path, layers=3))))
    assert [run["level"] for run in answer.runs] == ["application", "model", "framework", "library"]
    layers = spans_of(answer, 2)
    assert below(layers, 0) == ["batch"] * 3 and below(layers, 1) == ["run"]
    assert below(layers, 2) == ["layer0", "layer1", "layer2"]
    assert layers[3][5] == {"index": 0, "kind": "Product", "shapes": [[1, 3, 8, 8]], "memory_bytes": 768}
    library = spans_of(answer, 3)
    assert below(library, 3) == ["fake::operator0", "fake::operator1"] and library[4][1] == "library"
    assert len(answer.runs[2]["without_ns"]) == 3
    check(layers)
    check(library)


def test_what_a_framework_cannot_tell_is_a_note(tmp_path: Path) -> None:
    answer = ask(Session(task(fake_model(tmp_path))))
    assert [run["level"] for run in answer.runs] == ["application", "model"]
    assert [note.partition(":")[0] for note in answer.notes] == ["framework", "library"]


def test_copies_to_a_device_stand_inside_the_run(tmp_path: Path) -> None:
    answer = ask(Session(task(fake_model(tmp_path, copies=True))), "model")
    parts = spans_of(answer, 2)
    assert below(parts, 2) == ["copy to device", "compute", "copy from device"]
    check(parts)


def test_layers_without_a_start_follow_one_another() -> None:
    spans = traced.Spans()
    traced.add_profile(spans, Profile([Layer("a", "A", 5), Layer("b", "B", 7)], call_ns=20))
    traced.add_profile(spans, Profile([Layer("a", "A", 30)], call_ns=20))  # longer than the call it is of
    rows = spans.finish()
    assert [row[:4] for row in rows[3:5]] == [["a", "framework", 0, 5], ["b", "framework", 5, 12]]
    assert rows[5][2:4] == rows[6][2:4] == rows[7][2:4] == [20, 50]
    check(rows)


def test_a_sample_that_fails_is_left_out_and_said(tmp_path: Path) -> None:
    answer = ask(Session(task(fake_model(tmp_path))), "model", samples=2, buffers=(b"", PICTURE))
    assert answer.notes == ["1 samples that fail are left out: the file is empty"]
    with pytest.raises(ModelError, match="none of the samples can be traced: the file is empty"):
        ask(Session(task(fake_model(tmp_path))), "model", buffers=(b"",))


def test_a_real_framework_is_traced_down_to_its_layers(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    files = classifier(tmp_path)
    answer = ask(Session(task(files, "onnxruntime", batch_size=2)), "framework", runs=4)
    layers = spans_of(answer, 2)
    assert below(layers, 0) == ["batch"] * 4 and below(layers, 2)
    assert {"kind", "shapes", "memory_bytes", "index"} <= set(layers[3][5])
    check(layers)


def test_a_traced_answer_is_the_answer(tmp_path: Path) -> None:
    session = Session(task(fake_model(tmp_path), batch_size=2))
    samples = [{"buffer": 0}, {"buffer": 0}]
    _, plain = session.answer(samples, [PICTURE])
    traced, _ = session.answer_in_steps(samples, [PICTURE], lambda name: None)
    assert plain.content == traced.content
    assert all(np.array_equal(one, other) for one, other in zip(plain.buffers, traced.buffers, strict=True))


def test_off_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An evaluated batch reads the clock before and after the framework's call, and at no other time."""
    session, read = Session(task(fake_model(tmp_path))), []
    monkeypatch.setattr(sessions, "nanoseconds", lambda: read.append(1) or clock.nanoseconds())
    session.answer([{"buffer": 0}], [PICTURE])
    assert len(read) == 2


def test_a_manifests_own_functions_are_watched_from_outside(tmp_path: Path) -> None:
    session = FunctionSession(task(fake_model(tmp_path, layers=2)))
    answer = ask(session, "framework")
    model = spans_of(answer, 1)
    assert below(model, 1) == ["sample", "preprocess", "run", "postprocess"]
    assert "run" not in vars(session.predictor)
    assert below(spans_of(answer, 2), 2) == ["layer0", "layer1"]
    check(model)
