"""A real Ray cluster of several nodes on this machine: shards go to all of them, and elsewhere when one is lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from .conftest import World

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
    world.serve(executor="ray", ray_address=nodes.address, slots=1)
    client = world.client()
    world.until(lambda: len(client.agents()) == 2, "both nodes have an agent", 120)
    picture = world.place / "manifests" / "pictures" / "class0" / "0000.png"
    (predicted,) = client.predict("toy", [picture])
    assert predicted.error is None and len(predicted.classes) == 5
    request = {"model": "toy", "dataset": "pictures", "options": QUICK}
    (whole,) = client.ask(request)
    expected = _answers(world, whole)
    (parts,) = client.ask({**request, "shards": 6})
    assert _answers(world, parts) == expected
    world.write_model(sleep_s=0.1, seed=3)
    (whole,) = client.ask(request)
    expected = _answers(world, whole)
    (parts,) = client.ask({**request, "shards": 6})
    world.until(lambda: (parts.refresh().facts["progress"] or {}).get("done", 0) >= 1, "a part is done")
    nodes.remove_node(list(nodes.worker_nodes)[0], allow_graceful=False)
    assert _answers(world, parts) == expected


def _answers(world: World, evaluation: Any) -> bytes:
    record = evaluation.wait().record()
    return (world.place / "server" / "records" / record.id / "samples.parquet").read_bytes()


def test_without_a_cluster_it_is_said(world: World) -> None:
    (world.place / "ray.yml").write_text("executor: ray\nray_address: 127.0.0.1:1\n")
    process = world.start("serve", "--config", str(world.place / "ray.yml"), home="server")
    assert process.wait(60) == 2 and "no Ray cluster answers at 127.0.0.1:1" in world.log("server")
