"""From texts to answers: rows of other lengths in one batch, two texts of a sample, vocabularies that are garbage."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlmodelscope_worker.messages import PredictorTask, Task
from mlmodelscope_worker.output import ANSWER_STEPS
from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.pipeline.together import Failed
from mlmodelscope_worker.pipeline.value import SampleError
from mlmodelscope_worker.predictor import PREDICTORS, ModelError
from mlmodelscope_worker.sample import Loader
from mlmodelscope_worker.scenario.offline import Batch, Offline
from mlmodelscope_worker.session import Session
from mlmodelscope_worker.stacking import put
from mlmodelscope_worker.task import reader
from worker_package.tasks import steps
from worker_package.vocabularies import PIECES, word_pieces

onnx = pytest.importorskip("onnx", reason="it makes the small model of these tests")
SIZE = len(PIECES) - 1
"""The model's embedding has no row for the last piece of the vocabulary."""


class Values(reader.StepReader):
    def answer_of(self, values: Any, frame: Any) -> Any:
        return [("values", values["values"])], {}


@pytest.fixture
def reads_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(reader.TASKS, "compared", Values)


def embedding(path: Path, rows: int | str) -> Path:
    """A model that looks tokens up in a table, and sets to 0 what is not real."""
    from onnx import TensorProto, helper, numpy_helper

    table = np.random.default_rng(0).normal(size=(SIZE, 4)).astype(np.float32)
    shape = [rows, "tokens"]
    made = helper.make_graph(
        [
            helper.make_node("Gather", ["table", "ids"], ["found"]),
            helper.make_node("Cast", ["mask"], ["real"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["real", "axis"], ["column"]),
            helper.make_node("Mul", ["found", "column"], ["vectors"]),
        ],
        "embedding",
        [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in ("ids", "mask")],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, [*shape, 4])],
        [numpy_helper.from_array(table, "table"), numpy_helper.from_array(np.array([2]), "axis")],
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(path))
    return path


def opened(folder: Path, rows: int | str = "rows", side: str = "right", batch_size: int = 4, **written: Any) -> Session:
    file = written.pop("file", None) or str(word_pieces(folder))
    common = [
        ("tokenize", {"file": file, "library": "wordpiece", "pair": "apart", "lowercase": True, **written}),
        ("truncate", 6),
        ("pad_tokens", {"side": side}),
    ]
    inputs = [
        {
            "part": "text",
            "layer_name": name,
            "element_type": "int64",
            "steps": steps(STEPS, [*common, ("take", name), ("cast", "int64")]),
        }
        for name in ("ids", "mask")
    ]
    files = {"graph": str(embedding(folder / "model.onnx", rows))}
    compare = [("pool", "mean"), ("unit_length", None), ("similarity", "cosine")]
    return Session(
        Task(
            PredictorTask("onnxruntime", files, PREDICTORS["onnxruntime"].resolve({"threads": 1})),
            inputs,
            [{"role": "embedding", "layer_name": None, "place": 0, "steps": []}],
            {"steps": steps(ANSWER_STEPS, compare)},
            batch_size,
            "compared",
        )
    )


PAIRS = [("the cat", "the cat"), ("the cat sat on mat", "cat"), ("a", "the cat sat on the mat and sat"), ("b", "c a b")]


def sample(text: str, pair: str | None = None) -> dict:
    parts = {"text": {"text": text}}
    return {"parts": {**parts, "text_pair": {"text": pair}} if pair is not None else parts}


def answers(session: Session, pairs: list[tuple[str, str]]) -> list[float]:
    _, read = session.answer([sample(*pair) for pair in pairs], ())
    assert not read.failed
    return [float(each[0]) for each in read.buffers]


def inferred(session: Session, samples: list[dict]) -> Any:
    batch = Batch(0, samples, ())
    batch.tensors = [session.prepare(each, ()) for each in samples]
    return session.infer(batch)


@pytest.mark.usefixtures("reads_values")
@pytest.mark.parametrize("side", ["right", "left"])
def test_samples_of_other_lengths_share_a_batch_and_answer_as_they_do_alone(tmp_path: Path, side: str) -> None:
    session = opened(tmp_path, side=side)
    alone = [answers(session, [pair])[0] for pair in PAIRS]
    assert np.allclose(answers(session, PAIRS), alone, atol=1e-6) and alone[0] == pytest.approx(1)
    assert len(set(alone)) == len(alone)


@pytest.mark.usefixtures("reads_values")
def test_a_model_of_one_row_is_called_for_each_row_of_a_sample(tmp_path: Path) -> None:
    single = opened(tmp_path, rows=1, batch_size=1)
    several = opened(tmp_path)
    assert [answers(single, [pair])[0] for pair in PAIRS] == pytest.approx(answers(several, PAIRS))
    marks: list[str] = []
    read, _ = single.answer_in_steps([sample(*PAIRS[1])], (), marks.append)
    assert float(read.buffers[0][0]) == pytest.approx(answers(several, PAIRS)[1])
    assert marks[-3:] == ["collate", "run", "post"] and "tokenize" in marks


