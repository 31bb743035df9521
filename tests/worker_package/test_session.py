"""From samples to answers inside the worker: the same bits for every batch size and thread count."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlmodelscope_worker.pipeline.library import MissingLibrary
from mlmodelscope_worker.predictor import ModelError, Predictor
from mlmodelscope_worker.predictor.predictor import Tensor
from mlmodelscope_worker.scenario.offline import Batch, Offline
from mlmodelscope_worker.session import Session
from mlmodelscope_worker.stacking import aligned
from worker_package.pictures import encode, jpeg, scene
from worker_package.tasks import STEPS_OF_A_CLASSIFIER, fake_model, task

SAMPLES = [jpeg(scene(30 + 7 * index, 40 + 3 * index), subsampling=index % 3) for index in range(23)]


class Recording(Predictor):
    """Keeps what it was given: the very tensors that a framework would get."""

    concurrent = True
    inputs = [Tensor("input", "float32", [None, 3, 8, 8])]
    outputs = [Tensor("scores", "float32", [None, 3])]

    def __init__(self) -> None:
        self.seen: list[np.ndarray] = []

    def run(self, tensors: list[np.ndarray]) -> list[np.ndarray]:
        self.seen.append(tensors[0].copy())
        return [tensors[0][:, :, 0, 0].copy()]


def open_session(folder: Path, **changes: Any) -> Session:
    return Session(task(fake_model(folder), **changes))


def answer(session: Session, samples: list[bytes], batch_size: int, threads: int, lanes: int) -> list[tuple]:
    """All answers, through the same threads as in a worker."""
    answers: list[tuple] = []
    offline = Offline(
        session.prepare,
        session.infer,
        lambda header, buffers, is_last: answers.append((header, buffers)),
        threads,
        lanes,
    )
    for index, start in enumerate(range(0, len(samples), batch_size)):
        part = samples[start : start + batch_size]
        offline.submit([Batch(index, [{"buffer": slot} for slot in range(len(part))], part)])
    offline.finish()
    return answers


def merged(answers: list[tuple]) -> tuple[bytes, bytes]:
    return b"".join(buffers[0].tobytes() for _, buffers in answers), b"".join(b[1].tobytes() for _, b in answers)


# Bit-identical.


@pytest.mark.parametrize("batch_size", [1, 2, 7, 23, 100])
@pytest.mark.parametrize(("threads", "lanes"), [(1, 1), (2, 1), (3, 2), (8, 4)])
def test_the_tensors_have_the_same_bits_for_every_batch_size_and_thread_count(
    tmp_path: Path, batch_size: int, threads: int, lanes: int
) -> None:
    session = open_session(tmp_path, batch_size=batch_size)
    recording = session.predictor = Recording()
    answers = answer(session, SAMPLES, batch_size, threads, lanes)
    assert [header.batch for header, _ in answers] == list(range(len(answers)))
    expected = np.stack([session.prepare({"buffer": 0}, [sample]).tensors[0] for sample in SAMPLES])
    given = sorted(row.tobytes() for tensor in recording.seen for row in tensor)
    assert given == sorted(row.tobytes() for row in np.ascontiguousarray(expected))
    assert merged(answers)[1] == b"".join(np.sort(sample[:, 0, 0])[::-1].tobytes() for sample in expected)


@pytest.mark.parametrize("batch_size", [1, 4, 9])
def test_answers_are_the_same_for_every_batch_size(tmp_path: Path, batch_size: int) -> None:
    plain = merged(answer(open_session(tmp_path), SAMPLES, 1, 1, 1))
    assert merged(answer(open_session(tmp_path, batch_size=batch_size), SAMPLES, batch_size, 4, 2)) == plain


LAST = [("mean", 127.5), ("layout", "NCHW")]


@pytest.mark.parametrize("library", ["pillow", "opencv"])
def test_a_session_may_be_shared_by_threads(tmp_path: Path, library: str) -> None:
    processing = [("decode", {"library": library}), ("resize", {"dimensions": 8, "library": library}), *LAST]
    plain = merged(answer(open_session(tmp_path, processing=processing), SAMPLES, 1, 1, 1))
    assert merged(answer(open_session(tmp_path, processing=processing), SAMPLES, 1, 8, 4)) == plain


# Failures stay where they belong.


def test_a_failed_sample_leaves_the_others_alone(tmp_path: Path) -> None:
    broken = [SAMPLES[0], b"", SAMPLES[1], b"no picture", SAMPLES[2]]
    (header, buffers), *_ = answer(open_session(tmp_path, batch_size=5), broken, 5, 2, 1)
    assert sorted(header.errors) == ["1", "3"] and header.errors["1"] == "the file is empty"
    assert buffers[0].shape == (3, 5)
    good = merged(answer(open_session(tmp_path), SAMPLES[:3], 1, 1, 1))
    assert (buffers[0].tobytes(), buffers[1].tobytes()) == good


def test_a_batch_without_a_good_sample_still_has_an_answer(tmp_path: Path) -> None:
    (header, buffers), *_ = answer(open_session(tmp_path, batch_size=2), [b"", b""], 2, 1, 1)
    assert (header.content, header.run_ns, len(header.errors), tuple(buffers)) == ({}, 0, 2, ())


def test_a_model_that_raises_fails_its_batch_and_no_other(tmp_path: Path) -> None:
    bright = encode(np.full((9, 9, 3), 255, np.uint8), "PNG")
    files = fake_model(tmp_path, fail_above=1.5)
    answers = answer(Session(task(files)), [SAMPLES[0], bright, SAMPLES[1]], 1, 1, 1)
    assert [header.errors for header, _ in answers] == [
        {},
        {"0": "RuntimeError: the fake model fails above 1.5"},
        {},
    ]


@pytest.mark.parametrize("batch_size", [1, 3])
def test_an_answer_that_is_no_number_is_a_failed_sample(tmp_path: Path, batch_size: int) -> None:
    bright = encode(np.full((9, 9, 3), 255, np.uint8), "PNG")
    files = fake_model(tmp_path, nan_above=1.5)
    answers = answer(Session(task(files, batch_size=batch_size)), [SAMPLES[0], bright, SAMPLES[1]], batch_size, 1, 1)
    errors = [message for header, _ in answers for message in header.errors.values()]
    assert errors == ["the model answered with not-a-number"]
    assert sum(len(buffers[0]) for _, buffers in answers) == 2


def test_samples_of_another_shape_do_not_join_the_batch(tmp_path: Path) -> None:
    processing = [("decode", None), ("cast", "float32"), ("layout", "NCHW")]
    files = fake_model(tmp_path, shape=[None, 3, None, None])
    session = Session(task(files, processing=processing, batch_size=3))
    pictures = [encode(scene(*sides), "PNG") for sides in ((8, 9), (9, 8), (8, 9))]
    (header, buffers), *_ = answer(session, pictures, 3, 1, 1)
    assert header.errors == {"1": "its tensor is float32 [3, 9, 8], the batch has float32 [3, 8, 9]"}
    assert len(buffers[0]) == 2


def test_a_wrong_shape_says_what_to_do(tmp_path: Path) -> None:
    (header, _), *_ = answer(open_session(tmp_path, processing=STEPS_OF_A_CLASSIFIER[:-1]), SAMPLES[:1], 1, 1, 1)
    assert header.errors["0"].startswith("input `input` takes the shape [?, 3, 8, 8]")
    assert header.errors["0"].endswith("end the processing with `layout: NCHW`")


def test_an_encoded_image_needs_decoding_first(tmp_path: Path) -> None:
    for processing in ([], [("resize", 8)]):
        (header, _), *_ = answer(open_session(tmp_path, processing=processing), SAMPLES[:1], 1, 1, 1)
        assert header.errors["0"] == "this is an encoded image: the processing must start with `decode`"


def test_ties_are_told_by_the_row_of_the_sample_among_those_that_did_not_fail(tmp_path: Path) -> None:
    bright = encode(np.full((9, 9, 3), 255, np.uint8), "PNG")
    session = Session(task(fake_model(tmp_path, levels=1, nan_above=1.5), batch_size=3))
    (header, buffers), *_ = answer(session, [bright, SAMPLES[0], SAMPLES[1]], 3, 1, 1)
    assert list(header.errors) == ["0"] and buffers[0].tolist() == [[0, 1, 2, 3, 4]] * 2
    assert header.content["ties"] == {"0": [[5, 9]], "1": [[5, 9]]}


def test_what_are_no_probabilities_is_counted(tmp_path: Path) -> None:
    session = open_session(tmp_path, probabilities=True, batch_size=3)
    assert answer(session, SAMPLES[:3], 3, 1, 1)[0][0].content["improbable"] == 3
    softmaxed = open_session(tmp_path, probabilities=True, batch_size=3, output_steps=[("softmax", None)])
    assert answer(softmaxed, SAMPLES[:3], 3, 1, 1)[0][0].content["improbable"] == 0


# Opening.


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"element_type": "uint8"}, "input `input` takes float32, the manifest says uint8"),
        ({"input_layer": "data"}, "the model has no input `data`; it has input"),
        ({"output_layer": "prob"}, "the model has no output `prob`; it has logits"),
        ({"output_layer": 3}, "the model has 1 outputs, there is no number 3"),
    ],
)
def test_a_model_that_is_not_what_the_manifest_says_is_refused(tmp_path: Path, changes: dict, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        open_session(tmp_path, **changes)


def test_a_missing_library_is_known_before_the_first_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mlmodelscope_worker.pipeline import library

    def missing(name: str) -> None:
        raise MissingLibrary(f"this stack cannot use {name}")

    monkeypatch.setattr(library, "load", missing)
    with pytest.raises(MissingLibrary, match="this stack cannot use pillow"):
        open_session(tmp_path)


def test_memory_for_the_batch_is_taken_once(tmp_path: Path) -> None:
    session = open_session(tmp_path, batch_size=2)
    tensors = [session.prepare({"buffer": 0}, [sample]) for sample in SAMPLES[:2]]
    (first,) = session.stack(tensors)
    assert session.stack(tensors)[0] is first and first.flags.c_contiguous


# With a real framework.


def open_onnx(folder: Path, files: dict[str, str], **changes: Any) -> Session:
    return Session(task(files, "onnxruntime", **changes))


@pytest.fixture
def models() -> Any:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    from worker_package.predictor import onnx_models

    return onnx_models


def test_a_fixed_batch_is_filled_up_and_the_filling_is_dropped(tmp_path: Path, models: Any) -> None:
    loose = answer(open_onnx(tmp_path, models.classifier(tmp_path)), SAMPLES[:7], 1, 1, 1)
    fixed = models.classifier(tmp_path, shape=(4, 3, 8, 8), name="fixed.onnx")
    for batch_size in (1, 3, 4):
        answers = answer(open_onnx(tmp_path, fixed, batch_size=batch_size), SAMPLES[:7], batch_size, 2, 2)
        assert merged(answers)[0] == merged(loose)[0]
        assert sum(len(buffers[0]) for _, buffers in answers) == 7


def test_a_batch_larger_than_the_fixed_one_is_refused(tmp_path: Path, models: Any) -> None:
    fixed = models.classifier(tmp_path, shape=(4, 3, 8, 8))
    with pytest.raises(ModelError, match="the model's batch size is fixed to 4, the plan asks for 5"):
        open_onnx(tmp_path, fixed, batch_size=5)


@pytest.mark.parametrize(("layer", "sign"), [("negated", -1), (1, -1), ("scores", 1), (0, 1)])
def test_an_output_layer_is_chosen_by_name_or_number(tmp_path: Path, models: Any, layer: str | int, sign: int) -> None:
    files = models.classifier(tmp_path, names=("scores", "negated"))
    session = open_onnx(tmp_path, files, output_layer=layer, top_k=1)
    plain = session.predictor.run(session.stack([session.prepare({"buffer": 0}, SAMPLES[:1])]))[0]
    best = answer(session, SAMPLES[:1], 1, 1, 1)[0][1][0]
    assert best.tolist() == [[(sign * plain[0]).argmax()]]


def test_several_outputs_need_a_name(tmp_path: Path, models: Any) -> None:
    with pytest.raises(ModelError, match="name one of scores, negated with `layer_name`"):
        open_onnx(tmp_path, models.classifier(tmp_path, names=("scores", "negated")))


def test_a_quantised_model_is_fed_and_read_in_its_own_numbers(tmp_path: Path, models: Any) -> None:
    from onnx import TensorProto

    processing = [("decode", None), ("resize", 1), ("rescale", 25.5), ("quantize", {"scale": 0.1, "zero_point": 128})]
    session = open_onnx(
        tmp_path,
        models.quantised(tmp_path, TensorProto.UINT8),
        processing=[*processing, ("layout", "NCHW")],
        element_type="uint8",
        output_steps=[("dequantize", {"scale": 0.5, "zero_point": 128})],
    )
    (header, buffers), *_ = answer(session, SAMPLES[:1], 1, 1, 1)
    assert not header.errors and np.array_equal(buffers[1] * 2, np.rint(buffers[1] * 2))


def test_two_inputs_are_refused_for_now(tmp_path: Path, models: Any) -> None:
    from onnx import helper

    inputs = [models.tensor(name, ("n", 3)) for name in ("left", "right")]
    node = helper.make_node("Add", ["left", "right"], ["scores"])
    with pytest.raises(ModelError, match=r"the model has 2 inputs \(left, right\), the manifest feeds one"):
        open_onnx(tmp_path, models.save(tmp_path, [node], inputs, [models.tensor("scores", ("n", 3))]))


def test_all_wrong_names_are_told_at_once(tmp_path: Path, models: Any) -> None:
    with pytest.raises(ModelError) as refused:
        open_session(tmp_path, input_layer="data", output_layer="prob")
    lines = ["the model has no input `data`; it has input", "the model has no output `prob`; it has logits"]
    assert str(refused.value).splitlines() == lines

    from onnx import helper

    inputs = [models.tensor(name, ("n", 3)) for name in ("left", "right")]
    node = helper.make_node("Add", ["left", "right"], ["scores"])
    with pytest.raises(ModelError) as refused:
        open_onnx(
            tmp_path, models.save(tmp_path, [node], inputs, [models.tensor("scores", ("n", 3))]), output_layer="x"
        )
    assert str(refused.value).splitlines() == [
        "the model has 2 inputs (left, right), the manifest feeds one",
        "the model has no output `x`; it has scores",
    ]


@pytest.mark.parametrize("shape", [(1, 3, 5), (1,), (7,), (2, 3, 224, 224)])
def test_a_stacked_batch_lies_where_frameworks_need_not_copy_it(shape: tuple[int, ...]) -> None:
    held = aligned(shape, "float32")
    assert held.ctypes.data % 64 == 0 and held.shape == shape and held.flags.c_contiguous and held.flags.writeable
