"""OpenVINO's own form, made with its own operators."""

from pathlib import Path
from typing import Any

import numpy as np

try:
    import openvino as ov
    from openvino import opset1 as operators
except ImportError:  # before 2023.1
    import openvino.runtime as ov
    from openvino.runtime import opset1 as operators

from worker_package.predictor.nets.network import Files, Layer, Network


def write(network: Network, folder: Path) -> Files:
    given = operators.parameter([-1] + list(network.shape), np.float32, name="input")
    given.output(0).get_tensor().set_names({"input"})
    known = {"input": given}
    for layer in network.layers:
        known[layer.name] = _layer(layer, [known[name] for name in layer.inputs])
        known[layer.name].friendly_name = layer.name
    last = known[network.output]
    last.output(0).get_tensor().set_names({network.output})
    model, files = ov.Model([last], [given], network.name), (str(folder / "ir.xml"), str(folder / "ir.bin"))
    if hasattr(ov, "save_model"):
        ov.save_model(model, files[0], compress_to_fp16=False)
    else:
        ov.serialize(model, *files)
    return {"graph": files[0], "weights": files[1]}


def _layer(layer: Layer, inputs: Any) -> Any:
    x = inputs[0]
    if layer.kind == "convolution":
        strides, ends = [layer.stride] * 2, (layer.pads[:2], layer.pads[2:])
        bias = layer.bias.reshape(1, -1, 1, 1)
        if layer.groups == 1:
            return operators.add(operators.convolution(x, layer.weight, strides, *ends, [1, 1]), bias)
        weight = layer.weight.reshape((layer.groups, -1) + layer.weight.shape[1:])
        return operators.add(operators.group_convolution(x, weight, strides, *ends, [1, 1]), bias)
    if layer.kind == "dense":
        return operators.add(operators.matmul(x, layer.weight, False, True), layer.bias)
    if layer.kind == "max_pool":
        return operators.max_pool(x, [2, 2], [0, 0], [0, 0], [2, 2])
    if layer.kind == "average":
        return operators.reduce_mean(x, np.array([2, 3]), False)
    if layer.kind == "softmax":
        return operators.softmax(x, 1)
    if layer.kind == "add":
        return operators.add(*inputs)
    return operators.relu(x) if layer.kind == "relu" else operators.clamp(x, 0.0, 6.0)
