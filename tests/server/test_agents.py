"""Agents on other machines, played by processes with homes of their own; and what happens when one is killed."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

import pytest

from detector_world import write_detector
from mlmodelscope.client.client import Client, Evaluation
from mlmodelscope.client.http import ServerError

from .conftest import KILLS, LOST_SOON, World

Found = TypeVar("Found")
QUICK: dict[str, Any] = {"timed_runs": 2, "warm_up_runs": 1, "timed_budget_s": 0.1}


class Cluster:
    """A server that evaluates nothing itself, and agents."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.token = world.token("agent", "read", owner="lab")
        self.agents: dict[str, subprocess.Popen[bytes]] = {}
        self.serve()
        self.admin = Client(world.url, world.token("admin", owner="root"))
        self.undisturbed = samples(world, "undisturbed", world.evaluate(**QUICK, home="undisturbed").id)
        """Answers of a model that says the same, evaluated without a server."""
        self.mend()

    def serve(self) -> None:
        self.server = self.world.serve(executor="none", **LOST_SOON)

    def mend(self) -> None:
        """Both agents are there, whatever the last test has done to them."""
        for name in ("one", "two"):
            if name not in self.agents or self.agents[name].poll() is not None:
                self.agents[name] = self.start(name)
        self.client = self.world.client()
        self.world.until(lambda: self._there() == ["one", "two"], "both agents are there")

    def _there(self) -> list[str]:
        return sorted(each["id"] for each in self.client.agents() if each["state"] == "online")

    def start(self, name: str) -> subprocess.Popen[bytes]:
        return self.world.agent(name, "--label", f"name={name}", "--slots", "1", token=self.token)

    def ask(self, model: str = "toy", **more: object) -> Evaluation:
        return self.client.ask({"model": model, "dataset": "pictures", "options": QUICK, "again": True, **more})[0]

    def answers(self, evaluation: Evaluation) -> bytes:
        """The samples of the record that came of it, as the server keeps them."""
        return samples(self.world, "server", evaluation.wait().record().id)


def samples(world: World, home: str, record: str) -> bytes:
    return (world.place / home / "records" / record / "samples.parquet").read_bytes()


@pytest.fixture(scope="module")
def lasting_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    world = World(tmp_path_factory.mktemp("cluster"))
    try:
        found = Cluster(world)
        yield found
        found.admin.close()
    finally:
        world.close()


@pytest.fixture
def cluster(lasting_cluster: Cluster) -> Cluster:
    lasting_cluster.mend()
    return lasting_cluster


def test_one_or_all_that_fit(cluster: Cluster) -> None:
    labelled = cluster.ask(where={"labels": {"name": "two"}})
    assert labelled.wait().facts["agent"] == "two"
    request = {"model": "toy", "dataset": "pictures", "options": QUICK, "agents": "all", "again": True}
    everywhere = cluster.client.ask(request)
    assert {each.wait().facts["agent"] for each in everywhere} == {"one", "two"}
    assert {cluster.answers(each) for each in everywhere} == {cluster.undisturbed}


def test_an_agent_that_drains_takes_nothing_more(cluster: Cluster) -> None:
    cluster.admin.post("/agents/one/drain", {"draining": True})
    assert cluster.client.get("/agents/one")["state"] == "draining"
    assert {cluster.ask().wait().facts["agent"] for _ in range(2)} == {"two"}
    cluster.admin.post("/agents/one/drain", {"draining": False})
    assert cluster.ask(where={"agent": "one"}).wait().facts["agent"] == "one"


def test_an_agent_leaves_when_it_is_asked_to(cluster: Cluster) -> None:
    # One that was just started is not there yet, though the server may still know the one before it.
    assert cluster.ask(where={"agent": "one"}).wait().facts["agent"] == "one"
    cluster.agents["one"].send_signal(signal.SIGTERM)
    assert cluster.agents["one"].wait(300) == 0
    assert [each["id"] for each in cluster.client.agents()] == ["two"]


def done(evaluation: Evaluation) -> int:
    """Samples, or parts, that have their answer."""
    return int((evaluation.refresh().facts["progress"] or {}).get("done", 0))


def check_completed(cluster: Cluster, asked: Evaluation) -> None:
    """It is finished, once, and says what it would have said without the accident."""
    assert cluster.answers(asked) == cluster.undisturbed
    assert asked.facts["state"] == "finished"
    assert [event["kind"] for event in asked.events()].count("finished") == 1
    cluster.world.until(lambda: _workers(cluster.world) == [], "no process is left behind")


VICTIMS = ["agent", "evaluation", "worker", "server"]


