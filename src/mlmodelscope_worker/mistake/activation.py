"""Mistakes of activations: none, another one, another slope or bound, another axis."""

from ..predictor.onnx_graph import make_node
from .mistake import Mistake, with_array, with_attributes

PLAIN = ("Relu", "Sigmoid", "Tanh", "Elu", "Selu", "Softplus", "Softsign", "HardSigmoid", "HardSwish", "Gelu", "Mish")


def activation(node, value, alive):
    own, given = node.outputs[0], node.inputs[0]
    now = node.attributes.get("alpha")
    defaults = {"LeakyRelu": 0.01, "Elu": 1.0, "HardSigmoid": 0.2}
    for alpha in (0.01, 0.1, 0.2, 0.3, 0.02, 0.05, 1.0, 1 / 6.0) if node.kind in defaults else ():
        if abs(alpha - (now if now is not None else defaults[node.kind])) > 1e-6:
            yield with_attributes(node, "slope or factor", "its slope is %g" % alpha, alpha=alpha)
    yield Mistake("missing activation", "it has no activation", [make_node("Identity", [given], [own])])
    for kind in PLAIN:
        if kind != node.kind:
            words = "it is %s, and not %s" % (kind, node.kind)
            yield Mistake("activation", words, [make_node(kind, [given], [own])])
    for alpha in (0.01, 0.1, 0.2, 0.3):
        words = "it is LeakyRelu with %g, and not %s" % (alpha, node.kind)
        yield Mistake("activation", words, [make_node("LeakyRelu", [given], [own], alpha=alpha)])
    for each in _made_activations(node, value, own, given):
        yield each


def _made_activations(node, value, own, given):
    """Those that take several operators."""
    import numpy as np

    taken = value(given)
    kind = taken.dtype if taken is not None else np.float32
    bounds = [(0, 6), (0, 1), (-1, 1), (-6, 6)]
    for low, high in bounds:
        weights = {own + ".low": np.array(low, kind), own + ".high": np.array(high, kind)}
        words = "it is cut at %d and %d" % (low, high)
        yield Mistake("activation", words, [make_node("Clip", [given, own + ".low", own + ".high"], [own])], weights)
    for factor, name in ((1.0, "SiLU"), (1.702, "GELU by a sigmoid")):
        weights = {own + ".factor": np.array(factor, kind)}
        nodes = [
            make_node("Mul", [given, own + ".factor"], [own + ".scaled"]),
            make_node("Sigmoid", [own + ".scaled"], [own + ".sigmoid"]),
            make_node("Mul", [given, own + ".sigmoid"], [own]),
        ]
        yield Mistake("activation", "it is %s, and not %s" % (name, node.kind), nodes, weights)
    half = np.array(0.5, kind)
    weights = {own + ".half": half, own + ".one": np.array(1, kind), own + ".root": np.array(2**-0.5, kind)}
    nodes = [
        make_node("Mul", [given, own + ".root"], [own + ".scaled"]),
        make_node("Erf", [own + ".scaled"], [own + ".erf"]),
        make_node("Add", [own + ".erf", own + ".one"], [own + ".more"]),
        make_node("Mul", [given, own + ".more"], [own + ".twice"]),
        make_node("Mul", [own + ".twice", own + ".half"], [own]),
    ]
    yield Mistake("activation", "it is GELU, and not %s" % node.kind, nodes, weights)
    weights = dict(weights)
    weights.update({own + ".cubic": np.array(0.044715, kind), own + ".scale": np.array((2 / np.pi) ** 0.5, kind)})
    nodes = [
        make_node("Mul", [given, given], [own + ".square"]),
        make_node("Mul", [own + ".square", given], [own + ".cube"]),
        make_node("Mul", [own + ".cube", own + ".cubic"], [own + ".little"]),
        make_node("Add", [given, own + ".little"], [own + ".sum"]),
        make_node("Mul", [own + ".sum", own + ".scale"], [own + ".scaled"]),
        make_node("Tanh", [own + ".scaled"], [own + ".tanh"]),
        make_node("Add", [own + ".tanh", own + ".one"], [own + ".more"]),
        make_node("Mul", [given, own + ".more"], [own + ".twice"]),
        make_node("Mul", [own + ".twice", own + ".half"], [own]),
    ]
    yield Mistake("activation", "it is GELU by its tanh formula, and not %s" % node.kind, nodes, weights)


def bounds(node, value, alive):
    import numpy as np

    low, high = ((value(name) if name else None) for name in (node.inputs + ["", ""])[1:3])
    own, given = node.outputs[0], node.inputs[0]
    yield Mistake("activation", "it is Relu, and is not cut at its upper bound", [make_node("Relu", [given], [own])])
    for place, now in ((1, low), (2, high)):
        if now is None:
            continue
        for bound in (0.0, 1.0, 6.0, -1.0, 3.0, 20.0):
            if bound != float(now):
                words = "it is cut at %g, and not at %g" % (bound, float(now))
                yield with_array(node, place, np.array(bound, now.dtype), own + ".bound", "activation", words)
    for each in activation(node, value, alive):
        yield each


def softmax(node, value, alive):
    given = value(node.inputs[0])
    axis = node.attributes.get("axis", -1)
    for other in range(given.ndim if given is not None else 0):
        if other != axis % given.ndim:
            yield with_attributes(node, "axis", "it goes over axis %d, and not %d" % (other, axis), axis=other)
    for kind in ("LogSoftmax", "Softmax", "Sigmoid"):
        if kind != node.kind:
            changed = node.changed(kind=kind, axis=None) if kind == "Sigmoid" else node.changed(kind=kind)
            yield Mistake("activation", "it is %s, and not %s" % (kind, node.kind), [changed])


def erf(node, value, alive):
    """The heart of GELU, for which there is another formula."""
    import numpy as np

    own, given, taken = node.outputs[0], node.inputs[0], value(node.inputs[0])
    kind = taken.dtype if taken is not None else np.float32
    numbers = {".root": 2**0.5, ".cubic": 0.044715, ".factor": (2 / np.pi) ** 0.5}
    weights = {own + name: np.array(number, kind) for name, number in numbers.items()}
    nodes = [
        make_node("Mul", [given, own + ".root"], [own + ".x"]),
        make_node("Mul", [own + ".x", own + ".x"], [own + ".square"]),
        make_node("Mul", [own + ".square", own + ".x"], [own + ".cube"]),
        make_node("Mul", [own + ".cube", own + ".cubic"], [own + ".little"]),
        make_node("Add", [own + ".x", own + ".little"], [own + ".sum"]),
        make_node("Mul", [own + ".sum", own + ".factor"], [own + ".scaled"]),
        make_node("Tanh", [own + ".scaled"], [own]),
    ]
    yield Mistake("activation", "it is GELU by its tanh formula, and not by Erf", nodes, weights)
    for each in activation(node, value, alive):
        yield each


ACTIVATIONS = PLAIN + ("LeakyRelu", "ThresholdedRelu", "Erf")
