"""Mistakes of order: axes, reshaping, parts of a tensor, the two layouts of rotary positions, resizing."""

from itertools import permutations

from ..predictor.onnx_graph import make_node
from .mistake import Mistake, with_array, with_attributes


def transposed(node, value, alive):
    given = value(node.inputs[0])
    now = node.attributes.get("perm")
    if given is None or given.ndim > 5:
        return
    for order in permutations(range(given.ndim)):
        if list(order) != now:
            words = "its axes go %s, and not %s" % (list(order), now)
            yield with_attributes(node, "order of axes", words, perm=list(order))
    if now is not None and node.outputs:  # reshaped, where it should be transposed
        shape = [given.shape[axis] for axis in now]
        for each in _reshaped(node, [given], shape, "its numbers keep their order: reshaped, and not transposed"):
            yield each


def _reshaped(node, arrays, shape, words, order=None):
    import numpy as np

    own = node.outputs[0]
    nodes, last = [], node.inputs[0]
    if order is not None:
        nodes.append(make_node("Transpose", [last], [own + ".turned"], perm=list(order)))
        last = own + ".turned"
    nodes.append(make_node("Reshape", [last, own + ".shape"], [own]))
    yield Mistake("reshape", words, nodes, {own + ".shape": np.array(shape, "int64")})


def reshape(node, value, alive):
    """The same shape, but with the axes in another order before."""
    given, made = value(node.inputs[0]), value(node.outputs[0])
    if given is None or made is None or given.ndim > 4:
        return
    for order in permutations(range(given.ndim)):
        if list(order) != list(range(given.ndim)):
            words = "its axes go %s before it is reshaped" % list(order)
            for each in _reshaped(node, [given], made.shape, words, order):
                yield each
    for order in permutations(range(made.ndim)) if made.ndim <= 4 else ():
        if list(order) == list(range(made.ndim)):
            continue
        own = node.outputs[0]
        shape = [0] * made.ndim
        for place, axis in enumerate(order):
            shape[axis] = made.shape[place]
        import numpy as np

        nodes = [
            make_node("Reshape", [node.inputs[0], own + ".shape"], [own + ".flat"]),
            make_node("Transpose", [own + ".flat"], [own], perm=[list(order)[at] for at in range(made.ndim)]),
        ]
        words = "it is cut in another order (%s)" % list(order)
        yield Mistake("reshape", words, nodes, {own + ".shape": np.array(shape, "int64")})


def joined(node, value, alive):
    yield Mistake("order of branches", "its inputs are in another order", [node.changed(inputs=node.inputs[::-1])])
    if len(node.inputs) > 2:
        for one in range(len(node.inputs) - 1):
            inputs = list(node.inputs)
            inputs[one], inputs[one + 1] = inputs[one + 1], inputs[one]
            yield Mistake("order of branches", "two of its inputs are swapped", [node.changed(inputs=inputs)])
    given = value(node.inputs[0])
    for axis in range(given.ndim if given is not None else 0):
        if axis != node.attributes.get("axis", 0) % given.ndim:
            yield with_attributes(node, "axis", "it goes along axis %d" % axis, axis=axis)
    for place, name in enumerate(node.inputs):  # the signs of a rotation
        if value(name) is not None and value(name).dtype.kind == "f":
            own = node.outputs[0] + ".negative"
            inputs = list(node.inputs)
            inputs[place] = own
            nodes = [make_node("Neg", [name], [own]), node.changed(inputs=inputs)]
            yield Mistake("rotary layout", "the sign of input %d is turned around" % place, nodes)


def split(node, value, alive):
    outputs = node.outputs
    for step in range(1, len(outputs)):
        turned = outputs[step:] + outputs[:step]
        yield Mistake("order of branches", "its parts are in another order", [node.changed(outputs=turned)])
    if len(outputs) == 2:
        for each in _halves(node, value, outputs):
            yield each


def _halves(node, value, outputs):
    """Every other number in place of halves: the two layouts of rotary positions."""
    import numpy as np

    given = value(node.inputs[0])
    if given is None:
        return
    axis = node.attributes.get("axis", 0) % given.ndim
    size = given.shape[axis]
    nodes, weights = [], {}
    for place, output in enumerate(outputs):
        name = output + ".places"
        weights[name] = np.arange(place, size, 2)
        nodes.append(make_node("Gather", [node.inputs[0], name], [output], axis=axis))
    words = "it takes every other number, and not halves"
    yield Mistake("rotary layout", words, nodes, weights)


