"""Weights that ONNX Runtime's profile says nothing of: those that were packed when the session was made are gone."""

import re

from . import protobuf

_PRODUCTS = ("Gemm", "MatMul", "FusedMatMul", "FusedGemm")
_WIDTHS = {1: 4, 2: 1, 3: 1, 4: 2, 5: 2, 6: 4, 7: 8, 9: 1, 10: 2, 11: 8, 12: 4, 13: 8, 16: 2}  # bytes, by ONNX's number
_RENAMED = re.compile("(_nchwc|_token_[0-9]+)$")


def add_weights(path, profiles):
    """To the inputs of each layer, where they are missing: as the file has them, or as a product must have had them."""
    weights = _of_nodes(path)
    for profile in profiles:
        for layer in profile:
            if layer.inputs:  # releases before 1.9 tell no shapes at all
                _add(layer, _missing(layer, weights.get(_RENAMED.sub("", layer.name), ())))


def _of_nodes(path):
    """{name of a node: [(shape, bytes of an element) of its weights]}; nothing where the file is not in ONNX's form.

    TensorProto: dims is 1, data_type 2, name 8. NodeProto: input is 1, name 3.
    """
    nodes, known = {}, {}
    try:
        for graph in protobuf.each(protobuf.view(path), 7):
            for tensor in protobuf.each(graph, 5):
                width = _WIDTHS.get(protobuf.integer(tensor, 2))
                known[protobuf.text(tensor, 8)] = protobuf.integers(tensor, 1), width
            for node in protobuf.each(graph, 1):
                taken = [bytes(name).decode("utf-8", "replace") for name in protobuf.each(node, 1)]
                nodes[protobuf.text(node, 3)] = [known[name] for name in taken if name in known]
    except (OSError, protobuf.Damaged):
        return {}
    return nodes


def _missing(layer, weights):
    """[(shape, bytes of an element)]; a weight that was only rearranged is there with as many axes."""
    told, missing = list(layer.inputs), []
    for shape, width in weights:
        if shape in told:
            told.remove(shape)
        elif len(shape) > 1 and not any(len(each) == len(shape) for each in told[1:]):
            missing.append((shape, width))
    if missing or layer.kind not in _PRODUCTS or not layer.outputs or len(layer.outputs[0]) < 2:
        return missing
    matrices = [shape for shape in layer.inputs if len(shape) > 1]
    if len(matrices) == 1 and matrices[0][:-1] == layer.outputs[0][:-1]:
        return [([matrices[0][-1], layer.outputs[0][-1]], _WIDTHS[1])]
    return []


def _add(layer, missing):
    layer.inputs[1:1] = [shape for shape, _ in missing]
    for shape, width in missing:
        if layer.moved_bytes is None or width is None:
            layer.moved_bytes = None
            return
        count = width
        for size in shape:
            count *= size
        layer.moved_bytes += count
