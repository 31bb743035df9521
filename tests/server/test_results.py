"""Leaderboards: the best measured number of each model on a dataset, with what was claimed beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from mlmodelscope.record.database import open_database
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.server.results import Result, best_first, best_of_each, best_of_models, find_results
from mlmodelscope.settings import Settings
from small_world import MODEL

from .conftest import World

CLAIMS = """\
claims:
  - {metric: top1, value: "99.5", dataset: pictures}
  - {metric: top-1, value: "12.5", dataset: "pictures@1.0.0"}
  - {metric: top5, value: "100.0", dataset: pictures}
  - {metric: top1, value: "77.7", dataset: imagenet-val}
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    found = World(tmp_path_factory.mktemp("world"))
    found.add_model("claimed", MODEL + CLAIMS, classes=3)
    found.add_model("unmeasured", MODEL + CLAIMS, classes=3)
    try:
        found.host(executor="none")
        yield found
        assert "an error of our own" not in found.log("server")
    finally:
        found.close()


@pytest.fixture(scope="module")
def records(world: World) -> dict[str, Record]:
    quick: dict[str, Any] = {"timed_runs": 1, "warm_up_runs": 0}
    return {
        "whole": world.evaluate("claimed", **quick),
        "few": world.evaluate("claimed", limit=6, **quick),
        "more": world.evaluate("claimed", limit=12, **quick),
        "toy": world.evaluate("toy", **quick),
        "no limit": world.evaluate("toy", limit=600, **quick),
    }


def get(world: World, **query: Any) -> Any:
    return world.http.get("/results", params=query).json()


def test_whole_datasets_come_before_parts_and_the_larger_part_counts(world: World, records: dict[str, Record]) -> None:
    rows = get(world, dataset="pictures")["items"]
    assert [each["whole"] for each in rows] == [True, True, False]
    assert {each["model"] for each in rows[:2]} == {"claimed", "toy"}
    (part,) = [each for each in rows if not each["whole"]]
    assert (part["record"], part["samples"]) == (records["more"].id, 12)
    whole = next(each for each in rows if each["model"] == "claimed" and each["whole"])
    assert whole["record"] == records["whole"].id and whole["samples"] == 60 and whole["known"]
    low, value, high = (whole["headline"][name] for name in ("low", "value", "high"))
    assert low <= value <= high and whole["headline"]["name"] == "top1"


def test_claims_stand_beside_what_they_are_about(world: World, records: dict[str, Record]) -> None:
    found = get(world, dataset="pictures")
    whole = next(each for each in found["items"] if each["model"] == "claimed" and each["whole"])
    assert {each["value"] for each in whole["claims"]} == {"99.5", "12.5"}
    assert all(each["verdict"] == "not checked" for each in whole["claims"])
    missing = [(each["model"], each["metric"]) for each in found["claimed"]]
    assert ("claimed", "top5") in missing and ("claimed", "top1") not in missing
    assert missing.count(("unmeasured", "top1")) == 1 and ("unmeasured", "top-1") in missing
    assert get(world, model="claimed")["claimed"] == []


def test_a_list_asks_for_one_number_of_each_model(world: World, records: dict[str, Record]) -> None:
    found = get(world, model=["claimed", "toy", "nobody"], best=True)
    assert sorted(each["model"] for each in found["items"]) == ["claimed", "toy"]
    assert all(each["whole"] and each["claims"] == [] for each in found["items"])


def test_a_record_made_on_the_way_to_something_else_is_no_result(world: World, records: dict[str, Record]) -> None:
    store = Store(Settings.from_environment(world.environment("server")))
    hidden = records["toy"].model_copy(update={"id": "20990101-000000-aaaa", "made_for": "sensitivity"})
    store.add(hidden)
    try:
        assert hidden.id not in {each["record"] for each in get(world, dataset="pictures")["items"]}
    finally:
        store.delete(hidden)
        store.close()


def test_another_manifest_of_the_same_name_counts_for_itself(world: World, records: dict[str, Record]) -> None:
    """Somebody may send a model that calls itself like one of the catalog."""
    store = Store(Settings.from_environment(world.environment("server")))
    plan = records["toy"].plan
    other = {**plan.manifests, "model": plan.manifests["model"].model_copy(update={"digest": "f" * 64})}
    forged = records["toy"].model_copy(
        update={"id": "20990101-000000-bbbb", "plan": plan.model_copy(update={"manifests": other})}
    )
    store.add(forged)
    try:
        rows = [each for each in get(world, model="toy")["items"] if each["whole"]]
        assert {each["record"]: each["known"] for each in rows}[forged.id] is False and len(rows) == 2
        assert forged.id not in {each["record"] for each in get(world, model="toy", best=True)["items"]}
    finally:
        store.delete(forged)
        store.close()


def test_questions_that_make_no_sense_are_refused(world: World) -> None:
    assert world.http.get("/results", params={"model": ["x"] * 101}).status_code == 422
    assert world.http.get("/results", params={"limit": 0}).status_code == 422
    assert get(world, dataset="' OR 1=1 --")["items"] == []


def row(name: str, value: float, samples: int, whole: bool = True, better: str = "higher") -> Result:
    headline = {"name": "m", "value": value, "better": better}
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    return Result(name, "a", "1", "d", "set", "1", None, samples, None, whole, None, moment, headline)


def test_the_better_number_is_the_lower_one_where_the_measure_says_so() -> None:
    assert [each.record for each in best_first([row("x", 2, 9, better="lower"), row("y", 1, 9, better="lower")])] == [
        "y",
        "x",
    ]
    assert [each.record for each in best_of_each([row("x", 0.5, 9), row("y", 0.9, 9)])] == ["y"]
    larger = replace(row("z", 0.4, 5000), dataset="large")
    assert [each.record for each in best_of_models([row("y", 0.9, 9), larger, row("p", 1, 10_000, False)])] == ["z"]


def test_an_empty_database_has_no_results(tmp_path: Any) -> None:
    database = open_database(Settings(tmp_path, tmp_path))
    try:
        assert find_results(database) == [] and find_results(database, ["a"], "b") == []
    finally:
        database.close()
