"""Answer steps that turn the maps of a detector's head into boxes with scores."""

from ..parameters import Choice, Integer, Number, Numbers, ParameterError
from .boxes import DETECTING, Refused
from .step import answer_step


def _sigmoid(array):
    import numpy as np

    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-array))


def _softmax(array):
    import numpy as np

    powers = np.exp(array - array.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _given(array):
    return array


_ACTIVATIONS = {"given": _given, "sigmoid": _sigmoid, "softmax": _softmax}


def maps_of(values, layout):
    """The head's maps as height x width x channels, the largest first where there are several."""
    found = values.get("tensor")
    if found is None:
        raise Refused("there is no output of type `tensor`; there is %s" % (", ".join(sorted(values)) or "nothing"))
    maps = found if isinstance(found, list) else [found]
    for each in maps:
        if each.ndim != 3:
            raise Refused("a map has %d axes; channels, height and width are needed" % each.ndim)
    return [each.transpose(1, 2, 0) if layout == "CHW" else each for each in maps]


def _settle_grid(parameters):
    if parameters["anchors"] is None and parameters["size"] == "square":
        raise ParameterError("`size: square` needs `anchors`", parameter="anchors")
    return parameters


@answer_step(DETECTING, settle=_settle_grid)
def decode_grid(
    values,
    frame,
    *,
    layout: Choice("Order of a map's axes.", "CHW", "HWC") = "CHW",
    order: Choice(
        "Order of a cell's channels: the box's four, the objectness, the classes.",
        "box objectness classes",
        "objectness box classes",
        "box classes",
    ) = "box objectness classes",
    anchors: Numbers("Width and height of each anchor in pixels of the input, map by map.", multiple=2) = None,
    center: Choice("What is done to the center's two channels.", "sigmoid", "tanh", "given") = "sigmoid",
    center_scale: Number("By how much the center may leave its cell: 1 not at all, 2 by half a cell.", above=0) = 1.0,
    size: Choice(
        "How width and height follow: anchor x exp(t), anchor x (2 sigmoid(t))^2, input x sigmoid(t), or t cells.",
        "exp",
        "square",
        "sigmoid",
        "cells",
    ) = "exp",
    objectness: Choice("What is done to the objectness.", "sigmoid", "given") = "sigmoid",
    classes: Choice("What is done to the classes' channels.", "sigmoid", "softmax", "given") = "sigmoid",
    objectness_power: Number("Exponent of the objectness in a score.", at_least=0) = 1.0,
    class_power: Number("Exponent of the class in a score.", at_least=0) = 1.0,
):
    """Decode cells of a grid, as YOLO and its relatives have them: a box and scores for each cell and anchor."""
    import numpy as np

    maps = maps_of(values, layout)
    pairs = np.array(anchors or [], np.float64).reshape(-1, 2)
    if len(pairs) % len(maps):
        raise Refused("%d anchors cannot be shared by %d maps" % (len(pairs), len(maps)))
    each = len(pairs) // len(maps)
    places, scores = [], []
    for number, cells in enumerate(maps):
        own = pairs[number * each : (number + 1) * each] if each else None
        box, rest = _cells(cells, max(1, each), order)
        places.append(_boxes_of(box, own, frame.size, center, center_scale, size))
        found = _ACTIVATIONS[classes](rest[..., 1:]) ** class_power
        if order != "box classes":
            found = found * _ACTIVATIONS[objectness](rest[..., :1]) ** objectness_power
        scores.append(found.reshape(-1, found.shape[-1]))
    return dict(values, boxes=np.concatenate(places), scores=np.concatenate(scores))


def _cells(cells, anchors, order):
    """(boxes, objectness and classes) of a map, rows x columns x anchors x channels."""
    import numpy as np

    height, width, channels = cells.shape
    least = 5 if order == "box classes" else 6
    if channels % anchors or channels // anchors < least:
        raise Refused("%d channels cannot be %d anchors with a box and classes" % (channels, anchors))
    split = cells.reshape(height, width, anchors, -1)
    if order == "objectness box classes":
        return split[..., 1:5], np.concatenate([split[..., :1], split[..., 5:]], axis=-1)
    if order == "box classes":
        return split[..., :4], np.concatenate([np.ones_like(split[..., :1]), split[..., 4:]], axis=-1)
    return split[..., :4], split[..., 4:]


def _boxes_of(box, anchors, input_size, center, center_scale, size):
    """Corners in pixels of the input."""
    import numpy as np

    height, width = box.shape[:2]
    step_y, step_x = input_size[0] / float(height), input_size[1] / float(width)
    move = {"sigmoid": _sigmoid, "tanh": np.tanh, "given": _given}[center](box[..., :2])
    move = np.asarray(move, np.float64) * center_scale - (center_scale - 1) / 2
    x = (move[..., 0] + np.arange(width)[None, :, None]) * step_x
    y = (move[..., 1] + np.arange(height)[:, None, None]) * step_y
    sizes = np.asarray(box[..., 2:], np.float64)
    if size == "sigmoid":
        wide, high = _sigmoid(sizes[..., 0]) * input_size[1], _sigmoid(sizes[..., 1]) * input_size[0]
    else:
        base = np.array([[step_x, step_y]]) if anchors is None or size == "cells" else anchors
        with np.errstate(over="ignore"):
            grown = {"exp": np.exp, "square": lambda each: (2 * _sigmoid(each)) ** 2, "cells": _given}[size](sizes)
        wide, high = grown[..., 0] * base[:, 0], grown[..., 1] * base[:, 1]
    corners = np.stack([x - wide / 2, y - high / 2, x + wide / 2, y + high / 2], axis=-1)
    return corners.reshape(-1, 4)


@answer_step(DETECTING)
def decode_distances(
    values,
    frame,
    *,
    layout: Choice("Order of a map's axes.", "CHW", "HWC") = "CHW",
    bins: Integer(
        "Each distance is the mean of so many bins (distribution focal loss); 1 for plain ones.", at_least=1
    ) = 1,
    unit: Choice("Distances in cells, in pixels, or as logarithms of cells.", "cell", "pixel", "log") = "cell",
    classes: Choice("What is done to the classes' channels.", "sigmoid", "softmax", "given") = "sigmoid",
    centerness: Choice("Whether a channel behind the classes lowers the score.", "no", "sigmoid", "given") = "no",
):
    """Decode anchor-free cells, as FCOS and YOLOv8 have them: distances from the cell's center to the box's sides."""
    import numpy as np

    places, scores = [], []
    for cells in maps_of(values, layout):
        height, width, channels = cells.shape
        if channels <= 4 * bins:
            raise Refused("%d channels cannot be 4 x %d bins and classes" % (channels, bins))
        step_y, step_x = frame.size[0] / float(height), frame.size[1] / float(width)
        sides = np.asarray(cells[..., : 4 * bins], np.float64).reshape(height, width, 4, bins)
        sides = (_softmax(sides) * np.arange(bins)).sum(axis=-1) if bins > 1 else sides[..., 0]
        sides = np.exp(sides) if unit == "log" else sides
        scale = np.array([1.0] * 4 if unit == "pixel" else [step_x, step_y, step_x, step_y])
        x = (np.arange(width)[None, :] + 0.5) * step_x
        y = (np.arange(height)[:, None] + 0.5) * step_y
        left, top, right, bottom = np.moveaxis(sides * scale, -1, 0)
        places.append(np.stack([x - left, y - top, x + right, y + bottom], axis=-1).reshape(-1, 4))
        rest = cells[..., 4 * bins :]
        if centerness != "no":
            found = _ACTIVATIONS[classes](rest[..., :-1]) * _ACTIVATIONS[centerness](rest[..., -1:])
        else:
            found = _ACTIVATIONS[classes](rest)
        scores.append(found.reshape(-1, found.shape[-1]))
    return dict(values, boxes=np.concatenate(places), scores=np.concatenate(scores))
