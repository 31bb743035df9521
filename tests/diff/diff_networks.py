"""Small networks of four kinds as ONNX graphs, with weights by chance: a CNN, a detector, an encoder and a decoder.

They have the layers that real ones have; each is a model that a planted fault can be looked for in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 18


class Builder:
    """Nodes and weights of a graph, added one after the other."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: dict[str, np.ndarray] = {}

    def weight(self, name: str, *shape: int, scale: float = 1.0, shift: float = 0.0) -> str:
        self.weights[name] = (scale * self.random.normal(size=shape) + shift).astype(np.float32)
        return name

    def constant(self, name: str, value: Any, kind: type = np.float32) -> str:
        self.weights[name] = np.array(value, kind)
        return name

    def add(self, kind: str, inputs: Sequence[str], name: str, outputs: Sequence[str] = (), **attributes: Any) -> str:
        made = list(outputs) or [name]
        self.nodes.append(helper.make_node(kind, list(inputs), made, name=name, **attributes))
        return made[0]

    def model(
        self, inputs: Sequence[tuple[str, Sequence[int], int]], outputs: Sequence[tuple[str, Sequence[int | str]]]
    ) -> onnx.ModelProto:
        graph = helper.make_graph(
            self.nodes,
            "network",
            [helper.make_tensor_value_info(name, kind, list(shape)) for name, shape, kind in inputs],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape)) for name, shape in outputs],
            [numpy_helper.from_array(value, name) for name, value in self.weights.items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)
        onnx.checker.check_model(model)
        return model

    def conv(
        self,
        taken: str,
        name: str,
        inside: int,
        out: int,
        size: int = 3,
        stride: int = 1,
        group: int = 1,
        bias: bool = True,
        pad: int | None = None,
        dilation: int = 1,
    ) -> str:
        pad = dilation * (size - 1) // 2 if pad is None else pad
        inputs = [
            taken,
            self.weight(
                f"{name}.weight", out, inside // group, size, size, scale=(inside // group * size * size) ** -0.5
            ),
        ]
        if bias:
            inputs.append(self.weight(f"{name}.bias", out, scale=0.3))
        return self.add(
            "Conv",
            inputs,
            name,
            kernel_shape=[size] * 2,
            strides=[stride] * 2,
            pads=[pad] * 4,
            group=group,
            dilations=[dilation] * 2,
        )

    def norm(self, taken: str, name: str, channels: int) -> str:
        inputs = [
            taken,
            self.weight(f"{name}.scale", channels, scale=0.2, shift=1.0),
            self.weight(f"{name}.shift", channels, scale=0.2),
            self.weight(f"{name}.mean", channels, scale=0.3),
            f"{name}.variance",
        ]
        self.weights[f"{name}.variance"] = (0.2 + self.random.random(channels)).astype(np.float32)
        return self.add("BatchNormalization", inputs, name, epsilon=1e-5)

    def dense(self, taken: str, name: str, inside: int, out: int) -> str:
        product = self.add(
            "MatMul", [taken, self.weight(f"{name}.weight", inside, out, scale=inside**-0.5)], f"{name}.product"
        )
        return self.add("Add", [product, self.weight(f"{name}.bias", out, scale=0.2)], name)

    def layer_norm(self, taken: str, name: str, width: int) -> str:
        inputs = [
            taken,
            self.weight(f"{name}.scale", width, scale=0.2, shift=1.0),
            self.weight(f"{name}.shift", width, scale=0.2),
        ]
        return self.add("LayerNormalization", inputs, name, axis=-1, epsilon=1e-5)


