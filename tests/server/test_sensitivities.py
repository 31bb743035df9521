"""What each pitfall would cost, measured by an agent and kept by the server."""

from __future__ import annotations

from typing import Any

import pytest

from mlmodelscope.client.client import Client
from mlmodelscope.errors import MLModelScopeError, UsageError

from .conftest import World

ASKED: dict[str, Any] = {"model": "toy", "dataset": "pictures", "options": {"timed_runs": 1}}


@pytest.fixture(scope="module")
def client(lasting_world: World) -> Client:
    return lasting_world.client()


def test_what_pitfalls_cost_is_kept(client: Client) -> None:
    answer = client.post("/sensitivities", {**ASKED, "arguments": {"pitfalls": ["color-layout", "exif"]}})
    identity = answer["evaluations"][0]["id"]
    client.evaluation(identity).wait()
    found = client.get(f"/sensitivities/{identity}")
    assert (found["kind"], found["state"], found["found"]["record"]) == ("sensitivity", "finished", found["record"])
    effects = {each["pitfall"]: each for each in found["found"]["effects"]}
    assert effects["color-layout"]["words"] == "BGR instead of RGB" and effects["exif"]["idle"]
    assert effects["color-layout"]["difference_low"] <= effects["color-layout"]["difference"]
    assert identity in [each["id"] for each in client.get("/sensitivities", {"model": "toy"})["items"]]
    assert client.get("/sensitivities", {"model": "another"})["items"] == []


def test_a_pitfall_that_nobody_knows_fails_with_those_that_are(client: Client) -> None:
    answer = client.post("/sensitivities", {**ASKED, "arguments": {"pitfalls": ["moon"]}})
    with pytest.raises(MLModelScopeError, match="no pitfall is called moon"):
        client.evaluation(answer["evaluations"][0]["id"]).wait().record()
    assert client.get(f"/sensitivities/{answer['evaluations'][0]['id']}")["found"] is None


def test_only_sensitivities_are(client: Client) -> None:
    (asked,) = client.ask(ASKED)
    with pytest.raises(UsageError, match="there is no sensitivity"):
        client.get(f"/sensitivities/{asked.id}")
    with pytest.raises(UsageError):
        client.post("/sensitivities", {**ASKED, "kind": "bench"})
    asked.wait()
