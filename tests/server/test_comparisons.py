"""Records side by side, as the pages show them: the same numbers that `compare` and `overview` print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from detector_world import write_detector
from small_world import MODEL

from .conftest import World

FIXTURES = Path(__file__).parents[1] / "trace" / "fixtures"
PROFILES = ("resnet50-h200-batch1", "resnet50-jax-h200-batch1")
BRIEF = {"budget_s": 0.5, "processes": 1, "most_batch": 4}


class Made:
    """Records of a small world: two evaluations whose colours differ, and a sweep."""

    def __init__(self, world: World) -> None:
        self.client, self.http = world.client(), world.http
        world.add_model("other", MODEL.replace("RGB", "BGR"))
        self.toy, self.other = (world.evaluate(name, timed_runs=20).id for name in ("toy", "other"))
        (asked,) = self.client.ask(
            {"kind": "bench", "model": "toy", "dataset": "pictures", "arguments": {"scenario": "sweep", **BRIEF}}
        )
        self.sweep = asked.record().id
        self.profiles = [world.adopt(FIXTURES / each).id for each in PROFILES]

    def compared(self, *records: str) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get("/comparisons", {"record": list(records)})
        return found


@pytest.fixture(scope="module")
def made(lasting_world: World) -> Made:
    return Made(lasting_world)


def test_what_differs_is_marked_and_what_is_measured_has_intervals(made: Made) -> None:
    found = made.compared(made.toy, made.other)
    assert [each["name"] for each in found["records"]] == ["toy@1.0.0", "other@1.0.0"]
    facts = {each["name"]: each for each in found["facts"]}
    assert facts["model"]["differs"] and not facts["dataset"]["differs"]
    top1 = next(each for each in found["measures"] if each["name"] == "top1")
    assert all(each["low"] <= each["value"] <= each["high"] for each in top1["values"])
    for spread in found["latencies"]["items"]:
        assert sum(spread["shares"]) + spread["longer"] == pytest.approx(1) and spread["count"] == 20
        assert len(spread["shares"]) + 1 == len(found["latencies"]["edges_s"])


def test_two_evaluations_have_a_ratio_and_say_where_their_answers_differ(made: Made) -> None:
    pair = made.compared(made.toy, made.other)["pair"]
    ratio = pair["latency"]["ratio"]
    assert ratio["low"] <= ratio["value"] <= ratio["high"] and pair["latency"]["sentence"]
    answers = pair["answers"]
    assert answers["samples"] == 60 and 0 <= answers["agree"]["value"] < 1
    assert answers["means"]["js"] > 0 and answers["means"]["hellinger"] > 0
    first = answers["apart"][0]
    assert not first["same"] and first["js"] >= answers["apart"][-1]["js"] and pair["layers"] is None


def test_which_of_two_is_more_accurate_is_judged_over_the_same_samples(made: Made) -> None:
    found = made.compared(made.toy, made.other)
    accuracy = found["pair"]["accuracy"]
    assert accuracy["samples"] == 60 and 0 <= accuracy["p_value"] <= 1
    assert accuracy["verdict"] == "no difference" or accuracy["p_value"] < 0.05
    assert "McNemar" in accuracy["sentence"] and next(iter(found["measures"]))["comparable"]


def test_a_part_of_the_samples_is_told_and_judged_by_nothing(made: Made, lasting_world: World) -> None:
    part = lasting_world.evaluate("toy", limit=7).id
    found = made.compared(made.toy, part)
    top1 = next(each for each in found["measures"] if each["name"] == "top1")
    assert (top1["comparable"], top1["best"]) == (False, None)
    assert [each["part"] for each in found["records"]] == [None, "7, not all"]
    (table,) = found["overview"]["tables"]
    (row,) = table["rows"]
    assert (row["top1"]["record"], row["top1"]["samples"], row["top1"]["whole"]) == (made.toy, 60, True)
    assert row["top1"]["scenario"] == "evaluation" and row["dataset"] == "pictures@1.0.0"


def test_a_record_beside_itself_is_one_record(made: Made) -> None:
    assert made.compared(made.toy, made.toy)["pair"] is None


def test_any_number_is_summed_up_as_the_overview_does(made: Made) -> None:
    found = made.compared(made.toy, made.other, made.sweep)
    (table,) = found["overview"]["tables"]
    rows = {row["model"]: row for row in table["rows"]}
    swept = rows["toy@1.0.0"]
    assert swept["top1"]["record"] == made.toy and swept["samples_per_s"]["record"] == made.sweep
    assert swept["sweep"][0] == {**swept["sweep"][0], "batch_size": 1, "speed_up": 1}
    assert found["pair"] is None and any(row["fastest"] for row in rows.values())
    others = "things@"  # other tests' detectors, which may have been here before
    everything = [each for each in made.client.get("/overview")["tables"] if not each["dataset"].startswith(others)]
    models = [(table["dataset"].partition(" ")[0], {row["model"] for row in table["rows"]}) for table in everything]
    assert sorted(
        models, key=lambda each: (each[0], len(each[1]))
    ) == [  # two datasets of the same name are not the same
        ("noise@1.0.0", {"resnet50-jax@1.0.0"}),
        ("pictures@1.0.0", {"resnet50-script@1.0.0"}),
        ("pictures@1.0.0", {"toy@1.0.0", "other@1.0.0"}),
    ]
    assert len({table["dataset"] for table in everything}) == 3
    ((only,),) = [table["rows"] for table in made.client.get("/overview", {"model": ["other"]})["tables"]]
    assert [each["what"] for each in only["missing"]] == ["online latency", "throughput"]


def test_two_profiles_are_laid_side_by_side_layer_by_layer(made: Made) -> None:
    layers = made.compared(*made.profiles)["pair"]["layers"]
    assert layers["total"] == len(layers["layers"]) > 0 and layers["ratio"] > 0
    assert len(layers["runs"]) == 2 and layers["runs"][0]["layers"][0]["start_ns"] == 0


def test_a_profile_beside_something_else_says_why_nothing_is_said(made: Made) -> None:
    pair = made.compared(made.toy, made.profiles[0])["pair"]
    assert (pair["latency"], pair["answers"], pair["layers"]) == (None, None, None)
    assert "another profile only" in pair["notes"][0]


@pytest.mark.parametrize(
    ("asked", "status"), [("", 422), ("record=no", 404), ("&".join(["record=a"] * 25), 422), ("record=", 422)]
)
def test_what_cannot_be_compared_is_refused(made: Made, asked: str, status: int) -> None:
    answer = made.http.get(f"/comparisons?{asked}")
    assert answer.status_code == status and answer.headers["content-type"] == "application/problem+json"


@pytest.fixture(scope="module")
def detected(lasting_world: World) -> tuple[str, str]:
    """A detector's record, and one of its twin whose boxes are read in another order."""
    folder = lasting_world.place / "manifests"
    model, _ = write_detector(folder)
    twin = model.read_text().replace("name: finder", "name: twin") + "answer: [{boxes: xyxy}]\n"
    (folder / "twin.yml").write_text(twin)
    made = (lasting_world.evaluate(name, "things", timed_runs=1, warm_up_runs=0).id for name in ("finder", "twin"))
    first, second = made
    return first, second


