"""JAX: an exported function."""

from pathlib import Path
from typing import Any

import jax
from jax import export

from worker_package.predictor.nets.network import Files, Layer, Network


def write(network: Network, folder: Path) -> Files:
    def call(input: Any) -> Any:
        known = {"input": input}
        for layer in network.layers:
            known[layer.name] = _layer(layer, [known[name] for name in layer.inputs])
        return {network.output: known[network.output]}

    shape = export.symbolic_shape("n, %d, %d, %d" % network.shape)
    made = export.export(jax.jit(call), platforms=["cpu"])(jax.ShapeDtypeStruct(shape, "float32"))
    (folder / "model.jax").write_bytes(made.serialize())
    return {"graph": str(folder / "model.jax")}


def _layer(layer: Layer, inputs: Any) -> Any:
    x = inputs[0]
    if layer.kind == "convolution":
        top, left, bottom, right = layer.pads
        maps = jax.lax.conv_general_dilated(
            x,
            layer.weight,
            (layer.stride, layer.stride),
            [(top, bottom), (left, right)],
            feature_group_count=layer.groups,
        )
        return maps + layer.bias[:, None, None]
    if layer.kind == "max_pool":
        return jax.lax.reduce_window(x, -jax.numpy.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    if layer.kind == "average":
        return x.mean((2, 3))
    if layer.kind == "dense":
        return x @ layer.weight.T + layer.bias
    if layer.kind == "add":
        return inputs[0] + inputs[1]
    return {"relu": jax.nn.relu, "relu6": jax.nn.relu6, "softmax": jax.nn.softmax}[layer.kind](x)
