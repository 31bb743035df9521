"""A server whose own agent serves its models by the Open Inference Protocol, to those that the server knows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import grpc
import httpx
import pytest

from mlmodelscope.client.client import Client
from mlmodelscope.inference.messages import SERVICE, methods

from .conftest import World, free_port

QUESTION = {"inputs": [{"name": "input", "datatype": "FP32", "shape": [1, 3, 8, 8], "data": [0.5] * 192}]}


@dataclass
class Serving:
    world: World
    url: str
    rpc: str
    tokens: dict[str, str]

    def ask(self, method: str, path: str, who: str | None = None, **more: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.tokens.get(who, who)}"} if who else {}
        return self.world.http.request(method, f"{self.url}/{path}", headers=headers, **more)


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    world = World(tmp_path_factory.mktemp("serving"))
    try:
        tokens = {scope: world.token(scope, owner="ada") for scope in ("read", "run", "agent")}
        port, rpc_port = free_port(), free_port()
        ports = {"inference_port": port, "inference_rpc_port": rpc_port}
        world.host(**ports, inference_models=["toy"], require_token=True, slots=1)
        found = Serving(world, f"http://127.0.0.1:{port}", f"127.0.0.1:{rpc_port}", tokens)
        world.until(lambda: _is_ready(found), "the models are loaded")
        yield found
    finally:
        world.close()


def _is_ready(serving: Serving) -> bool:
    try:
        return serving.ask("GET", "v2/health/ready").status_code == 200
    except httpx.TransportError:
        return False


def test_a_stranger_learns_that_it_is_there_and_nothing_else(serving: Serving) -> None:
    assert serving.ask("GET", "v2/health/live").json() == {"live": True}
    for who in (None, "mlms_wrong"):
        for path in ("v2", "v2/models/toy", "v2/models/toy/ready", "v2/repository/index", "v2/nothing"):
            answer = serving.ask("GET", path, who)
            assert answer.status_code == 401 and list(answer.json()) == ["error"]
            assert answer.headers["www-authenticate"] == "Bearer"
        assert serving.ask("POST", "v2/models/toy/infer", who, json=QUESTION).status_code == 401


def test_each_scope_has_its_use(serving: Serving) -> None:
    assert serving.ask("GET", "v2/models/toy", "read").json()["name"] == "toy"
    assert serving.ask("POST", "v2/models/toy/infer", "read", json=QUESTION).status_code == 403
    assert serving.ask("POST", "v2/repository/models/toy/unload", "read").status_code == 403
    assert serving.ask("GET", "v2/models/toy", "agent").status_code == 403
    found = serving.ask("POST", "v2/models/toy/infer", "run", json=QUESTION)
    assert found.status_code == 200 and found.json()["outputs"][0]["shape"] == [1, 10]


def test_the_door_is_the_same_over_grpc(serving: Serving) -> None:
    metadata, infer = methods()["ModelMetadata"], methods()["ModelInfer"]
    with grpc.insecure_channel(serving.rpc) as channel:
        ask = channel.unary_unary(f"/{SERVICE}/ModelMetadata", metadata.asked.SerializeToString)
        question = channel.unary_unary(f"/{SERVICE}/ModelInfer", infer.asked.SerializeToString)
        with pytest.raises(grpc.RpcError) as caught:
            ask(metadata.asked(name="toy"), timeout=300)
        assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
        shown = (("authorization", f"Bearer {serving.tokens['read']}"),)
        assert metadata.answered.FromString(ask(metadata.asked(name="toy"), timeout=300, metadata=shown)).name == "toy"
        with pytest.raises(grpc.RpcError) as caught:
            question(infer.asked(model_name="toy"), timeout=300, metadata=shown)
        assert caught.value.code() is grpc.StatusCode.PERMISSION_DENIED


def test_nothing_is_answered_while_a_bench_runs(serving: Serving) -> None:
    def status() -> int:
        return serving.ask("POST", "v2/models/toy/infer", "run", json=QUESTION).status_code

    with Client(serving.world.url, serving.world.token("run", "read")) as client:
        (asked,) = client.ask({"kind": "bench", "model": "toy", "dataset": "pictures"})
        serving.world.until(lambda: status() == 503, "the bench has begun")
        assert "timing something" in serving.ask("POST", "v2/models/toy/infer", "run", json=QUESTION).json()["error"]
        asked.cancel()
        serving.world.until(lambda: status() == 200, "the bench is over")
