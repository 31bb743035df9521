"""Answer steps of segmenters: scores for each class and pixel become a map of class numbers, of the original's size.

`scores` (classes x height x width) stand for the outputs `masks`, `tensor`, `logits` and `probability` as soon as a
step has brought them into that form; `map` is the class of each pixel. Where either lies is kept in `placed`: steps
that cut or resize them note it there.
"""

from ..parameters import Choice, Integer, Number, Numbers, ParameterError
from ..pipeline.frame import place
from .boxes import Refused
from .step import answer_step

SEGMENTING = ("semantic_segmentation",)
_GIVEN = ("masks", "tensor", "logits", "probability", "classes")
NO_CLASS = -1


def given(values):
    """The one output that the map is made of, without axes of length 1 at either end."""
    known = [role for role in _GIVEN if role in values]
    if len(known) != 1 or isinstance(values[known[0]], list):
        raise Refused("one output of type %s is needed; there is %s" % (" or ".join(_GIVEN), ", ".join(sorted(values))))
    return values[known[0]]


def scores_of(values, layout):
    """Scores as classes x height x width."""
    if "scores" in values:
        return values["scores"]
    found = given(values)
    if found.ndim != 3:
        raise Refused("scores of classes and pixels have 3 axes, these have %d" % found.ndim)
    return found if layout == "CHW" else found.transpose(2, 0, 1)


def map_of(values):
    """The class of each pixel, as a step or the model itself chose it."""
    import numpy as np

    if "map" in values:
        return values["map"]
    found = given(values)
    if found.ndim == 3 and 1 in (found.shape[0], found.shape[2]):
        found = found[0] if found.shape[0] == 1 else found[:, :, 0]
    if found.ndim != 2:
        raise Refused("a map of classes has 2 axes, this has %d: `argmax_map` makes one of scores" % found.ndim)
    if found.dtype.kind == "f":
        if not np.isfinite(found).all():
            raise Refused("the model answered with not-a-number")
        found = np.rint(found)
    return found.astype(np.int32)


def _is_map(found):
    return found.ndim == 2 or (found.ndim == 3 and found.dtype.kind != "f" and 1 in (found.shape[0], found.shape[2]))


def placed(values, frame, size):
    """Where a map of this size lies: it covers the model's input, unless a step has cut or moved it."""
    known = values.get("placed") or frame
    return known if known.size == tuple(size) else known.scaled(*size)


@answer_step(SEGMENTING)
def argmax_map(
    values,
    frame,
    *,
    layout: Choice("Order of the scores' axes.", "CHW", "HWC") = "CHW",
    leave_out: Integer("Number of a class that is never chosen, such as a background.", at_least=0) = None,
):
    """Give each pixel the class with its highest score; of equal scores the lowest class number wins.

    A map that the model chose itself, with one whole number for each pixel, stays as it is.
    """
    import numpy as np

    if "scores" not in values and ("map" in values or _is_map(given(values))):
        return dict(values, map=map_of(values))
    scores = scores_of(values, layout)
    if len(scores) == 1:
        raise Refused("there is one score for each pixel: `threshold_map` makes two classes of it")
    if np.isnan(scores).any():
        raise Refused("the model answered with not-a-number")
    if leave_out is not None:
        scores = scores.astype(np.float32)
        scores[leave_out : leave_out + 1] = -np.inf
    return dict(values, map=scores.argmax(axis=0).astype(np.int32))


@answer_step(SEGMENTING, main="threshold")
def threshold_map(
    values, frame, *, threshold: Number("Class 1 where the score is above this, class 0 elsewhere.") = 0.5
):
    """Make a map of two classes out of one score for each pixel."""
    import numpy as np

    scores = values["scores"] if "scores" in values else given(values)
    if scores.ndim == 3:
        if 1 not in (scores.shape[0], scores.shape[2]):
            raise Refused("%s are more than one score for each pixel" % "x".join(map(str, scores.shape)))
        scores = scores[0] if scores.shape[0] == 1 else scores[:, :, 0]
    if np.isnan(scores).any():
        raise Refused("the model answered with not-a-number")
    return dict(values, map=(scores > threshold).astype(np.int32))


@answer_step(SEGMENTING)
def cut_padding(
    values, frame, *, layout: Choice("Order of the scores' axes, where there is no map yet.", "CHW", "HWC") = "CHW"
):
    """Cut off what lies outside the picture: rows and columns that the input steps have added."""
    role, found = _current(values, layout)
    known = placed(values, frame, found.shape[-2:])
    height, width = known.original
    xs, ys = zip(*(place(known.from_original, x, y) for x, y in ((0, 0), (width, height))))
    top, left = max(0, int(round(min(ys)))), max(0, int(round(min(xs))))
    bottom, right = min(found.shape[-2], int(round(max(ys)))), min(found.shape[-1], int(round(max(xs))))
    if top >= bottom or left >= right:
        raise Refused("nothing of the picture is left in the model's answer")
    cut = {role: found[..., top:bottom, left:right], "placed": known.cut(top, left, bottom - top, right - left)}
    return dict(values, **cut)


