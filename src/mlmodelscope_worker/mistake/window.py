"""Mistakes of layers with a window: padding, stride, dilation, the rule of a pooling."""

from itertools import permutations

from ..predictor.onnx_graph import make_node
from .mistake import Mistake, with_array, with_attributes


def _spatial(node, value):
    """How many axes a kernel has, its sizes, and its weights where it has some."""
    weights = value(node.inputs[1]) if len(node.inputs) > 1 and node.kind.startswith("Conv") else None
    sizes = list(weights.shape[2:]) if weights is not None else node.attributes.get("kernel_shape", [])
    return len(sizes), sizes, weights


def windows(node, value):
    """Padding, stride and dilation of whatever has a window."""
    count, sizes, _ = _spatial(node, value)
    if not count:
        return
    pads = node.attributes.get("pads", [0] * (2 * count))
    strides = node.attributes.get("strides", [1] * count)
    dilations = node.attributes.get("dilations", [1] * count)
    full = [dilation * (size - 1) for dilation, size in zip(dilations, sizes)]
    total = [pads[axis] + pads[axis + count] for axis in range(count)]
    choices = []
    for before in (0, 1):  # all padding of one axis that is odd, or split the other way around
        choices.append([(each + before) // 2 for each in total] + [each - (each + before) // 2 for each in total])
    choices += [
        [max(0, each - step) // 2 for each, step in zip(full, strides)] * 2,
        [each // 2 for each in full] * 2,
        [(each + 1) // 2 for each in full] + [each // 2 for each in full],
        [each // 2 for each in full] + [(each + 1) // 2 for each in full],
        [0] * (2 * count),
        list(total) + [0] * count,
        [0] * count + list(total),
        [max(0, each - 1) for each in pads],
        [each + 1 for each in pads],
        pads[:count][::-1] + pads[count:][::-1],
        [max(0, each - 1) for each in pads[:count]] + [each + 1 for each in pads[count:]],
        [each + 1 for each in pads[:count]] + [max(0, each - 1) for each in pads[count:]],
    ]
    seen = [list(pads)]
    for choice in choices:
        if choice not in seen:
            seen.append(choice)
            words = "it is padded by %s, and not by %s" % (choice, list(pads))
            yield with_attributes(node, "padding", words, pads=choice, auto_pad=None)
    for way in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        if node.attributes.get("auto_pad") != way:
            yield with_attributes(node, "padding", "it is padded as %s" % way, pads=None, auto_pad=way)
    for mode in ("edge", "reflect") if any(pads) and node.kind == "Conv" else ():
        padded = node.outputs[0] + ".padded"
        sizes_name = node.outputs[0] + ".pads"
        nodes = [
            make_node("Pad", [node.inputs[0], sizes_name], [padded], mode=mode),
            node.changed(inputs=[padded] + node.inputs[1:], pads=[0] * (2 * count), auto_pad=None),
        ]
        import numpy as np

        whole = np.array([0, 0] + pads[:count] + [0, 0] + pads[count:], "int64")
        yield Mistake("padding", "it is padded with %s values, and not with zeros" % mode, nodes, {sizes_name: whole})
    for step in (1, 2, 3, 4):
        for choice in ([step] * count, [step] + strides[1:], strides[:-1] + [step]):
            if choice != list(strides):
                yield with_attributes(
                    node, "stride", "its stride is %s, and not %s" % (choice, list(strides)), strides=choice
                )
    if node.kind != "AveragePool":
        for step in (1, 2, 3, 4):
            if [step] * count != list(dilations):
                words = "its dilation is %d, and not %s" % (step, list(dilations))
                wide = [step * (size - 1) // 2 for size in sizes] * 2
                yield with_attributes(node, "dilation", words, dilations=[step] * count)
                yield with_attributes(node, "dilation", words, dilations=[step] * count, pads=wide, auto_pad=None)


def pooling(node, value, alive):
    other = {"MaxPool": "AveragePool", "AveragePool": "MaxPool"}[node.kind]
    gone = {"storage_order": None, "dilations": None, "count_include_pad": None}
    outputs = node.outputs[:1]
    words = "it is %s, and not %s" % (other, node.kind)
    yield Mistake("pooling rule", words, [node.changed(kind=other, outputs=outputs, **gone)])
    if node.kind == "MaxPool":
        changed = node.changed(kind=other, outputs=outputs, **dict(gone, count_include_pad=1))
        yield Mistake("pooling rule", words, [changed])
    else:
        counts = node.attributes.get("count_include_pad", 0)
        words = "padding %s in its means" % ("does not count" if counts else "counts")
        yield with_attributes(node, "pooling rule", words, count_include_pad=1 - counts)
    ceil = node.attributes.get("ceil_mode", 0)
    words = "its last window is %s" % ("left out" if ceil else "kept though it is not full")
    yield with_attributes(node, "pooling rule", words, ceil_mode=1 - ceil)
    for each in windows(node, value):
        yield each
    sizes = node.attributes.get("kernel_shape", [])
    pads = node.attributes.get("pads", [0] * (2 * len(sizes)))
    for more in (-1, 1, 2, -2):
        choice = [size + more for size in sizes]
        words = "its window is %s, and not %s" % (choice, sizes)
        if min(choice or [0]) > 0:
            yield with_attributes(node, "kernel size", words, kernel_shape=choice)
            fitting = [each + more // 2 for each in pads]  # so that it gives as many numbers as before
            if more % 2 == 0 and min(fitting) >= 0:
                yield with_attributes(node, "kernel size", words, kernel_shape=choice, pads=fitting)


def whole_pooling(node, value, alive):
    kinds = {"GlobalMaxPool": "GlobalAveragePool", "GlobalAveragePool": "GlobalMaxPool"}
    kinds.update({"ReduceMean": "ReduceMax", "ReduceMax": "ReduceMean", "ReduceSum": "ReduceMean"})
    other = kinds[node.kind]
    yield Mistake("pooling rule", "it is %s, and not %s" % (other, node.kind), [node.changed(kind=other)])
    if node.kind == "ReduceMean":
        yield Mistake("pooling rule", "it is ReduceSum, and not ReduceMean", [node.changed(kind="ReduceSum")])
    if node.kind.startswith("Reduce"):
        for each in _other_axes(node, value, "axes"):
            yield each


def _other_axes(node, value, name):
    import numpy as np

    taken = value(node.inputs[0])
    if taken is None:
        return
    if name in node.attributes:
        now = list(node.attributes[name])
        for axes in _axes_like(now, taken.ndim):
            yield with_attributes(node, "axis", "it goes over the axes %s, and not %s" % (axes, now), **{name: axes})
    elif len(node.inputs) > 1 and node.inputs[1]:
        now = value(node.inputs[1])
        for axes in _axes_like([int(each) for each in now], taken.ndim) if now is not None else ():
            words = "it goes over the axes %s, and not %s" % (axes, now.tolist())
            yield with_array(node, 1, np.array(axes, "int64"), node.outputs[0] + ".axes", "axis", words)


def _axes_like(now, rank):
    plain = sorted(each % rank for each in now)
    return [
        list(each) for each in permutations(range(rank), len(now)) if list(each) == sorted(each) and list(each) != plain
    ]
