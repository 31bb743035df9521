"""How scores of pixels become a map of classes of the original's size, and which pixels and classes count."""

from __future__ import annotations

from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall.answering import (
    answer_step,
    edited,
    found,
    inserted,
    labelled,
    measured,
    settled,
    with_answers,
    without,
)
from mlmodelscope.replicate.pitfall.pitfall import Edits, find, pitfall
from mlmodelscope.task.segmentation import NAME

_WAYS = (
    ("bilinear", "half_pixel"),
    ("bilinear", "align_corners"),
    ("nearest", "half_pixel"),
    ("nearest", "pillow"),
)
_WORDS = {"half_pixel": "by the centers of pixels", "align_corners": "corners aligned", "pillow": "as Pillow does it"}


def _is_segmenter(plan: Plan) -> bool:
    return plan.task == NAME


def _place(plan: Plan, name: str) -> int | None:
    return next((at for at, _ in found(plan, name)), None)


@pitfall("void-label", "Void label")
def void_label(plan: Plan) -> Edits:
    """A number in the masks stands for pixels that do not count; taken for a class, they do, and are mostly wrong."""
    if not _is_segmenter(plan):
        return
    for number in (255, 0, -1):
        if number != plan.measure.get("void"):
            words = f"pixels of class {number} do not count" if number >= 0 else "pixels of every class count"
            yield words, measured(plan, void=number)
    now = plan.dataset.labels.void
    for value in (0, 255):
        if value not in now:
            yield f"pixels with the value {value} in a mask do not count", labelled(plan, void=(*now, value))
    for value in now:
        others = tuple(each for each in now if each != value)
        yield f"pixels with the value {value} in a mask count", labelled(plan, void=others)


@pitfall("absent-classes", "Absent classes", weight=0.5)
def absent_classes(plan: Plan) -> Edits:
    """A class that no mask has is left out of a mean over classes, or counts as 0 there."""
    if not _is_segmenter(plan):
        return
    if plan.measure.get("absent") == "zero":
        yield "classes that no mask has are left out of the mean", measured(plan, absent="skip")
    elif plan.measure.get("classes") or plan.dataset.classes is not None:  # else nobody knows what is absent
        yield "classes that no mask has count as 0", measured(plan, absent="zero")


@pitfall("map-order", "Classes before or after resizing", weight=0.5)
def map_order(plan: Plan) -> Edits:
    """Classes are chosen at the model's resolution and enlarged, or scores are enlarged and classes chosen then."""
    chosen, back = _place(plan, "argmax_map"), _place(plan, "resize_back")
    steps = plan.answer.steps
    if chosen is None or not _gives_scores(plan):
        return
    if back is None:  # the map is resized in the end, by nearest
        for method, alignment in _WAYS[:2]:
            words = f"scores resized ({method}, {_WORDS[alignment]}) before classes are chosen"
            yield words, inserted(plan, chosen, answer_step("resize_back", method=method, alignment=alignment))
    elif back < chosen:
        rest = [each for at, each in enumerate(steps) if at not in (back, chosen)]
        step = answer_step("resize_back", layout=steps[back].parameters["layout"])
        words = "classes chosen before the map is resized"
        yield words, with_answers(plan, (*rest[:back], steps[chosen], step, *rest[back:]))
    else:
        rest = [each for at, each in enumerate(steps) if at not in (back, chosen)]
        layout = steps[chosen].parameters["layout"]
        for method, alignment in _WAYS[:2]:
            step = answer_step("resize_back", method=method, alignment=alignment, layout=layout)
            words = f"scores resized ({method}, {_WORDS[alignment]}) before classes are chosen"
            yield words, with_answers(plan, (*rest[:chosen], step, steps[chosen], *rest[chosen:]))


def _gives_scores(plan: Plan) -> bool:
    """Whether the model may give scores: one that gives `classes` or whole numbers has chosen itself."""
    return _is_segmenter(plan) and plan.outputs[0].role != "classes"


@pitfall("map-resizing", "Resizing a map back", weight=0.5)
def map_resizing(plan: Plan) -> Edits:
    """Maps or scores are brought to the size of the original by another interpolation, or aligned otherwise."""
    if not _is_segmenter(plan):
        return
    chosen = _place(plan, "argmax_map")
    for at, each in found(plan, "resize_back"):
        for method, alignment in _WAYS:
            if (method, alignment) == (each.parameters["method"], each.parameters["alignment"]):
                continue
            if method == "nearest" or (chosen is not None and at < chosen):  # numbers of classes cannot be mixed
                for plan_then in settled(plan, at, method=method, alignment=alignment):
                    yield f"{method}, {_WORDS[alignment]}", plan_then
        return
    yield "nearest, as Pillow does it", _at_the_end(plan, "resize_back", alignment="pillow")


def _at_the_end(plan: Plan, name: str, **parameters: object) -> Plan:
    return with_answers(plan, (*plan.answer.steps, answer_step(name, **parameters)))


@pitfall("map-padding", "Padding in a map")
def map_padding(plan: Plan) -> Edits:
    """The border that the input got is not cut off the map, so that the picture is squeezed into a corner of it."""
    if not _is_segmenter(plan):
        return
    for at, _ in found(plan, "cut_padding"):
        yield "padding not cut off", without(plan, at)
        return
    if find(plan, "pad") is not None:
        back = _place(plan, "resize_back")
        place = len(plan.answer.steps) if back is None else back
        yield "padding cut off", inserted(plan, place, answer_step("cut_padding"))


@pitfall("map-background", "Background in a map", weight=0.3)
def map_background(plan: Plan) -> Edits:
    """The first class is background, which a pixel may or may not be given."""
    if not _gives_scores(plan):
        return
    for at, each in found(plan, "argmax_map"):
        other = 0 if each.parameters["leave_out"] is None else None
        words = "class 0 is never chosen" if other == 0 else "every class may be chosen"
        yield words, edited(plan, at, leave_out=other)


@pitfall("map-threshold", "Threshold of a map")
def map_threshold(plan: Plan) -> Edits:
    """One score for each pixel makes two classes: above 0.5 for a probability, above 0 for a logit."""
    for at, each in found(plan, "threshold_map"):
        for threshold in (0.5, 0.0, 0.3, 0.4, 0.6, 127.0):
            if threshold != each.parameters["threshold"]:
                yield f"class 1 above {threshold:g}", edited(plan, at, threshold=threshold)


@pitfall("mask-offset", "Offset of the masks", weight=0.5)
def mask_offset(plan: Plan) -> Edits:
    """The numbers in the masks count from 1 where they were taken to count from 0, or the other way round."""
    if not _is_segmenter(plan) or plan.dataset.labels.map:  # a list of values says it for each
        return
    for offset in (0, 1):
        if offset != plan.dataset.labels.offset:
            yield f"masks count from {offset}", labelled(plan, offset=offset)
            voided = labelled(plan, offset=offset, void=tuple({*plan.dataset.labels.void, 0})) if offset else None
            if voided is not None:
                yield "masks count from 1, and 0 does not count", voided


@pitfall("uncovered-pixels", "Pixels the model did not see", weight=0.3)
def uncovered_pixels(plan: Plan) -> Edits:
    """Pixels that a crop cut off have no answer; they count as wrong or not at all."""
    if _is_segmenter(plan):
        other = "skip" if plan.measure.get("uncovered") == "wrong" else "wrong"
        words = "left out" if other == "skip" else "wrong"
        yield f"pixels that the model did not see are {words}", measured(plan, uncovered=other)