def test_answers_that_are_more_or_less_good_are_compared_by_their_quality(
    made: Made, detected: tuple[str, str]
) -> None:
    pair = made.compared(*detected)["pair"]
    found = pair["qualities"]
    assert pair["answers"] is None and pair["accuracy"] is None
    assert found["samples"] == 12 and found["only_one"] == 0 and "F-measure" in found["about"]
    assert sum(found["counts"].values()) + found["same"] == 12 and found["counts"]["worse"] > 0
    lost = [each["first"] - each["second"] for each in found["changed"] if each["kind"] == "worse"]
    assert lost == sorted(lost, reverse=True) and lost[-1] > 0
    back = made.compared(*reversed(detected))["pair"]["qualities"]
    assert back["counts"]["better"] == found["counts"]["worse"]
    assert back["mean_change"] == pytest.approx(-found["mean_change"])


def test_records_of_two_tasks_say_why_their_answers_are_not_compared(made: Made, detected: tuple[str, str]) -> None:
    pair = made.compared(made.toy, detected[0])["pair"]
    assert pair["qualities"] is None and any("the answers are not compared" in note for note in pair["notes"])


def test_a_damaged_table_is_a_note_and_no_end(made: Made, detected: tuple[str, str], lasting_world: World) -> None:
    place = next(lasting_world.place.rglob(f"{detected[0]}/samples.parquet"))
    whole = place.read_bytes()
    try:
        for content in (b"", whole[:100], b"PAR1" + bytes(200) + b"PAR1"):
            place.write_bytes(content)
            pair = made.compared(*detected)["pair"]
            assert pair["qualities"] is None and any("answers are not compared" in each for each in pair["notes"])
    finally:
        place.write_bytes(whole)
