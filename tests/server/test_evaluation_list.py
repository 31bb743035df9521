"""The list of evaluations: searched, by day, with results, and tidied by those whose they are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("fastapi", reason="the server's packages are not installed")

from sqlalchemy import update

from ledger import shelf
from mlmodelscope.ledger.moment import later, now
from mlmodelscope.ledger.queue import Planned
from mlmodelscope.ledger.request import Request, Work
from mlmodelscope.ledger.tables import evaluations

from .inside import Inside

LIST = "/api/v1/evaluations"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inside]:
    with Inside(tmp_path_factory.mktemp("evaluations")) as found:
        yield found


def add(server: Inside, model: str, owner: str = "ada", **ended: object) -> str:
    queue = server.desk.queue
    planned = Planned(Work(kind="evaluate", model="name: m"), model, "pictures", ["nobody"])
    identity = str(server.desk.history.list(request=queue.add(owner, Request(model="m"), [planned]))[0]["id"])
    if ended:
        with server.desk.store.database.writing() as connection:
            connection.execute(update(evaluations).where(evaluations.c.id == identity).values(**ended))
    return identity


def test_a_row_has_its_result_and_how_long_it_took(server: Inside) -> None:
    record = shelf.add(server.desk.store)
    moments = {"started_at": now(), "ended_at": later(7)}
    identity = add(server, "resulting", state="finished", record=record.id, **moments)
    (row,) = server.get(f"{LIST}?q=resulting+pictures").json()["items"]
    assert (row["id"], row["took_s"]) == (identity, pytest.approx(7, abs=0.1))
    assert row["headline"]["value"] == record.metrics["top1"].value
    server.desk.store.delete(record)
    (row,) = server.get(f"{LIST}?q=RESULTING").json()["items"]
    assert row["headline"] is None and row["record"] == record.id


def test_words_and_days_narrow_the_list(server: Inside) -> None:
    old, new = add(server, "old_one", created_at=later(-9 * 86_400)), add(server, "new%one")
    day = later(-5 * 86_400).isoformat() + "Z"

    def found(query: str) -> list[str]:
        return [each["id"] for each in server.get(f"{LIST}?{query}").json()["items"]]

    assert found(f"until={day}") == [old] and old not in found(f"since={day}") and new in found(f"since={day}")
    assert found("q=new%25one") == [new] and found("q=new_one") == found("q='") == []
    assert server.get(f"{LIST}?since=yesterday").status_code == server.get(f"{LIST}?q={'x' * 201}").status_code == 422


def test_only_what_has_ended_is_deleted_and_only_by_those_whose_it_is(server: Inside) -> None:
    ada, bob = (server.token("read", "run", owner=name) for name in ("ada", "bob"))
    waiting = add(server, "deleted")
    assert server.ask("DELETE", f"{LIST}/{waiting}", ada).status_code == 400
    assert server.ask("POST", f"{LIST}/{waiting}/cancel", ada).status_code == 200
    assert server.ask("DELETE", f"{LIST}/{waiting}", bob).status_code == 403
    assert server.ask("DELETE", f"{LIST}/{waiting}", ada).status_code == 204
    assert (
        server.get(f"{LIST}/{waiting}").status_code == server.ask("DELETE", f"{LIST}/{waiting}", ada).status_code == 404
    )
    other = add(server, "deleted", owner="bob", state="failed")
    assert server.ask("DELETE", f"{LIST}/{other}", server.token("admin", owner="root")).status_code == 204
