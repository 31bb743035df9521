"""An ONNX network as a program."""

import onnx
from onnx import helper, numpy_helper

from diff_written.program import Node, Program

_TYPES = {1: "float32", 7: "int64"}


def program_of(model: onnx.ModelProto) -> Program:
    graph = model.graph
    inputs = [
        [
            each.name,
            [size.dim_value for size in each.type.tensor_type.shape.dim],
            _TYPES[each.type.tensor_type.elem_type],
        ]
        for each in graph.input
    ]
    nodes = []
    for node in graph.node:
        attributes = {each.name: _plain(helper.get_attribute_value(each)) for each in node.attribute}
        nodes.append(Node(node.op_type, node.name or node.output[0], list(node.input), list(node.output), attributes))
    weights = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    return Program(inputs, [each.name for each in graph.output], nodes, weights)


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return value.decode()
    return list(value) if hasattr(value, "__len__") and not isinstance(value, str) else value
