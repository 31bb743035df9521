"""A real Ray cluster of several nodes on this machine: shards go to all of them, and elsewhere when one is lost."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.client.client import Client
from mlmodelscope.errors import UsageError
from mlmodelscope.server import ray_token

from .conftest import KILLS, LOST_SOON, World

TOKEN = "0123456789abcdef" * 4
os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=TOKEN)  # Ray reads them once, when it is imported
ray_utils = pytest.importorskip("ray.cluster_utils", reason="ray is not installed")
QUICK = {"timed_runs": 2, "warm_up_runs": 1, "timed_budget_s": 0.1}


@pytest.fixture
def nodes(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Two nodes with addresses of their own; what they start knows our catalogue."""
    for name, value in world.environment("ray").items():
        if name.startswith("MLMODELSCOPE_"):
            monkeypatch.setenv(name, value)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    cluster = ray_utils.Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "node_ip_address": "127.0.0.2", "include_dashboard": False}
    )
    cluster.add_node(num_cpus=1, node_ip_address="127.0.0.3")
    yield cluster
    cluster.shutdown()


def test_parts_go_to_all_nodes_and_elsewhere_when_one_is_lost(world: World, nodes: Any) -> None:
    world.write_model(sleep_s=0.1)
    world.serve(executor="ray", ray_address=nodes.address, slots=1, **LOST_SOON)
    client = world.client()
    world.until(lambda: _there(client) == 2, "both nodes have an agent")
    picture = world.place / "manifests" / "pictures" / "class0" / "0000.png"
    (predicted,) = client.predict("toy", [picture])
    assert predicted.error is None and len(predicted.classes) == 5
    request = {"model": "toy", "dataset": "pictures", "options": QUICK}
    (whole,) = client.ask(request)
    expected = _answers(world, whole)
    (parts,) = client.ask({**request, "shards": 6})
    assert _answers(world, parts) == expected
    chance = random.Random("node")
    for turn in range(KILLS):
        world.write_model(sleep_s=0.1, seed=3 + turn)
        (whole,) = client.ask(request)
        expected = _answers(world, whole)
        world.until(lambda: _there(client) == 2, "both nodes have an agent")
        (parts,) = client.ask({**request, "shards": 6})
        world.until(lambda: parts.refresh().state == "running", "it runs")  # noqa: B023
        time.sleep(chance.uniform(0, 5))
        nodes.remove_node(list(nodes.worker_nodes)[0], allow_graceful=False)
        assert _answers(world, parts) == expected
        nodes.add_node(num_cpus=1, node_ip_address="127.0.0.3")


def _there(client: Client) -> int:
    return sum(each["state"] == "there" for each in client.agents())


def _answers(world: World, evaluation: Any) -> bytes:
    record = evaluation.wait().record()
    return (world.place / "server" / "records" / record.id / "samples.parquet").read_bytes()


def test_a_cluster_is_refused_that_has_another_token_or_asks_for_none(
    nodes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray_token.check(nodes.address)
    monkeypatch.setenv("RAY_AUTH_TOKEN", "f" * 64)
    with pytest.raises(UsageError, match="has another token"):
        ray_token.check(nodes.address)
    monkeypatch.setattr(ray_token, "_answers", lambda address, token: True)  # an open cluster would take ten seconds
    with pytest.raises(UsageError, match="asks for no token"):
        ray_token.check(nodes.address)


def test_without_a_token_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "none"))
    with pytest.raises(UsageError, match="no token for the Ray cluster"):
        ray_token.find()


def test_without_a_cluster_it_is_said(world: World) -> None:
    (world.place / "ray.yml").write_text("executor: ray\nray_address: 127.0.0.1:1\n")
    process = world.start("serve", "--config", str(world.place / "ray.yml"), home="server")
    assert process.wait(300) == 2 and "no Ray cluster answers at 127.0.0.1:1" in world.log("server")
