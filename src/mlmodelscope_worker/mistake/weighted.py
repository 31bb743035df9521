"""Mistakes of layers with weights: transposed, permuted, grouped otherwise, without a bias."""

from itertools import permutations

from .mistake import Mistake, with_array, with_attributes
from .window import windows


def convolution(node, value, alive):
    import numpy as np

    for each in windows(node, value):
        yield each
    weights = value(node.inputs[1]) if len(node.inputs) > 1 else None
    name = node.outputs[0] + ".other"
    if weights is not None:
        spatial = tuple(range(2, weights.ndim))
        transposed = weights.transpose((0, 1) + spatial[::-1])
        if len(spatial) > 1 and transposed.shape == weights.shape:
            yield with_array(node, 1, transposed, name, "transposed weights", "its kernels lie on their side")
        yield with_array(
            node, 1, np.flip(weights, spatial), name, "transposed weights", "its kernels are turned around"
        )
        for axis in spatial:
            yield with_array(node, 1, np.flip(weights, (axis,)), name, "transposed weights", "its kernels are mirrored")
        if weights.shape[0] == weights.shape[1]:
            swapped = weights.swapaxes(0, 1)
            yield with_array(
                node, 1, swapped, name, "transposed weights", "input and output channels of its kernels are swapped"
            )
        for each in _permuted(node, weights, 1, name):
            yield each
        for each in _regrouped(node, weights, name):
            yield each
    if len(node.inputs) > 2 and node.inputs[2]:
        yield Mistake("missing bias", "it has no bias", [node.changed(inputs=node.inputs[:2])])
        bias = value(node.inputs[2])
        if bias is not None:
            yield with_array(node, 2, -bias, name, "bias", "its bias is subtracted")
            yield with_array(node, 2, 2 * bias, name, "bias", "its bias is added twice")
            yield with_array(node, 2, bias[::-1].copy(), name, "swapped channels", "its bias is in another order")


def _permuted(node, weights, place, name):
    """Channels in another order: those that go in (the colors of a picture), and those that come out."""
    import numpy as np

    axes = (("input", 1), ("output", 0)) if weights.ndim > 2 else (("input", 0), ("output", weights.ndim - 1))
    for words, axis in axes:
        size = weights.shape[axis]
        if size < 2:
            continue
        orders = [("reversed", list(range(size))[::-1])]
        orders += [
            ("shifted by one", list(range(1, size)) + [0]),
            ("shifted by one", [size - 1] + list(range(size - 1))),
        ]
        for parts in (2, 3, 4, 8):
            if size % parts == 0 and size > parts:
                order = np.arange(size).reshape(parts, -1)
                orders.append(("interleaved", list(order.T.reshape(-1))))
                orders.append(("interleaved", list(np.arange(size).reshape(-1, parts).T.reshape(-1))))
                orders.append(("swapped in blocks", list(order[::-1].reshape(-1))))
        orders.append(("swapped in pairs", [each ^ 1 if (each ^ 1) < size else each for each in range(size)]))
        if size <= 4:
            orders += [("in another order", list(each)) for each in permutations(range(size))]
        for how, order in orders:
            if order != list(range(size)):
                said = "its %s channels are %s" % (words, how)
                yield with_array(node, place, np.take(weights, order, axis), name, "swapped channels", said)
        if 4 < size <= 64:  # any two of them
            for one in range(size):
                for two in range(one + 1, size):
                    if size > 16 and two > one + 1 and not (one == 0 and two == size - 1):
                        continue
                    order = list(range(size))
                    order[one], order[two] = two, one
                    said = "its %s channels %d and %d are swapped" % (words, one, two)
                    yield with_array(node, place, np.take(weights, order, axis), name, "swapped channels", said)


def _regrouped(node, weights, name):
    """Other groups: which part of the channels each output sees."""
    import numpy as np

    group, outputs, inside = node.attributes.get("group", 1), weights.shape[0], weights.shape[1]
    channels = group * inside
    for other in (1, 2, 3, 4, 8, 16, 32, channels):
        if other == group or channels % other or outputs % other:
            continue
        if other > group:
            part = channels // other
            kept = np.stack([weights[at, (at * other // outputs) * part % inside :][:part] for at in range(outputs)])
            if kept.shape[1] == part:
                inputs = [node.inputs[0], name] + node.inputs[2:]
                words = "it has %d groups, and not %d" % (other, group)
                yield Mistake("groups", words, [node.changed(inputs=inputs, group=other)], {name: kept})
        else:
            part = channels // other
            wide = np.tile(weights, (1, part // inside) + (1,) * (weights.ndim - 2))
            inputs = [node.inputs[0], name] + node.inputs[2:]
            words = "it has %d groups, and not %d" % (other, group)
            yield Mistake("groups", words, [node.changed(inputs=inputs, group=other)], {name: wide})
    if group > 1 and inside > 1:
        order = np.arange(outputs).reshape(group, -1).T.reshape(-1)
        yield with_array(node, 1, weights[order], name, "groups", "its groups are interleaved")


def product(node, value, alive):
    """Gemm and MatMul."""
    import numpy as np

    name = node.outputs[0] + ".other"
    for side in ("transA", "transB") if node.kind == "Gemm" else ():
        now = node.attributes.get(side, 0)
        yield with_attributes(
            node, "transposed weights", "%s is %d, and not %d" % (side, 1 - now, now), **{side: 1 - now}
        )
    if node.kind == "Gemm" and len(node.inputs) > 2:
        yield Mistake("missing bias", "it has no bias", [node.changed(inputs=node.inputs[:2])])
    for place in (0, 1):
        array = value(node.inputs[place])
        if array is None or array.ndim < 2:
            continue
        is_weight = node.inputs[place] not in alive
        if array.shape[-1] == array.shape[-2]:
            words = "its weights are transposed" if is_weight else "input %d is transposed" % place
            kind = "transposed weights" if is_weight else "order of axes"
            yield with_array(node, place, np.swapaxes(array, -1, -2).copy(), name, kind, words)
        if is_weight and array.ndim == 2:
            reread = array.T.reshape(array.shape)
            yield with_array(
                node, place, reread.copy(), name, "transposed weights", "its weights are read in another order"
            )
            for each in _permuted(node, array, place, name):
                yield each
    if node.kind == "MatMul" and len(node.inputs) == 2:
        yield Mistake("order of axes", "its inputs are swapped", [node.changed(inputs=node.inputs[::-1])])
