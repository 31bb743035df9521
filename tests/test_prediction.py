"""A model that stays open: it answers bytes, files and samples, tells its stages, and survives what it is asked."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope import Options, Settings
from mlmodelscope.cluster.answering import Answering, Job, Tell, TooLate
from mlmodelscope.dataset.sample import Sample
from mlmodelscope.errors import InputError, WorkerError
from mlmodelscope.ledger.prediction import Posed
from mlmodelscope.ledger.request import Work
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.prediction import OpenModel, plan_prediction, predict
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.worker.process import WorkerDied

Make = Callable[..., ModelManifest]
MakePictures = Callable[..., Path]
Write = Callable[..., str]
MODEL = """\
name: %s
version: 1.0.0
task: classification
framework: {name: fake}
inputs:
  - {type: image, processing: {decode: {color_layout: RGB}, resize: {dimensions: [8, 8]}, layout: NCHW}}
outputs: [{type: logits, processing: {softmax: }}]
source: {graph_path: %s}
"""


@pytest.fixture
def opened(settings: Settings, make_model: Make) -> Any:
    artifacts = ArtifactStore(settings)
    with OpenModel(plan_prediction(make_model(), Options(top_k=3), settings=settings), artifacts) as found:
        yield found


def test_bytes_files_and_samples_have_the_same_answer(opened: OpenModel, make_pictures: MakePictures) -> None:
    picture = make_pictures(1) / "class0" / "0000.png"
    sample = Sample("x", {"file": str(picture)}, "", None)
    found = opened.answer([picture.read_bytes(), picture, sample, b"no picture"], ["a", "b", "c", "d"])
    assert len({(each.classes, each.scores) for each in found[:3]}) == 1 and len(found[0].classes) == 3
    assert [each.image for each in found] == ["a", "b", "c", "d"] and found[3].error and not found[3].classes
    for each in found[:3]:
        names = [stage.name for stage in each.stages]
        assert (names[0], names[-3:]) == ("load", ["collate", "run", "post"]) and "decode" in names
    assert [stage.name for stage in found[3].stages] == ["load"]


def test_many_files_are_answered_as_a_few_are(
    settings: Settings, make_model: Make, make_pictures: MakePictures
) -> None:
    pictures = sorted(make_pictures(20).rglob("*.png"))
    many = predict(make_model(), pictures, settings=settings)
    few = predict(make_model(), pictures[:3], Options(batch_size=2), settings=settings)
    assert [each.scores for each in many[:3]] == [each.scores for each in few]
    assert all(each.stages for each in few) and not many[0].stages


def test_the_death_of_a_worker_is_told(opened: OpenModel, make_pictures: MakePictures) -> None:
    os.kill(opened.process.pid, signal.SIGKILL)
    with pytest.raises(WorkerDied, match="SIGKILL"):
        opened.answer([b"x"])


@pytest.fixture
def write_model(tmp_path: Path) -> Write:
    """The text of a manifest, as it travels."""

    def write(name: str, **fake: Any) -> str:
        graph = tmp_path / f"{name}.json"
        graph.write_text(json.dumps({"shape": [None, 3, 8, 8], "classes": 10, **fake}))
        return MODEL % (name, graph)

    return write


def job(model: str, content: bytes, tell: Tell = lambda event: None) -> Job:
    posed = Posed(id="p", work=Work(kind="evaluate", model=model), most_bytes=10**6, timeout_s=60)
    return Job(posed, content, tell)


@pytest.fixture
def answering(settings: Settings) -> Any:
    found = Answering(settings)
    yield found
    found.close()


def test_a_worker_that_died_between_questions_is_replaced_and_one_that_dies_of_its_input_is_not(
    answering: Answering, write_model: Write, make_pictures: MakePictures
) -> None:
    content = (make_pictures(1) / "class0" / "0000.png").read_bytes()
    model = write_model("toy")
    told: list[Mapping[str, Any]] = []
    first = answering.answer(job(model, content, told.append))
    assert [each["kind"] for each in told] == ["opening", "opened"] and not first.warm and first.load_ns
    assert answering.answer(job(model, content)).warm
    (open_now,) = [place.opened for place in answering._models._places.values()]
    os.kill(open_now.process.pid, signal.SIGKILL)
    again = answering.answer(job(model, content))
    assert not again.warm and again.scores == first.scores
    with pytest.raises(InputError):
        answering.answer(job(model, b"no picture"))
    assert answering.answer(job(model, content)).warm
    with pytest.raises(WorkerError, match="SIGKILL"):
        answering.answer(job(write_model("killing", die_above=-9), content))


def test_a_job_that_is_given_up_ends_its_worker(
    answering: Answering, write_model: Write, make_pictures: MakePictures
) -> None:
    content = (make_pictures(1) / "class0" / "0000.png").read_bytes()
    is_open, ended = threading.Event(), []

    def tell(event: Mapping[str, Any]) -> None:
        if event["kind"] == "opened":
            is_open.set()

    under_way = job(write_model("sleepy", sleep_s=100), content, tell)

    def work() -> None:
        with pytest.raises(TooLate):
            answering.answer(under_way)
        ended.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    assert is_open.wait(300)
    under_way.give_up(at_once=True)
    thread.join(60)
    assert ended and not answering._models.keys()