def slice_of(node, value, alive):
    import numpy as np

    given, made = value(node.inputs[0]), value(node.outputs[0])
    if given is None or made is None or given.ndim != made.ndim:
        return
    axes = [axis for axis in range(given.ndim) if given.shape[axis] != made.shape[axis]]
    own = node.outputs[0]
    for axis in axes:
        size, kept = given.shape[axis], made.shape[axis]
        choices = []
        if size == 2 * kept:
            choices += [
                ("rotary layout", "it takes every other number, and not half of them", np.arange(at, size, 2))
                for at in (0, 1)
            ]
            choices += [
                ("rotary layout", "it takes half of the numbers, and not every other one", np.arange(kept) + at * kept)
                for at in (0, 1)
            ]
        for start in {0, size - kept} | set(range(max(0, size - kept + 1)) if size <= 64 else ()):
            choices.append(
                ("slice", "it takes %d numbers from place %d on" % (kept, start), np.arange(start, start + kept))
            )
        for kind, words, places in choices:
            nodes = [make_node("Gather", [node.inputs[0], own + ".places"], [own], axis=axis)]
            yield Mistake(kind, words, nodes, {own + ".places": places.astype("int64")})


def gather(node, value, alive):
    import numpy as np

    places = value(node.inputs[1])
    if places is None or places.dtype.kind not in "iu":
        return
    for step in (1, -1):
        if (places + step).min() >= 0:
            words = "it looks one place further" if step > 0 else "it looks one place before"
            yield with_array(node, 1, (places + step).astype(places.dtype), node.outputs[0] + ".places", "slice", words)
    if places.ndim == 0:
        given = value(node.inputs[0])
        size = given.shape[node.attributes.get("axis", 0)] if given is not None else 0
        for place in range(min(size, 64)):
            if place != int(places):
                at = np.array(place, places.dtype)
                yield with_array(node, 1, at, node.outputs[0] + ".places", "slice", "it takes place %d" % place)


def resize(node, value, alive):
    now = node.attributes
    ways = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
    for mode in ("nearest", "linear", "cubic"):
        for way in ways:
            for rounding in (
                ("round_prefer_floor", "floor", "ceil", "round_prefer_ceil") if mode == "nearest" else (None,)
            ):
                said = [mode, way] + ([rounding] if rounding else [])
                words = "it is resized by %s" % ", ".join(each.replace("_", " ") for each in said)
                changes = {"mode": mode, "coordinate_transformation_mode": way}
                if rounding:
                    changes["nearest_mode"] = rounding
                if any(now.get(name) != wanted for name, wanted in changes.items()):
                    yield with_attributes(node, "upsampling rule", words, **changes)


def pad(node, value, alive):
    for mode in ("constant", "edge", "reflect"):
        if mode != node.attributes.get("mode", "constant"):
            yield with_attributes(node, "padding", "it is padded by %s" % mode, mode=mode)
    import numpy as np

    pads = value(node.inputs[1]) if len(node.inputs) > 1 else None
    if pads is not None:
        count = len(pads) // 2
        turned = np.concatenate([pads[count:], pads[:count]])
        yield with_array(node, 1, turned, node.outputs[0] + ".pads", "padding", "it is padded on the other side")


def blocks(node, value, alive):
    mode = node.attributes.get("mode", "DCR")
    other = "CRD" if mode == "DCR" else "DCR"
    yield with_attributes(node, "order of channels", "it goes by %s, and not %s" % (other, mode), mode=other)


def flatten(node, value, alive):
    given, made = value(node.inputs[0]), value(node.outputs[0])
    if given is None or made is None or given.ndim > 4:
        return
    for order in permutations(range(1, given.ndim)):
        if list(order) != list(range(1, given.ndim)):
            words = "its axes go %s before it is flattened" % ([0] + list(order))
            for each in _reshaped(node, [given], made.shape, words, [0] + list(order)):
                yield each


def turned_angle(node, value, alive):
    other = {"Sin": "Cos", "Cos": "Sin"}[node.kind]
    yield Mistake("rotary layout", "it is %s, and not %s" % (other, node.kind), [node.changed(kind=other)])
