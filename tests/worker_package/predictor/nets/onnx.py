"""ONNX: old enough for any runtime, or newer than ONNX Runtime 1.23 reads."""

from pathlib import Path
from typing import List

import onnx
from onnx import NodeProto, TensorProto, helper, numpy_helper

from worker_package.predictor.nets.network import Files, Layer, Network

OLD = (9, 4)
NEW = (24, 12)
"""Operator set and version of the file format."""


def write(network: Network, folder: Path, version: tuple = OLD) -> Files:
    opset, ir_version = version
    nodes = []  # type: List[NodeProto]
    weights = [
        numpy_helper.from_array(value, "%s_%s" % (layer.name, role))
        for layer in network.layers
        for role, value in (("weight", layer.weight), ("bias", layer.bias))
        if value is not None
    ]
    if opset > 10 and any(layer.kind == "relu6" for layer in network.layers):
        weights += [helper.make_tensor(name, TensorProto.FLOAT, [], [end]) for name, end in (("zero", 0), ("six", 6))]
    for layer in network.layers:
        nodes += _nodes(layer, opset)
    graph = helper.make_graph(
        nodes,
        network.name,
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, ("n",) + network.shape)],
        [helper.make_tensor_value_info(network.output, TensorProto.FLOAT, ("n",) + network.shapes()[network.output])],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version)
    onnx.checker.check_model(model)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    return {"graph": str(folder / "model.onnx")}


def write_new(network: Network, folder: Path) -> Files:
    return write(network, folder, NEW)


def _nodes(layer: Layer, opset: int) -> List[NodeProto]:
    name, inputs = layer.name, layer.inputs
    weighted = inputs + [name + "_weight", name + "_bias"]
    if layer.kind == "convolution":
        sizes = {"kernel_shape": layer.kernel, "strides": [layer.stride] * 2, "pads": layer.pads}
        return [helper.make_node("Conv", weighted, [name], name=name, group=layer.groups, **sizes)]
    if layer.kind == "average":
        return [
            helper.make_node("GlobalAveragePool", inputs, [name + "_1x1"], name=name + "_1x1"),
            helper.make_node("Flatten", [name + "_1x1"], [name], name=name),
        ]
    if layer.kind == "dense":
        return [helper.make_node("Gemm", weighted, [name], name=name, transB=1)]
    if layer.kind == "relu6" and opset < 11:
        return [helper.make_node("Clip", inputs, [name], name=name, min=0.0, max=6.0)]
    if layer.kind == "relu6":
        return [helper.make_node("Clip", inputs + ["zero", "six"], [name], name=name)]
    operator, attributes = {
        "relu": ("Relu", {}),
        "max_pool": ("MaxPool", {"kernel_shape": [2, 2], "strides": [2, 2]}),
        "softmax": ("Softmax", {"axis": 1}),
        "add": ("Add", {}),
    }[layer.kind]
    return [helper.make_node(operator, inputs, [name], name=name, **attributes)]
