"""A decoder in a session: sounds bound how much is said, batches of fixed size, and what is timed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlmodelscope_worker.messages import PredictorTask, Task
from mlmodelscope_worker.output import ANSWER_STEPS
from mlmodelscope_worker.pipeline import STEPS
from mlmodelscope_worker.predictor import PREDICTORS
from mlmodelscope_worker.scenario import asked
from mlmodelscope_worker.scenario.offline import Batch
from mlmodelscope_worker.session import Session
from worker_package.sounds import pcm16, signal
from worker_package.tasks import steps

pytest.importorskip("onnx", reason="it makes the small models of these tests")
pytest.importorskip("onnxruntime")

from worker_package import decoders  # noqa: E402  (it needs onnx)
from worker_package.predictor.onnx_models import helper, save, tensor  # noqa: E402

WORDS = ["<start>", "<stop>", "one", "two", "three"]
SOUND = [("decode_audio", {}), ("pad_batch", {})]
FRAMES = [("decode_audio", {}), ("frames", {"length": 400, "hop": 160}), ("feature_layout", "FT")]


def opened(folder: Path, task: dict[str, Any], generation: dict[str, Any], batch_size: int = 2) -> Session:
    (folder / "words.txt").write_text("\n".join(WORDS) + "\n")
    write = [("detokenize", {"file": str(folder / "words.txt"), "library": "wordpiece"})]
    return Session(
        Task(
            PredictorTask("onnxruntime", {"graph": str(task["graph"])}, PREDICTORS["onnxruntime"].resolve({})),
            [
                {
                    "part": task["part"],
                    "layer_name": name,
                    "element_type": task["element_type"],
                    "steps": steps(STEPS, task["steps"]),
                }
                for name in task.get("layers", [None])
            ],
            [{"role": "tensor", "layer_name": None, "place": 0, "steps": []}],
            {"steps": steps(ANSWER_STEPS, write)},
            batch_size,
            "speech_recognition",
            generation={**decoders.PLAIN, **generation},
        )
    )


def listener(folder: Path, shape: list[Any]) -> Path:
    """The same states for every sound."""
    nodes = [
        helper.make_node("Flatten", ["sound"], ["flat"]),
        helper.make_node("ReduceSum", ["flat", "axis"], ["sum"], keepdims=1),
        helper.make_node("Mul", ["sum", "zero"], ["nothing"]),
        helper.make_node("Unsqueeze", ["nothing", "axis"], ["one"]),
        helper.make_node("Add", ["one", "wide"], ["states"]),
    ]
    made = {
        "axis": np.array([1]),
        "zero": np.float32(0),
        "wide": np.array([[[0.1, 0.2, 0.3]]], np.float32),
    }
    states = tensor("states", [shape[0], 1, decoders.WIDTH])
    return Path(save(folder, nodes, [tensor("sound", shape)], [states], made, "listener.onnx")["graph"])


def told(session: Session, samples: list[dict[str, Any]], buffers: Any = ()) -> list[str]:
    _, read = session.answer(samples, buffers)
    assert not read.failed
    return [each["fields"]["text"] for each in read.content["answers"]]


@pytest.mark.parametrize(("processing", "shape"), [(SOUND, ["n", "t"]), (FRAMES, ["n", 400, "t"])])
def test_how_long_a_sound_is_bounds_what_is_said(tmp_path: Path, processing: Any, shape: list[Any]) -> None:
    graph = listener(tmp_path, shape)
    decoder = str(decoders.decoder(tmp_path))
    task = {"graph": graph, "part": "audio", "element_type": "float32", "steps": processing}
    generation = {"graph": decoder, "stop": (), "never": (0, 1), "per_second": 4.0, "plus": 1, "longest": 5}
    session = opened(tmp_path, task, generation, 1)
    for seconds, words in ((0.5, 3), (0.25, 2), (2, 5)):
        sound = pcm16(signal(int(16000 * seconds)))
        assert len(told(session, [{"parts": {"audio": {"buffer": 0}}}], [sound])[0].split()) == words


def test_nobody_knows_how_long_a_text_lasts(tmp_path: Path) -> None:
    session = reader(tmp_path, per_second=4.0)
    batch = Batch(0, [{"text": "two"}], ())
    batch.tensors = [session.prepare({"text": "two"}, ())]
    answer, _ = session.infer(batch)
    assert "nobody knows how long these samples last" in answer.errors["0"]


def reader(folder: Path, rows: Any = "rows", batch_size: int = 4, **generation: Any) -> Session:
    """An encoder of texts and its decoder."""
    task = {
        "graph": decoders.encoder(folder, rows=rows),
        "part": "text",
        "element_type": "int64",
        "steps": [
            ("tokenize", {"file": str(folder / "words.txt"), "library": "wordpiece", "unknown": 0}),
            ("pad_tokens", {"token": 0}),
            ("cast", "int64"),
        ],
    }
    (folder / "words.txt").write_text("\n".join(WORDS) + "\n")
    return opened(folder, task, {"graph": str(decoders.decoder(folder)), **generation}, batch_size)


TEXTS = [{"text": text} for text in ("two three one", "two", "three three", "one two one two")]


@pytest.mark.parametrize("beams", [1, 3])
def test_samples_of_a_batch_are_told_as_they_are_alone(tmp_path: Path, beams: int) -> None:
    session = reader(tmp_path, beams=beams, never=(0,))
    alone = [told(session, [each])[0] for each in TEXTS]
    assert told(session, TEXTS) == alone and len(set(alone)) > 1
    fixed = reader(tmp_path, rows=4, never=(0,), beams=beams)
    assert told(fixed, TEXTS[:3]) == alone[:3]


def test_answers_of_several_calls_are_joined_whatever_their_lengths(tmp_path: Path) -> None:
    """A model of one row answers a batch of samples row by row."""
    several, single = reader(tmp_path, never=(0,)), reader(tmp_path, rows=1, batch_size=1, never=(0,))
    prepared = [single.prepare(each, ()) for each in TEXTS]
    _, (*_, tokens) = single.call(prepared)
    _, (*_, expected) = several.call([several.prepare(each, ()) for each in TEXTS])
    assert tokens.tolist() == expected.tolist() and tokens.shape[1] > 1


@pytest.mark.parametrize("rows", ["rows", 1, 4])
@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize(
    ("scores", "reason"),
    [(np.nan, "answered with not-a-number"), (-np.inf, "none of the decoder's tokens may be chosen")],
)
def test_garbage_of_a_decoder_fails_its_own_sample_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: Any, beams: int, scores: float, reason: str
) -> None:
    session = reader(tmp_path, rows=rows, batch_size=1 if rows == 1 else 4, never=(0,), beams=beams)
    expected = [told(session, [each])[0] for each in TEXTS]
    states = session.call([session.prepare(TEXTS[1], ())])[1][0][0]
    run = session.generator.decoder.run

    def spoiled(tensors: list[np.ndarray]) -> list[np.ndarray]:
        found = [each.copy() for each in run(tensors)]
        if any(each.shape[1:] == states.shape and np.allclose(each[0], states) for each in tensors):
            found[0][..., :] = scores
        return found

    monkeypatch.setattr(session.generator.decoder, "run", spoiled)
    _, read = session._predict([session.prepare(each, ()) for each in TEXTS])
    assert list(read.failed) == [1] and reason in read.failed[1]
    assert [each["fields"]["text"] for each in read.content["answers"]] == [expected[at] for at in (0, 2, 3)]


def test_what_is_timed_has_the_decoder_in_it(tmp_path: Path) -> None:
    session = reader(tmp_path)
    prepared = [session.prepare(each, ()) for each in TEXTS]
    timed = session.timed(prepared)
    *_, tokens = timed.run(session.stack(prepared))
    assert tokens.shape[0] == len(TEXTS) and timed.parts() == ()
    answer, _ = asked.answer(session, TEXTS, ())
    assert [name for name, _ in answer.stages[0]][-4:] == ["collate", "run", "generate", "post"]
    marks: list[str] = []
    session.answer_in_steps(TEXTS, (), marks.append)
    assert marks[-4:] == ["collate", "run", "generate", "post"]


def test_a_model_may_be_its_own_decoder(tmp_path: Path) -> None:
    """Its answer to the sample itself is not used; each call gets the sample and what was said."""
    nodes = [
        helper.make_node("Gather", ["table", "said"], ["found"]),
        helper.make_node("Gather", ["table", "ids"], ["read"]),
        helper.make_node("ReduceSum", ["found", "axis"], ["sum"], keepdims=0),
        helper.make_node("ReduceSum", ["read", "axis"], ["context"], keepdims=0),
        helper.make_node("Sub", ["context", "sum"], ["scores"]),
    ]
    made = {"table": np.eye(5, dtype=np.float32), "axis": np.array([1])}
    inputs = [tensor(each, ["n", each], decoders.INT) for each in ("ids", "said")]
    graph = save(tmp_path, nodes, inputs, [tensor("scores", ["n", 5])], made, "both.onnx")["graph"]
    (tmp_path / "words.txt").write_text("\n".join(WORDS) + "\n")
    task = {
        "graph": graph,
        "part": "text",
        "element_type": "int64",
        "layers": ["ids", "said"],
        "steps": [
            ("tokenize", {"file": str(tmp_path / "words.txt"), "library": "wordpiece", "unknown": 0}),
            ("pad_tokens", {"token": 0}),
            ("cast", "int64"),
        ],
    }
    session = opened(tmp_path, task, {"feeds": {"ids": "inputs.ids", "said": "tokens"}, "longest": 4})
    # The word that the sample has most of is said first, and then what is left of it.
    assert told(session, [{"text": "three three two"}]) == ["three two three"]
    answer, _ = asked.answer(session, [{"text": "two"}], ())
    assert [name for name, _ in answer.stages[0]][-4:] == ["collate", "run", "generate", "post"]
