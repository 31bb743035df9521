"""ONNX models small enough to make on the spot."""

from __future__ import annotations  # Python 3.7, in old stacks, reads types as the text that they are

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


def save(
    folder: Path,
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[onnx.ValueInfoProto],
    weights: dict[str, np.ndarray] | None = None,
    name: str = "model.onnx",
    opset: int = 13,
    ir_version: int = 7,
) -> dict[str, str]:
    constants = [numpy_helper.from_array(value, key) for key, value in (weights or {}).items()]
    graph = helper.make_graph(list(nodes), "graph", list(inputs), list(outputs), constants)
    # By default old enough for ONNX Runtime 1.8.
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version)
    (folder / name).write_bytes(model.SerializeToString())
    return {"graph": str(folder / name)}


def tensor(name: str, shape: Sequence[Any], kind: int = FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def classifier(
    folder: Path,
    seed: int = 0,
    shape: Sequence[Any] = ("n", 3, 8, 8),
    kind: int = FLOAT,
    names: Sequence[str] = ("scores",),
    name: str = "model.onnx",
) -> dict[str, str]:
    """Convolution, ReLU, mean over the picture, ten scores; further `names` are outputs with the scores negated."""
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    random = np.random.default_rng(seed)
    weights = {
        "filter": random.normal(size=(6, 3, 3, 3)).astype(dtype),
        "bias": random.normal(size=6).astype(dtype),
        "last": random.normal(size=(6, 10)).astype(dtype),
    }
    nodes = [
        helper.make_node("Conv", ["input", "filter", "bias"], ["maps"], pads=[1, 1, 1, 1], kernel_shape=[3, 3]),
        helper.make_node("Relu", ["maps"], ["active"]),
        helper.make_node("GlobalAveragePool", ["active"], ["pooled"]),
        helper.make_node("Flatten", ["pooled"], ["flat"]),
        helper.make_node("MatMul", ["flat", "last"], [names[0]]),
        *(helper.make_node("Neg", [names[0]], [other]) for other in names[1:]),
    ]
    outputs = [tensor(each, [shape[0], 10], kind) for each in names]
    return save(folder, nodes, [tensor("input", shape, kind)], outputs, weights, name)


def one_step(
    folder: Path, operator: str, shape: Sequence[Any], out: Sequence[Any], **attributes: Any
) -> dict[str, str]:
    """A model that does one thing."""
    node = helper.make_node(operator, ["input"], ["scores"], **attributes)
    return save(folder, [node], [tensor("input", shape)], [tensor("scores", out)])


def quantised(folder: Path, kind: int) -> dict[str, str]:
    """Ten scores of three bytes in whole numbers alone: what goes in and comes out is quantised."""
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    zero = 0 if kind == TensorProto.INT8 else 128
    weights = {
        "scale": np.float32(0.1),
        "zero": np.array(zero, dtype),
        "weight_scale": np.float32(0.05),
        "weight_zero": np.array(0, np.int8),
        "weight": np.random.default_rng(3).integers(-20, 20, (3, 10)).astype(np.int8),
        "out_scale": np.float32(0.5),
        "shape": np.array([-1, 3], np.int64),
    }
    nodes = [
        helper.make_node("DequantizeLinear", ["input", "scale", "zero"], ["real"]),
        helper.make_node("Reshape", ["real", "shape"], ["rows"]),
        helper.make_node("DequantizeLinear", ["weight", "weight_scale", "weight_zero"], ["real_weight"]),
        helper.make_node("MatMul", ["rows", "real_weight"], ["sums"]),
        helper.make_node("QuantizeLinear", ["sums", "out_scale", "zero"], ["scores"]),
    ]
    return save(folder, nodes, [tensor("input", ("n", 3, 1, 1), kind)], [tensor("scores", ("n", 10), kind)], weights)
