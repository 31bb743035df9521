"""A published ONNX network as a `Network`: normalisations are folded into the convolutions before them."""

from pathlib import Path
from typing import Any, Dict, List

import numpy as np
import onnx
from onnx import numpy_helper

from worker_package.predictor.nets.network import Layer, Network


def read(path: Path) -> Network:
    graph = onnx.load(str(path)).graph
    reader = _Reader({each.name: numpy_helper.to_array(each) for each in graph.initializer})
    for node in graph.node:
        reader.add(node)
    given = next(value for value in graph.input if value.name not in reader.weights)
    shape = [size.dim_value for size in given.type.tensor_type.shape.dim][1:]
    return Network(graph.name, shape, reader.finish(given.name))


class _Reader:
    def __init__(self, weights: Dict[str, np.ndarray]) -> None:
        self.weights = weights
        self.layers = []  # type: List[Layer]
        self.made = {}  # type: Dict[str, Layer]
        self.same = {}  # type: Files

    def add(self, node: Any) -> None:
        said = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
        inputs = [self.same.get(name, name) for name in node.input if name not in self.weights]
        weights = [self.weights[name] for name in node.input if name in self.weights]
        name, made = node.output[0], None
        if node.op_type == "Conv":
            bias = weights[1] if len(weights) > 1 else np.zeros(len(weights[0]), np.float32)
            more = {"stride": said["strides"][0], "pads": said["pads"], "groups": said.get("group", 1)}
            made = Layer("convolution", name, inputs, weight=weights[0], bias=bias, **more)
        elif node.op_type == "BatchNormalization":
            _fold(self.made[inputs[0]], said["epsilon"], *weights)
            self.same[name] = inputs[0]
        elif node.op_type in ("Flatten",):
            self.same[name] = inputs[0]
        elif node.op_type == "MaxPool" and list(said["kernel_shape"]) == [1, 1]:
            self.same[name] = inputs[0]  # every second pixel; the `Pad` behind it says the rest
        elif node.op_type == "Pad":
            made = self.shortcut(name, inputs, int(said["pads"][1]))
        elif node.op_type == "Gemm":
            made = Layer("dense", name, inputs, weight=weights[0], bias=weights[1])
        else:
            kind = {"Relu": "relu", "Clip": "relu6", "Add": "add", "GlobalAveragePool": "average"}[node.op_type]
            made = Layer(kind, name, inputs)
        if made is not None:
            self.layers.append(made)
            self.made[name] = made

    def shortcut(self, name: str, inputs: List[str], zeros: int) -> Layer:
        """Every second pixel, and channels of zeros on both sides: as a convolution with ones, which is the same."""
        channels = zeros * 2  # as many new ones as there were
        weight = np.zeros((2 * channels, channels, 1, 1), np.float32)
        weight[zeros + np.arange(channels), np.arange(channels)] = 1
        bias = np.zeros(2 * channels, np.float32)
        return Layer("convolution", name, inputs, weight=weight, bias=bias, stride=2)

    def finish(self, given: str) -> List[Layer]:
        """With names that every format takes."""
        names = {given: "input"}
        for layer in self.layers:
            names[layer.name] = layer.name.replace(".", "_")
        for layer in self.layers:
            layer.name = names[layer.name]
            layer.inputs = [names[name] for name in layer.inputs]
        return self.layers


def _fold(layer: Layer, epsilon: float, scale: Any, shift: Any, mean: Any, variance: Any) -> None:
    factor = scale.astype(np.float64) / np.sqrt(variance.astype(np.float64) + epsilon)
    layer.bias = ((layer.bias - mean.astype(np.float64)) * factor + shift).astype(np.float32)
    layer.weight = (layer.weight * factor[:, None, None, None]).astype(np.float32)
