"""Further faults, written down with their layers and kinds before `diff` was asked about any of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
from diff_mutations import Change, Mutation, attribute, inputs, kind, node, replaced, weight
from onnx import helper, numpy_helper


def of_cnn() -> Iterator[Mutation]:
    def fault(layer: str, kinds: tuple[str, ...], what: str, change: Change) -> Mutation:
        return Mutation("cnn", (layer,), kinds, what, change)

    yield fault("stem.relu", ("activation",), "Relu6", _clipped("stem.relu", 6.0))
    yield fault("block1.relu2", ("activation",), "ceiling of 1", _clipped("block1.relu2", 1.0))
    yield fault("stem.pool", ("padding", "pooling rule", "kernel size"), "ceil mode, no padding", _ceiled)
    yield fault("stem.pool", ("kernel size", "padding"), "window of 2", attribute("stem.pool", kernel_shape=[2, 2]))
    yield fault("block0.conv2", ("other weights",), "sign of weights", weight("block0.conv2.weight", np.negative))
    yield fault(
        "block2.conv2", ("other weights", "slope or factor"), "weights 1 % larger", _times("block2.conv2", 1.01)
    )
    yield fault("tail.conv", ("other weights",), "weights rounded to eight bits", _rounded("tail.conv.weight"))
    yield fault("block3.conv1", ("transposed weights",), "rows upside down", _turned("block3.conv1.weight", 2))
    yield fault(
        "block1.norm1",
        ("normalization parameters",),
        "scale and shift swapped",
        inputs("block1.norm1", (0, 2, 1, 3, 4)),
    )
    yield fault("block0.norm2", ("normalization parameters",), "no mean", weight("block0.norm2.mean", np.zeros_like))
    yield fault(
        "block2.norm2",
        ("normalization parameters", "missing normalization"),
        "fresh statistics",
        _fresh("block2.norm2"),
    )
    yield fault("block3.add", ("arithmetic",), "subtracted", kind("block3.add", "Sub"))
    yield fault("classifier", ("other weights", "missing bias"), "bias of one class", _one("classifier.bias", 3, 2.0))
    yield fault("classifier", ("slope or factor", "other weights"), "temperature", attribute("classifier", alpha=0.5))
    yield fault("scores", ("activation",), "Sigmoid", kind("scores", "Sigmoid"))
    yield fault(
        "tail.pool",
        ("pooling rule", "stride", "padding", "kernel size"),
        "stride 1 and ceil mode",
        attribute("tail.pool", ceil_mode=1, pads=[0, 0, 0, 0]),
    )


def of_detector() -> Iterator[Mutation]:
    def fault(layer: str, kinds: tuple[str, ...], what: str, change: Change) -> Mutation:
        return Mutation("detector", (layer,), kinds, what, change)

    yield fault(
        "up",
        ("upsampling rule",),
        "nearest",
        attribute("up", mode="nearest", coordinate_transformation_mode="half_pixel"),
    )
    yield fault(
        "deconv",
        ("swapped channels",),
        "two channels swapped",
        weight("deconv.weight", lambda w: w[:, [1, 0, *range(2, 12)]]),
    )
    yield fault(
        "spp.pool0",
        ("dilation", "kernel size"),
        "dilated",
        attribute("spp.pool0", kernel_shape=[3, 3], dilations=[2, 2]),
    )
    yield fault("boxes.half", ("slope or factor",), "0.45", weight("half", lambda v: v * np.float32(0.9)))
    yield fault("boxes.high", ("arithmetic", "order of branches"), "subtracted", kind("boxes.high", "Sub"))
    yield fault("scores.raw", ("order of branches",), "scales swapped", inputs("scores.raw", (1, 0)))
    yield fault(
        "coarse.boxes", ("missing bias", "other weights"), "bias of a head", weight("coarse.boxes.bias", np.zeros_like)
    )


def of_encoder() -> Iterator[Mutation]:
    def fault(layer: str, kinds: tuple[str, ...], what: str, change: Change) -> Mutation:
        return Mutation("encoder", tuple(layer.split()), kinds, what, change)

    yield fault(
        "embedded",
        ("other weights", "swapped channels"),
        "words off by one",
        weight("words", lambda w: np.roll(w, 1, 0)),
    )
    yield fault(
        "placed",
        ("other weights", "swapped channels"),
        "places off by one",
        weight("places", lambda w: np.roll(w, 1, 0)),
    )
    yield fault(
        "layer0.attention.k.turned layer0.attention.product", ("wiring",), "queries and keys exchanged", _exchanged
    )
    yield fault(
        "layer1.attention.mixed",
        ("arithmetic", "order of branches", "wiring"),
        "keys for values",
        _keys_for_values,
    )
    yield fault(
        "layer0.norm1", ("normalization parameters",), "scale and shift swapped", inputs("layer0.norm1", (0, 2, 1))
    )
    yield fault("layer1.norm1", ("axis",), "over the tokens, too", _norm_of_all("layer1.norm1"))
    yield fault("pooler.tanh", ("activation",), "Relu", kind("pooler.tanh", "Relu"))
    yield fault("scores", ("extra layer", "activation"), "softmax twice", _twice("scores"))


def of_decoder() -> Iterator[Mutation]:
    def fault(layers: tuple[str, ...], kinds: tuple[str, ...], what: str, change: Change) -> Mutation:
        return Mutation("decoder", layers, kinds, what, change)

    straight = tuple(f"layer0.attention.{part}.{way}" for part in "qk" for way in ("straight", "across"))
    yield fault(
        straight, ("other weights", "rotary layout", "arithmetic", "slope or factor"), "another base of angles", _angles
    )
    yield fault(straight, ("other weights", "rotary layout", "swapped channels"), "places off by one", _shifted_angles)
    yield fault(
        ("layer1.gate.act",),
        ("activation", "missing scale", "arithmetic"),
        "gate added",
        kind("layer1.gate.act", "Add"),
    )
    yield fault(("layer0.gated",), ("order of branches", "arithmetic"), "divided", kind("layer0.gated", "Div"))
    yield fault(
        ("layer1.norm1",),
        ("slope or factor", "normalization parameters"),
        "scale plus one",
        weight("layer1.norm1.scale", lambda s: s + np.float32(1)),
    )
    yield fault(
        ("layer0.attention.shares",),
        ("axis", "activation"),
        "LogSoftmax",
        kind("layer0.attention.shares", "LogSoftmax", axis=-1),
    )
    yield fault(
        ("logits",), ("transposed weights", "swapped channels", "other weights"), "head tied to the words", _tied
    )


def _clipped(name: str, most: float) -> Change:
    def change(model: onnx.ModelProto) -> None:
        model.graph.initializer.append(numpy_helper.from_array(np.float32(0), f"{name}.low"))
        model.graph.initializer.append(numpy_helper.from_array(np.float32(most), f"{name}.high"))
        found = node(model, name)
        found.op_type = "Clip"
        found.input.extend([f"{name}.low", f"{name}.high"])

    return change


def _ceiled(model: onnx.ModelProto) -> None:
    attribute("stem.pool", pads=[0, 0, 0, 0], ceil_mode=1)(model)


def _times(name: str, factor: float) -> Change:
    return weight(f"{name}.weight", lambda values: (values * factor).astype(np.float32))


def _rounded(name: str) -> Change:
    def change(values: np.ndarray) -> np.ndarray:
        step = np.abs(values).max() / 127
        return (np.rint(values / step) * step).astype(np.float32)

    return weight(name, change)


def _turned(name: str, axis: int) -> Change:
    return weight(name, lambda values: np.flip(values, axis))


def _one(name: str, place: int, value: float) -> Change:
    def change(values: np.ndarray) -> np.ndarray:
        values[place] += value
        return values

    return weight(name, change)


def _fresh(name: str) -> Change:
    """Statistics of the batch, as in training."""

    def nodes(taken: list[str], made: list[str]) -> list[onnx.NodeProto]:
        return [helper.make_node("InstanceNormalization", taken[:3], made, name=name, epsilon=1e-5)]

    return replaced(name, nodes)


def _exchanged(model: onnx.ModelProto) -> None:
    """Scores of keys over queries: the transposed table."""
    node(model, "layer0.attention.k.turned").input[0] = "layer0.attention.q.heads"
    node(model, "layer0.attention.product").input[0] = "layer0.attention.k.heads"


def _keys_for_values(model: onnx.ModelProto) -> None:
    node(model, "layer1.attention.mixed").input[1] = "layer1.attention.k.heads"


def _norm_of_all(name: str) -> Change:
    def change(model: onnx.ModelProto) -> None:
        attribute(name, axis=1)(model)
        for end in ("scale", "shift"):
            weight(f"{name}.{end}", lambda values: np.tile(values, (12, 1)))(model)

    return change


def _twice(name: str) -> Change:
    def nodes(taken: list[str], made: list[str]) -> list[onnx.NodeProto]:
        return [
            helper.make_node("Softmax", taken, [f"{name}.once"], axis=-1),
            helper.make_node("Softmax", [f"{name}.once"], made, name=name, axis=-1),
        ]

    return replaced(name, nodes)


def _table(base: float, start: int) -> tuple[np.ndarray, np.ndarray]:
    angle = (np.arange(10) + start)[:, None] / base ** (np.arange(8) / 8)
    angle = np.concatenate([angle, angle], 1)[None, None]
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)


def _angles(model: onnx.ModelProto) -> None:
    for name, values in zip(("cos", "sin"), _table(10000, 0), strict=True):
        weight(name, lambda _, values=values: values)(model)  # type: ignore[misc]


def _shifted_angles(model: onnx.ModelProto) -> None:
    for name, values in zip(("cos", "sin"), _table(100, 1), strict=True):
        weight(name, lambda _, values=values: values)(model)  # type: ignore[misc]


def _tied(model: onnx.ModelProto) -> None:
    words = next(each for each in model.graph.initializer if each.name == "words")
    weight("head.weight", lambda _: numpy_helper.to_array(words).T)(model)


def unseen_mutations() -> list[Mutation]:
    return [mutation for source in (of_cnn, of_detector, of_encoder, of_decoder) for mutation in source()]
