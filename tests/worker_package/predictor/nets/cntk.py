"""CNTK: its own format."""

import warnings
from pathlib import Path
from typing import Any

from worker_package.predictor.nets.network import Files, Layer, Network

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of Linux distributions that it does not know, and of missing GPU libraries
    import cntk as C


def write(network: Network, folder: Path) -> Files:
    known = {"input": C.input_variable(network.shape, name="input")}
    for layer in network.layers:
        known[layer.name] = _layer(layer, [known[name] for name in layer.inputs])
    known[network.output].save(str(folder / "model.dnn"))
    return {"graph": str(folder / "model.dnn")}


def _layer(layer: Layer, inputs: Any) -> Any:
    x, name = inputs[0], layer.name
    if layer.kind == "convolution":
        top, left, bottom, right = layer.pads
        if any(layer.pads):
            x = C.pad(x, [(0, 0), (top, bottom), (left, right)], name=name + "_padded")
        strides = (1, layer.stride, layer.stride)
        maps = C.convolution(
            C.parameter(layer.weight.shape, init=layer.weight),
            x,
            strides=strides,
            auto_padding=[False],
            groups=layer.groups,
            name=name + "_maps",
        )
        return C.plus(maps, C.parameter((len(layer.bias), 1, 1), init=layer.bias.reshape(-1, 1, 1)), name=name)
    if layer.kind == "dense":
        weight = layer.weight.T.copy()
        product = C.times(x, C.parameter(weight.shape, init=weight), name=name + "_product")
        return C.plus(product, C.parameter(layer.bias.shape, init=layer.bias), name=name)
    if layer.kind == "max_pool":
        return C.pooling(x, C.MAX_POOLING, (2, 2), (2, 2), name=name)
    if layer.kind == "average":
        mean = C.reduce_mean(x, axis=(1, 2), name=name + "_1x1")
        return C.reshape(mean, (x.shape[0],), name=name)
    if layer.kind == "add":
        return C.plus(inputs[0], inputs[1], name=name)
    if layer.kind == "relu6":
        return C.clip(x, 0.0, 6.0, name=name)
    return {"relu": C.relu, "softmax": C.softmax}[layer.kind](x, name=name)
