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
from mlmodelscope.server.ray_nodes import check_cluster

from .conftest import KILLS, LOST_SOON, World

TOKEN = "0123456789abcdef" * 4
os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=TOKEN)  # Ray reads them once, when it is imported
ray_utils = pytest.importorskip("ray.cluster_utils", reason="ray is not installed")
QUICK: dict[str, Any] = {"timed_runs": 2, "warm_up_runs": 1, "timed_budget_s": 0.1}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    found = World(tmp_path_factory.mktemp("ray"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def nodes(world: World) -> Iterator[Any]:
    """Two nodes with addresses of their own; what they start knows our catalogue."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in world.environment("ray").items():
            if name.startswith("MLMODELSCOPE_"):
                patch.setenv(name, value)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        head = {"num_cpus": 1, "node_ip_address": "127.0.0.2", "include_dashboard": False}
        cluster = ray_utils.Cluster(initialize_head=True, head_node_args=head)
        cluster.add_node(num_cpus=1, node_ip_address="127.0.0.3")
        yield cluster
        cluster.shutdown()


@pytest.fixture(scope="module")
def client(world: World, nodes: Any) -> Client:
    """Of a server whose agents are the nodes."""
    world.serve(executor="ray", ray_address=nodes.address, slots=1, **LOST_SOON)
    return world.client()


@pytest.mark.slow(reason="two nodes of Ray and a server start; its other tests are for the night")
def test_parts_go_to_all_nodes_and_a_node_that_is_lost_is_said(world: World, nodes: Any, client: Client) -> None:
    mend(world, nodes, client)
    expected = _samples(world, "undisturbed", world.evaluate(**QUICK, home="undisturbed").id)
    (parts,) = client.ask({"model": "toy", "dataset": "pictures", "options": QUICK, "shards": 2, "again": True})
    assert _samples(world, "server", parts.wait().record().id) == expected
    picture = world.place / "manifests" / "pictures" / "class0" / "0000.png"
    (predicted,) = client.predict("toy", [picture])
    assert predicted.error is None and len(predicted.classes) == 5
    nodes.remove_node(nodes.worker_nodes.copy().pop(), allow_graceful=False)
    world.until(lambda: "is gone" in world.log("server"), "the loss is noticed")


@pytest.mark.nightly
def test_parts_of_a_node_that_is_lost_go_elsewhere(world: World, nodes: Any, client: Client) -> None:
    chance = random.Random("node")
    for turn in range(KILLS):
        model = world.add_model(f"turn{turn}", seed=turn)
        expected = _samples(world, "undisturbed", world.evaluate(model, **QUICK, home="undisturbed").id)
        world.write_model(model, sleep_s=0.1, seed=turn)
        mend(world, nodes, client)
        (parts,) = client.ask({"model": model, "dataset": "pictures", "options": QUICK, "shards": 6})
        world.until(lambda: parts.refresh().state == "running", "it runs")  # noqa: B023
        time.sleep(chance.uniform(0, 5))
        nodes.remove_node(nodes.worker_nodes.copy().pop(), allow_graceful=False)
        assert _samples(world, "server", parts.wait().record().id) == expected


def mend(world: World, nodes: Any, client: Client) -> None:
    """Two nodes are there, each with an agent, whatever the last test has done to them."""
    if not nodes.worker_nodes:
        nodes.add_node(num_cpus=1, node_ip_address="127.0.0.3")

    def is_there() -> bool:
        return sum(each["state"] == "online" for each in client.agents()) == 2

    world.until(is_there, "both nodes have an agent")


def _samples(world: World, home: str, record: str) -> bytes:
    return (world.place / home / "records" / record / "samples.parquet").read_bytes()


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


def test_without_a_cluster_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "token")  # it sets it
    with pytest.raises(UsageError, match="no Ray cluster answers at 127.0.0.1:1"):
        check_cluster("127.0.0.1:1", "token")
