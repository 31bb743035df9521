"""A model that a server answers for, evaluated as a user does: from a manifest to a record, and every accident."""

import contextlib
import hashlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlmodelscope import Options, Record, Settings, Store, evaluate, predict
from mlmodelscope.errors import ChecksumError, UsageError, WorkerError
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.record.log import log_of
from small_world import PICTURE_INPUT
from worker_package.predictor.device_agent import Agent, Handler

Make = Callable[..., ModelManifest]
MakeDataset = Callable[..., DatasetManifest]
MakePictures = Callable[..., Path]


@pytest.fixture
def firmware(tmp_path: Path) -> Path:
    path = tmp_path / "matrix.bit"
    path.write_bytes(np.random.default_rng(0).integers(-127, 128, 1920).astype(np.int8).tobytes())
    return path


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def agent(firmware: Path) -> Iterator[Agent]:
    with Agent([digest(firmware)]) as started:
        yield started


@pytest.fixture
def make(firmware: Path) -> Make:
    def make(**changes: Any) -> ModelManifest:
        manifest = load_manifest(
            {
                "name": "matrix",
                "version": "1.0.0",
                "task": "classification",
                "framework": {"name": "remote"},
                "system_requirements": ["fpga"],
                "inputs": [PICTURE_INPUT],
                "outputs": [{"type": "logits", "processing": {"softmax": None}}],
                "firmware": {"url": str(firmware), "checksum": f"sha256:{digest(firmware)}"},
                **changes,
            }
        )
        assert isinstance(manifest, ModelManifest)
        return manifest

    return make


def options(url: str, **more: Any) -> Options:
    return Options(predictor_options={"url": url, "wait_s": 0, **more}, warm_up_runs=1, timed_runs=2)


def answers(settings: Settings, record: Record) -> list[Any]:
    return [(row["id"], row["classes"], row["scores"]) for row in Store(settings).samples(record).to_pylist()]


def test_a_device_is_evaluated_like_any_other_model(
    settings: Settings, make: Make, make_dataset: MakeDataset, make_pictures: MakePictures, agent: Agent, firmware: Path
) -> None:
    dataset = make_dataset(make_pictures())
    record = evaluate(make(remote={"url": agent.url}), dataset, Options(batch_size=5), settings=settings)
    assert (record.samples, record.failed) == (12, 0) and record.latency is not None
    assert record.server is not None and record.server.platform == "matrix-device"
    assert (record.server.name, record.server.version, record.server.model_versions) == ("device-agent", "1.0", ("1",))
    assert record.server.files == {"firmware/matrix.bit": digest(firmware)}
    assert agent.devices == {}  # it is left as it was found
    environment = log_of(record, "log")["environment"]
    assert environment["server"]["name"] == "device-agent" and agent.url not in json.dumps(environment)


def test_the_firmware_is_part_of_the_plan_and_the_address_is_not(
    settings: Settings, make: Make, make_dataset: MakeDataset, make_pictures: MakePictures, agent: Agent, firmware: Path
) -> None:
    dataset = make_dataset(make_pictures())
    first = evaluate(make(), dataset, options(agent.url), settings=settings)
    assert evaluate(make(), dataset, options(agent.url), settings=settings).id == first.id
    with Agent([digest(firmware)]) as other:  # the same work on another machine
        second = evaluate(make(), dataset, options(other.url), settings=settings)
        assert second.id != first.id and second.plan_digest == first.plan_digest
        assert answers(settings, second) == answers(settings, first)
    changed = firmware.with_name("other.bit")
    changed.write_bytes(firmware.read_bytes()[::-1])
    agent.accept.add(digest(changed))
    third = evaluate(make(firmware={"url": str(changed)}), dataset, options(agent.url), settings=settings)
    assert third.plan_digest != first.plan_digest and answers(settings, third) != answers(settings, first)


def test_a_picture_is_predicted_by_a_server(
    settings: Settings, make: Make, make_pictures: MakePictures, agent: Agent
) -> None:
    picture = make_pictures(1) / "class0" / "0000.png"
    (prediction,) = predict(make(), [picture], options(agent.url), settings=settings)
    assert prediction.error is None and len(prediction.classes) == 5


