"""Answer steps of keypoint detection: what the numbers of a point mean."""

from ..parameters import Choice, Integer
from ..pipeline.frame import place
from .boxes import Refused, array_of
from .step import answer_step

POINTING = ("keypoint_detection",)


@answer_step(POINTING, main="order")
def keypoints(
    values,
    frame,
    *,
    order: Choice("What a point's numbers are: x first or y first; a third one is how sure it is.", "xy", "yx") = "xy",
    numbers: Integer("How many numbers a point has.", at_least=2, at_most=3) = 3,
    unit: Choice("Pixels, or shares of the width and height.", "pixel", "share") = "pixel",
    of: Choice("The picture that they are pixels or shares of.", "input", "original") = "input",
    score: Choice("The score of a thing: the model's own, or the mean of its points'.", "given", "points") = "given",
):
    """Bring keypoints into one form: x, y and how sure each is, in pixels of the model's input."""
    import numpy as np

    found, each = np.asarray(array_of(values, "keypoints"), np.float64), numbers
    things = len(values["boxes"]) if "boxes" in values else len(values["scores"]) if "scores" in values else None
    if found.size % each or things == 0 and found.size:
        raise Refused("%d numbers are not points of %d" % (found.size, each))
    if things is None:
        things = int(np.prod(found.shape[:-2])) if found.shape[-1] == each else len(found)
    if things and found.size % (things * each):
        raise Refused("%d numbers are not %d things with points of %d" % (found.size, things, each))
    found = found.reshape((things, -1, each)) if things else np.zeros((0, 0, each))
    x, y = (found[..., 0], found[..., 1]) if order == "xy" else (found[..., 1], found[..., 0])
    height, width = frame.size if of == "input" else frame.original
    if unit == "share":
        x, y = x * width, y * height
    if of == "original":
        x, y = place(frame.from_original, x, y)
    sure = found[..., 2] if each == 3 else np.ones(x.shape)
    points = dict(values, keypoints=np.stack([x, y, sure], axis=-1))
    if score == "points":
        points["scores"] = sure.mean(axis=1) if things else np.zeros(0)
    elif "scores" not in values:
        raise Refused("there is no output of type `scores`; `score: points` takes the mean of the points' own")
    if "boxes" not in values:  # a thing reaches as far as its points
        corners = [x.min(axis=1), y.min(axis=1), x.max(axis=1), y.max(axis=1)] if things else [np.zeros(0)] * 4
        points["boxes"] = np.stack(corners, axis=1)
    return points
