"""Pitfalls of detectors: every edit is a plan of its own, and whoever fell into one finds the way back."""

from collections.abc import Callable
from typing import Any

import pytest

from mlmodelscope.manifest.catalog import find_dataset, find_model
from mlmodelscope.manifest.schema import Step
from mlmodelscope.plan.make import make_plan
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.plugins.steps import ANSWER_STEPS
from mlmodelscope.provision.stack import describe_current
from mlmodelscope.replicate.pitfall import PITFALLS, variants_of
from mlmodelscope.replicate.pitfall.boxes import edited, measured
from mlmodelscope.task.task import task_named

OURS = {
    "box-order",
    "box-unit",
    "box-plus-one",
    "letterbox",
    "score-threshold",
    "nms-threshold",
    "nms-kind",
    "max-detections",
    "class-ids",
    "background-class",
    "crowd",
    "area-of-things",
    "difficult",
}
VOC = {"voc-points", "voc-overlap"}
STEPS: tuple[tuple[str, Any], ...] = (
    ("boxes", {"order": "yxyx", "unit": "share"}),
    ("best_class", None),
    ("threshold", 0.01),
    ("nms", 0.5),
    ("limit", 100),
)


class AnyPins(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "0" * 64


@pytest.fixture
def plan() -> Plan:
    model, dataset = find_model("efficientnet-lite0"), find_dataset("imagenet-70")
    return make_plan(model, dataset, Options(), describe_current(), AnyPins())


@pytest.fixture
def detector(plan: Plan) -> Plan:
    steps = tuple(Step(name=name, parameters=dict(ANSWER_STEPS[name].resolve(given))) for name, given in STEPS)
    rule = task_named("object_detection").settle({})
    return plan.model_copy(update={"task": "object_detection", "measure": rule}).with_answer(steps=steps)


def names_of(plan: Plan) -> set[str]:
    return {name for each in variants_of(plan) for name in each.pitfalls}


def test_a_detector_has_pitfalls_that_a_classifier_has_not(detector: Plan, plan: Plan) -> None:
    assert names_of(detector) >= OURS and not OURS & names_of(plan)
    assert PITFALLS.keys() >= OURS


@pytest.mark.parametrize(
    "wrong",
    [
        lambda plan: edited(plan, 0, order="xyxy"),
        lambda plan: edited(plan, 0, order="cxcywh"),
        lambda plan: edited(plan, 0, unit="pixel"),
        lambda plan: edited(plan, 0, of="original"),
        lambda plan: edited(plan, 0, plus_one=True),
        lambda plan: edited(plan, 1, background=0),
        lambda plan: edited(plan, 2, score=0.5),
        lambda plan: edited(plan, 3, iou=0.3),
        lambda plan: edited(plan, 3, among="all"),
        lambda plan: edited(plan, 3, soft="gaussian"),
        lambda plan: edited(plan, 4, count=10),
        lambda plan: measured(plan, crowd="count"),
        lambda plan: measured(plan, area="box"),
        lambda plan: measured(plan, max_detections=10),
        lambda plan: measured(plan, difficult="count"),
    ],
)
def test_whoever_fell_into_one_finds_the_way_back(detector: Plan, wrong: Callable[[Plan], Plan]) -> None:
    assert detector.digest in {each.key for each in variants_of(wrong(detector))}


@pytest.mark.parametrize("wrong", [{"points": "eleven"}, {"iou": 0.75}, {"plus_one": False}, {"difficult": "count"}])
def test_whoever_fell_into_one_by_the_rule_of_voc_finds_the_way_back(detector: Plan, wrong: dict[str, Any]) -> None:
    by_voc = measured(detector, rule="voc")
    assert by_voc.digest in {each.key for each in variants_of(measured(by_voc, **wrong))}
    assert names_of(by_voc) >= VOC and not VOC & names_of(detector)


def test_every_edit_is_another_plan(detector: Plan) -> None:
    found = [each for each in variants_of(detector) if each.pitfalls[0] in OURS]
    assert len({each.key for each in found}) == len(found) > 40
    assert detector.digest not in {each.key for each in found}
