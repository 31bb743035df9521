"""A real server at real sockets, in a thread of its own, with models that any machine can run."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="the server's packages are not installed")
pytest.importorskip("grpc", reason="the server's packages are not installed")

from mlmodelscope.inference.door import Door, LoneDoor  # noqa: E402
from mlmodelscope.inference.listening import Listening  # noqa: E402
from mlmodelscope.inference.models import Models  # noqa: E402
from mlmodelscope.inference.server import InferenceServer  # noqa: E402
from mlmodelscope.settings import Settings  # noqa: E402

FAKE = """\
name: {name}
version: 1.2.0
task: classification
framework: {{name: fake}}
inputs: [{{type: image, processing: {{decode: , layout: NCHW}}}}]
outputs: [{{type: logits}}]
source: {{graph_path: {name}.json}}
"""
ONNX = """\
name: sums
version: 1.0.0
task: general
framework: {name: onnxruntime}
inputs: [{type: text}, {type: text}]
outputs: [{type: tensor}, {type: tensor}]
source: {graph_path: sums.onnx}
"""


def write_catalogue(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in {
        "toy": {"shape": [None, 3, 8, 8], "classes": 10, "fail_above": 50},
        "bytes": {"shape": [None, 4], "element_type": "uint8", "classes": 2, "die_above": 100},
    }.items():
        (folder / f"{name}.json").write_text(json.dumps(model))
        (folder / f"{name}.yml").write_text(FAKE.format(name=name))
    (folder / "sums.yml").write_text(ONNX)
    _write_sums(folder / "sums.onnx")


def _write_sums(path: Path) -> None:
    """Two inputs of different types and shapes, two outputs."""
    import onnx
    from onnx import TensorProto, helper

    graph = helper.make_graph(
        [
            helper.make_node("Cast", ["b"], ["c"], to=TensorProto.FLOAT),
            helper.make_node("Add", ["a", "c"], ["sum"]),
            helper.make_node("Not", ["flags"], ["others"]),
        ],
        "sums",
        [
            helper.make_tensor_value_info("a", TensorProto.FLOAT, ["n", 3]),
            helper.make_tensor_value_info("b", TensorProto.INT64, [3]),
            helper.make_tensor_value_info("flags", TensorProto.BOOL, [2]),
        ],
        [
            helper.make_tensor_value_info("sum", TensorProto.FLOAT, ["n", 3]),
            helper.make_tensor_value_info("others", TensorProto.BOOL, [2]),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, path)


class Running:
    """A server in a thread, until it is stopped."""

    def __init__(self, settings: Settings, names: Sequence[str], door: Door | None = None) -> None:
        self.reason: str | None = None
        self.models = Models(settings, names, busy=lambda: self.reason)
        self._door = door or LoneDoor("127.0.0.1", None)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self.server: InferenceServer = self._run(self._start)
        self.rest, self.rpc = f"127.0.0.1:{self.server.port}", f"127.0.0.1:{self.server.rpc_port}"

    async def _start(self) -> InferenceServer:
        server = InferenceServer(self.models, self._door, Listening(port=0, rpc_port=0))
        await server.start()
        while not self.models.is_ready:
            await asyncio.sleep(0.02)
        return server

    def _run(self, coroutine: Callable[[], Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine(), self._loop).result(300)

    def stop(self) -> None:
        self._run(self.server.stop)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@pytest.fixture(scope="package")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    write_catalogue(folder)
    return folder


@pytest.fixture(scope="package")
def home(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    place = tmp_path_factory.mktemp("home")
    return Settings(home=place / "home", cache=place / "cache")


@pytest.fixture(scope="package")
def running(catalogue: Path, home: Settings) -> Iterator[Running]:
    """All the models, loaded."""
    names = [str(catalogue / f"{name}.yml") for name in ("toy", "bytes", "sums")]
    found = Running(home, names)
    yield found
    found.stop()