@pytest.mark.parametrize("victim", VICTIMS)
def test_whatever_is_killed_it_is_completed_and_the_same(cluster: Cluster, victim: str) -> None:
    asked = cluster.ask(cluster.world.add_model("slow", sleep_s=0.06))
    cluster.world.until(lambda: done(asked) > 0, "some samples are done")
    _kill(cluster, asked, victim)
    check_completed(cluster, asked)


@pytest.mark.nightly
@pytest.mark.parametrize("victim", VICTIMS)
def test_whenever_it_is_killed_it_is_completed_and_the_same(cluster: Cluster, victim: str) -> None:
    cluster.world.add_model("slow", sleep_s=0.08)
    chance = random.Random(victim)
    for _ in range(KILLS):
        asked = cluster.ask("slow")
        cluster.world.until(lambda: asked.refresh().state == "running", "it runs")  # noqa: B023
        time.sleep(chance.uniform(0, 4))
        _kill(cluster, asked, victim)
        check_completed(cluster, asked)


def on_postgresql(world: World, postgresql: str, moment: Callable[[Evaluation], object]) -> None:
    """A process of the database is killed at a moment of an evaluation."""
    expected = samples(world, "undisturbed", world.evaluate(**QUICK, home="undisturbed").id)
    world.write_model(sleep_s=0.06)
    world.serve(database=postgresql, **LOST_SOON)
    client = world.client()
    (asked,) = client.ask({"model": "toy", "dataset": "pictures", "options": QUICK, "again": True})
    moment(asked)
    os.kill(random.choice(_backends(postgresql)), signal.SIGKILL)
    record = _patiently(lambda: asked.wait().record())
    assert samples(world, "server", record.id) == expected
    assert [event["kind"] for event in asked.events()].count("finished") == 1
    world.until(lambda: _workers(world) == [], "no process is left behind")


def test_a_database_whose_connections_are_killed_is_asked_again(world: World, postgresql: str) -> None:
    """Of the server's own agent, too. When one of its processes is killed, PostgreSQL ends all others and recovers."""
    on_postgresql(world, postgresql, lambda asked: world.until(lambda: _done_patiently(asked), "some samples are done"))


@pytest.mark.nightly
@pytest.mark.parametrize("number", range(KILLS))
def test_a_database_may_be_killed_at_any_moment(world: World, postgresql: str, number: int) -> None:
    on_postgresql(world, postgresql, lambda asked: time.sleep(random.Random(number).uniform(0, 6)))


def _done_patiently(asked: Evaluation) -> int:
    return _patiently(lambda: done(asked))


def _patiently(ask: Callable[[], Found]) -> Found:
    """A question that the server could not answer is asked again, as a person would."""
    for _ in range(100):
        with contextlib.suppress(ServerError):
            return ask()
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


def _kill(cluster: Cluster, asked: Evaluation, victim: str) -> None:
    if victim == "server":
        cluster.server.kill()
        cluster.server.wait()
        cluster.serve()
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


@pytest.mark.parametrize("parts", [4, pytest.param(7, marks=pytest.mark.nightly)])
def test_in_parts_it_is_the_same_even_if_an_agent_is_killed(cluster: Cluster, parts: int) -> None:
    model = cluster.world.add_model(f"parted{parts}", sleep_s=0.06)
    asked = cluster.ask(model, shards=parts)
    cluster.world.until(lambda: done(asked) >= 1, "a part is done")
    cluster.agents["one"].kill()
    cluster.agents["one"].wait()
    check_completed(cluster, asked)
    record = asked.record()
    assert f"in {parts} parts" in record.notes[-1] and record.samples == 60 and record.latency is not None
    assert [each["id"] for each in cluster.client.records(model=model)] == [record.id]  # nothing twice


def test_a_detector_in_parts_is_the_same_even_if_an_agent_is_killed(cluster: Cluster) -> None:
    """Boxes, their truth and their scores travel with the parts."""
    world = cluster.world
    folder = world.place / "manifests"
    write_detector(folder, pictures=24)
    graph = {"shape": [None, 3, 8, 8], "classes": 2, "boxes": 4, "sleep_s": 0.06}
    (folder / "finder.json").write_text(json.dumps(graph))
    alone = world.evaluate("finder", "things", **QUICK, home="undisturbed")
    asked = cluster.ask("finder", dataset="things", shards=4)
    world.until(lambda: done(asked) >= 1, "a part is done")
    cluster.agents["one"].kill()
    cluster.agents["one"].wait()
    assert cluster.answers(asked) == samples(world, "undisturbed", alone.id)
    record = asked.record()
    assert record.samples == 24 and record.failed == 0
    numbers = {name: each.value for name, each in record.metrics.items()}
    assert numbers == {name: each.value for name, each in alone.metrics.items()} and numbers["ap"] > 0
