"""Before anything runs, and while nobody can run it: what is known already, who comes late, what it may cost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mlmodelscope.client.client import Client
from mlmodelscope.cluster.description import describe_agent
from mlmodelscope.errors import PlanError, UsageError
from mlmodelscope.ledger.budget import Budgets
from mlmodelscope.ledger.request import Work
from mlmodelscope.record.database import open_database
from mlmodelscope.server.config import Config
from mlmodelscope.server.desk import Desk
from mlmodelscope.server.handle import backlog
from mlmodelscope.settings import Settings

from .conftest import World

TOY = {"model": "toy", "dataset": "pictures", "options": {"timed_runs": 1}}
KNOWN = {**TOY, "model": "known"}


@pytest.fixture(scope="module")
def client(lasting_world: World) -> Client:
    return lasting_world.client()


@pytest.fixture(scope="module")
def record(lasting_world: World, client: Client) -> str:
    """The only one of a model that nobody asked about before."""
    lasting_world.add_model("known")
    assert client.resolve(KNOWN)["earlier"] == []
    (asked,) = client.ask(KNOWN)
    return asked.record().id


def test_what_is_known_already_is_offered_first(client: Client, record: str) -> None:
    (exact,) = client.resolve(KNOWN)["earlier"]
    assert (exact["record"], exact["exact"], exact["differs"]) == (record, True, [])
    (near,) = client.resolve({**KNOWN, "options": {"timed_runs": 1, "batch_size": 4, "limit": 6}})["earlier"]
    assert near["differs"] == ["batch_size: 1 there, 4 is asked for", "limit: all there, 6 is asked for"]
    (again,) = client.ask(KNOWN)
    assert [each["record"] for each in again.earlier] == [record] and again.wait().state == "finished"


def test_a_record_of_another_place_is_no_answer(client: Client, record: str) -> None:
    agent = client.agents()[0]["id"]
    for where, found in (
        ({"agent": agent}, True),
        ({"agent": "another"}, False),
        ({"labels": {"room": "3"}}, False),
        ({"hardware": {"interconnect": "nvlink"}}, False),
        ({"hardware": {"memory": ">= 1 MB"}}, True),
        ({"framework": {"name": "fake"}}, True),
        ({"framework": {"name": "tensorflow"}}, False),
        ({"stack": "tensorflow-1.15"}, False),
    ):
        assert bool(client.resolve({**KNOWN, "where": where})["earlier"]) == found, where


def test_a_request_may_wait_for_an_agent_that_is_not_there_yet(lasting_world: World, client: Client) -> None:
    wanted = {**TOY, "where": {"labels": {"room": "late"}}}
    with pytest.raises(PlanError, match="none of 1 agent fits") as refused:
        client.ask(wanted)
    assert "wait_for_agent" in str(refused.value.hint)
    with pytest.raises(UsageError, match="waits for one agent"):
        client.ask({**wanted, "agents": "all", "wait_for_agent": True})
    (waits,) = client.ask({**wanted, "wait_for_agent": True})
    (other,) = client.ask({**TOY, "where": {"labels": {"room": "elsewhere"}}, "wait_for_agent": True})
    assert waits.state == "waiting"
    process = lasting_world.agent("late", "--label", "room=late", token=lasting_world.token("agent"))
    happened = list(waits.events())
    assert [(each["kind"], each.get("agent")) for each in happened][:3] == [
        ("waiting", None),
        ("offered", "late"),
        ("running", "late"),
    ]
    assert waits.refresh().record().samples == 60
    assert other.refresh().state == "waiting"
    other.cancel()
    process.terminate()
    assert process.wait(300) == 0


def test_an_agent_that_trusts_nothing_is_not_offered_code(lasting_world: World, client: Client) -> None:
    code = "def preprocess(context, path):\n    return None\n"
    text = (
        "name: coded\nversion: 1.0.0\ntask: classification\nframework: {name: fake}\n"
        f"preprocess: |\n  {code.replace(chr(10), chr(10) + '  ')}\n"
        "inputs: [{type: image}]\noutputs: [{type: logits}]\nsource: {graph_path: 'https://x.example/toy.json'}\n"
    )
    asked = {"model": {"text": text}, "dataset": "pictures", "trust": True, "wait_for_agent": True}
    with Client(lasting_world.url, lasting_world.token("admin")) as trusted:
        (waits,) = trusted.ask(asked)
    settings = replace(Settings.from_environment(), home=lasting_world.place / "server")
    desk = Desk(settings, Config())
    try:
        for trusts, kinds in ((False, ["waiting"]), (True, ["waiting", "offered"])):
            backlog.offer(desk, describe_agent(settings, name="newcomer", trusts=trusts))
            assert [each["kind"] for each in desk.history.events(waits.id)] == kinds
        assert desk.queue.has_work("newcomer")
        backlog.offer(
            desk, describe_agent(settings, name="newcomer", trusts=False)
        )  # it has begun anew, without --trust
        assert not desk.queue.has_work("newcomer")
    finally:
        desk.queue.cancel(waits.id)
        desk.close()


def test_a_budget_that_is_spent_ends_it(lasting_world: World, client: Client) -> None:
    lasting_world.add_model("slow", sleep_s=0.5)
    (asked,) = client.ask({**TOY, "model": "slow", "budget_s": 1})
    last = list(asked.events())[-1]
    assert last["kind"] == "failed" and last["error"] == "BudgetSpent" and "its budget is 1 s" in last["message"]
    lasting_world.until(lambda: client.ask(TOY)[0].record().samples == 60, "the agent is free again")


def test_a_budget_counts_all_parts(lasting_world: World, client: Client) -> None:
    (asked,) = client.ask({**TOY, "shards": 2, "budget_s": 600, "options": {"timed_runs": 1, "seed": 8}})
    assert asked.record().samples == 60
    database = open_database(Settings(lasting_world.place / "server", lasting_world.place / "cache"))
    try:
        assert Budgets(database).seconds(asked.facts["request"]) > 0
        assert Budgets(database).spent() == []  # nothing is left to do
    finally:
        database.close()


SPLITS = """\
name: halves
version: 1.0.0
task: classification
format: folder
sources: [{url: pictures}]
split: train
splits:
  train: {include: '00[0-3]?.png', size: 40}
  test: {include: '00[45]?.png', size: 20}
"""


def test_an_agent_measures_the_split_that_is_asked_for(lasting_world: World, client: Client) -> None:
    (lasting_world.place / "manifests" / "halves.yml").write_text(SPLITS)
    asked = {**TOY, "model": lasting_world.add_model("splitting"), "dataset": "halves:test"}
    record = client.ask(asked)[0].record()
    assert (record.plan.dataset.reference, record.samples) == ("halves@1.0.0:test", 20)
    (earlier,) = client.resolve({**asked, "dataset": "halves@1.0.0:train"})["earlier"]
    assert earlier["differs"][0] == "split: test there, train is asked for"
    assert client.resolve({**asked, "dataset": "halves@^1:test"})["earlier"][0]["exact"]
    with pytest.raises(UsageError, match="halves has no split `dev`; it has train, test"):
        client.resolve({**asked, "dataset": "halves:dev"})


def test_work_without_a_split_is_written_as_it_always_was() -> None:
    assert "split" not in Work(kind="evaluate", model="name: m").model_dump(mode="json")
    assert '"split":"test"' in Work(kind="evaluate", model="name: m", split="test").model_dump_json()
