"""Answer steps of detectors with anchors (prior boxes), as SSD and RetinaNet have them."""

from ..parameters import Choice, Flag, Number, Numbers, ParameterError
from .boxes import DETECTING, Refused, array_of
from .step import answer_step

_MOST_ANCHORS = 1 << 20


@answer_step(DETECTING)
def ssd_anchors(
    values,
    frame,
    *,
    maps: Numbers("Rows and columns of each map.", multiple=2),
    scales: Numbers("Side of the anchors of each map, as a share of the input; one more than there are maps."),
    ratios: Numbers("Width over height of the anchors beside the square ones."),
    extra: Flag("Whether each cell has a second square, between the scales of its map and the next.") = True,
    clip: Flag("Whether anchors end at the edge of the input.") = False,
    first: Numbers("Ratios of the first map, where they differ.", least=0) = None,
    order: Choice("Order of the anchors of a cell.", "square first", "ratios first") = "square first",
):
    """Make the anchors of an SSD: some boxes around the center of each cell of each map."""
    import numpy as np

    sizes = np.array(maps, int).reshape(-1, 2)
    if len(scales) != len(sizes) + 1:
        raise Refused("%d maps need %d scales, not %d" % (len(sizes), len(sizes) + 1, len(scales)))
    found = []
    for number, (rows, columns) in enumerate(sizes):
        chosen = first if number == 0 and first is not None else ratios
        shapes = [(scales[number] * ratio**0.5, scales[number] / ratio**0.5) for ratio in chosen]
        squares = [(scales[number], scales[number])]
        if extra:
            squares.append(((scales[number] * scales[number + 1]) ** 0.5,) * 2)
        shapes = squares + shapes if order == "square first" else shapes + squares
        y, x = np.mgrid[0:rows, 0:columns]
        centers = np.stack([(x + 0.5) / columns, (y + 0.5) / rows], axis=-1)[:, :, None, :]
        part = np.broadcast_to(np.array(shapes)[None, None], (rows, columns, len(shapes), 2))
        corners = np.concatenate([centers - part / 2, centers + part / 2], axis=-1)
        found.append(corners.reshape(-1, 4))
    anchors = np.concatenate(found)
    return dict(values, anchors=np.clip(anchors, 0, 1) if clip else anchors)