def test_a_token_is_in_no_record(
    settings: Settings,
    make: Make,
    make_dataset: MakeDataset,
    make_pictures: MakePictures,
    agent: Agent,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EDGE_TOKEN", "very-secret-indeed")
    dataset = make_dataset(make_pictures(3))
    record = evaluate(make(), dataset, options(agent.url, token_variable="EDGE_TOKEN"), settings=settings)
    assert "EDGE_TOKEN" in record.model_dump_json()
    for path in settings.home.rglob("*"):
        assert not path.is_file() or b"very-secret-indeed" not in path.read_bytes()


def test_a_manifest_cannot_ask_for_secrets(make: Make) -> None:
    with pytest.raises(Exception, match="unknown key `token_variable`|token_variable"):
        make(remote={"url": "http://elsewhere", "token_variable": "HOME"})


def test_an_address_must_come_from_somewhere(
    settings: Settings, make: Make, make_dataset: MakeDataset, make_pictures: MakePictures
) -> None:
    with pytest.raises(UsageError, match=r"`url` is required\n\nhint: --option url=…"):
        evaluate(make(), make_dataset(make_pictures(3)), settings=settings)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"firmware": None, "remote": {"model": "other"}},
            "the model `other`: it answered 404 .*no firmware for `other`",
        ),
        (
            {"inputs": [{"type": "image", "element_type": "uint8"}]},
            "input `input` takes float32, the manifest says uint8",
        ),
        ({"inputs": [{"type": "image", "layer_name": "data"}]}, "the model has no input `data`; it has input"),
        ({"outputs": [{"type": "logits", "layer_name": "prob"}]}, "the model has no output `prob`; it has scores"),
    ],
)
def test_what_the_server_has_must_be_what_the_manifest_says(
    settings: Settings,
    make: Make,
    make_dataset: MakeDataset,
    make_pictures: MakePictures,
    agent: Agent,
    changes: dict[str, Any],
    message: str,
) -> None:
    changes = {key: value for key, value in changes.items() if value is not None}
    model = make(**changes)
    if "remote" in changes:
        model = model.model_copy(update={"firmware": None})
    with pytest.raises(WorkerError, match=message):
        evaluate(model, make_dataset(make_pictures(3)), options(agent.url), settings=settings)
    assert Store(settings).list() == []


def test_a_tensor_of_another_shape_fails_with_both(
    settings: Settings, make: Make, make_dataset: MakeDataset, make_pictures: MakePictures, agent: Agent
) -> None:
    model = make(inputs=[{"type": "image", "processing": {"decode": None, "resize": {"dimensions": [8, 8]}}}])
    with pytest.raises(WorkerError, match=r"takes the shape \[\?, 3, 8, 8\], .* \[1, 8, 8, 3\]; .*`layout: NCHW`"):
        evaluate(model, make_dataset(make_pictures(3)), options(agent.url), settings=settings)


def test_firmware_with_a_wrong_checksum_never_leaves_this_machine(
    settings: Settings, make: Make, make_dataset: MakeDataset, make_pictures: MakePictures, agent: Agent, firmware: Path
) -> None:
    model = make(firmware={"url": str(firmware), "checksum": "sha256:" + "0" * 64})
    agent.accept.clear()
    with pytest.raises(ChecksumError):
        evaluate(model, make_dataset(make_pictures(3)), options(agent.url), settings=settings)


def test_firmware_that_the_agent_refuses_is_an_error_with_its_words(
    settings: Settings, make: Make, make_dataset: MakeDataset, make_pictures: MakePictures, agent: Agent
) -> None:
    agent.accept.clear()
    with pytest.raises(
        WorkerError, match="it could not be loaded: it answered 403 .*is not one that this device may run"
    ):
        evaluate(make(), make_dataset(make_pictures(3)), options(agent.url), settings=settings)


def test_a_server_that_is_not_there_is_an_error_without_a_record(
    settings: Settings, make: Make, make_dataset: MakeDataset, make_pictures: MakePictures
) -> None:
    with pytest.raises(WorkerError, match="http://127.0.0.1:9 cannot be asked: Connection refused"):
        evaluate(make(), make_dataset(make_pictures(3)), options("http://127.0.0.1:9"), settings=settings)
    assert Store(settings).list() == []


