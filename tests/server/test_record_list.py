"""The list of all records over REST, and what people write about a record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the server's packages are not installed")

from ledger import shelf
from mlmodelscope.manifest.schema import Claim
from mlmodelscope.record.record import Record

from .inside import Inside

RECORDS = "/api/v1/records"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inside]:
    with Inside(tmp_path_factory.mktemp("list"), visitors="read") as found:
        yield found


@pytest.fixture(scope="module")
def made(server: Inside) -> list[Record]:
    """Five records, the newest first."""
    return [shelf.add(server.desk.store, days=days) for days in range(5)]


def listed(server: Inside, query: str) -> dict[str, Any]:
    found: dict[str, Any] = server.get(f"{RECORDS}?{query}").json()
    return found


def test_pages_follow_one_another_to_the_end(server: Inside, made: list[Record]) -> None:
    seen, start = [], 0
    while start is not None:
        page = listed(server, f"limit=2&start={start}")
        seen += [each["id"] for each in page["items"]]
        start = page["next"]
        assert page["total"] == 5
    assert seen == [each.id for each in made]


def test_a_row_has_all_that_the_table_shows(server: Inside, made: list[Record]) -> None:
    row = listed(server, "limit=1&descending=false")["items"][0]
    assert (row["id"], row["task"], row["framework"], row["owner"]) == (made[-1].id, "classification", "fake", "local")
    assert row["headline"]["title"] == "top-1" and row["took_s"] >= 0 and row["tags"] == [] and row["notes"] == 0


@pytest.mark.parametrize(
    "query",
    [
        *("sort=words", "sort=created_at;DROP", "start=-1", "start=1000001", "limit=0", "limit=1001", "descending=x"),
        *("since=yesterday", "q=" + "x" * 201, "stack=" + "x" * 301, "tag=" + "x" * 51, "pinned=perhaps"),
    ],
)
def test_questions_that_cannot_be_meant_are_refused(server: Inside, query: str) -> None:
    assert server.get(f"{RECORDS}?{query}").status_code == 422


@pytest.mark.parametrize(
    "query", ["q=%25", "q=_", "q='", "model=%22", "since=0001-01-01T00:00:00%2B14:00", "q=%F0%9F%98%80"]
)
def test_odd_words_find_nothing_and_break_nothing(server: Inside, made: list[Record], query: str) -> None:
    answer = server.get(f"{RECORDS}?{query}")
    assert answer.status_code in (200, 400) and (query.startswith("since") or answer.json()["total"] == 0)


def test_authors_and_admins_take_tags_and_notes_away_and_nobody_else(server: Inside, made: list[Record]) -> None:
    ada, bob, root = (server.token("read", "run", owner=name) for name in ("ada", "bob", "root"))
    admin, place = server.token("admin", owner="root"), f"{RECORDS}/{made[0].id}"
    assert server.ask("POST", f"{place}/tags", ada, json={"tag": "camera ready"}).status_code == 200
    found = server.ask("POST", f"{place}/notes", ada, json={"text": "<b>fast</b>\nenough"}).json()
    (note,) = found["notes"]
    assert (note["owner"], note["text"], found["tags"][0]["owner"]) == ("ada", "<b>fast</b>\nenough", "ada")
    for path in ("tags/camera%20ready", f"notes/{note['id']}"):
        assert [server.ask("DELETE", f"{place}/{path}", each).status_code for each in (bob, root)] == [403, 403]
    assert listed(server, "tag=camera+ready")["items"][0]["notes"] == 1
    assert server.get("/api/v1/record-choices").json()["tag"] == ["camera ready"]
    assert server.ask("DELETE", f"{place}/tags/camera%20ready", admin).json()["tags"] == []
    assert server.ask("DELETE", f"{place}/notes/{note['id']}", ada).json()["notes"] == []
    assert server.ask("DELETE", f"{place}/notes/{note['id']}", ada).status_code == 404
    whats = [each["what"] for each in server.get("/api/v1/audit", admin).json()["items"]]
    assert whats[:4] == ["remove note", "remove tag", "add note", "tag"]


@pytest.mark.parametrize("body", [{"tag": "a/b"}, {"tag": ""}, {"tag": "x" * 51}, {"tag": 1}, {}])
def test_odd_tags_are_refused(server: Inside, made: list[Record], body: dict[str, Any]) -> None:
    token = server.token("run")
    assert server.ask("POST", f"{RECORDS}/{made[0].id}/tags", token, json=body).status_code in (400, 422)


def test_a_note_of_another_record_is_not_found_here(server: Inside, made: list[Record]) -> None:
    token = server.token("run", owner="ada")
    found = server.ask("POST", f"{RECORDS}/{made[1].id}/notes", token, json={"text": "here"}).json()
    path = f"{RECORDS}/{made[2].id}/notes/{found['notes'][0]['id']}"
    assert server.ask("DELETE", path, token).status_code == 404
    assert len(server.get(f"{RECORDS}/{made[1].id}/remarks").json()["notes"]) == 1


def test_a_leaderboard_has_the_published_number_beside_the_measured_one(server: Inside, made: list[Record]) -> None:
    claims = [
        {"metric": "top1", "value": "75.1", "dataset": "pictures", "source": "a paper"},
        {"metric": "top1", "value": "12.0", "dataset": "another"},
        {"metric": "top5", "value": "99.0", "dataset": "pictures"},
    ]
    plan = made[0].plan.model_copy(update={"claims": tuple(Claim.model_validate(each) for each in claims)})
    name = plan.model.model_copy(update={"name": "claimed"})
    record = made[0].model_copy(
        update={"id": "20260101-000000-claims", "plan": plan.model_copy(update={"model": name})}
    )
    server.desk.store.add(record)
    found = server.get("/api/v1/leaderboards/pictures?q=claimed").json()
    (place,) = found["items"]
    assert [(each["published"], each["value"], each["status"]) for each in place["claims"]] == [
        ("75.1 %", pytest.approx(0.751), "unchecked")
    ]
    assert (found["total"], found["board"]["title"], found["board"]["subset"]) == (1, "top-1", None)
    assert {each["dataset"] for each in server.get("/api/v1/leaderboards").json()["items"]} == {"pictures"}
    server.desk.store.delete(record)


def test_a_dataset_without_results_and_tables_that_are_not_its_own(server: Inside, made: list[Record]) -> None:
    empty = server.get("/api/v1/leaderboards/nowhere").json()
    assert (empty["boards"], empty["board"], empty["items"], empty["next"]) == ([], None, [], None)
    assert server.get("/api/v1/leaderboards/pictures?board=000").status_code == 404
    assert server.get("/api/v1/leaderboards/pictures?limit=0").status_code == 422
    assert server.get("/api/v1/leaderboards/pictures?q=%25&start=999999").json()["items"] == []
