"""A device that is asked by the Open Inference Protocol, as an agent; here another agent of ours plays the device."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from mlmodelscope.client.client import Evaluation
from mlmodelscope.errors import PlanError
from small_world import MODEL

from .conftest import LOST_SOON, World, free_port

onnx = pytest.importorskip("onnx")

QUICK = {"timed_runs": 2, "warm_up_runs": 1, "timed_budget_s": 0.1}
BOARD = """\
name: little-board
version: 1.0.0
cpu: {arch: arm64, model: Cortex-A53, ncpu: 4}
memory: 2gb
"""


def write_models(folder: Path) -> None:
    """An ONNX model, and the same one as a device has it: only its manifest is here."""
    from onnx import TensorProto, helper, numpy_helper

    weights = np.random.default_rng(0).standard_normal((192, 10)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Flatten", ["x"], ["flat"]), helper.make_node("MatMul", ["flat", "w"], ["scores"])],
        "linear",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 8, 8])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["n", 10])],
        [numpy_helper.from_array(weights, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, folder / "linear.onnx")
    here = MODEL.replace("name: toy", "name: linear").replace("name: fake", "name: onnxruntime")
    (folder / "linear.yml").write_text(here.replace("toy.json", "linear.onnx"))
    there = MODEL.replace("name: toy", "name: linear-there").replace("name: fake", "name: remote")
    (folder / "linear-there.yml").write_text(there.replace("source: {graph_path: toy.json}", "remote: {model: linear}"))
    (folder / "little-board.yml").write_text(BOARD)


class Field:
    """A server, a machine that serves its model, and an agent that speaks for that machine as if it were a device."""

    def __init__(self, world: World) -> None:
        self.world = world
        write_models(world.place / "manifests")
        self.token = world.token("agent", "read", owner="lab")
        self.port, self.rpc_port = free_port(), free_port()
        world.host(executor="none", **LOST_SOON)
        self.device = self.start_device()
        world.until(self.answers_there, "the device answers")
        self.agent("edge", f"http://127.0.0.1:{self.port}", "--hardware", str(self.board))
        self.agent("edge-rpc", f"grpc://127.0.0.1:{self.rpc_port}")
        self.client = world.client()
        world.until(lambda: len(self.client.agents()) == 3, "all agents have joined")

    @property
    def board(self) -> Path:
        return self.world.place / "manifests" / "little-board.yml"

    def start_device(self) -> Any:
        ports = ("--inference-port", str(self.port), "--inference-rpc-port", str(self.rpc_port))
        return self.world.agent("device", *ports, "--serve-model", "linear", "--slots", "1", token=self.token)

    def agent(self, name: str, url: str, *more: str) -> None:
        self.world.agent(name, "--remote", url, *more, token=self.token)

    def answers_there(self) -> bool:
        try:
            return self.world.http.get(f"http://127.0.0.1:{self.port}/v2/health/ready").status_code == 200
        except httpx.TransportError:
            return False

    def described(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get(f"/agents/{name}")["description"]
        return found

    def ask(self, model: Any, **more: Any) -> Evaluation:
        return self.client.ask({"model": model, "dataset": "pictures", "options": QUICK, **more})[0]

    def answers(self, evaluation: Evaluation) -> list[Any]:
        record = evaluation.wait().record()
        found = self.client.get(f"/records/{record.id}/samples", {"limit": 100})["items"]
        return [(each["id"], each["classes"], each["scores"]) for each in found]


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Field]:
    world = World(tmp_path_factory.mktemp("field"))
    try:
        yield Field(world)
    finally:
        world.close()


def test_it_is_published_as_what_it_is(field: Field) -> None:
    edge = field.described("edge")
    assert edge["remote"] == f"http://127.0.0.1:{field.port}" and edge["away"] is None
    assert "linear" in edge["models"] and {each["framework"] for each in edge["offers"]} == {"remote"}
    assert (edge["machine"]["architecture"], edge["machine"]["cpu"]["model"]) == ("aarch64", "Cortex-A53")
    assert (edge["machine"]["memory"]["total_bytes"], edge["slots"]) == (2 << 30, 1)
    assert field.described("edge-rpc")["cpu"].startswith("mlmodelscope ")


def test_the_answers_are_those_of_the_model_itself(field: Field) -> None:
    here = field.ask("linear")
    over_rest = field.ask("linear-there", where={"agent": "edge"})
    over_rpc = field.ask("linear-there", where={"agent": "edge-rpc"})
    expected = field.answers(here)
    assert len(expected) == 60 and here.facts["agent"] == "device"
    assert field.answers(over_rest) == expected and field.answers(over_rpc) == expected
    record = over_rest.record()
    assert record.server is not None and record.server.address == f"http://127.0.0.1:{field.port}"
    assert (record.server.name, record.server.model, record.server.platform) == (
        "mlmodelscope",
        "linear",
        "onnxruntime",
    )


def test_each_gets_what_it_can_do(field: Field) -> None:
    question = {"model": "linear-there", "dataset": "pictures"}
    # On a busy machine a device may be taken to be away for a moment.
    field.world.until(lambda: field.client.resolve(question)["matching"] == ["edge", "edge-rpc"], "both are there")
    assert field.client.resolve({**question, "model": "linear"})["matching"] == ["device"]
    on_arm = field.client.resolve({**question, "where": {"hardware": {"cpu": {"arch": "aarch64"}}}})
    assert on_arm["matching"] == ["edge"]
    other = MODEL.replace("name: fake", "name: remote").replace("source: {graph_path: toy.json}", "")
    found = field.client.resolve({**question, "model": {"text": other}})
    assert found["matching"] == []
    assert "has no model `toy`" in found["refusals"]["edge"][0]
    assert "speaks for none" in found["refusals"]["device"][0]
    elsewhere = {"predictor_options": {"url": "http://127.0.0.1:9"}}
    assert field.client.resolve({**question, "options": elsewhere})["matching"] == ["device"]


def test_a_device_that_goes_away_is_said_to_be_away_and_comes_back(field: Field) -> None:
    field.device.send_signal(signal.SIGKILL)
    field.world.until(lambda: field.described("edge")["away"], "it is noticed over REST")
    field.world.until(lambda: field.described("edge-rpc")["away"], "it is noticed over gRPC")
    with pytest.raises(PlanError, match="presence: .*does not answer"):
        field.ask("linear-there", where={"agent": "edge"})
    field.device = field.start_device()
    for name in ("edge", "edge-rpc"):  # both, since other tests use them, too
        field.world.until(lambda name=name: not field.described(name)["away"], "it is back")
    asked = field.ask("linear-there", where={"agent": "edge"}, again=True)
    assert len(field.answers(asked)) == 60
