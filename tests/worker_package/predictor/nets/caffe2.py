"""Caffe2: a predict net and an init net."""

from pathlib import Path
from typing import Any, Dict, List

import numpy as np
from caffe2.proto import caffe2_pb2
from caffe2.python.core import CreateOperator

from worker_package.predictor.nets.network import Files, Layer, Network


def write(network: Network, folder: Path) -> Files:
    operators, weights = [], {}
    for layer in network.layers:
        if layer.weight is not None:
            weights[layer.name + "_weight"], weights[layer.name + "_bias"] = layer.weight, layer.bias
        operators += _operators(layer)
    return save(folder, operators, weights, (1,) + network.shape, network.output)


def save(
    folder: Path, operators: List[Any], weights: Dict[str, np.ndarray], placeholder: tuple, output: str = "scores"
) -> Files:
    predict = caffe2_pb2.NetDef(name="tiny")
    predict.op.extend(operators)
    predict.external_input.extend(["input"] + list(weights))
    predict.external_output.append(output)
    init = caffe2_pb2.NetDef(name="tiny_init")
    for name, value in weights.items():
        init.op.extend([CreateOperator("GivenTensorFill", [], [name], shape=value.shape, values=value.ravel())])
    if placeholder:
        init.op.extend([CreateOperator("ConstantFill", [], ["input"], shape=placeholder)])
    files = {"graph": str(folder / "predict_net.pb"), "weights": str(folder / "init_net.pb")}
    Path(files["graph"]).write_bytes(predict.SerializeToString())
    Path(files["weights"]).write_bytes(init.SerializeToString())
    return files


def _operators(layer: Layer) -> List[Any]:
    name, inputs = layer.name, layer.inputs
    weighted = inputs + [name + "_weight", name + "_bias"]
    if layer.kind == "convolution":
        top, left, bottom, right = layer.pads
        sizes = {"pad_t": top, "pad_l": left, "pad_b": bottom, "pad_r": right, "group": layer.groups}
        return [CreateOperator("Conv", weighted, [name], kernels=layer.kernel, stride=layer.stride, **sizes)]
    if layer.kind == "dense":
        return [CreateOperator("FC", weighted, [name])]
    if layer.kind == "average":
        return [
            CreateOperator("AveragePool", inputs, [name + "_1x1"], global_pooling=1),
            CreateOperator("Flatten", [name + "_1x1"], [name]),
        ]
    kind, more = {
        "relu": ("Relu", {}),
        "relu6": ("Clip", {"min": 0.0, "max": 6.0}),
        "max_pool": ("MaxPool", {"kernel": 2, "stride": 2}),
        "softmax": ("Softmax", {}),
        "add": ("Add", {}),
    }[layer.kind]
    return [CreateOperator(kind, inputs, [name], **more)]
