"""Pitfalls of tables: what was done to a row is named first, and a right manifest has no cause."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

import table_world
from budget import at_night_but
from mlmodelscope import Options, Settings, evaluate
from mlmodelscope.plan.claim import parse_claim
from mlmodelscope.plan.make import make_plan
from mlmodelscope.plan.plan import Plan
from mlmodelscope.provision.stack import describe_current
from mlmodelscope.replicate.pitfall import variants_of
from mlmodelscope.replicate.replication import replicate
from replicate.planned import AnyPins

pytest.importorskip("sklearn.datasets")
OURS = {"feature-order", "missing-values", "feature-scaling", "category-order"}
Change = Callable[[list[Any]], None]


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Any], Any, Any]:
    return table_world.diabetes_bed(tmp_path_factory.mktemp("bed"))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    place = tmp_path_factory.mktemp("tables")
    return Settings(place / "home", place / "cache")


def plan_of(bed: tuple[list[Any], Any, Any], steps: list[Any] | None = None) -> Plan:
    right, model, dataset = bed
    return make_plan(model(right if steps is None else steps), dataset, Options(), describe_current(), AnyPins())


def test_rows_have_pitfalls_of_their_own_and_none_of_pictures(bed: tuple[list[Any], Any, Any]) -> None:
    names = {name for each in variants_of(plan_of(bed)) for name in each.pitfalls}
    assert names >= OURS
    assert not names & {"normalization", "type-conversion", "color-layout", "resizing", "label-offset"}


def swap(*places: int) -> Change:
    def change(steps: list[Any]) -> None:
        names = steps[3]["columns"]
        one, other = places
        names[one], names[other] = names[other], names[one]

    return change


def scale(**new: Any) -> Change:
    return lambda steps: steps[2].update(scale_columns={**steps[2]["scale_columns"], **new})


def without(*keys: str) -> Change:
    def change(steps: list[Any]) -> None:
        for key in keys:
            del steps[2]["scale_columns"][key]

    return change


def order(change: Callable[[list[str]], list[str]]) -> Change:
    return lambda steps: steps[0]["encode"]["categories"].update(age=change(steps[0]["encode"]["categories"]["age"]))


FAULTS: dict[str, tuple[str, Change]] = {
    "two columns swapped": ("feature-order", swap(0, 1)),
    "two neighbors swapped": ("feature-order", swap(5, 6)),
    "0 for missing cells": ("missing-values", lambda steps: steps[1].update(fill_missing={"values": 0})),
    "filled after scaling": ("missing-values", lambda steps: steps.insert(2, steps.pop(1))),
    "scaled twice": ("feature-scaling", lambda steps: steps.insert(3, copy.deepcopy(steps[2]))),
    "only centered": ("feature-scaling", without("std")),
    "by the alphabet": ("category-order", order(sorted)),
    "the other way round": ("category-order", order(lambda some: some[::-1])),
    "first and last swapped": ("category-order", order(lambda some: [some[3], *some[1:3], some[0]])),
}


LOST = ("0 for missing cells", "only centered")


def wrong_steps(bed: tuple[list[Any], Any, Any], change: Change) -> list[Any]:
    steps = copy.deepcopy(bed[0])
    change(steps)
    return steps


@pytest.mark.parametrize("name", FAULTS)
def test_an_edit_leads_back_to_the_right_plan(bed: tuple[list[Any], Any, Any], name: str) -> None:
    pitfall, change = FAULTS[name]
    if name in LOST:
        pytest.skip("the numbers that were dropped are nowhere to be found, or elsewhere")
    wrong = plan_of(bed, wrong_steps(bed, change))
    backs = {each.pitfalls for each in variants_of(wrong) if each.plan.digest == plan_of(bed).digest}
    assert (pitfall,) in backs


def published(bed: tuple[list[Any], Any, Any], home: Settings, digits: int = 4) -> Any:
    right, model, dataset = bed
    record = evaluate(model(right), dataset, Options(timed_runs=2), settings=home)
    assert record.failed == 0
    return parse_claim(f"r2={record.metrics['r2'].value:.{digits}f}@diabetes")


@pytest.mark.slow(reason="a search tries dozens of variants of a model")
@pytest.mark.parametrize(
    "name",
    at_night_but(
        [name for name in FAULTS if name != "only centered"],
        *("two columns swapped", "filled after scaling", "by the alphabet"),
    ),
)
def test_what_is_wrong_is_named_first(bed: tuple[list[Any], Any, Any], home: Settings, name: str) -> None:
    pitfall, change = FAULTS[name]
    claim = published(bed, home)
    done = replicate(bed[1](wrong_steps(bed, change)), bed[2], Options(timed_runs=2), claim=claim, settings=home)
    assert done.verdict.kind == "not reproduced"
    assert done.found is not None and done.found.candidates[0].variant.pitfalls == (pitfall,)


@pytest.mark.slow(reason="a search tries dozens of variants of a model")
def test_a_claim_that_is_too_high_gets_no_cause(bed: tuple[list[Any], Any, Any], home: Settings) -> None:
    right = float(published(bed, home).value)
    claim = parse_claim(f"r2={right + 0.0713:.4f}@diabetes")
    done = replicate(bed[1](bed[0]), bed[2], Options(timed_runs=2), claim=claim, settings=home)
    assert done.found is None or not any(each.explains for each in done.found.candidates)


def test_a_claim_that_holds_needs_no_cause(bed: tuple[list[Any], Any, Any], home: Settings) -> None:
    claim = published(bed, home)
    done = replicate(bed[1](bed[0]), bed[2], Options(timed_runs=2), claim=claim, settings=home)
    assert done.verdict.kind == "reproduced" and done.found is None
