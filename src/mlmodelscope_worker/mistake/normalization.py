"""Mistakes of normalizations: epsilon, parameters that are missing or swapped, another rule."""

from ..predictor.onnx_graph import make_node
from .mistake import Mistake, epsilons, with_array, with_attributes


def batch_normalization(node, value, alive):
    import numpy as np

    for each in epsilons(node):
        yield each
    scale, shift, mean, variance = (value(name) for name in node.inputs[1:5])
    name, kind = node.outputs[0] + ".other", "normalization parameters"
    if any(each is None for each in (scale, shift, mean, variance)):
        return
    yield with_array(node, 1, np.ones_like(scale), name, kind, "it has no scale")
    yield with_array(node, 2, np.zeros_like(shift), name, "missing bias", "it has no shift")
    yield with_array(node, 3, np.zeros_like(mean), name, kind, "it has no mean")
    yield with_array(node, 4, np.ones_like(variance), name, kind, "it has no variance")
    yield with_array(node, 4, variance * variance, name, kind, "it takes the variance for the deviation")
    yield with_array(node, 4, np.sqrt(variance), name, kind, "it takes the deviation for the variance")
    yield with_array(node, 4, 1 / np.maximum(variance, 1e-12), name, kind, "it takes the inverse of the variance")
    inputs = list(node.inputs)
    for one, other, words in ((1, 2, "scale and shift are swapped"), (3, 4, "mean and variance are swapped")):
        swapped = list(inputs)
        swapped[one], swapped[other] = inputs[other], inputs[one]
        yield Mistake(kind, words, [node.changed(inputs=swapped)])
    given = value(node.inputs[0])
    if given is not None and given.ndim > 1:
        axes = (0,) + tuple(range(2, given.ndim))
        weights = {name + ".mean": given.mean(axes), name + ".variance": given.var(axes)}
        inputs = node.inputs[:3] + sorted(weights)
        yield Mistake(
            kind, "it uses the statistics of the batch, as in training", [node.changed(inputs=inputs)], weights
        )


def layer_normalization(node, value, alive):
    import numpy as np

    for each in epsilons(node):
        yield each
    axis, given = node.attributes.get("axis", -1), value(node.inputs[0])
    scale = value(node.inputs[1])
    name = node.outputs[0] + ".other"
    if scale is not None:
        yield with_array(node, 1, np.ones_like(scale), name, "normalization parameters", "it has no scale")
        yield with_array(node, 1, 1 + scale, name, "normalization parameters", "its scale is one too large")
    if len(node.inputs) > 2:
        swapped = [node.inputs[0], node.inputs[2], node.inputs[1]] + node.inputs[3:]
        words = "scale and shift are swapped"
        yield Mistake("normalization parameters", words, [node.changed(inputs=swapped)])
        yield Mistake("missing bias", "it has no shift", [node.changed(inputs=node.inputs[:2])])
    for other in range(given.ndim if given is not None else 0):
        if other != axis % given.ndim and node.kind == "LayerNormalization":
            yield with_attributes(node, "axis", "it goes from axis %d on, and not from %d" % (other, axis), axis=other)
    if scale is not None and node.kind == "LayerNormalization":
        for each in _root_mean_square(node, scale):
            yield each


def _root_mean_square(node, scale):
    import numpy as np

    own = node.outputs[0]
    epsilon = np.array(node.attributes.get("epsilon", 1e-5), scale.dtype)
    names = [own + each for each in (".squares", ".mean", ".sum", ".root", ".divided", ".scaled")]
    nodes = [
        make_node("Mul", [node.inputs[0], node.inputs[0]], names[:1]),
        make_node("ReduceMean", [names[0], own + ".axes"], [names[1]], keepdims=1),
        make_node("Add", [names[1], own + ".epsilon"], [names[2]]),
        make_node("Sqrt", [names[2]], [names[3]]),
        make_node("Div", [node.inputs[0], names[3]], [names[4]]),
    ]
    weights = {own + ".epsilon": epsilon, own + ".axes": np.array([-1], "int64")}
    old = make_node("ReduceMean", [names[0]], [names[1]], keepdims=1, axes=[-1])
    for mean in (nodes[1], old):  # axes are an input since operator set 18
        some = nodes[:1] + [mean] + nodes[2:]
        plain = some + [make_node("Mul", [names[4], node.inputs[1]], [own])]
        words = "its mean is not taken off (RMS normalization)"
        yield Mistake("normalization rule", words, plain, weights)
        if len(node.inputs) > 2:
            shifted = some + [
                make_node("Mul", [names[4], node.inputs[1]], [names[5]]),
                make_node("Add", [names[5], node.inputs[2]], [own]),
            ]
            yield Mistake("normalization rule", words, shifted, weights)


def plain_epsilon(node, value, alive):
    for each in epsilons(node):
        yield each


def lrn(node, value, alive):
    size, alpha = node.attributes.get("size", 5), node.attributes.get("alpha", 1e-4)
    for factor in (float(size), 1.0 / size):
        words = "alpha is %g, and not %g: it counts for the window or for each element" % (alpha * factor, alpha)
        yield with_attributes(node, "normalization rule", words, alpha=alpha * factor)
    for other in (1.0, 2.0):
        yield with_attributes(node, "normalization rule", "its bias is %g" % other, bias=other)