@pytest.mark.usefixtures("reads_values")
def test_a_sample_that_cannot_be_taken_fails_alone(tmp_path: Path) -> None:
    answer, buffers = inferred(opened(tmp_path), [sample("the", "cat"), sample("the"), sample("", "cat")])
    assert answer.errors == {
        "1": "two texts are compared, a vector each, and there is 1: see `pair` of `tokenize`",
        "2": "there are no tokens to pool",
    }
    assert len(buffers) == 1


@pytest.mark.usefixtures("reads_values")
def test_a_token_beyond_the_models_embedding_is_told_as_the_framework_tells_it(tmp_path: Path) -> None:
    answer, _ = inferred(opened(tmp_path), [sample("the cat", PIECES[-1])])
    assert f"idx={SIZE} must be within the inclusive range" in answer.errors["0"]


@pytest.mark.usefixtures("reads_values")
def test_a_vocabulary_that_is_garbage_is_told_before_the_first_sample(tmp_path: Path) -> None:
    (tmp_path / "garbage").write_bytes(b"\xff\xfe")
    with pytest.raises(ModelError, match="wordpiece cannot read the tokenizer's file"):
        opened(tmp_path, file=str(tmp_path / "garbage"))


@pytest.mark.parametrize("content", [{"parts": {"image": {"file": "x"}}}, {"file": "x"}, {"parts": {"text": {}}}])
def test_a_sample_without_a_text_says_so(content: dict) -> None:
    with pytest.raises(SampleError, match="it has no text"):
        Loader()(content, (), "text")


def test_a_pair_is_read_with_its_first_text_and_can_be_asked_for_alone() -> None:
    both = Loader()(sample("a", "b"), (), "text")
    assert (both.text, both.pair) == ("a", "b")
    assert (Loader()(sample("a", "b"), (), "text_pair").text, Loader()({"text": "c"}, (), "text").text) == ("b", "c")


@pytest.mark.parametrize(("side", "expected"), [("right", [1, 2, 9, 9]), ("left", [9, 9, 1, 2])])
def test_a_short_row_is_filled_up_on_its_side(side: str, expected: list[int]) -> None:
    row = np.zeros(4, int)
    put(row, np.array([1, 2]), (9, side))
    assert row.tolist() == expected
    put(row, np.array([4, 3, 2, 1]), (9, side))
    assert row.tolist() == [4, 3, 2, 1]


PARTS = [
    {"text": {"text": "the cat sat on the mat"}, "text_pair": {"text": "a b"}},
    {"text": {"text": "un"}, "text_pair": {"text": "unaffable cat, the cat!"}},
    {"text": {"text": "half a \ud800 pair"}, "text_pair": {"text": "a"}},
    {"text": {"text": "the"}, "text_pair": {"text": "mat"}},
]


@pytest.mark.parametrize(("side", "rows"), [("right", "rows"), ("left", "rows"), ("right", 8), ("right", 4)])
def test_samples_prepared_together_make_the_same_batch(
    tmp_path: Path, reads_values: None, side: str, rows: int | str
) -> None:
    session = opened(tmp_path, side=side, rows=rows)
    assert session.together > 1
    samples = [{"parts": each} for each in PARTS]
    together = session.prepare_all(samples, ())
    assert isinstance(together[2], Failed)
    assert "surrogate" in str(together[2].error)
    chosen = [0, 1, 3]
    alone = [session.prepare(samples[place], ()) for place in chosen]
    for some in (slice(0, 3), slice(1, 3), slice(0, 1)):
        expected = [tensor.copy() for tensor in session.stack(alone[some])]
        for one, two in zip(expected, session.stack([together[place] for place in chosen][some]), strict=True):
            assert (one.dtype, one.tolist()) == (two.dtype, two.tolist())
    told, read = session.call(alone)[1], session.call([together[place] for place in chosen])[1]
    assert [each.tobytes() for each in told] == [each.tobytes() for each in read]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("size", [1, 3, 70])
def test_answers_do_not_depend_on_threads_or_on_who_is_prepared_together(
    tmp_path: Path, reads_values: None, threads: int, size: int
) -> None:
    session = opened(tmp_path, batch_size=size)
    samples = [{"parts": PARTS[place % 4]} for place in range(140)]
    batches = [samples[start : start + size] for start in range(0, len(samples), size)]
    told = []
    for ways in ({}, {"prepare_all": session.prepare_all, "together": session.together}):
        answers: list[Any] = []
        offline = Offline(
            session.prepare,
            session.infer,
            lambda answer, buffers, last, answers=answers: answers.append(
                (answer.batch, answer.errors, answer.content, [each.tobytes() for each in buffers])
            ),
            threads,
            threads,
            **ways,
        )
        offline.submit([Batch(index, some, []) for index, some in enumerate(batches)])
        offline.finish()
        told.append(answers)
    assert told[0] == told[1]
    assert sum(len(errors) for _, errors, _, _ in told[1]) == 35