def cnn(seed: int = 1) -> onnx.ModelProto:
    """A residual network for pictures: a stem, pooling, plain, grouped, depthwise and dilated blocks, a classifier."""
    b = Builder(seed)
    x = b.conv("image", "stem.conv", 3, 16, 5, stride=2)
    x = b.norm(x, "stem.norm", 16)
    x = b.add("Relu", [x], "stem.relu")
    x = b.add("MaxPool", [x], "stem.pool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    for place, (inside, out, group, dilation) in enumerate(
        ((16, 16, 1, 1), (16, 24, 4, 1), (24, 24, 24, 1), (24, 32, 1, 2))
    ):
        own = f"block{place}"
        y = b.conv(
            x, f"{own}.conv1", inside, inside if group > 1 else out, 3, group=group, dilation=dilation, bias=False
        )
        middle = inside if group > 1 else out
        y = b.norm(y, f"{own}.norm1", middle)
        y = b.add("Relu", [y], f"{own}.relu1") if place % 2 else b.add("LeakyRelu", [y], f"{own}.leaky1", alpha=0.1)
        y = b.conv(y, f"{own}.conv2", middle, out, 1)
        y = b.norm(y, f"{own}.norm2", out)
        x = b.conv(x, f"{own}.shortcut", inside, out, 1) if inside != out else x
        x = b.add("Add", [x, y], f"{own}.add")
        x = b.add("Relu", [x], f"{own}.relu2")
    x = b.add("AveragePool", [x], "tail.pool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    x = b.conv(x, "tail.conv", 32, 48, 3)
    x = b.add("HardSwish", [x], "tail.swish")
    x = b.add("GlobalAveragePool", [x], "pool")
    x = b.add("Flatten", [x], "flatten", axis=1)
    weights = [x, b.weight("classifier.weight", 10, 48, scale=0.3), b.weight("classifier.bias", 10, scale=0.3)]
    x = b.add("Gemm", weights, "classifier", transB=1)
    b.add("Softmax", [x], "scores", axis=1)
    return b.model([("image", (1, 3, 64, 64), TensorProto.FLOAT)], [("scores", (1, 10))])


def detector(seed: int = 2) -> onnx.ModelProto:
    """Two scales joined by upsampling, boxes and scores for each cell."""
    b = Builder(seed)
    x = b.conv("image", "stem", 3, 16, 3, stride=2)
    x = _silu(b, x, "stem.act")
    x = b.conv(x, "down1", 16, 24, 3, stride=2)
    small = _silu(b, x, "down1.act")
    x = b.conv(small, "down2", 24, 32, 3, stride=2)
    x = _silu(b, x, "down2.act")
    parts = [x]
    for place in range(2):
        parts.append(
            b.add("MaxPool", [parts[-1]], f"spp.pool{place}", kernel_shape=[5, 5], strides=[1, 1], pads=[2, 2, 2, 2])
        )
    x = b.add("Concat", parts, "spp.concat", axis=1)
    x = b.conv(x, "spp.conv", 96, 32, 1)
    large = b.add("Relu", [x], "spp.relu")
    sizes = b.constant("up.scales", [1, 1, 2, 2])
    x = b.add("Resize", [large, "", sizes], "up", mode="linear", coordinate_transformation_mode="half_pixel")
    x = b.add("Concat", [x, small], "up.concat", axis=1)
    x = b.conv(x, "up.conv", 56, 24, 3)
    x = b.norm(x, "up.norm", 24)
    x = b.add("Sigmoid", [x], "up.gate")
    y = b.add(
        "ConvTranspose",
        [x, b.weight("deconv.weight", 24, 12, 2, 2, scale=0.2), b.weight("deconv.bias", 12, scale=0.2)],
        "deconv",
        kernel_shape=[2, 2],
        strides=[2, 2],
    )
    y = b.add("Tanh", [y], "deconv.tanh")
    y = b.add("AveragePool", [y], "mix.pool", kernel_shape=[2, 2], strides=[2, 2])
    x = b.add("Concat", [x, y], "mix", axis=1)
    outputs = []
    for name, taken, inside, cells in (("fine", x, 36, 256), ("coarse", large, 32, 64)):
        boxes = b.conv(taken, f"{name}.boxes", inside, 8, 1)
        boxes = b.add("Transpose", [boxes], f"{name}.boxes.turned", perm=[0, 2, 3, 1])
        boxes = b.add(
            "Reshape", [boxes, b.constant(f"{name}.boxes.shape", [1, cells * 2, 4], np.int64)], f"{name}.boxes.flat"
        )
        scores = b.conv(taken, f"{name}.scores", inside, 6, 1)
        scores = b.add("Transpose", [scores], f"{name}.scores.turned", perm=[0, 2, 3, 1])
        scores = b.add(
            "Reshape", [scores, b.constant(f"{name}.scores.shape", [1, cells * 2, 3], np.int64)], f"{name}.scores.flat"
        )
        outputs.append((boxes, scores))
    boxes = b.add("Concat", [each[0] for each in outputs], "boxes.raw", axis=1)
    centers = b.add(
        "Slice",
        [boxes, b.constant("zero", [0], np.int64), b.constant("two", [2], np.int64), b.constant("last", [2], np.int64)],
        "boxes.centers",
    )
    extents = b.add("Slice", [boxes, "two", b.constant("four", [4], np.int64), "last"], "boxes.extents")
    extents = b.add("Exp", [extents], "boxes.sizes")
    half = b.add("Mul", [extents, b.constant("half", 0.5)], "boxes.half")
    low = b.add("Sub", [centers, half], "boxes.low")
    high = b.add("Add", [centers, half], "boxes.high")
    b.add("Concat", [low, high], "boxes", axis=2)
    scores = b.add("Concat", [each[1] for each in outputs], "scores.raw", axis=1)
    b.add("Softmax", [scores], "scores", axis=2)
    return b.model([("image", (1, 3, 64, 64), TensorProto.FLOAT)], [("boxes", (1, 640, 4)), ("scores", (1, 640, 3))])


def _silu(b: Builder, taken: str, name: str) -> str:
    gate = b.add("Sigmoid", [taken], f"{name}.sigmoid")
    return b.add("Mul", [taken, gate], name)


def encoder(seed: int = 3, width: int = 32, heads: int = 4, length: int = 12) -> onnx.ModelProto:
    """A transformer encoder: embeddings, attention with a padding mask, GELU, layer norms behind each block."""
    b = Builder(seed)
    x = b.add("Gather", [b.weight("words", 50, width), "tokens"], "embedded", axis=0)
    x = b.add("Add", [x, b.weight("places", length, width, scale=0.5)], "placed")
    x = b.layer_norm(x, "embedding.norm", width)
    mask = np.zeros((1, 1, 1, length), np.float32)
    mask[..., -3:] = -1e9
    b.weights["mask"] = mask
    for place in range(2):
        own = f"layer{place}"
        y = _attention(b, x, f"{own}.attention", width, heads, length, "mask")
        x = b.add("Add", [x, y], f"{own}.sum1")
        x = b.layer_norm(x, f"{own}.norm1", width)
        y = b.dense(x, f"{own}.up", width, 2 * width)
        y = _gelu(b, y, f"{own}.gelu")
        y = b.dense(y, f"{own}.down", 2 * width, width)
        x = b.add("Add", [x, y], f"{own}.sum2")
        x = b.layer_norm(x, f"{own}.norm2", width)
    x = b.add("Gather", [x, b.constant("first", 0, np.int64)], "pooled", axis=1)
    x = b.dense(x, "pooler", width, width)
    x = b.add("Tanh", [x], "pooler.tanh")
    x = b.dense(x, "classes", width, 5)
    b.add("Softmax", [x], "scores", axis=-1)
    return b.model([("tokens", (1, length), TensorProto.INT64)], [("scores", (1, 5))])


def _gelu(b: Builder, taken: str, name: str) -> str:
    x = b.add("Div", [taken, b.constant(f"{name}.root", 2**0.5)], f"{name}.scaled")
    x = b.add("Erf", [x], f"{name}.erf")
    x = b.add("Add", [x, b.constant(f"{name}.one", 1.0)], f"{name}.more")
    x = b.add("Mul", [taken, x], f"{name}.twice")
    return b.add("Mul", [x, b.constant(f"{name}.half", 0.5)], name)


def _heads(b: Builder, taken: str, name: str, width: int, heads: int, length: int) -> str:
    x = b.add(
        "Reshape", [taken, b.constant(f"{name}.shape", [1, length, heads, width // heads], np.int64)], f"{name}.cut"
    )
    return b.add("Transpose", [x], f"{name}.heads", perm=[0, 2, 1, 3])


def _attention(
    b: Builder,
    taken: str,
    name: str,
    width: int,
    heads: int,
    length: int,
    mask: str,
    turn: Callable[[Builder, str, str], str] | None = None,
) -> str:
    q, k, v = (
        _heads(b, b.dense(taken, f"{name}.{part}", width, width), f"{name}.{part}", width, heads, length)
        for part in "qkv"
    )
    if turn is not None:
        q, k = turn(b, q, f"{name}.q"), turn(b, k, f"{name}.k")
    k = b.add("Transpose", [k], f"{name}.k.turned", perm=[0, 1, 3, 2])
    x = b.add("MatMul", [q, k], f"{name}.product")
    x = b.add("Mul", [x, b.constant(f"{name}.scale", (width // heads) ** -0.5)], f"{name}.scaled")
    x = b.add("Add", [x, mask], f"{name}.masked")
    x = b.add("Softmax", [x], f"{name}.shares", axis=-1)
    x = b.add("MatMul", [x, v], f"{name}.mixed")
    x = b.add("Transpose", [x], f"{name}.back", perm=[0, 2, 1, 3])
    x = b.add("Reshape", [x, b.constant(f"{name}.flat", [1, length, width], np.int64)], f"{name}.joined")
    return b.dense(x, f"{name}.out", width, width)


def decoder(seed: int = 4, width: int = 32, heads: int = 2, length: int = 10) -> onnx.ModelProto:
    """A decoder of language: rotary places, a causal mask, layer norms in front of each block, a gated part."""
    b = Builder(seed)
    x = b.add("Gather", [b.weight("words", 60, width), "tokens"], "embedded", axis=0)
    b.weights["mask"] = np.where(np.tril(np.ones((length, length))) > 0, 0, -1e9).astype(np.float32)[None, None]
    size = width // heads
    angle = np.arange(length)[:, None] / 100 ** (np.arange(size // 2) / (size // 2))
    angle = np.concatenate([angle, angle], 1)[None, None]
    b.weights["cos"], b.weights["sin"] = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    for place in range(2):
        own = f"layer{place}"
        y = b.layer_norm(x, f"{own}.norm1", width)
        y = _attention(b, y, f"{own}.attention", width, heads, length, "mask", _rotary)
        x = b.add("Add", [x, y], f"{own}.sum1")
        y = b.layer_norm(x, f"{own}.norm2", width)
        gate = _silu(b, b.dense(y, f"{own}.gate", width, 2 * width), f"{own}.gate.act")
        y = b.add("Mul", [gate, b.dense(y, f"{own}.up", width, 2 * width)], f"{own}.gated")
        y = b.dense(y, f"{own}.down", 2 * width, width)
        x = b.add("Add", [x, y], f"{own}.sum2")
    x = b.layer_norm(x, "final.norm", width)
    b.add("MatMul", [x, b.weight("head.weight", width, 60, scale=0.2)], "logits")
    return b.model([("tokens", (1, length), TensorProto.INT64)], [("logits", (1, length, 60))])


def _rotary(b: Builder, taken: str, name: str) -> str:
    low, high = f"{name}.low", f"{name}.high"
    b.add("Split", [taken], f"{name}.halves", [low, high], axis=-1, num_outputs=2)
    minus = b.add("Neg", [high], f"{name}.minus")
    turned = b.add("Concat", [minus, low], f"{name}.half_turned", axis=-1)
    straight = b.add("Mul", [taken, "cos"], f"{name}.straight")
    across = b.add("Mul", [turned, "sin"], f"{name}.across")
    return b.add("Add", [straight, across], f"{name}.rotated")


NETWORKS: dict[str, Callable[[], onnx.ModelProto]] = {
    "cnn": cnn,
    "detector": detector,
    "encoder": encoder,
    "decoder": decoder,
}
