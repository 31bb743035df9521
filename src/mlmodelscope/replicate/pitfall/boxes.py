"""What the numbers of a box mean, which boxes are kept, and by whose rule they are matched."""

from __future__ import annotations

from mlmodelscope.plan.plan import Plan
from mlmodelscope.replicate.pitfall.answering import answer_step, edited, found, measured, with_answers
from mlmodelscope.replicate.pitfall.pitfall import Edits, pitfall

_ORDERS = {
    "xyxy": "left, top, right, bottom",
    "yxyx": "top, left, bottom, right",
    "xywh": "left, top, width, height",
    "cxcywh": "center, width, height",
}


@pitfall("box-order", "Order of a box's numbers")
def box_order(plan: Plan) -> Edits:
    """The four numbers of a box are taken in another order: corners, y first, a corner or center and a size."""
    for at, each in found(plan, "boxes"):
        for order, words in _ORDERS.items():
            if order != each.parameters["order"]:
                yield f"boxes as {words}", edited(plan, at, order=order)


@pitfall("box-unit", "Pixels or shares")
def box_unit(plan: Plan) -> Edits:
    """Boxes are in pixels where shares of the picture are expected, or of another picture than they are taken for."""
    for at, each in found(plan, "boxes"):
        for unit in ("pixel", "share"):
            for of in ("input", "original"):
                if (unit, of) != (each.parameters["unit"], each.parameters["of"]):
                    words = f"boxes in {'pixels' if unit == 'pixel' else 'shares'} of the {of} picture"
                    yield words, edited(plan, at, unit=unit, of=of)


@pitfall("box-plus-one", "The width of a box", weight=0.3)
def box_plus_one(plan: Plan) -> Edits:
    """A box from pixel 3 to pixel 5 is 3 pixels wide by one convention and 2 by the other."""
    for name in ("boxes", "nms"):
        for at, each in found(plan, name):
            now = each.parameters["plus_one"]
            words = "the last pixel belongs to the box" if not now else "the last pixel does not belong to the box"
            yield f"{words} ({name})", edited(plan, at, plus_one=not now)
    if plan.measure.get("rule") == "voc":
        yield "the other convention when boxes are matched", measured(plan, plus_one=not plan.measure["plus_one"])


@pitfall("score-threshold", "Score threshold")
def score_threshold(plan: Plan) -> Edits:
    """Boxes with a low score are dropped before they are counted: what is good for looking is bad for measuring."""
    known = list(found(plan, "threshold"))
    for score in (0.0, 0.001, 0.01, 0.05, 0.25, 0.3, 0.5):
        for at, each in known:
            if score != each.parameters["score"]:
                yield f"boxes with a score above {score:g}", edited(plan, at, score=score)
        if not known and _is_detector(plan) and score:
            last = answer_step("threshold", score=score)
            yield f"boxes with a score above {score:g}", with_answers(plan, (*plan.answer.steps, last))


@pitfall("nms-threshold", "Threshold of the suppression")
def nms_threshold(plan: Plan) -> Edits:
    """Of two boxes that overlap the worse one goes; how much overlap is too much differs from model to model."""
    for at, each in found(plan, "nms"):
        for iou in (0.3, 0.4, 0.45, 0.5, 0.6, 0.65, 0.7):
            if iou != each.parameters["iou"]:
                yield f"suppression at an overlap of {iou:g}", edited(plan, at, iou=iou)


@pitfall("nms-kind", "Kind of suppression", weight=0.5)
def nms_kind(plan: Plan) -> Edits:
    """Suppression among boxes of one class or of all, hard or soft, or none, or twice."""
    known = list(found(plan, "nms"))
    for at, each in known:
        other = "all" if each.parameters["among"] == "class" else "class"
        yield (
            f"suppression among boxes of {'all classes' if other == 'all' else 'one class'}",
            edited(plan, at, among=other),
        )
        for soft in ("no", "linear", "gaussian"):
            if soft != each.parameters["soft"]:
                yield f"{'hard' if soft == 'no' else f'soft ({soft})'} suppression", edited(plan, at, soft=soft)
        yield "no suppression", with_answers(plan, (*plan.answer.steps[:at], *plan.answer.steps[at + 1 :]))
    if not known and _is_detector(plan):
        for iou in (0.45, 0.5, 0.6):
            last = answer_step("nms", iou=iou)
            yield f"suppression at an overlap of {iou:g}", with_answers(plan, (*plan.answer.steps, last))


