"""Pitfalls of enhancers: every edit is a plan of its own, and whoever fell into one finds the way back."""

from collections.abc import Callable

import pytest

from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall import PITFALLS, variants_of
from mlmodelscope.replicate.pitfall.answering import edited, measured, without
from mlmodelscope.replicate.pitfall.pitfall import changed, replaced, step, steps_of, with_steps
from replicate.planned import names_of, plan_of

OURS = {
    "luma-range",
    "measured-color",
    "border",
    "data-range",
    "ssim-window",
    "picture-rounding",
    "picture-clipping",
    "degrading",
    "answer-range",
    "answer-color",
    "crop-multiple",
}


@pytest.fixture
def luma() -> Plan:
    """decode, crop_multiple, luma, scale, scale, rescale, layout; picture, multiply, clip."""
    return plan_of("bicubic-x2", "set5")


@pytest.fixture
def colors() -> Plan:
    """decode, crop_multiple, scale, scale, cast, layout; picture, round, clip."""
    return plan_of("bicubic-rgb-x4", "set5")


def with_step(plan: Plan, at: int, **parameters: object) -> Plan:
    return next(replaced(plan, at, changed(steps_of(plan)[at], **parameters)))


def both_scaled(plan: Plan, at: int, **parameters: object) -> Plan:
    return with_step(with_step(plan, at, **parameters), at + 1, **parameters)


def rounded(plan: Plan) -> Plan:
    steps = []
    for each in steps_of(plan):
        steps += [each, step("round"), step("clip")] if each.name in ("luma", "scale") else [each]
    return with_steps(plan, steps)


def test_an_enhancer_has_pitfalls_of_its_own(luma: Plan, colors: Plan) -> None:
    assert names_of(luma) | names_of(colors) >= OURS and PITFALLS.keys() >= OURS
    # Luma has no order of colors, and a picture has no classes.
    assert not names_of(luma) & {"measured-color", "answer-color"}
    assert not names_of(colors) & {"label-offset", "label-order", "softmax", "tie-breaking", "letterbox", "cropping"}


@pytest.mark.parametrize(
    "wrong",
    [
        lambda plan: measured(plan, border=0),
        lambda plan: measured(plan, border=8),
        lambda plan: measured(plan, data_range=1.0),
        lambda plan: measured(plan, window="uniform"),
        lambda plan: measured(plan, rounding="compared"),
        lambda plan: measured(plan, color="luma-full"),
        lambda plan: with_step(plan, 2, range="full"),
        lambda plan: measured(with_step(plan, 2, range="full"), color="luma-full"),
        lambda plan: with_step(plan, 3, antialias=False),
        lambda plan: with_step(plan, 3, library="pillow"),
        lambda plan: with_step(plan, 4, library="opencv"),
        lambda plan: both_scaled(plan, 3, library="opencv"),
        lambda plan: with_step(plan, 1, multiple=12),
        lambda plan: with_steps(plan, (steps_of(plan)[0], *steps_of(plan)[2:])),
        lambda plan: without(plan, 1),
        lambda plan: without(plan, 2),
        rounded,
    ],
)
def test_whoever_fell_into_one_with_luma_finds_the_way_back(luma: Plan, wrong: Callable[[Plan], Plan]) -> None:
    fallen = wrong(luma)
    assert fallen.digest != luma.digest
    assert luma.digest in {each.key for each in variants_of(fallen)}


@pytest.mark.parametrize(
    "wrong",
    [
        lambda plan: measured(plan, color="luma"),
        lambda plan: measured(plan, color="luma-full"),
        lambda plan: edited(plan, 0, color="BGR"),
        lambda plan: without(plan, 1),
        lambda plan: edited(plan, 1, half="up"),
        lambda plan: with_step(plan, 0, color_layout="BGR"),
        lambda plan: both_scaled(plan, 2, library="pillow"),
    ],
)
def test_whoever_fell_into_one_with_colors_finds_the_way_back(colors: Plan, wrong: Callable[[Plan], Plan]) -> None:
    assert colors.digest in {each.key for each in variants_of(wrong(colors))}


def test_every_edit_is_another_plan(luma: Plan, colors: Plan) -> None:
    for plan in (luma, colors):
        found = [each for each in variants_of(plan) if each.pitfalls[0] in OURS]
        assert len({each.key for each in found}) == len(found) > 30
        assert plan.digest not in {each.key for each in found}


def test_one_channel_gets_no_means_of_three(luma: Plan) -> None:
    words = {each.words for each in variants_of(luma, ["normalization"])}
    assert "values from 0 to 255" in words and not [each for each in words if "ImageNet" in each or "Caffe" in each]
