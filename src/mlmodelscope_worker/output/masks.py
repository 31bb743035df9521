"""Answer steps of instance segmentation: masks are brought onto the original picture and cut at a threshold.

Behind `paste_masks`, `pasted` holds for each box (top, left, rows x columns of truth values) in pixels of the original.
"""

from ..parameters import Choice, Flag, Number
from ..pipeline.frame import place
from .boxes import Refused, array_of, rows_of
from .step import answer_step

SEGMENTING = ("instance_segmentation",)


@answer_step(SEGMENTING)
def mask_prototypes(
    values,
    frame,
    *,
    activation: Choice("What is done to the sums.", "sigmoid", "given") = "sigmoid",
):
    """Make masks of `prototypes` that all boxes share and `coefficients` of each, as YOLACT and YOLOv8 have them."""
    import numpy as np

    shared = np.asarray(array_of(values, "prototypes"), np.float32)
    weights = np.asarray(array_of(values, "coefficients"), np.float32)
    if shared.ndim != 3 or weights.ndim != 2:
        raise Refused(
            "%d and %d axes are not prototypes x height x width and boxes x coefficients" % (shared.ndim, weights.ndim)
        )
    if shared.shape[0] != weights.shape[1] and shared.shape[2] == weights.shape[1]:
        shared = shared.transpose(2, 0, 1)  # TensorFlow's have the prototypes last
    if shared.shape[0] != weights.shape[1]:
        raise Refused("there are %d prototypes and %d coefficients" % (shared.shape[0], weights.shape[1]))
    sums = np.dot(weights, shared.reshape(shared.shape[0], -1)).reshape((len(weights),) + shared.shape[1:])
    if activation == "sigmoid":
        with np.errstate(over="ignore"):
            sums = 1 / (1 + np.exp(-sums))
    known = {role: value for role, value in values.items() if role not in ("prototypes", "coefficients")}
    return dict(known, masks=sums)


@answer_step(SEGMENTING, main="threshold")
def paste_masks(
    values,
    frame,
    *,
    threshold: Number("Pixels with a probability of at least this belong to the thing.") = 0.5,
    over: Choice("What a mask covers: its own box, as Mask R-CNN's do, or the whole input.", "box", "input") = "box",
    method: Choice("How probabilities between a mask's pixels are found.", "bilinear", "nearest") = "bilinear",
    crop: Flag("Whether a mask over the whole input ends where its box does.") = False,
):
    """Bring masks to the size of the original picture, then cut them at a threshold."""
    import numpy as np

    count = rows_of(values)
    masks = _of_classes(array_of(values, "masks"), values, count)
    boxes = np.asarray(array_of(values, "boxes"), np.float64).reshape(count, 4)
    pasted = np.empty(count, object)
    for row in range(count):
        area = boxes[row] if over == "box" else np.array([0.0, 0.0, frame.size[1], frame.size[0]])
        limits = boxes[row] if over == "box" or crop else area
        pasted[row] = _pasted(masks[row], area, limits, frame, threshold, method)
    return dict({role: value for role, value in values.items() if role != "masks"}, pasted=pasted)


def _of_classes(masks, values, count):
    """One mask for each box: that of its class, where there is one for each class."""
    import numpy as np

    masks = np.asarray(masks)
    if masks.ndim < 2 or not count:
        return np.zeros((count, 1, 1))
    masks = masks.reshape((count, -1) + masks.shape[-2:])
    if masks.shape[1] == 1:
        return masks[:, 0]
    classes = np.rint(array_of(values, "classes")).astype(int)
    if classes.min() < 0 or classes.max() >= masks.shape[1]:
        raise Refused("a box has the class %d; there are masks of %d" % (classes.max(), masks.shape[1]))
    return masks[np.arange(count), classes]


def _pasted(mask, area, limits, frame, threshold, method):
    """(top, left, part): pixels of the original whose centers lie in the mask, as far as they lie inside the limits."""
    import numpy as np

    a, b, _, d, e, _ = frame.to_original
    x, y = place(frame.to_original, np.array([limits[0], limits[2]]), np.array([limits[1], limits[3]]))
    height, width = frame.original
    left, right = int(np.clip(np.floor(x.min()), 0, width)), int(np.clip(np.ceil(x.max()), 0, width))
    top, bottom = int(np.clip(np.floor(y.min()), 0, height)), int(np.clip(np.ceil(y.max()), 0, height))
    if right <= left or bottom <= top or area[2] <= area[0] or area[3] <= area[1]:
        return 0, 0, np.zeros((0, 0), bool)
    columns, rows = np.arange(left, right) + 0.5, np.arange(top, bottom) + 0.5
    is_turned = a == 0 and e == 0
    if is_turned:  # rows of the original are columns here
        along_x = place(frame.from_original, np.zeros(len(rows)), rows)[0]
        along_y = place(frame.from_original, columns, np.zeros(len(columns)))[1]
    elif b == 0 and d == 0:
        along_x = place(frame.from_original, columns, np.zeros(len(columns)))[0]
        along_y = place(frame.from_original, np.zeros(len(rows)), rows)[1]
    else:
        raise Refused("masks of pictures that were turned by other than right angles cannot be mapped back")
    across = _weights((along_x - area[0]) / (area[2] - area[0]), mask.shape[1], method)
    down = _weights((along_y - area[1]) / (area[3] - area[1]), mask.shape[0], method)
    found = np.dot(np.dot(down, np.asarray(mask, np.float64)), across.T)
    inside = (along_y >= limits[1])[:, None] & (along_y <= limits[3])[:, None]
    inside = inside & ((along_x >= limits[0]) & (along_x <= limits[2]))[None, :]
    part = (found >= threshold) & inside
    return _trimmed(top, left, part.T if is_turned else part)


def _trimmed(top, left, part):
    """Without empty rows and columns around it: masks over the whole input would fill the memory."""
    import numpy as np

    rows, columns = np.flatnonzero(part.any(axis=1)), np.flatnonzero(part.any(axis=0))
    if not rows.size:
        return 0, 0, np.zeros((0, 0), bool)
    kept = part[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return top + int(rows[0]), left + int(columns[0]), kept.copy()


def _weights(shares, size, method):
    """How much each of a mask's pixels counts at these places, places x pixels; beyond its edge there is nothing."""
    import numpy as np

    places = shares * size - 0.5
    found = np.zeros((len(places), size + 2))
    rows = np.arange(len(places))
    if method == "nearest":
        near = np.clip(np.floor(places + 0.5).astype(int), -1, size)
        found[rows, near + 1] = 1.0
        return found[:, 1:-1]
    low = np.floor(places)
    part = places - low
    first = np.clip(low.astype(int), -1, size)
    second = np.clip(low.astype(int) + 1, -1, size)
    found[rows, first + 1] += 1 - part
    found[rows, second + 1] += part
    return found[:, 1:-1]