class Mortal(Agent):
    """An agent whose process ends when a question says so: nobody listens any more, all connections are cut."""

    def __init__(self, accept: list[str], port: int, is_fatal: Callable[[bytes], bool]) -> None:
        self.is_fatal = is_fatal
        self.ended = threading.Event()
        self._open: list[socket.socket] = []
        super().__init__(accept, port, handler=MortalHandler)

    def get_request(self) -> Any:
        connection, place = super().get_request()
        self._open.append(connection)
        return connection, place

    def end(self) -> None:
        self.shutdown()
        self.server_close()
        for connection in self._open:
            with contextlib.suppress(OSError):  # it may be closed already
                connection.shutdown(socket.SHUT_RDWR)
        self.ended.set()

    def handle_error(self, *about: Any) -> None:
        pass  # cut connections are what it is about


class MortalHandler(Handler):
    server: Mortal

    def infer(self, device: Any, content: bytes) -> Any:
        if self.server.is_fatal(content):
            self.server.end()
            raise ConnectionError
        return super().infer(device, content)


def test_a_server_that_dies_midway_stops_the_evaluation_which_goes_on_when_it_is_back(
    settings: Settings, make: Make, make_dataset: MakeDataset, make_pictures: MakePictures, firmware: Path
) -> None:
    dataset, asked = make_dataset(make_pictures(80)), []

    def is_fatal(question: bytes) -> bool:
        asked.append(question)
        return len(asked) > 60

    mortal = Mortal([digest(firmware)], 0, is_fatal)
    mortal.start()
    with pytest.raises(WorkerError, match="cannot be asked: (?s:.*)the same command resumes where it left off"):
        evaluate(make(), dataset, options(mortal.url), settings=settings)
    (row,) = Store(settings).list()
    assert row["status"] == "interrupted"
    with Agent([digest(firmware)], mortal.server_port):
        record = evaluate(make(), dataset, options(mortal.url), settings=settings)
        assert record.id == row["id"] and record.attempts == 2
        assert (record.samples, record.failed, record.notes) == (80, 0, ())
        undisturbed = evaluate(make(), dataset, options(mortal.url), settings=settings, again=True)
    assert answers(settings, undisturbed) == answers(settings, record)


def test_a_sample_that_kills_the_server_is_found_out_where_somebody_starts_it_again(
    settings: Settings, make: Make, make_dataset: MakeDataset, make_pictures: MakePictures, firmware: Path
) -> None:
    from PIL import Image

    folder = make_pictures(12)
    Image.new("RGB", (9, 9), (255, 255, 255)).save(folder / "class1" / "0004.png")
    white = np.ones(192, np.float32).tobytes()
    first = Mortal([digest(firmware)], 0, lambda question: white in question)
    first.start()
    running, over = [first], threading.Event()

    def supervise() -> None:
        while not over.is_set():
            if running[-1].ended.wait(0.02):
                running.append(Mortal([digest(firmware)], first.server_port, first.is_fatal))
                running[-1].start()

    supervisor = threading.Thread(target=supervise)
    supervisor.start()
    try:
        record = evaluate(make(), make_dataset(folder), options(first.url, wait_s=30), settings=settings)
    finally:
        over.set()
        supervisor.join()
        running[-1].end()
    assert [failure.sample for failure in record.failures] == ["class1/0004.png"]
    assert "cannot be asked: " in record.failures[0].reason and "came back" in record.failures[0].reason
    assert len(running) > 2


def test_another_server_after_an_interruption_is_noted(
    settings: Settings, make: Make, make_dataset: MakeDataset, make_pictures: MakePictures, firmware: Path
) -> None:
    class Newer(Handler):
        def say(self, words: Any, content: Any) -> Any:
            said = super().say(words, content)
            return {**said, "version": "2.0"} if list(words) == ["v2"] else said

    dataset, asked = make_dataset(make_pictures(80)), []
    mortal = Mortal([digest(firmware)], 0, lambda question: asked.append(question) or len(asked) > 60)  # type: ignore[func-returns-value]
    mortal.start()
    with pytest.raises(WorkerError):
        evaluate(make(), dataset, options(mortal.url), settings=settings)
    with Agent([digest(firmware)], mortal.server_port, handler=Newer):
        record = evaluate(make(), dataset, options(mortal.url), settings=settings)
    assert "the server was another one: device-agent 1.0 matrix 1, then device-agent 2.0 matrix 1" in record.notes[0]
