"""What a replication found stays on the server: by its own agent, and by one on another machine."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from mlmodelscope.client.client import Client
from mlmodelscope.errors import UsageError
from replicate.scenes import describe_colours, describe_seer
from small_world import MODEL

from .conftest import World

ASKED: dict[str, Any] = {"model": "seer", "dataset": "colours", "options": {"timed_runs": 1}}


@pytest.fixture(scope="module")
def client(lasting_world: World) -> Client:
    """Of a server whose model claims what it would only reach with its colors the other way round."""
    folder = lasting_world.place / "manifests"
    claims = [{"metric": "top1", "value": "100.0", "dataset": "colours"}, {"metric": "mood", "value": "5"}]
    (folder / "colours.yml").write_text(yaml.safe_dump(describe_colours(folder, each=20)))
    (folder / "seer.yml").write_text(yaml.safe_dump({**describe_seer(folder), "claims": claims}))
    return lasting_world.client()


@pytest.fixture(scope="module")
def replication(client: Client) -> dict[str, Any]:
    answer = client.post("/replications", ASKED)
    client.evaluation(answer["evaluations"][0]["id"]).wait()
    found: dict[str, Any] = client.get(f"/replications/{answer['evaluations'][0]['id']}")
    return found


def test_a_claim_that_does_not_hold_and_why(client: Client, replication: dict[str, Any]) -> None:
    assert (replication["state"], replication["kind"]) == ("finished", "replicate")
    assert replication["verdict"] == "not reproduced" and "RGB instead of BGR" in replication["explained_by"]
    # What only reads the same answers otherwise needs no call and has seen all samples at once; the others begin small.
    (first, *_) = (each for each in replication["tried"] if each["samples"] <= 32)
    assert "RGB instead of BGR" in {each["words"] for each in first["variants"]}
    assert {each["why"] for each in first["variants"] if each["out"]} <= {
        "changes nothing",
        "cannot reach the claim",
        "another one is far likelier",
    }
    assert replication["goal"]["measured"] == replication["measured"]["value"] != replication["goal"]["claimed"]
    assert replication["finding"]["said"][0] == replication["text"]
    lines = [(each["sign"], each["text"]) for each in replication["finding"]["causes"][0]["edits"]]
    assert lines == [("-", "decode: {color_layout: BGR}"), ("+", "decode: {color_layout: RGB}")]
    assert replication["finding"]["candidates"][0]["samples"] == 60
    (listed,) = (each for each in client.get("/replications")["items"] if each["id"] == replication["id"])
    assert listed["verdict"] == "not reproduced" and "finding" not in listed


def test_claims_of_all_models_with_their_verdicts(client: Client, replication: dict[str, Any]) -> None:
    checked, other = client.get("/claims", {"model": "seer"})["items"]
    assert checked["verdict"] == "not reproduced"
    newest = client.get(f"/replications/{checked['replication']}")
    assert newest["verdict"] == "not reproduced" and newest["created_at"] >= replication["created_at"]
    assert (other["verdict"], other["checkable"]) == ("not checked", False)
    assert "resnet20-cifar10" in {each["model"] for each in client.get("/claims", {"verdict": "not checked"})["items"]}


def test_without_a_dataset_all_claims_about_the_claimed_one_are_judged(lasting_world: World, client: Client) -> None:
    claims = "[{metric: top1, value: 99.9, dataset: pictures}, {metric: top5, value: 0.1, dataset: pictures}]"
    lasting_world.add_model("several", f"{MODEL}claims: {claims}\n")
    asked = {"model": "several", "options": {"timed_runs": 1}, "arguments": {"explain": False}}
    identity = client.post("/replications", asked)["evaluations"][0]["id"]
    client.evaluation(identity).wait()
    found = client.get(f"/replications/{identity}")
    assert found["dataset"].startswith("pictures") and found["verdict"] == "not reproduced"
    verdicts = {each["claim"]["metric"]: each["verdict"] for each in found["verdicts"]}
    assert verdicts == {"top1": "not reproduced", "top5": "better than claimed"}
    assert {each["verdict"] for each in found["finding"]["verdicts"]} == set(verdicts.values())
    listed = {each["metric"]: each["verdict"] for each in client.get("/claims", {"model": "several"})["items"]}
    assert listed == verdicts


def test_what_a_claim_lacks_is_known_before_it_is_checked(client: Client, replication: dict[str, Any]) -> None:
    by_model = {each["model"]: each for each in client.get("/claims")["items"]}
    needed = "needs the data of imagenet-val: mlmodelscope datasets connect imagenet-val FOLDER"
    assert by_model["efficientnet-lite0"]["obstacle"] == needed
    assert by_model["mnist-nearest-neighbour"]["obstacle"] == "needs trust: the manifest carries code"
    assert by_model["resnet20-cifar10"]["obstacle"] is None


def test_the_samples_that_flipped_and_their_pictures(
    lasting_world: World, client: Client, replication: dict[str, Any]
) -> None:
    http = lasting_world.http
    assert replication["finding"]["evidence"]["samples"] == 60
    url = f"/replications/{replication['id']}"
    page = client.get(f"{url}/samples", {"limit": 3})
    flip = page["items"][0]
    assert page["total"] >= 3 and flip["seen"]["before"] == "0-before.png" and flip["before"][0]["class"] >= 0
    for kind in ("fixed", "right now"):
        assert client.get(f"{url}/samples", {"kind": kind})["total"] == page["total"]
    picture = http.get(f"{url}/pictures/0-before.png")
    assert picture.headers["content-type"] == "image/png" and picture.content.startswith(b"\x89PNG")
    for name in ("9999-before.png", "finding.json", "..%2Ffinding.json", "%2e%2e"):
        assert http.get(f"{url}/pictures/{name}").status_code == 404
    report = http.get(f"{url}/report")
    assert "sandbox" in report.headers["content-security-policy"] and "seer" in report.text
    assert "<testsuite" in http.get(f"{url}/report?form=junit").text


def test_what_an_agent_elsewhere_found_comes_with_its_record(
    lasting_world: World, client: Client, replication: dict[str, Any]
) -> None:
    world = lasting_world
    process = world.agent("away", token=world.token("agent"))
    world.until(lambda: len(client.agents()) == 2, "the agent has joined")
    away = {**ASKED, "kind": "replicate", "where": {"agent": "away"}}
    ids = []
    for arguments in ({}, {"claim": "top1=99@colours"}):  # the second comes to a record that is known
        (asked,) = client.ask({**away, "arguments": {"explain": False, **arguments}})
        asked.wait()
        ids.append(asked.id)
    process.terminate()
    assert process.wait(300) == 0
    first, second = (client.get(f"/replications/{each}") for each in ids)
    assert first["agent"] == second["agent"] == "away" and first["record"] == second["record"] != replication["record"]
    assert (first["finding"]["verdict"], second["finding"]["claim"]["value"]) == ("not reproduced", "99")
    for each in ids:
        assert "seer" in world.http.get(f"/replications/{each}/report").text


def test_only_replications_are(client: Client) -> None:
    (asked,) = client.ask(ASKED)
    with pytest.raises(UsageError, match="there is no replication"):
        client.get(f"/replications/{asked.id}")
    with pytest.raises(UsageError):
        client.post("/replications", {**ASKED, "kind": "bench"})
    asked.wait()
