"""Pitfalls of segmenters: every edit is a plan of its own, and whoever fell into one finds the way back."""

from collections.abc import Callable

import pytest

from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall import PITFALLS, variants_of
from mlmodelscope.replicate.pitfall.answering import answer_step, edited, labelled, measured, with_answers, without
from mlmodelscope.replicate.pitfall.pitfall import changed, find, replaced, steps_of, with_steps
from replicate.planned import names_of, plan_of

OURS = {
    "void-label",
    "absent-classes",
    "map-order",
    "map-resizing",
    "map-padding",
    "map-background",
    "map-threshold",
    "mask-offset",
    "uncovered-pixels",
}


@pytest.fixture
def segmenter() -> Plan:
    """Proportions kept, padding cut off, scores enlarged, classes chosen; masks count from 1, and 0 does not count."""
    return plan_of("drawn-maps", "scenes")


def stretched(plan: Plan) -> Plan:
    """The picture brought to the input's size without regard to its proportions."""
    steps, at, border = steps_of(plan), find(plan, "resize"), find(plan, "pad")
    assert at is not None and border is not None
    new = changed(steps[at], max_dimension=None, dimensions=[48, 48], keep_aspect_ratio=False, rounding="floor")
    assert new is not None
    return with_steps(plan, (*steps[:at], new, *steps[border + 1 :]))


def moved(plan: Plan, **parameters: object) -> Plan:
    at = find(plan, "pad")
    assert at is not None
    return next(replaced(plan, at, changed(steps_of(plan)[at], **parameters)))


def classes_first(plan: Plan) -> Plan:
    cut, back, chosen = plan.answer.steps
    nearest = back.model_copy(update={"parameters": {**back.parameters, "method": "nearest"}})
    plain = nearest.model_copy(update={"parameters": {**nearest.parameters, "alignment": "half_pixel"}})
    return with_answers(plan, (cut, chosen, plain))


def test_a_segmenter_has_pitfalls_of_its_own(segmenter: Plan) -> None:
    # There is no threshold in it, and nothing that only a classifier or a picture has.
    assert OURS - names_of(segmenter) == {"map-threshold"} and PITFALLS.keys() >= OURS
    assert not names_of(segmenter) & {"label-order", "tie-breaking", "border", "answer-color", "nms-kind"}
    assert names_of(segmenter) >= {"letterbox", "color-layout", "normalization", "resizing", "label-offset", "softmax"}


@pytest.mark.parametrize(
    "wrong",
    [
        lambda plan: labelled(plan, void=()),
        lambda plan: labelled(plan, void=(0, 255)),
        lambda plan: labelled(plan, offset=0),
        lambda plan: measured(plan, void=0),
        lambda plan: measured(plan, absent="zero"),
        lambda plan: measured(plan, uncovered="skip"),
        lambda plan: without(plan, 0),
        lambda plan: edited(plan, 1, alignment="half_pixel"),
        lambda plan: edited(plan, 2, leave_out=0),
        lambda plan: plan.with_answer(label_offset=1),
        lambda plan: moved(plan, value=0.0),
        lambda plan: moved(plan, method="center"),
        classes_first,
        stretched,
    ],
)
def test_whoever_fell_into_one_finds_the_way_back(segmenter: Plan, wrong: Callable[[Plan], Plan]) -> None:
    fallen = wrong(segmenter)
    assert fallen.digest != segmenter.digest
    assert segmenter.digest in {each.key for each in variants_of(fallen)}


def test_every_edit_is_another_plan(segmenter: Plan) -> None:
    found = [each for each in variants_of(segmenter) if each.pitfalls[0] in OURS]
    assert len({each.key for each in found}) == len(found) >= 10
    assert segmenter.digest not in {each.key for each in found}


def test_a_picture_that_cannot_be_brought_back_is_not_tried(segmenter: Plan) -> None:
    assert not [each for each in variants_of(segmenter, ["data-layout"]) if "swapped" in each.words]


def test_a_map_that_the_model_chose_itself_has_no_scores_to_enlarge() -> None:
    plan = plan_of("deeplabv3-mnv2", "coco-100-voc")
    assert not {"map-order", "map-background", "softmax", "mask-offset"} & names_of(plan)
    assert {"letterbox", "map-padding", "map-resizing", "void-label"} <= names_of(plan)


def test_a_threshold_of_one_score_has_its_usual_values(segmenter: Plan) -> None:
    plan = with_answers(segmenter, (answer_step("threshold_map", threshold=0.0),))
    back = [each for each in variants_of(plan, ["map-threshold"]) if each.words == "class 1 above 0.5"]
    assert len(back) == 1 and plan.digest in {each.key for each in variants_of(back[0].plan, ["map-threshold"])}
