"""Published numbers on a server: statuses with their evidence, and many checked by its agents."""

from __future__ import annotations

import json
from typing import Any

import pytest

from claim import claim_world
from mlmodelscope.client.client import Client
from mlmodelscope.errors import UsageError
from small_world import DATASET, MODEL

from .conftest import World

HELD, TOO_HIGH, OF_NOBODY = (
    each.replace("pictures", "counted") for each in (claim_world.HELD, claim_world.TOO_HIGH, claim_world.OF_NOBODY)
)
ELSEWHERE = claim_world.ELSEWHERE
QUICK = {"options": {"timed_runs": 1}, "arguments": {"explain": False}}


def add(world: World, name: str, *claims: str) -> str:
    return world.add_model(name, f"{MODEL}claims: [{', '.join(claims)}]\n", classes=3)


def published(client: Client, model: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/published-claims", {"model": model})["items"]
    return found


def replicate(client: Client, model: Any, **more: Any) -> str:
    (evaluation,) = client.ask({"kind": "replicate", "model": model, "dataset": "counted", **QUICK, **more})
    evaluation.wait()
    assert evaluation.refresh().state == "finished", evaluation.facts
    return evaluation.id


@pytest.fixture
def client(lasting_world: World) -> Client:
    """Of a server that knows how many samples a dataset has: without that, none of these numbers could be decided."""
    text = DATASET.replace("name: pictures", "name: counted") + "size: 60\n"
    (lasting_world.place / "manifests" / "counted.yml").write_text(text)
    return lasting_world.client()


def test_a_replication_on_an_agent_is_the_status_of_the_claim(lasting_world: World, client: Client) -> None:
    model = add(lasting_world, "told", HELD, TOO_HIGH, OF_NOBODY)
    assert [each["status"] for each in published(client, model)] == ["unchecked"] * 3
    identity = replicate(client, model)
    held, high, mood = published(client, model)
    assert (held["status"], high["status"], mood["status"]) == ("reproduced", "not reproduced", "unchecked")
    check = held["check"]
    assert check["replication"] == identity and check["samples"] == 60 and check["stack"].startswith("current")
    assert check["person"] and check["machine"] and check["checked_at"]
    assert client.get(f"/published-claims/{held['key']}/checks")["items"] == [check]
    assert client.get(f"/published-claims/{mood['key']}/checks")["items"] == []
    found = client.get("/published-claims", {"status": "not reproduced", "q": "told"})
    assert [each["key"] for each in found["items"]] == [high["key"]] and found["next"] is None


def test_claims_of_sources_are_there_too_a_page_at_a_time(client: Client) -> None:
    first = client.get("/published-claims", {"source": "timm", "metric": "top1", "limit": 3})
    assert len(first["items"]) == 3 and first["next"] == 3 and first["total"] > 5_000
    second = client.get("/published-claims", {"source": "timm", "metric": "top1", "limit": 3, "start": 3})
    keys = [each["key"] for page in (first, second) for each in page["items"]]
    assert len(set(keys)) == 6
    for words in (chr(34), "a OR", "NEAR(", "*", "%"):
        assert client.get("/published-claims", {"q": words, "limit": 1})["total"] >= 0
    with pytest.raises(UsageError):
        client.get("/published-claims", {"status": "fine"})


def test_a_manifest_that_is_sent_says_nothing_of_another_of_its_name(lasting_world: World, client: Client) -> None:
    model = add(lasting_world, "shown", HELD)
    text = (lasting_world.place / "manifests" / "shown.yml").read_text()
    graph = client.upload(lasting_world.place / "manifests" / "shown.json")
    replicate(client, {"text": text.replace("graph_path: shown.json", f"graph_path: '{graph}'")})
    assert [each["status"] for each in published(client, model)] == ["unchecked"]


def test_many_are_checked_by_agents_and_the_same_command_finds_them_again(lasting_world: World, client: Client) -> None:
    add(lasting_world, "many-a", HELD)
    add(lasting_world, "many-c", TOO_HIGH, ELSEWHERE)
    words = ("claims", "check", "--search", "many", "--no-explain", "--server", lasting_world.url)
    code, told, wrong = lasting_world.say(*words, "--json")
    assert code == 1, wrong
    body = json.loads(told)
    found = {each["model"]: (each["verdict"], each["how"]) for each in body["claims"]}
    assert found == {
        "many-a@1.0.0": ("reproduced", "checked"),
        "many-c@1.0.0": ("not reproduced", "checked"),
    }
    assert "no manifest there describes the dataset nowhere-val" in wrong and "2 asked for" in wrong
    code, told, wrong = lasting_world.say(*words)
    assert code == 1 and "checked before" not in told and "2 of them done before" in wrong
    code, told, wrong = lasting_world.say("claims", "show", "many-c", "--server", lasting_world.url)
    assert code == 0 and "not reproduced: measured" in told and "top1 75.1 % on nowhere-val: unchecked" in told
    code, told, wrong = lasting_world.say("models", "many-a", "--server", lasting_world.url)
    assert code == 0 and "top5 100.0 % on counted: reproduced: measured 100.00 %" in " ".join(told.split())


def test_what_was_asked_for_is_waited_for_and_asked_for_again_only_where_it_came_to_nothing(
    lasting_world: World, client: Client
) -> None:
    model = add(lasting_world, "slow-one", HELD)
    lasting_world.write_model("slow-one", classes=3, sleep_s=0.05)
    words = ("claims", "check", "--search", "slow-one", "--no-explain", "--server", lasting_world.url)
    for _ in range(2):
        code, told, wrong = lasting_world.say(*words, "--budget", "0.5s")
        assert code == 3 and "the agents go on" in told and "1 not finished" in wrong, told + wrong
    (asked,) = client.evaluations(model="slow-one")
    asked.cancel()
    asked.wait()
    lasting_world.write_model("slow-one", classes=3)
    code, told, wrong = lasting_world.say(*words)
    assert code == 0 and "reproduced" in told, told + wrong
    newest, before = client.evaluations(model="slow-one")
    assert before.id == asked.id and published(client, model)[0]["check"]["replication"] == newest.id
