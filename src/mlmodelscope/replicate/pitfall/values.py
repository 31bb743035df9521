"""Which numbers the model gets for a pixel."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mlmodelscope.manifest.schema import Step
from mlmodelscope.model_file.model_file import ModelFile
from mlmodelscope.plan.input import end_in_element_type
from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall.pitfall import (
    PIXELS,
    Edits,
    changed,
    find,
    pitfall,
    replaced,
    step,
    steps_of,
    with_steps,
)

_ARITHMETIC = ("cast", "mean", "rescale", "normalize")
_MEAN, _STD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)
_CIFAR_MEAN, _CIFAR_STD = (125.3, 123.0, 113.9), (63.0, 62.1, 66.7)
_CAFFE_MEAN = (123.0, 117.0, 104.0)
_OF_PIXELS = ("image", "array")
"""Parts of a sample whose numbers are bytes at first; those of texts, sounds and tables are none."""
_SAME_SCALE = 1e-4
"""How far a scale that was written down may be from the file's, whose digits nobody copies all."""


def schemes(plan: Plan) -> dict[str, list[Step]]:
    """What is usually done to bytes, the most common first, in the plan's order of channels."""
    at = find(plan, "color")
    at = find(plan, "decode") if at is None else at
    is_turned = at is not None and steps_of(plan)[at].parameters.get("color_layout") == "BGR"

    def channels(values: Sequence[float], divisor: float = 1) -> list[float]:
        return [each / divisor for each in (reversed(values) if is_turned else values)]

    mean, std = channels(_MEAN), channels(_STD)
    return {
        "ImageNet's mean and deviation": [step("normalize", mean=mean, std=std)],
        "values from 0 to 1": [step("rescale", divisor=255)],
        "values from -1 to 1": [step("mean", values=127.5), step("rescale", divisor=127.5)],
        "values from 0 to 255": [],
        "Caffe's mean, no deviation": [step("mean", values=channels(_CAFFE_MEAN))],
        "(x - 127) / 128": [step("mean", values=127), step("rescale", divisor=128)],
        "ImageNet's mean, no deviation": [step("mean", values=mean)],
        "CIFAR-10's mean and deviation": [step("normalize", mean=channels(_CIFAR_MEAN), std=channels(_CIFAR_STD))],
        "ImageNet's mean and deviation without the division by 255": [
            step("normalize", mean=channels(_MEAN, 255), std=channels(_STD, 255))
        ],
    }


def _block(plan: Plan, names: Sequence[str]) -> tuple[int, int]:
    """(first, behind the last) of the arithmetic; an empty range where it would stand if there were any."""
    steps = steps_of(plan)
    inside = [at for at, each in enumerate(steps) if each.name in names]
    last = find(plan, "quantize")
    # A plan that quantizes ends in a cast of integers, which is no arithmetic: real values are made before.
    is_behind = last is not None and "quantize" not in names and all(at > last for at in inside)
    if inside and not (is_behind and all(steps[at].name == "cast" for at in inside)):
        return inside[0], inside[-1] + 1
    behind = find(plan, "layout", "reinterpret", "quantize")
    place = len(steps) if behind is None else behind
    return place, place


def rewritten(plan: Plan, arithmetic: Sequence[Step], names: Sequence[str] = _ARITHMETIC) -> Plan:
    """The plan with other arithmetic in place of all steps of these names."""
    assert plan.input is not None
    first, last = _block(plan, names)
    steps = steps_of(plan)
    kept = [each for each in steps[first:last] if each.name not in names]  # layouts in between
    tail = steps[last:-1] if steps and steps[-1].name == "cast" and last < len(steps) else steps[last:]
    return with_steps(plan, end_in_element_type((*steps[:first], *arithmetic, *kept, *tail), plan.input.element_type))


def quantization_of(plan: Plan, file: ModelFile) -> tuple[float, int] | None:
    """(scale, zero point) of the input that the plan feeds, where the file has one of each for all of it."""
    if plan.input is None or plan.input.element_type not in ("int8", "uint8"):
        return None
    named = [each for each in file.inputs if each.name == plan.input.layer_name] or list(file.inputs[:1])
    found = named[0].quantization if named else None
    if found is None or len(found.scale) != 1 or found.scale[0] <= 0:
        return None
    return found.scale[0], found.zero_point[0]


