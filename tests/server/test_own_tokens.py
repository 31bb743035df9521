"""Tokens of one's own: people make and revoke theirs, and none of them becomes more than it was."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the server's packages are not installed")

from mlmodelscope.ledger.moment import now

from .inside import Inside

TOKENS = "/api/v1/tokens"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inside]:
    with Inside(tmp_path_factory.mktemp("tokens"), visitors="read") as found:
        yield found


def make(server: Inside, token: str | None, **said: Any) -> Any:
    return server.ask("POST", TOKENS, token, json={"name": "laptop", "scopes": ["read"], **said})


def test_people_make_use_and_revoke_a_token_of_their_own(server: Inside) -> None:
    ada, bob = (server.token("read", "run", owner=name) for name in ("ada", "bob"))
    made = make(server, ada, days=3).json()
    assert server.get("/api/v1/whoami", made["token"]).json() == {"owner": "ada", "scopes": ["read"]}
    rows = server.get(TOKENS, ada).json()["items"]
    assert {row["owner"] for row in rows} == {"ada"} and made["id"] in {row["id"] for row in rows}
    assert "hash" not in rows[0] and made["token"] not in str(rows)
    assert server.ask("DELETE", f"{TOKENS}/{made['id']}", bob).status_code == 403
    assert server.ask("DELETE", f"{TOKENS}/{made['id']}", ada).status_code == 204
    assert server.ask("DELETE", f"{TOKENS}/{made['id']}", ada).status_code == 404
    assert server.get("/api/v1/whoami", made["token"]).status_code == 401


@pytest.mark.parametrize("said", [{"owner": "bob"}, {"scopes": ["read", "trust"]}, {"scopes": ["admin"]}])
def test_nobody_makes_more_of_a_token_than_it_is(server: Inside, said: dict[str, Any]) -> None:
    assert make(server, server.token("read", "run", owner="ada"), **said).status_code == 403


@pytest.mark.parametrize("days", [None, 3650])
def test_a_token_is_outlived_by_none_that_it_made(server: Inside, days: float | None) -> None:
    brief = server.token("read", "run", owner="brief", days=1)
    made = make(server, brief, **({"days": days} if days else {})).json()
    (row,) = [each for each in server.get(TOKENS, brief).json()["items"] if each["id"] == made["id"]]
    assert datetime.fromisoformat(row["expires_at"]).replace(tzinfo=None) <= now() + timedelta(days=1)


def test_visitors_readers_and_the_machine_itself_make_none(server: Inside) -> None:
    from .roles import ELSEWHERE

    body = {"name": "x", "scopes": ["read"]}
    assert server.ask("POST", TOKENS, None, json=body, headers=ELSEWHERE).status_code == 403
    assert make(server, server.token("read")).status_code == make(server, None).status_code == 403


def test_admins_see_and_make_those_of_everybody(server: Inside) -> None:
    root = server.token("admin", owner="root")
    assert make(server, root, owner="carol", scopes=["run"]).status_code == 201
    assert {"root", "carol"} <= {row["owner"] for row in server.get(TOKENS, root).json()["items"]}
