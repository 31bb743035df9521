"""What is kept on a server belongs to somebody: others may look at it, and neither change nor replace it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the server's packages are not installed")

from mlmodelscope.ledger.queue import Planned
from mlmodelscope.ledger.request import Request, Work
from mlmodelscope.manifest.schema import DatasetManifest
from mlmodelscope.record.owners import OPERATOR, owner_of
from mlmodelscope.record.record import Record
from mlmodelscope.server.handle.shelf import find

from .conftest import World
from .inside import Inside

DATASET = "name: {name}\nversion: {version}\ntask: classification\nformat: folder\nsources: [{{url: '{url}'}}]\n"
SHIPPED = "imagenet-70"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Inside]:
    with Inside(tmp_path) as found:
        yield found


def put(server: Inside, token: str | None, name: str, version: str = "1.0.0", url: str = "https://x.org/a.zip") -> int:
    text = DATASET.format(name=name, version=version, url=url)
    return server.ask("POST", "/api/v1/manifests", token, json={"text": text}).status_code


def test_names_of_the_shipped_catalogue_are_the_servers(server: Inside) -> None:
    user, admin = server.token("read", "run", owner="ada"), server.token("admin", owner="root")
    for token in (user, None):  # the local user either
        assert put(server, token, SHIPPED, "1.0.1") == 403
        assert put(server, token, SHIPPED, "0.1.0") == 403
        assert put(server, token, SHIPPED, "1.0.0") == 409
    assert put(server, admin, SHIPPED, "1.0.0") == 409
    assert put(server, admin, SHIPPED, "0.1.0") == 201  # older: nobody gets it who does not ask for it
    assert find(server.desk, DatasetManifest, SHIPPED)[0].version == "1.0.0"
    assert find(server.desk, DatasetManifest, f"{SHIPPED}@0.1.0")[0].version == "0.1.0"
    assert put(server, admin, SHIPPED, "1.0.1") == 201
    assert find(server.desk, DatasetManifest, SHIPPED)[0].version == "1.0.1"


def test_a_row_from_before_does_not_replace_a_shipped_version(server: Inside) -> None:
    text = DATASET.format(name=SHIPPED, version="1.0.0", url="https://evil.example/a.zip")
    server.desk.manifests.put("dataset", SHIPPED, "1.0.0", "0" * 64, "eve", text)
    token = server.token("read")
    assert "evil" not in find(server.desk, DatasetManifest, SHIPPED)[1]
    assert server.get(f"/api/v1/manifests/dataset/{SHIPPED}/1.0.0", token).json()["shipped"]
    (listed,) = server.get(f"/api/v1/manifests/dataset/{SHIPPED}", token).json()["items"]
    assert listed["shipped"]


def test_a_name_is_its_first_owners(server: Inside) -> None:
    ada, bob = server.token("read", "run", owner="ada"), server.token("read", "run", owner="bob")
    admin = server.token("admin", owner="root")
    assert put(server, ada, "mine", "1.0.0") == 201
    assert put(server, bob, "mine", "2.0.0") == 403
    assert put(server, bob, "mine", "1.0.0") == 403
    assert put(server, ada, "mine", "1.1.0") == 201 and put(server, admin, "mine", "3.0.0") == 201
    path = "/api/v1/manifests/dataset/mine"
    assert server.ask("DELETE", f"{path}/1.0.0", bob).status_code == 403
    for version in ("1.0.0", "1.1.0"):
        assert server.ask("DELETE", f"{path}/{version}", ada).status_code == 204
    assert server.ask("DELETE", f"{path}/3.0.0", ada).status_code == 403
    assert server.ask("DELETE", f"{path}/3.0.0", admin).status_code == 204
    assert put(server, bob, "mine", "2.0.0") == 201  # nobody uses it any more


def test_of_two_who_take_a_name_at_once_one_has_it(server: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one comes in between the look and the writing."""
    ada = server.token("read", "run", owner="ada")
    manifests = server.desk.manifests
    add, text = manifests.put, DATASET.format(name="race", version="9.0.0", url="https://x.org/a.zip")

    def second(*values: Any) -> bool:
        add("dataset", "race", "9.0.0", "0" * 64, "bob", text)
        return add(*values)

    monkeypatch.setattr(manifests, "put", second)
    assert put(server, ada, "race") == 403
    assert [row["owner"] for row in manifests.list("dataset", "race")] == ["bob"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Inside, Record]]:
    """A server with a record that its operator has made."""
    world = World(tmp_path_factory.mktemp("made"))
    record = world.evaluate(home="home", timed_runs=1, warm_up_runs=1)
    with Inside(world.place) as found:
        yield found, record
    world.close()


def test_only_who_pinned_a_record_or_an_admin_unpins_it(made: tuple[Inside, Record]) -> None:
    server, record = made
    ada, bob = server.token("read", "run", owner="ada"), server.token("read", "run", owner="bob")
    path = f"/api/v1/records/{record.id}/pin"

    def pin(token: str, is_pinned: bool) -> int:
        return server.ask("POST", path, token, json={"pinned": is_pinned}).status_code

    assert pin(bob, False) == 200  # nobody has pinned it
    assert pin(ada, True) == 200 and pin(bob, True) == 200
    assert pin(bob, False) == 403
    assert pin(ada, False) == 200 and pin(bob, True) == 200
    assert pin(server.token("admin", owner="root"), False) == 200
    assert server.ask("DELETE", f"/api/v1/records/{record.id}", ada).status_code == 403


def test_a_record_is_whose_evaluation_made_it(made: tuple[Inside, Record]) -> None:
    server, record = made
    desk = server.desk
    planned = Planned(Work(kind="evaluate", model="name: m"), "m", "d", ["one"])

    def evaluate(owner: str, *, is_new: bool) -> None:
        desk.queue.add(owner, Request(model="m"), [planned])
        (taken,) = desk.queue.take("one", 1, 30, alone=True)
        desk.queue.finish(taken.id, 1, record.id, is_new=is_new)

    evaluate("eve", is_new=False)  # answered by what was there
    assert owner_of(desk.store.database, record.id) == OPERATOR
    evaluate("ada", is_new=True)
    evaluate("eve", is_new=True)
    assert owner_of(desk.store.database, record.id) == "ada"


def test_nobody_adds_spans_to_another_owners_trace(server: Inside) -> None:
    ada, bob = server.token("read", "run", owner="ada"), server.token("read", "run", owner="bob")
    trace = "5b8aa5a2d2c872e8321cf37308d69df2"

    def send(token: str, span: str) -> dict[str, Any]:
        spans = [{"traceId": trace, "spanId": span, "name": "a", "endTimeUnixNano": 9}]
        sent = {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
        found: dict[str, Any] = server.ask("POST", "/api/v1/otlp/v1/traces", token, json=sent).json()
        return found

    assert "rejectedSpans" not in send(ada, "051581bf3cb55c13").get("partialSuccess", {})
    assert send(bob, "051581bf3cb55c14")["partialSuccess"]["rejectedSpans"] in (1, "1")
    assert server.ask("DELETE", f"/api/v1/traces/{trace}", bob).status_code == 403
    assert server.get(f"/api/v1/traces/{trace}", bob).json()["spans"] == 1
