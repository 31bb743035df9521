"""MXNet: a symbol and its parameters."""

from pathlib import Path
from typing import Any, Sequence

import mxnet as mx
import numpy as np

from worker_package.predictor.nets.caffe import even
from worker_package.predictor.nets.network import Files, Layer, Network


def write(network: Network, folder: Path, outputs: Sequence[str] = ()) -> Files:
    known = {"input": mx.sym.Variable("input", shape=(0,) + network.shape)}
    weights = {}
    for layer in network.layers:
        weight = layer.weight
        if layer.kind == "convolution":
            weight, pads = even(layer)  # MXNet pads alike on both sides
            known[layer.name] = _convolution(layer, known[layer.inputs[0]], weight, pads)
        else:
            known[layer.name] = _layer(layer, [known[name] for name in layer.inputs])
        if weight is not None:
            weights["arg:%s_weight" % layer.name] = mx.nd.array(np.ascontiguousarray(weight))
            weights["arg:%s_bias" % layer.name] = mx.nd.array(layer.bias)
    symbol = mx.sym.Group([known[name] for name in outputs]) if outputs else known[network.output]
    files = {"graph": str(folder / "model-symbol.json"), "weights": str(folder / "model-0000.params")}
    symbol.save(files["graph"])
    mx.nd.save(files["weights"], weights)
    return files


def write_inside(network: Network, folder: Path) -> Files:
    """What the last convolution and its ReLU pass on, and the answer: MXNet's fusion gets the latter two wrong."""
    place = max(place for place, layer in enumerate(network.layers) if layer.kind == "convolution")
    return write(network, folder, [layer.name for layer in network.layers[place : place + 2]] + [network.output])


def _convolution(layer: Layer, x: Any, weight: np.ndarray, pads: Sequence[int]) -> Any:
    return mx.sym.Convolution(
        x,
        kernel=weight.shape[2:],
        stride=(layer.stride, layer.stride),
        pad=tuple(pads[:2]),
        num_filter=weight.shape[0],
        num_group=layer.groups,
        name=layer.name,
    )


def _layer(layer: Layer, inputs: Any) -> Any:
    x, name = inputs[0], layer.name
    if layer.kind == "relu":
        return mx.sym.Activation(x, act_type="relu", name=name)
    if layer.kind == "relu6":
        return mx.sym.clip(x, 0, 6, name=name)
    if layer.kind == "max_pool":
        return mx.sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max", name=name)
    if layer.kind == "average":
        pooled = mx.sym.Pooling(x, global_pool=True, kernel=(1, 1), pool_type="avg", name=name + "_1x1")
        return mx.sym.Flatten(pooled, name=name)
    if layer.kind == "dense":
        return mx.sym.FullyConnected(x, num_hidden=layer.weight.shape[0], name=name)
    if layer.kind == "softmax":
        return mx.sym.softmax(x, axis=1, name=name)
    return mx.sym.elemwise_add(inputs[0], inputs[1], name=name)
