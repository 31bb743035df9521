"""How an enhancer's picture is read: its channels, its range, what is cut, rounded and clipped."""

from __future__ import annotations

from collections.abc import Sequence

from mlmodelscope.manifest.schema import Step
from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall.answering import answer_step, edited, found, inserted, with_answers, without
from mlmodelscope.replicate.pitfall.pitfall import Edits, find, pitfall, replaced, step, steps_of, with_steps
from mlmodelscope.replicate.pitfall.values import rewritten
from mlmodelscope.task.enhancement import NAME

_ANSWERED = {
    "values from 0 to 1": (255.0, 0.0),
    "values from -1 to 1": (127.5, 127.5),
    "values from 0 to 255": None,
}
"""What the model answers with, and what brings it to 0 to 255: a factor and an offset."""


def is_enhancer(plan: Plan) -> bool:
    return plan.task == NAME


def _without_range(plan: Plan) -> tuple[Step, ...]:
    return tuple(each for each in plan.answer.steps if each.name != "multiply")


def answered_with(plan: Plan, factor: float, offset: float) -> Plan:
    """The plan whose answers are multiplied, behind the step that takes the output for a picture."""
    steps = _without_range(plan)
    place = next((at + 1 for at, each in enumerate(steps) if each.name == "picture"), 0)
    step_then = answer_step("multiply", factor=factor, offset=offset)
    return with_answers(plan, (*steps[:place], step_then, *steps[place:]))


@pitfall("answer-range", "Range of the answer's values")
def answer_range(plan: Plan) -> Edits:
    """The model answers with 0 to 1 where 0 to 255 is expected, or takes the one and answers with the other."""
    if not is_enhancer(plan) or plan.input is None:
        return
    taken: dict[str, Sequence[Step]] = {
        "values from 0 to 1": [step("rescale", divisor=255)],
        "values from -1 to 1": [step("mean", values=127.5), step("rescale", divisor=127.5)],
        "values from 0 to 255": [],
    }
    for words, multiplied in _ANSWERED.items():
        other = answered_with(plan, *multiplied) if multiplied else with_answers(plan, _without_range(plan))
        yield f"the model answers with {words}", other
        if plan.input.element_type.startswith("float"):
            yield f"the model takes and answers with {words}", rewritten(other, taken[words])


@pitfall("answer-color", "Color order of the answer")
def answer_color(plan: Plan) -> Edits:
    """The channels of the model's picture are in the other order."""
    if not is_enhancer(plan) or find(plan, "luma") is not None:
        return
    for at, each in found(plan, "picture"):
        other = "BGR" if each.parameters["color"] == "RGB" else "RGB"
        yield f"the answer's channels are {other}", edited(plan, at, color=other)
        return
    yield "the answer's channels are BGR", inserted(plan, 0, answer_step("picture", color="BGR"))


@pitfall("picture-rounding", "Rounding of pictures", weight=0.5)
def picture_rounding(plan: Plan) -> Edits:
    """Values are rounded to whole numbers, as saving a picture does it, or they stay as they are."""
    if not is_enhancer(plan):
        return
    known = list(found(plan, "round_picture"))
    for at, each in known:
        yield "the answer not rounded", without(plan, at)
        other = "up" if each.parameters["half"] == "even" else "even"
        yield f"the answer rounded, halves {_halves(other)}", edited(plan, at, half=other)
    if not known:
        clipped = next((at for at, _ in found(plan, "clip_picture")), len(plan.answer.steps))
        yield "the answer rounded", inserted(plan, clipped, answer_step("round_picture"))
    words = {
        "no": "nothing rounded where pictures are compared",
        "answer": "the answer rounded where pictures are compared",
        "compared": "the answer and luma rounded where pictures are compared",
    }
    for rounding, told in words.items():
        if rounding != plan.measure.get("rounding"):
            yield told, plan.model_copy(update={"measure": {**plan.measure, "rounding": rounding}})
    yield from _rounded_inputs(plan)


def _halves(half: str) -> str:
    return "up" if half == "up" else "to the even number"


def _rounded_inputs(plan: Plan) -> Edits:
    """The picture that the model gets, after each step that leaves fractions."""
    steps = steps_of(plan)
    for at, each in enumerate(steps):
        if each.name == "round":
            yield "the input not rounded", with_steps(plan, (*steps[:at], *steps[at + 1 :]))
        if each.name in ("scale", "luma") and (at + 1 == len(steps) or steps[at + 1].name != "round"):
            more = (step("round"), step("clip"))
            after = f"`{each.name}`" if each.name == "luma" else f"`scale` by {float(each.parameters['factor']):g}"
            yield f"rounded after {after}", with_steps(plan, (*steps[: at + 1], *more, *steps[at + 1 :]))
    rounds = [at for at, each in enumerate(steps) if each.name == "round"]
    if rounds:  # clipping belongs to it: nothing else makes bytes
        bounds = [at for at, each in enumerate(steps) if each.name == "clip" and at - 1 in rounds]
        kept = [each for at, each in enumerate(steps) if at not in (*rounds, *bounds)]
        yield "nothing of the input rounded", with_steps(plan, kept)
    places = [at for at, each in enumerate(steps) if each.name in ("scale", "luma")]
    if len(places) > 1 and not any(each.name == "round" for each in steps):
        everywhere: list[Step] = []
        for at, each in enumerate(steps):
            everywhere += [each, step("round"), step("clip")] if at in places else [each]
        yield "rounded after every step", with_steps(plan, everywhere)


@pitfall("picture-clipping", "Clipping of the answer", weight=0.3)
def picture_clipping(plan: Plan) -> Edits:
    """Values below 0 or above 255 are cut off, as saving a picture does it, or they stay and count as errors."""
    if not is_enhancer(plan):
        return
    known = list(found(plan, "clip_picture"))
    for at, _ in known:
        yield "the answer not clipped", without(plan, at)
    for low, high in ((0.0, 255.0), (16.0, 235.0)):
        for at, each in known:
            if (each.parameters["low"], each.parameters["high"]) != (low, high):
                yield f"the answer clipped to {low:g} and {high:g}", edited(plan, at, low=low, high=high)
        if not known:
            last = answer_step("clip_picture", low=low, high=high)
            yield f"the answer clipped to {low:g} and {high:g}", with_answers(plan, (*plan.answer.steps, last))


@pitfall("crop-multiple", "Sides that are multiples", weight=0.5)
def crop_multiple(plan: Plan) -> Edits:
    """Before a picture is shrunk its sides are cut to multiples of the scale; forgotten, pixels do not fit."""
    if not is_enhancer(plan):
        return
    steps, at = steps_of(plan), find(plan, "crop_multiple")
    for multiple in (2, 3, 4, 6, 8, 12, 16):
        new = step("crop_multiple", multiple=multiple)
        if at is not None and multiple != steps[at].parameters["multiple"]:
            for edited_then in replaced(plan, at, new):
                yield f"sides cut to multiples of {multiple}", edited_then
        elif at is None and (place := find(plan, "decode")) is not None:
            yield (
                f"sides cut to multiples of {multiple}",
                with_steps(plan, (*steps[: place + 1], new, *steps[place + 1 :])),
            )
    if at is not None:
        yield "sides not cut", with_steps(plan, (*steps[:at], *steps[at + 1 :]))