def _current(values, layout):
    """(role, array): the map, where a step has made one, or the scores."""
    if "map" in values:
        return "map", values["map"]
    if "scores" in values or (given(values).ndim == 3 and 1 not in (given(values).shape[0], given(values).shape[2])):
        return "scores", scores_of(values, layout)
    if given(values).dtype.kind == "f":  # one score for each pixel
        found = given(values)
        return "scores", found.reshape((1,) + (found.shape if found.ndim == 2 else _without_ones(found.shape)))
    return "map", map_of(values)


def _without_ones(shape):
    return shape[1:] if shape[0] == 1 else shape[:2]


def _settle_back(parameters):
    fitting = {"nearest": ("half_pixel", "pillow"), "bilinear": ("half_pixel", "align_corners")}[parameters["method"]]
    if parameters["alignment"] not in fitting:
        words = "`%s` does not go with `method: %s`" % (parameters["alignment"], parameters["method"])
        raise ParameterError(words, parameter="alignment", known=fitting)
    return parameters


@answer_step(SEGMENTING, main="method", settle=_settle_back)
def resize_back(
    values,
    frame,
    *,
    method: Choice(
        "How values between pixels are found; a map of classes has no other than nearest.", "nearest", "bilinear"
    ) = "nearest",
    alignment: Choice(
        "Where pixels lie: exactly by their centers; so that the outermost ones of both sizes coincide; by their "
        "centers, in the arithmetic of Pillow, which decides otherwise between two that are equally near.",
        "half_pixel",
        "align_corners",
        "pillow",
    ) = "half_pixel",
    layout: Choice("Order of the scores' axes, where there is no map yet.", "CHW", "HWC") = "CHW",
):
    """Bring scores (before `argmax_map`) or the map (behind it) to the size of the original, by the frame."""
    role, found = _current(values, layout)
    known = placed(values, frame, found.shape[-2:])
    if role == "map" and method != "nearest":
        raise Refused("numbers of classes cannot be mixed: use `resize_back` before `argmax_map`, or `nearest`")
    rows, columns = places_of(known, alignment)
    if method == "nearest":
        made = nearest(found, rows, columns, NO_CLASS if role == "map" else 0)
    else:
        made = bilinear(found, rows, columns)
    return dict(values, placed=whole(known), covered=known.covered, **{role: made})


def whole(known):
    """The original's own frame."""
    while known.before is not None:
        known = known.before
    return known


def places_of(known, alignment="half_pixel"):
    """Rows and columns of a map at which the centers of the original's pixels lie, counted from the map's edge."""
    import numpy as np

    height, width = known.original
    if alignment != "half_pixel":
        top, left, bottom, right = known.covered
        sides = ((height, top, bottom - top, known.size[0]), (width, left, right - left, known.size[1]))
        return [_ALIGNED[alignment](*side) for side in sides]
    a, b, c, d, e, f = known.from_original
    if b or d:
        raise Refused("a map of a transposed picture cannot be brought back")
    # A tiny step on: places are products of floats, and 2.9999999999999996 is pixel 3.
    return [e * (np.arange(height) + 0.5) + (f + 1e-9), a * (np.arange(width) + 0.5) + (c + 1e-9)]


def _by_corners(length, start, covered, size):
    import numpy as np

    return (np.arange(length) - start) * ((size - 1) / float(max(1, covered - 1))) + 0.5


def _as_pillow(length, start, covered, size):
    """Pillow adds the step up, pixel by pixel; what that rounds decides between two pixels that are equally near."""
    import numpy as np

    step = size / float(covered)
    added = np.add.accumulate(np.concatenate([[step * 0.5], np.full(covered - 1, step)]))
    found = np.full(length, -1.0)
    found[start : start + covered] = added
    return found


_ALIGNED = {"align_corners": _by_corners, "pillow": _as_pillow}


def nearest(array, rows, columns, filling):
    """The pixels of `array` (... x height x width) that lie nearest; `filling` where it does not reach."""
    import numpy as np

    height, width = array.shape[-2:]
    down, across = (np.floor(each).astype(int) for each in (rows, columns))
    found = array[..., down.clip(0, height - 1), :][..., across.clip(0, width - 1)]
    beyond = ((down < 0) | (down >= height))[:, None] | ((across < 0) | (across >= width))[None, :]
    if beyond.any():
        found[..., beyond] = filling
    return found


def bilinear(array, rows, columns):
    """Values between the pixels of `array` (... x height x width); those at the border reach on."""
    import numpy as np

    values = np.asarray(array, np.float32)
    for axis, places in ((-2, rows), (-1, columns)):
        last = values.shape[axis] - 1
        at = np.clip(places - 0.5, 0, last)
        first = np.floor(at).astype(int)
        shape = (-1, 1) if axis == -2 else (-1,)
        share = (at - first).astype(np.float32).reshape(shape)
        values = values.take(first, axis) * (1 - share) + values.take(np.minimum(first + 1, last), axis) * share
    return values


@answer_step(SEGMENTING, main="table")
def map_classes(
    values, frame, *, table: Numbers("The dataset's number of each of the model's classes; -1 for none.", most=65535)
):
    """Give the model's classes the numbers of the dataset's; `label_offset` is then not needed."""
    import numpy as np

    numbers = np.array(table + [NO_CLASS]).astype(np.int32)
    found = map_of(values)
    return dict(values, map=numbers[np.where((found < 0) | (found >= len(table)), len(table), found)])
