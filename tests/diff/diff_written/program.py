"""A network without a framework: nodes in order and arrays by name, in one `.npz` file that NumPy reads."""

import json


class NotWritten(Exception):
    """A framework cannot express this, or its writer does not."""


class Node:
    def __init__(self, kind, name, inputs, outputs, attributes):
        self.kind = kind
        self.name = name
        self.inputs = inputs
        self.outputs = outputs
        self.attributes = attributes

    def get(self, name, default):
        return self.attributes.get(name, default)


class Program:
    """`inputs` are (name, shape, element type), `outputs` names."""

    def __init__(self, inputs, outputs, nodes, weights):
        self.inputs = inputs
        self.outputs = outputs
        self.nodes = nodes
        self.weights = weights

    def save(self, path):
        import numpy as np

        head = {
            "inputs": self.inputs,
            "outputs": self.outputs,
            "nodes": [[each.kind, each.name, each.inputs, each.outputs, each.attributes] for each in self.nodes],
            "weights": sorted(self.weights),
        }
        arrays = {f"w{place}": self.weights[name] for place, name in enumerate(head["weights"])}
        np.savez(str(path), head=np.frombuffer(json.dumps(head).encode("utf-8"), np.uint8), **arrays)


def load(path):
    import numpy as np

    with np.load(str(path)) as kept:
        head = json.loads(kept["head"].tobytes().decode("utf-8"))
        weights = {name: kept[f"w{place}"] for place, name in enumerate(head["weights"])}
    return Program(head["inputs"], head["outputs"], [Node(*each) for each in head["nodes"]], weights)


def pads_of(node):
    """((top, bottom), (left, right))"""
    top, left, bottom, right = node.get("pads", [0, 0, 0, 0])
    return (top, bottom), (left, right)