def _for_the_integers(plan: Plan, file: ModelFile) -> Edits:
    """Where a plan quantizes as the file says, only the real values can be wrong: those that bytes stand for."""
    at, told = find(plan, "quantize"), quantization_of(plan, file)
    if at is None or told is None or plan.input is None:
        return
    scale, zero_point = told
    now = steps_of(plan)[at].parameters
    if now["zero_point"] == zero_point and math.isclose(now["scale"], scale, rel_tol=_SAME_SCALE):
        first = 0 if plan.input.element_type == "uint8" else 128  # the byte that becomes 0
        arithmetic = [step("mean", values=first + zero_point), step("rescale", divisor=1 / scale)]
        yield "the values that bytes stand for, as the model file says", rewritten(plan, arithmetic)


@pitfall(
    "normalization",
    "Normalisation",
    "first paper, §4.1.1; second paper, Figures 8 and 9",
    from_file=_for_the_integers,
    is_ranked=True,
)
def normalization(plan: Plan) -> Edits:
    """The model was trained on other numbers: from 0 to 255, 0 to 1, -1 to 1, or with ImageNet's statistics."""
    if plan.input is None or plan.input.part not in _OF_PIXELS:
        return
    takes_fractions = plan.input.element_type.startswith("float") or find(plan, "quantize") is not None
    is_gray = find(plan, "luma") is not None
    for words, arithmetic in schemes(plan).items():
        if is_gray and any(_has_channels(each) for each in arithmetic):
            continue
        if takes_fractions or not arithmetic:  # bytes are what they are
            yield words, rewritten(plan, arithmetic)


def _has_channels(step: Step) -> bool:
    return any(isinstance(value, (list, tuple)) and len(value) > 1 for value in step.parameters.values())


@pitfall("mean-order", "Mean in the wrong channel order", weight=0.5)
def mean_order(plan: Plan) -> Edits:
    """The means and deviations of the channels are written for BGR, and the pixels are RGB, or the other way round."""
    steps = list(steps_of(plan))
    edited = False
    for at, each in enumerate(steps):
        turned = {
            key: list(reversed(value))
            for key, value in each.parameters.items()
            if each.name in _ARITHMETIC and isinstance(value, (list, tuple)) and len(set(value)) > 1
        }
        if turned and (new := changed(each, **turned)) is not None:
            steps[at], edited = new, True
    if edited:
        yield "means of the channels the other way round", with_steps(plan, steps)


@pitfall("normalization-order", "Order of mean and scale", weight=0.3)
def normalization_order(plan: Plan) -> Edits:
    """Dividing first and then subtracting the same mean is another function."""
    steps = steps_of(plan)
    for at, each in enumerate(steps):
        if each.name == "normalize":
            swapped = (
                step("rescale", divisor=each.parameters["std"]),
                step("mean", values=each.parameters["mean"]),
            )
            yield "divided first, then the mean subtracted", with_steps(plan, (*steps[:at], *swapped, *steps[at + 1 :]))
        if each.name == "mean" and at + 1 < len(steps) and steps[at + 1].name == "rescale":
            yield (
                "divided first, then the mean subtracted",
                with_steps(plan, (*steps[:at], steps[at + 1], each, *steps[at + 2 :])),
            )
        if each.name == "rescale" and at + 1 < len(steps) and steps[at + 1].name == "mean":
            yield (
                "the mean subtracted first, then divided",
                with_steps(plan, (*steps[:at], steps[at + 1], each, *steps[at + 2 :])),
            )


@pitfall(
    "type-conversion",
    "Type conversion",
    "first paper, Figure 7; second paper, Figures 8 and 9",
    weight=0.5,
    parts=PIXELS,
)
def type_conversion(plan: Plan) -> Edits:
    """Arithmetic in bytes drops fractions and wraps around; in floating point it does neither."""
    for at, each in enumerate(steps_of(plan)):
        now = each.parameters.get("element_type") if each.name in ("mean", "rescale", "normalize") else None
        for other in ("float32", "uint8", "int32"):
            if now is not None and other != now:
                for edited in replaced(plan, at, changed(each, element_type=other)):
                    yield f"`{each.name}` computed in {other}", edited
        if each.name == "cast" and plan.input is not None and plan.input.part in ("image", "array"):
            for mode in ("value", "saturate", "scale", "truncate"):
                if mode != each.parameters["mode"]:
                    for edited in replaced(plan, at, changed(each, mode=mode)):
                        yield f"`cast` by {mode}", edited
