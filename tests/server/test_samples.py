"""Samples of a record as somebody looks for them: by a word, a score, a class; and what each class is taken for."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest

from .conftest import World

Get = Callable[..., httpx.Response]


@pytest.fixture(scope="module")
def record(lasting_world: World) -> str:
    return lasting_world.evaluate(timed_runs=1, warm_up_runs=1).id


@pytest.fixture(scope="module")
def get(lasting_world: World, record: str) -> Get:
    def ask(path: str, **query: Any) -> httpx.Response:
        return lasting_world.http.get(f"/records/{record}/{path}", params=query)

    return ask


@pytest.fixture(scope="module")
def everything(get: Get) -> list[dict[str, Any]]:
    found = get("samples", limit=1000).json()
    assert found["total"] == len(found["items"]) == 60
    return list(found["items"])


def ids(response: httpx.Response) -> list[str]:
    assert response.status_code == 200, response.text
    return [each["id"] for each in response.json()["items"]]


def test_pages_together_are_the_whole(get: Get, everything: list[dict[str, Any]]) -> None:
    pages = [ids(get("samples", start=start, limit=25)) for start in (0, 25, 50)]
    assert sum(pages, []) == [each["id"] for each in everything]
    assert get("samples", start=1000).json() == {"items": [], "total": 60, "offers": ["right", "score"]}


def test_samples_are_found_by_a_word_in_whatever_case(get: Get) -> None:
    assert ids(get("samples", q="0007.PNG")) == ["class1/0007.png"]
    assert ids(get("samples", q="class2/", limit=1000)) == [f"class2/{number:04d}.png" for number in range(2, 60, 3)]
    answers = {each["classes"][0] for each in get("samples", q="class2", limit=1000).json()["items"]}
    assert 2 in answers  # a class is found by its name, too, whatever the sample is called
    assert get("samples", q="%_").json()["total"] == 0


def test_right_and_wrong_and_failed_are_apart(get: Get, everything: list[dict[str, Any]]) -> None:
    for only, wanted in (("right", True), ("wrong", False)):
        assert ids(get("samples", only=only, limit=1000)) == [e["id"] for e in everything if e["right"] is wanted]
    assert get("samples", only="failed").json()["total"] == 0
    assert get("samples", only="odd").status_code == 422


def test_wrong_and_sure_of_it(get: Get, everything: list[dict[str, Any]]) -> None:
    middle = sorted(each["scores"][0] for each in everything)[30]
    found = ids(get("samples", only="wrong", above=middle, sort="score", descending=True, limit=1000))
    wanted = [each for each in everything if not each["right"] and each["scores"][0] > middle]
    assert found == [each["id"] for each in sorted(wanted, key=lambda each: -each["scores"][0])]
    assert set(ids(get("samples", below=middle, limit=1000))).isdisjoint(found)


def test_the_slowest_come_first(get: Get) -> None:
    times = [each["run_ns"] for each in get("samples", sort="latency", descending=True).json()["items"]]
    assert times == sorted(times, reverse=True) and times[-1] > 0


def test_classes_have_intervals_and_what_they_are_taken_for(get: Get, everything: list[dict[str, Any]]) -> None:
    found = get("classes").json()
    assert [each["seen"] for each in found["items"]] == [20, 20, 20]
    assert sum(each["right"] for each in found["items"]) == sum(each["right"] for each in everything)
    for each in found["items"]:
        assert each["accuracy"]["low"] <= each["accuracy"]["value"] <= each["accuracy"]["high"]
    first = found["confused"][0]
    pair = get("samples", label=first["label"], answer=first["answer"]).json()
    assert pair["total"] == first["count"] and all(not each["right"] for each in pair["items"])


def test_the_table_can_be_taken_along(get: Get) -> None:
    found = get("report", form="parquet")
    assert found.headers["content-type"] == "application/vnd.apache.parquet"
    assert pq.read_table(BytesIO(found.content)).num_rows == 60


def test_a_records_question_asks_for_the_same_plan(lasting_world: World, get: Get, record: str) -> None:
    found = get("request").json()
    assert found["request"]["again"] and found["command"].startswith("mlmodelscope evaluate toy@1.0.0")
    assert found["request"]["options"] == {"timed_runs": 1, "warm_up_runs": 1}
    (asked,) = lasting_world.client().ask(found["request"])
    again = asked.wait().record()
    assert again.id != record and again.plan_digest == lasting_world.client().record(record).plan_digest


def test_a_model_without_claims_has_none_to_hold_against_it(get: Get) -> None:
    assert get("claims").json() == {"items": []}
