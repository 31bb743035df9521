"""Agents on other machines, played by processes with homes of their own; and what happens when one is killed."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit

import pytest

from mlmodelscope.client.client import Client, Evaluation
from mlmodelscope.client.http import ServerError

from .conftest import KILLS, LOST_SOON, World

Found = TypeVar("Found")
QUICK = {"timed_runs": 2, "warm_up_runs": 1, "timed_budget_s": 0.1}


class Cluster:
    """A server that evaluates nothing itself, and agents."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.token = world.run("token", "make", "--owner", "lab", "--scope", "agent", "--scope", "read")
        self.server = world.serve(executor="none", **LOST_SOON)
        self.agents = {name: self.start(name) for name in ("one", "two")}
        self.client = world.client()
        world.until(lambda: len(self.client.agents()) == 2, "both agents have joined")

    def start(self, name: str) -> subprocess.Popen[bytes]:
        return self.world.agent(name, "--label", f"name={name}", "--slots", "1", token=self.token)

    def ask(self, **more: object) -> Evaluation:
        return self.client.ask({"model": "toy", "dataset": "pictures", "options": QUICK, **more})[0]

    def answers(self, evaluation: Evaluation) -> bytes:
        """The samples of the record that came of it, as the server keeps them."""
        record = evaluation.wait().record()
        path = self.world.place / "server" / "records" / record.id / "samples.parquet"
        return path.read_bytes()


@pytest.fixture
def cluster(world: World) -> Cluster:
    return Cluster(world)


def test_one_or_all_that_fit(cluster: Cluster) -> None:
    labelled = cluster.ask(where={"labels": {"name": "two"}})
    assert labelled.wait().facts["agent"] == "two"
    everywhere = cluster.client.ask({"model": "toy", "dataset": "pictures", "options": QUICK, "agents": "all"})
    assert {each.wait().facts["agent"] for each in everywhere} == {"one", "two"}
    assert len({cluster.answers(each) for each in everywhere}) == 1


def test_an_agent_that_drains_takes_nothing_more(cluster: Cluster, world: World) -> None:
    admin = Client(world.url, world.run("token", "make", "--owner", "root", "--scope", "admin"))
    admin.post("/agents/one/drain", {"draining": True})
    assert cluster.client.get("/agents/one")["state"] == "draining"
    assert {cluster.ask(again=True).wait().facts["agent"] for _ in range(2)} == {"two"}
    admin.post("/agents/one/drain", {"draining": False})
    assert cluster.ask(where={"agent": "one"}).wait().facts["agent"] == "one"
    admin.close()


def test_an_agent_leaves_when_it_is_asked_to(cluster: Cluster, world: World) -> None:
    cluster.agents["one"].send_signal(signal.SIGTERM)
    assert cluster.agents["one"].wait(300) == 0
    assert [each["id"] for each in cluster.client.agents()] == ["two"]


def slow(world: World) -> None:
    world.write_model(sleep_s=0.08)


def undisturbed(cluster: Cluster) -> bytes:
    return cluster.answers(cluster.ask(again=True))


@pytest.mark.parametrize("victim", ["agent", "evaluation", "worker", "server"])
def test_whatever_is_killed_it_is_completed_and_the_same(cluster: Cluster, world: World, victim: str) -> None:
    slow(world)
    expected = undisturbed(cluster)
    chance = random.Random(victim)
    for _ in range(KILLS):
        asked = cluster.ask(again=True)
        world.until(lambda: asked.refresh().state == "running", "it runs")  # noqa: B023
        time.sleep(chance.uniform(0, 4))
        _kill(cluster, world, asked, victim)
        assert cluster.answers(asked) == expected
        assert asked.facts["state"] == "finished"
        kinds = [event["kind"] for event in asked.events()]
        assert kinds.count("finished") == 1
    world.until(lambda: _workers(world) == [], "no process is left behind")


def test_a_database_whose_connections_are_killed_is_asked_again(world: World, postgresql: str) -> None:
    """Of the server's own agent, too. When one of its processes is killed, PostgreSQL ends all others and recovers."""
    slow(world)
    world.serve(database=postgresql, **LOST_SOON)
    client = world.client()
    request = {"model": "toy", "dataset": "pictures", "options": QUICK, "again": True}

    def answers(asked: Evaluation) -> bytes:
        record = _patiently(lambda: asked.wait().record())
        return (world.place / "server" / "records" / record.id / "samples.parquet").read_bytes()

    expected = answers(client.ask(request)[0])
    chance = random.Random("database")
    for _ in range(KILLS):
        (asked,) = client.ask(request)
        time.sleep(chance.uniform(0, 6))
        os.kill(chance.choice(_backends(postgresql)), signal.SIGKILL)
        assert answers(asked) == expected
        assert [event["kind"] for event in asked.events()].count("finished") == 1
    world.until(lambda: _workers(world) == [], "no process is left behind")


def _patiently(ask: Callable[[], Found]) -> Found:
    """A question that the server could not answer is asked again, as a person would."""
    for _ in range(100):
        try:
            return ask()
        except ServerError:
            time.sleep(0.2)
    return ask()


def _backends(address: str) -> list[int]:
    """Processes of PostgreSQL that serve a connection each."""
    place = parse_qs(urlsplit(address).query)["host"][0]
    postmaster = int((Path(place) / "postmaster.pid").read_text().split()[0])
    found = []
    for pid in _children(postmaster):
        with contextlib.suppress(OSError):
            title = Path(f"/proc/{pid}/cmdline").read_bytes()
            if b"[local]" in title:
                found.append(pid)
    return found


def _kill(cluster: Cluster, world: World, asked: Evaluation, victim: str) -> None:
    if victim == "server":
        cluster.server.kill()
        cluster.server.wait()
        cluster.server = world.serve(executor="none", **LOST_SOON)
        return
    name = asked.refresh().facts["agent"]
    if name is None:  # it is done already
        return
    if victim == "agent":
        cluster.agents[name].kill()
        cluster.agents[name].wait()
        cluster.agents[name] = cluster.start(name)
        return
    below = _children(cluster.agents[name].pid)
    if victim == "worker":
        below = [pid for child in below for pid in _children(child)]
    for pid in below:
        os.kill(pid, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _workers(world: World) -> list[str]:
    """Commands of workers and evaluations that belong to this test."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            command = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            environment = (path / "environ").read_bytes()
        except OSError:
            continue
        ours = str(world.place).encode() in environment
        if ours and ("mlmodelscope_worker" in command or "cluster.run" in command):
            found.append(command)
    return found


def test_in_parts_it_is_the_same_even_if_an_agent_is_killed(cluster: Cluster, world: World) -> None:
    slow(world)
    expected = undisturbed(cluster)
    asked = cluster.ask(shards=7)
    assert cluster.answers(asked) == expected
    record = asked.record()
    assert "in 7 parts" in record.notes[-1] and record.samples == 60 and record.latency is not None
    world.write_model(sleep_s=0.08, seed=1)
    expected = undisturbed(cluster)
    asked = cluster.ask(shards=7)
    world.until(lambda: (asked.refresh().facts["progress"] or {}).get("done", 0) >= 2, "two parts are done")
    cluster.agents["one"].kill()
    cluster.agents["one"].wait()
    assert cluster.answers(asked) == expected
    assert len(cluster.client.records(model="toy")) == 4  # nothing twice
