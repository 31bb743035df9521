"""An agent's name belongs to the owner of the token that first joined with it: nobody else speaks for that agent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the server's packages are not installed")

from mlmodelscope.cluster.description import describe_agent
from mlmodelscope.cluster.link import DirectLink
from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.prediction import Posed
from mlmodelscope.ledger.queue import Planned
from mlmodelscope.ledger.request import Request, Work
from mlmodelscope.server.rest.app import make_app

from .inside import Inside

Call = tuple[str, str, dict[str, Any]]
FAILURE = {"kind": "Died", "message": "it is gone", "hint": None}


@dataclass(frozen=True)
class Held:
    """A server, and an agent of Ada's that has taken an evaluation and a prediction."""

    server: Inside
    ada: str
    bob: str
    calls: Mapping[str, Call]
    """What an agent asks for, by the name of the operation: each as Ada's agent itself would ask it."""

    def ask(self, operation: str, token: str) -> int:
        method, path, more = self.calls[operation]
        return self.server.ask(method, f"/api/v1{path}", token, **more).status_code


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Held]:
    with Inside(tmp_path) as server:
        ada, bob = server.token("agent", owner="ada"), server.token("agent", owner="bob")
        described = describe_agent(server.desk.settings, name="one").model_dump(mode="json")
        join = {"json": {"description": described, "incarnation": "known"}}
        assert server.ask("POST", "/api/v1/agents", ada, **join).status_code == 200
        evaluation = _evaluation(server)
        work = Work(kind="evaluate", model="name: m")
        posed = Posed(id="asked", work=work, most_bytes=9, timeout_s=9)
        server.desk.board.put(posed, b"input", ["one"], "key")
        mine = {"incarnation": "known"}
        taken = server.ask("POST", "/api/v1/agents/one/take", ada, json=mine).json()["evaluations"]
        assert [each["id"] for each in taken] == [evaluation]
        got = server.ask("POST", "/api/v1/agents/one/predictions/take", ada, json=mine).json()
        assert got["prediction"]["id"] == "asked"
        packed = {"content": b"no zip", "headers": {"X-Attempt": "1"}}
        about, question = f"/evaluations/{evaluation}", "/predictions/asked"
        calls: dict[str, Call] = {
            "join_agent": ("POST", "/agents", join),
            "beat_agent": ("POST", "/agents/one/beat", {"json": {**mine, "held": {evaluation: 1}}}),
            "take_evaluations": ("POST", "/agents/one/take", {"json": mine}),
            "take_prediction": ("POST", "/agents/one/predictions/take", {"json": mine}),
            "tell_events": ("POST", f"{about}/events", {"json": {"attempt": 1, "events": []}}),
            "finish_evaluation": ("PUT", f"{about}/record", packed),
            "finish_part": ("PUT", f"{about}/part", packed),
            "fail_evaluation": (
                "POST",
                f"{about}/failure",
                {"json": {"attempt": 1, "failure": FAILURE, "again": False}},
            ),
            "confirm_cancelled": ("POST", f"{about}/cancelled", {"json": {"attempt": 1}}),
            "return_evaluation": ("POST", f"{about}/return", {"json": {"attempt": 1}}),
            "tell_prediction": (
                "POST",
                f"{question}/events",
                {"json": {"agent": "one", "event": {"kind": "opening"}}},
            ),
            "answer_prediction": (
                "POST",
                f"{question}/answer",
                {"json": {"agent": "one", "ending": {"failure": FAILURE}}},
            ),
            "return_prediction": ("POST", f"{question}/return", {"json": {"agent": "one"}}),
            "leave_agent": ("DELETE", "/agents/one", {"params": mine}),
        }
        yield Held(server, ada, bob, calls)


def _evaluation(server: Inside) -> str:
    """One that waits for the agent."""
    planned = Planned(Work(kind="evaluate", model="name: m"), "m", "d", ["one"])
    request = server.desk.queue.add("carol", Request(model="m"), [planned])
    return str(server.desk.history.list(request=request)[0]["id"])


def test_another_owner_is_refused_in_every_call_of_an_agent(held: Held) -> None:
    document = make_app(held.server.desk, agent=False).openapi()
    operations = [each for methods in document["paths"].values() for each in methods.values()]
    assert set(held.calls) == {each["operationId"] for each in operations if "for agents" in each.get("tags", ())}
    assert {name: held.ask(name, held.bob) for name in held.calls} == dict.fromkeys(held.calls, 403)


def test_its_own_owner_is_not(held: Held) -> None:
    """What is handed over here is no record, and after the first end no other counts."""
    expected = dict.fromkeys(held.calls, 204)
    expected |= dict.fromkeys(("join_agent", "beat_agent", "take_evaluations", "take_prediction"), 200)
    expected |= dict.fromkeys(("finish_evaluation", "finish_part"), 400)
    expected |= dict.fromkeys(("confirm_cancelled", "return_evaluation", "return_prediction"), 410)
    assert {name: held.ask(name, held.ada) for name in held.calls} == expected


def test_a_name_stays_its_owners_until_an_admin_frees_it(held: Held) -> None:
    assert held.ask("leave_agent", held.ada) == 204
    assert held.ask("join_agent", held.bob) == 403
    admin = held.server.token("admin", owner="root")
    assert held.server.ask("DELETE", "/api/v1/agents/one", held.ada).status_code == 403
    assert held.server.ask("DELETE", "/api/v1/agents/one", admin).status_code == 204
    assert held.server.ask("DELETE", "/api/v1/agents/one", admin).status_code == 404
    assert held.ask("join_agent", held.bob) == 200
    assert held.ask("join_agent", held.ada) == 403


def test_an_agent_that_joined_before_names_had_owners_goes_on(held: Held) -> None:
    held.server.desk.agents.owners.release("one")
    held.server.desk.heartbeats.write()
    assert held.ask("beat_agent", held.ada) == 200
    assert held.ask("beat_agent", held.bob) == 403


@pytest.mark.parametrize("name", ["one ", " one", "one\u200b", "o\u202ene", "one\n", "", "x" * 201])
def test_a_name_that_looks_like_another_is_refused(held: Held, name: str) -> None:
    described = describe_agent(held.server.desk.settings, name="two").model_dump(mode="json") | {"id": name}
    join = {"json": {"description": described, "incarnation": "other"}}
    answer = held.server.ask("POST", "/api/v1/agents", held.bob, **join)
    assert answer.status_code == 400 and "is not a valid agent name" in answer.json()["detail"]


def test_nobody_speaks_for_the_servers_own_agent(held: Held) -> None:
    desk = held.server.desk
    description = describe_agent(desk.settings, name="one")
    link = DirectLink(desk.queue, desk.agents, 30, lambda *part: None, desk.board)
    asyncio.run(link.join(description, "own"))  # it takes the name that it needs
    assert held.ask("join_agent", held.ada) == 403 and held.ask("join_agent", held.bob) == 403
    asyncio.run(link.leave())  # and an agent with a token may come after it
    assert held.ask("join_agent", held.bob) == 200


def test_a_token_has_an_owner(held: Held) -> None:
    with pytest.raises(UsageError, match="owner"):
        held.server.token("agent", owner=" ")
