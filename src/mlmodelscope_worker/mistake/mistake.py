"""A mistake: what is put in the place of a node of ONNX, or of its weights, and what people call it."""


class Mistake(object):
    """What is put in the place of a node, or of weights."""

    def __init__(self, kind, words, nodes, weights=None):
        self.kind = kind
        self.words = words
        self.nodes = nodes
        self.weights = weights or {}


def with_attributes(node, kind, words, **attributes):
    return Mistake(kind, words, [node.changed(**attributes)])


def with_array(node, place, array, name, kind, words):
    """With another array in the place of an input."""
    inputs = list(node.inputs)
    while len(inputs) <= place:
        inputs.append("")
    inputs[place] = name
    return Mistake(kind, words, [node.changed(inputs=inputs)], {name: array})


EPSILONS = (1e-5, 1e-3, 1e-6, 1e-4, 1e-2, 1e-7, 1e-8, 1e-12, 2e-5, 1.001e-5, 0.1, 0.0)


def epsilons(node):
    now = node.attributes.get("epsilon", 1e-5)
    for epsilon in EPSILONS:
        if abs(epsilon - now) > 1e-3 * now:
            yield with_attributes(
                node, "epsilon", "its epsilon is %g, and not %g" % (epsilon, now), epsilon=float(epsilon)
            )
