"""Answer steps of detectors: what the numbers of a box mean, which boxes are kept.

Behind them `boxes` are [left, top, right, bottom] in pixels of the model's input, `scores` a number and `classes` a
whole number for each box.
"""

from ..parameters import Choice, Flag, Integer, Number
from ..pipeline.frame import place
from ..predictor import ModelError
from .step import answer_step

DETECTING = ("object_detection", "instance_segmentation", "keypoint_detection")


# What belongs to no box, however many there are of it.
_SHARED = ("prototypes", "tensor", "count")


class Refused(ModelError):
    """What the model gave is not what the manifest says."""


def array_of(values, role):
    """One of the values, which must be there."""
    if role not in values:
        known = ", ".join(sorted(values)) or "nothing"
        raise Refused("there is no output of type `%s`; there is %s" % (role, known))
    if isinstance(values[role], list):
        raise Refused("there are %d outputs of type `%s`; one is needed" % (len(values[role]), role))
    return values[role]


def rows_of(values):
    """How many boxes there are; refused where the values differ in that."""
    found = array_of(values, "boxes")
    for role in ("scores", "classes", "masks", "keypoints", "coefficients"):
        if role in values and not isinstance(values[role], list) and len(values[role]) != len(found):
            raise Refused("there are %d boxes and %d %s" % (len(found), len(values[role]), role))
    return len(found)


def chosen(values, rows):
    """The same for some of the boxes."""
    count = rows_of(values)
    return {
        role: value[rows]
        if role not in _SHARED and hasattr(value, "shape") and value.ndim and len(value) == count
        else value
        for role, value in values.items()
    }


@answer_step(DETECTING, main="order")
def boxes(
    values,
    frame,
    *,
    order: Choice(
        "What the four numbers are: corners, corners with y first, corner and size, center and size.",
        "xyxy",
        "yxyx",
        "xywh",
        "cxcywh",
    ) = "xyxy",
    unit: Choice("Pixels, or shares of the width and height.", "pixel", "share") = "pixel",
    of: Choice("The picture that they are pixels or shares of.", "input", "original") = "input",
    plus_one: Flag("Whether a box that reaches from pixel 3 to pixel 5 is 3 pixels wide, not 2.") = False,
):
    """Bring boxes into one form: corners, in pixels of the model's input."""
    import numpy as np

    found = np.asarray(array_of(values, "boxes"), np.float64)
    if found.size % 4:
        raise Refused("%d numbers are no boxes of four" % found.size)
    found = found.reshape(-1, 4)
    if order == "yxyx":
        found = found[:, [1, 0, 3, 2]]
    left, top, right, bottom = found.T
    if order == "xywh":
        right, bottom = left + right, top + bottom
    elif order == "cxcywh":
        left, top, right, bottom = left - right / 2, top - bottom / 2, left + right / 2, top + bottom / 2
    height, width = frame.size if of == "input" else frame.original
    if unit == "share":
        left, right, top, bottom = left * width, right * width, top * height, bottom * height
    if plus_one:
        right, bottom = right + 1, bottom + 1
    if of == "original":
        (left, top), (right, bottom) = (
            place(frame.from_original, left, top),
            place(frame.from_original, right, bottom),
        )
    return dict(values, boxes=np.stack([left, top, right, bottom], axis=1))


@answer_step(DETECTING)
def first_of(values, frame):
    """Keep as many boxes as the output `count` says; the rest of the rows is filling."""
    count = int(array_of(values, "count").reshape(-1)[0])
    known = array_of(values, "boxes")
    flat = {role: value for role, value in values.items() if role != "count"}
    boxed = dict(flat, boxes=known.reshape(-1, 4))
    return chosen(boxed, slice(0, max(0, count)))


@answer_step(DETECTING)
def best_class(
    values,
    frame,
    *,
    background: Integer("Number of a class that stands for nothing; its boxes are dropped.", at_least=-1) = -1,
    several: Number("Keep a box once for each class that scores above this; by default for its best class.") = None,
):
    """Give each box a class: the best of its scores."""
    import numpy as np

    scores = array_of(values, "scores")
    if scores.ndim != 2:
        raise Refused("the scores have %d axes; boxes x classes are needed" % scores.ndim)
    if background >= 0:
        scores = scores.copy()
        scores[:, background] = -np.inf
    if several is not None:
        rows, classes = np.nonzero(scores > several)
        return dict(chosen(dict(values, scores=scores), rows), scores=scores[rows, classes], classes=classes)
    classes = scores.argmax(axis=1) if len(scores) else np.zeros(0, int)
    best = scores[np.arange(len(scores)), classes]
    return chosen(dict(values, scores=best, classes=classes), best > -np.inf)


@answer_step(DETECTING, main="score")
def threshold(
    values,
    frame,
    *,
    score: Number("Boxes with a lower score are dropped."),
    inclusive: Flag("Whether a box with exactly this score is kept.") = False,
):
    """Drop boxes with a low score."""
    scores = array_of(values, "scores")
    return chosen(values, scores >= score if inclusive else scores > score)