def _settle_grid(parameters):
    strides, sizes, counts = parameters["strides"], parameters["sizes"], parameters["counts"]
    if counts is None:
        if len(sizes) % len(strides):
            raise ParameterError(
                "%d sizes cannot be shared out among %d maps: `counts` says how many each has"
                % (len(sizes), len(strides)),
                parameter="sizes",
            )
        counts = [len(sizes) // len(strides)] * len(strides)
    if len(counts) != len(strides) or sum(counts) != len(sizes) or any(each != int(each) for each in counts):
        raise ParameterError(
            "%d maps need as many `counts`, which add up to the %d sizes" % (len(strides), len(sizes)),
            parameter="counts",
        )
    for name in ("strides", "sizes", "ratios"):
        if min(parameters[name]) <= 0:
            raise ParameterError("all `%s` must be above 0" % name, parameter=name)
    return dict(parameters, counts=[float(each) for each in counts])


@answer_step(DETECTING, settle=_settle_grid)
def grid_anchors(
    values,
    frame,
    *,
    strides: Numbers("Pixels of the input from one cell to the next, for each map.", most=32),
    sizes: Numbers("Sides of the square anchors in pixels of the input, those of the first map first.", most=512),
    counts: Numbers("How many of the sizes each map has; by default all as many.", most=32) = None,
    ratios: Numbers("Width over height; each anchor keeps its area.", most=64) = (1.0,),
    order: Choice("Which goes faster in a cell: its ratios, or its sizes.", "sizes", "ratios") = "sizes",
    offset: Number("Where in a cell the anchors' center lies, as a share of the stride.", at_least=0, at_most=1) = 0.5,
    clip: Flag("Whether anchors end at the edge of the input.") = False,
):
    """Make anchors of given sizes around each cell of each map, as RetinaNet, EfficientDet and UltraFace have them."""
    import numpy as np

    height, width = frame.size
    found, start = [], 0
    for stride, count in zip(strides, counts):
        own = sizes[start : start + int(count)]
        start += int(count)
        rows, columns = int(-(-height // stride)), int(-(-width // stride))
        if rows * columns * len(own) * len(ratios) > _MOST_ANCHORS:
            raise Refused("a stride of %g makes more than %d anchors" % (stride, _MOST_ANCHORS))
        if order == "sizes":
            shapes = [(side * ratio**0.5, side / ratio**0.5) for ratio in ratios for side in own]
        else:
            shapes = [(side * ratio**0.5, side / ratio**0.5) for side in own for ratio in ratios]
        y, x = np.mgrid[0:rows, 0:columns]
        centers = np.stack([(x + offset) * stride, (y + offset) * stride], axis=-1)[:, :, None, :]
        part = np.broadcast_to(np.array(shapes)[None, None], (rows, columns, len(shapes), 2))
        found.append(np.concatenate([centers - part / 2, centers + part / 2], axis=-1).reshape(-1, 4))
    anchors = np.concatenate(found) / np.array([width, height, width, height], np.float64)
    return dict(values, anchors=np.clip(anchors, 0, 1) if clip else anchors)


def _settle_offsets(parameters):
    parameters["variances"] = parameters["variances"] or [0.1, 0.1, 0.2, 0.2]
    return parameters


@answer_step(DETECTING, settle=_settle_offsets)
def decode_anchors(
    values,
    frame,
    *,
    order: Choice("What an offset's four numbers are.", "cxcywh", "cycxhw") = "cxcywh",
    variances: Numbers(
        "By which the offsets are multiplied: center x, center y, width, height; by default 0.1, 0.1, 0.2, 0.2.",
        least=4,
        most=4,
    ) = None,
    unit: Choice("Whether the anchors are shares of the input or pixels.", "share", "pixel") = "share",
    size: Choice("How an offset changes a side: by its exponential, or as a factor.", "exp", "factor") = "exp",
    points: Flag("Whether x and y of points follow the four numbers of a box, as BlazeFace has them.") = False,
):
    """Turn offsets from anchors into boxes: the output `boxes` moves anchors of a step before, or of an output."""
    import numpy as np

    anchors = np.asarray(array_of(values, "anchors"), np.float64).reshape(-1, 4)
    offsets = np.asarray(array_of(values, "boxes"), np.float64)
    offsets = offsets.reshape(len(anchors), -1) if points and len(anchors) else offsets.reshape(-1, 4)
    if len(offsets) != len(anchors):
        raise Refused("there are %d boxes for %d anchors" % (len(offsets), len(anchors)))
    if points and (offsets.shape[1] < 6 or offsets.shape[1] % 2):
        raise Refused("%d numbers are not a box and points" % offsets.shape[1])
    if order == "cycxhw":
        offsets = offsets.reshape(len(offsets), -1, 2)[:, :, ::-1].reshape(offsets.shape)
    move = np.asarray(variances)
    low, high = anchors[:, :2], anchors[:, 2:]
    center = (low + high) / 2 + offsets[:, :2] * move[:2] * (high - low)
    grown = offsets[:, 2:4] * move[2:]
    sides = (high - low) * (np.exp(grown) if size == "exp" else grown)
    found = np.concatenate([center - sides / 2, center + sides / 2], axis=1)
    pixels = np.array([frame.size[1], frame.size[0]] if unit == "share" else [1, 1], np.float64)
    known = {role: value for role, value in values.items() if role != "anchors"}
    if points:
        moved = offsets[:, 4:].reshape(len(offsets), -1, 2) * move[:2] * (high - low)[:, None]
        known["keypoints"] = ((low + high)[:, None] / 2 + moved) * pixels
    return dict(known, boxes=found * np.tile(pixels, 2))
