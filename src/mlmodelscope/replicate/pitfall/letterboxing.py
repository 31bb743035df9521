"""Whether a picture keeps its proportions in the square that a network takes, and what surrounds it."""

from __future__ import annotations

from mlmodelscope.manifest.schema import Step
from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall.answering import answer_step, found, inserted
from mlmodelscope.replicate.pitfall.pitfall import Edits, changed, find, pitfall, replaced, step, steps_of, with_steps
from mlmodelscope.task.class_answer import CLASS_TASKS

_WHERE = {"center": "in the middle", "top_left": "at the top left"}
_GRAYS = (0.0, 114.0, 127.0, 128.0)
_OTHERS = (*CLASS_TASKS, "multilabel_classification", "image_enhancement")
"""Tasks whose pictures are not letterboxed, or not brought back."""


@pitfall("letterbox", "Letterbox or stretch")
def letterbox(plan: Plan) -> Edits:
    """The picture is stretched to the input's size where its proportions should be kept, or the other way round."""
    steps = steps_of(plan)
    at, border = find(plan, "resize"), find(plan, "pad")
    if at is None or plan.task in _OTHERS:
        return
    if border is None:
        yield from _boxed(plan, at)
        return
    size = steps[border].parameters["dimensions"]
    stretched = changed(steps[at], short_side=None, max_dimension=None, dimensions=size, keep_aspect_ratio=False)
    if stretched is not None:
        rest = [each for place, each in enumerate(steps) if place not in (at, border)]
        yield "stretched to the input's size", with_steps(plan, (*rest[:at], stretched, *rest[at:]))
    for method, words in _WHERE.items():
        if method != steps[border].parameters["method"]:
            for other in replaced(plan, border, changed(steps[border], method=method)):
                yield f"the picture {words} of the border", other
    for value in _GRAYS:
        if value != steps[border].parameters["value"]:
            for other in replaced(plan, border, changed(steps[border], value=value)):
                yield f"a border of {value:g}", other


def _boxed(plan: Plan, at: int) -> Edits:
    """Proportions kept in the same square; where nobody says how the shorter side is rounded, either way."""
    steps = steps_of(plan)
    size = steps[at].parameters["dimensions"]
    if size is None or size[0] != size[1]:
        return
    for rounding in ("floor", "round"):
        kept = _kept(steps[at], max(size), rounding)
        if kept is None:
            continue
        for method, words in _WHERE.items():
            for value in _GRAYS:
                frame = step("pad", dimensions=list(size), method=method, value=value)
                boxed = with_steps(plan, (*steps[:at], kept, frame, *steps[at + 1 :]))
                rounded = ", sides rounded to the nearest" if rounding == "round" else ""
                yield f"proportions kept, {words}, border of {value:g}{rounded}", _cut(boxed)


def _kept(resized: Step, side: int, rounding: str) -> Step | None:
    return changed(resized, dimensions=None, max_dimension=side, rounding=rounding, keep_aspect_ratio=True)


def _cut(plan: Plan) -> Plan:
    """A map that is brought back without regard to the frame needs its padding cut off."""
    backs = [at for at, each in found(plan, "resize_back") if each.parameters["alignment"] != "half_pixel"]
    if not backs or any(True for _ in found(plan, "cut_padding")):
        return plan
    return inserted(plan, backs[0], answer_step("cut_padding"))