@answer_step(DETECTING, main="iou")
def nms(
    values,
    frame,
    *,
    iou: Number("Of two boxes that overlap by more than this, the one with the lower score goes.", above=0, at_most=1),
    among: Choice("Whether boxes of other classes count.", "class", "all") = "class",
    soft: Choice(
        "Drop such boxes, lower their scores, or merge them with the better one: the mean, weighted by the scores.",
        "no",
        "linear",
        "gaussian",
        "merge",
    ) = "no",
    sigma: Number("Width of the Gaussian.", above=0) = 0.5,
    least: Number("With `soft`: boxes whose score falls to this are dropped.", at_least=0) = 0.001,
    before: Integer("Only so many boxes with the highest scores take part.", at_least=1) = None,
    plus_one: Flag("Whether a box from pixel 3 to pixel 5 is 3 pixels wide when areas are computed.") = False,
):
    """Drop boxes that overlap a better one (non-maximum suppression)."""
    import numpy as np

    scores = np.asarray(array_of(values, "scores"), np.float64)
    order = np.argsort(-scores, kind="mergesort")[:before]
    values, scores = chosen(values, order), scores[order]
    places = values["boxes"]
    kinds = array_of(values, "classes") if among == "class" else np.zeros(len(scores), int)
    kept, lowered = [], scores.copy()
    for kind in np.unique(kinds):
        rows = np.flatnonzero(kinds == kind)
        if soft in ("no", "merge"):
            kept.append(rows[_greedy(places[rows], iou, plus_one)])
        else:
            part, numbers = _soft(places[rows], scores[rows], iou, soft, sigma, least, plus_one)
            kept.append(rows[part])
            lowered[rows[part]] = numbers
    rows = np.sort(np.concatenate(kept)) if kept else np.zeros(0, int)
    rows = rows[np.argsort(-lowered[rows], kind="mergesort")]
    if soft == "merge":
        values = _merged(values, scores, kinds, rows, iou, plus_one)
    return dict(
        chosen(values, rows), scores=lowered[rows] if soft in ("linear", "gaussian") else values["scores"][rows]
    )


def _merged(values, scores, kinds, rows, iou, plus_one):
    """Each box that stays, and its points, in the middle of those that go for it; a box goes for the best one only."""
    import numpy as np

    places = np.asarray(values["boxes"], np.float64)
    moved = {role: np.array(values[role], np.float64) for role in ("boxes", "keypoints") if role in values}
    left = np.ones(len(places), bool)
    for row in rows:
        near = left & (kinds == kinds[row]) & (overlaps(places[row], places, plus_one) > iou)
        near[row] = True
        left &= ~near
        share = scores[near] / scores[near].sum()
        for role, each in moved.items():
            each[row] = np.tensordot(share, np.asarray(values[role], np.float64)[near], 1)
    return dict(values, **moved)


def overlaps(box, others, plus_one=False):
    """Intersection over union of one box with others."""
    import numpy as np

    more = 1.0 if plus_one else 0.0
    width = np.minimum(box[2], others[:, 2]) - np.maximum(box[0], others[:, 0]) + more
    height = np.minimum(box[3], others[:, 3]) - np.maximum(box[1], others[:, 1]) + more
    shared = np.maximum(width, 0) * np.maximum(height, 0)
    areas = (others[:, 2] - others[:, 0] + more) * (others[:, 3] - others[:, 1] + more)
    union = (box[2] - box[0] + more) * (box[3] - box[1] + more) + areas - shared
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(union > 0, shared / union, 0.0)


def _greedy(places, iou, plus_one):
    """Rows that stay; the boxes come best first."""
    import numpy as np

    kept, rows = [], np.arange(len(places))
    while rows.size:
        kept.append(rows[0])
        rows = rows[1:][overlaps(places[rows[0]], places[rows[1:]], plus_one) <= iou]
    return np.array(kept, int)


def _soft(places, scores, iou, kind, sigma, least, plus_one):
    """(rows, their scores): a box loses the more, the more it overlaps a better one."""
    import numpy as np

    scores, left, kept = scores.copy(), np.arange(len(places)), []
    while left.size:
        best = left[np.argmax(scores[left])]
        if scores[best] <= least:
            break
        kept.append(best)
        left = left[left != best]
        shared = overlaps(places[best], places[left], plus_one)
        if kind == "gaussian":
            scores[left] *= np.exp(-(shared * shared) / sigma)
        else:
            scores[left] *= np.where(shared > iou, 1 - shared, 1.0)
        left = left[scores[left] > least]
    return np.array(kept, int), scores[kept]


@answer_step(DETECTING, main="count")
def limit(values, frame, *, count: Integer("So many boxes at most.", at_least=1)):
    """Keep the boxes with the highest scores."""
    import numpy as np

    return chosen(values, np.argsort(-array_of(values, "scores"), kind="mergesort")[:count])


@answer_step(DETECTING)
def clip_boxes(values, frame):
    """Cut boxes off where the picture ends."""
    import numpy as np

    found = array_of(values, "boxes").copy()
    x, y = place(frame.to_original, found[:, 0::2], found[:, 1::2])
    height, width = frame.original
    found[:, 0::2], found[:, 1::2] = place(frame.from_original, np.clip(x, 0, width), np.clip(y, 0, height))
    return dict(values, boxes=found)


# Ids of the 80 classes of COCO that are in use; the list that they come from has 90.
COCO_IDS = tuple(each for each in range(1, 91) if each not in (12, 26, 29, 30, 45, 66, 68, 69, 71, 83))


@answer_step(DETECTING, main="scheme")
def class_ids(
    values, frame, *, scheme: Choice("`coco91`: ids of COCO from 1 to 90, of which ten are not in use.", "coco91")
):
    """Bring class numbers from another scheme into 0, 1, 2, …; boxes of classes that are not in use are dropped."""
    import numpy as np

    numbers = np.full(256, -1)
    numbers[list(COCO_IDS)] = np.arange(len(COCO_IDS))
    found = np.rint(array_of(values, "classes")).astype(int)
    found = numbers[np.clip(found, 0, 255)]
    return chosen(dict(values, classes=found), found >= 0)