@pitfall("max-detections", "Number of boxes", weight=0.5)
def max_detections(plan: Plan) -> Edits:
    """Only so many boxes of a picture are kept, or so many before suppression."""
    known = list(found(plan, "limit"))
    for count in (10, 20, 50, 100, 300):
        for at, each in known:
            if count != each.parameters["count"]:
                yield f"the best {count} boxes of a picture", edited(plan, at, count=count)
        if not known and _is_detector(plan):
            last = answer_step("limit", count=count)
            yield f"the best {count} boxes of a picture", with_answers(plan, (*plan.answer.steps, last))
    if plan.measure.get("rule") == "coco":
        for count in (10, 100, 300):
            if count != plan.measure.get("max_detections"):
                yield f"the best {count} boxes of a class and picture count", measured(plan, max_detections=count)
    for at, each in found(plan, "nms"):
        for count in (100, 400, 1000):
            if count != each.parameters["before"]:
                yield f"suppression among the best {count} boxes", edited(plan, at, before=count)


@pitfall("class-ids", "80 classes or 91 ids")
def class_ids(plan: Plan) -> Edits:
    """COCO's ids go from 1 to 90 with gaps, its classes are 80: a model counts either way, and so does a label file."""
    if not _is_detector(plan):
        return
    for at, _ in found(plan, "class_ids"):
        yield "classes as they are", with_answers(plan, (*plan.answer.steps[:at], *plan.answer.steps[at + 1 :]))
        return
    scheme = answer_step("class_ids", scheme="coco91")
    yield "ids of COCO from 1 to 90", with_answers(plan, (*plan.answer.steps, scheme)).with_answer(label_offset=0)


@pitfall("background-class", "Background class")
def background_class(plan: Plan) -> Edits:
    """One of the scores stands for nothing: forgotten, it wins where nothing is; taken for a class, all others move."""
    for at, each in found(plan, "best_class"):
        for number in (-1, 0):
            if number != each.parameters["background"]:
                words = "the first class is the background" if number == 0 else "no class is the background"
                yield words, edited(plan, at, background=number)


@pitfall("crowd", "Crowds", weight=0.3)
def crowd(plan: Plan) -> Edits:
    """Regions with many things are ignored by COCO's rule; counted as one thing or dropped, the number is another."""
    if plan.measure.get("rule") == "coco":
        for how, words in (("ignore", "ignored"), ("count", "counted as things"), ("drop", "dropped")):
            if how != plan.measure.get("crowd"):
                yield f"crowds {words}", measured(plan, crowd=how)


@pitfall("area-of-things", "Size of a thing", weight=0.2)
def area_of_things(plan: Plan) -> Edits:
    """Small, medium and large go by the area of the mask; by that of the box, things change sides."""
    if plan.measure.get("rule") == "coco":
        other = "box" if plan.measure.get("area") == "annotated" else "annotated"
        yield f"areas of {'boxes' if other == 'box' else 'masks'}", measured(plan, area=other)


@pitfall("voc-points", "Points of VOC's curve", weight=0.5)
def voc_points(plan: Plan) -> Edits:
    """VOC summed precision up at eleven recalls until 2009, and over all of the curve since."""
    if plan.measure.get("rule") == "voc":
        other = "eleven" if plan.measure.get("points") == "every" else "every"
        yield f"precision at {'eleven recalls' if other == 'eleven' else 'every point'}", measured(plan, points=other)


@pitfall("voc-overlap", "Overlap of VOC's rule", weight=0.3)
def voc_overlap(plan: Plan) -> Edits:
    """How far a box must overlap a thing to have found it: half by VOC's rule, more or less elsewhere."""
    if plan.measure.get("rule") == "voc":
        for iou in (0.5, 0.75, 0.3, 0.4):
            if iou != plan.measure.get("iou"):
                yield f"found at an overlap of {iou:g}", measured(plan, iou=iou)


@pitfall("difficult", "Difficult things", weight=0.5)
def difficult(plan: Plan) -> Edits:
    """VOC marks things that are hard to see and leaves them out; counted, most of them are missed."""
    if _is_detector(plan):
        other = "count" if plan.measure.get("difficult") == "ignore" else "ignore"
        words = "counted like others" if other == "count" else "ignored"
        yield f"difficult things {words}", measured(plan, difficult=other)


def _is_detector(plan: Plan) -> bool:
    return "rule" in plan.measure
