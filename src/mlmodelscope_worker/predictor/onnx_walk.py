"""An ONNX model run one node at a time: each tensor is seen once, and forgotten when no later node needs it.

Asking for all of them at once would hold them all, and asking in parts would run the model as often.
"""

from collections import Counter

from .passed import Passed


def walk(graph, open_piece, feed):
    """`Passed` tensors in the order of the file's nodes. `open_piece` makes a session of a model's bytes."""
    import numpy as np

    alive = graph.depends_on_inputs()
    uses = Counter(name for node in graph.nodes for name in set(node.wants))
    held = dict(feed)
    for node in graph.nodes:
        given = {name: held[name] for name in set(node.wants) if name in held}
        names = [name for name in node.outputs if name]
        session = open_piece(graph.piece([node], given, names))
        values = session.run(names, given)
        del session
        for name in set(node.wants):
            uses[name] -= 1
            if not uses[name]:
                held.pop(name, None)
        for name, value in zip(names, values):
            value = np.asarray(value)
            if uses[name]:
                held[name] = value
            if name in alive and value.dtype.kind in "biuf":
                takes = [each for each in node.inputs if each in alive]
                yield Passed(name, value, node.kind, node.name, takes, node.attributes)
        del given, values
