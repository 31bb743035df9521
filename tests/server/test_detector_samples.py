"""Samples of a detector's record as the API answers them: no labels, but what is seen of each and how good it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from detector_world import write_detector

from .conftest import World

Get = Callable[..., httpx.Response]


@pytest.fixture(scope="module")
def get(lasting_world: World) -> Get:
    write_detector(lasting_world.place / "manifests")
    record = lasting_world.evaluate("finder", "things", timed_runs=1, warm_up_runs=0).id
    return lambda path, **query: lasting_world.http.get(f"/records/{record}/{path}", params=query)


def page(response: httpx.Response) -> dict[str, Any]:
    assert response.status_code == 200, response.text
    return dict(response.json())


def test_samples_come_the_worst_first_and_say_what_they_offer(get: Get) -> None:
    found = page(get("samples"))
    qualities = [each["quality"] for each in found["items"]]
    assert found["offers"] == ["quality"] and found["total"] == 12
    assert qualities == sorted(qualities) and qualities[0] < qualities[-1]
    assert found["items"][0]["truth"] == "cat, dog" and isinstance(found["items"][0]["said"], str)
    assert found["items"][0]["classes"] is None and found["items"][0]["right"] is None


def test_samples_are_sorted_as_asked(get: Get) -> None:
    best = [each["quality"] for each in page(get("samples", sort="quality", descending=True))["items"]]
    assert best == sorted(best, reverse=True)
    ids = [each["id"] for each in page(get("samples", sort="order"))["items"]]
    assert ids == sorted(ids)
    assert page(get("samples", sort="score"))["total"] == page(get("samples", sort="latency"))["total"] == 12


def test_samples_are_found_by_name_by_what_is_in_them_and_by_failure(get: Get) -> None:
    assert [each["id"] for each in page(get("samples", q="0007"))["items"]] == ["0007.png"]
    assert page(get("samples", q="dog"))["total"] == page(get("samples", label=1))["total"] == 4
    assert page(get("samples", only="failed"))["total"] == page(get("samples", only="right"))["total"] == 0
    assert page(get("samples", q="nothing at all"))["total"] == 0


def test_a_sample_is_seen_as_shapes_over_its_picture(get: Get) -> None:
    seen = page(get("shapes", sample="0003.png"))
    assert seen["size"] == [64, 48] and seen["about"].startswith("Quality is") and seen["shown_above"] == 0.3
    truth = [each for each in seen["shapes"] if each["side"] == "truth"]
    assert [(each["name"], each["right"], each["bottom"]) for each in truth] == [("cat", 32, 24), ("dog", 60, 12)]
    assert len(seen["shapes"]) == 2 + 4 and all(each["kind"] == "box" for each in seen["shapes"])
    assert get("shapes", sample="0099.png").status_code == 404


def test_classes_have_their_measures(get: Get) -> None:
    found = page(get("classes"))
    assert [each["title"] for each in found["columns"]] == ["Things", "AP", "AP50"]
    assert [(each["name"], each["values"][0]) for each in found["measured"]] == [("dog", 4), ("cat", 12)]
    assert found["items"] == [] and found["about"]


def test_a_classifier_has_no_shapes(lasting_world: World) -> None:
    record = lasting_world.evaluate(timed_runs=1, warm_up_runs=1).id
    seen = page(lasting_world.http.get(f"/records/{record}/shapes", params={"sample": "class0/0000.png"}))
    assert seen["shapes"] == [] and seen["quality"] is None


def test_two_records_are_compared_by_the_quality_of_their_answers(lasting_world: World) -> None:
    write_detector(lasting_world.place / "manifests")
    options: dict[str, Any] = {"timed_runs": 1, "warm_up_runs": 0}
    ids = [lasting_world.evaluate("finder", "things", limit=limit, **options).id for limit in (None, 6)]
    found = lasting_world.http.get("/comparisons", params={"record": ids})
    assert found.status_code == 200, found.text
    pair = found.json()["pair"]
    assert pair["answers"] is None and (pair["qualities"]["samples"], pair["qualities"]["same"]) == (6, 6)
