"""Faults planted in single layers of the small networks: which layer, what is done to it, and what that is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

Change = Callable[[onnx.ModelProto], None]


@dataclass(frozen=True)
class Mutation:
    network: str
    layers: tuple[str, ...]
    """Any of these is the layer."""
    kinds: tuple[str, ...]
    """Any of these is what it is."""
    what: str
    change: Change

    @property
    def name(self) -> str:
        return f"{self.network}: {self.layers[0]}: {self.what}"

    def mutated(self, model: onnx.ModelProto) -> onnx.ModelProto:
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        self.change(copy)
        return copy


def node(model: onnx.ModelProto, name: str) -> onnx.NodeProto:
    return next(each for each in model.graph.node if each.name == name)


def attribute(name: str, **values: Any) -> Change:
    """Set attributes of a node; None takes one away."""

    def change(model: onnx.ModelProto) -> None:
        found = node(model, name)
        for key, value in values.items():
            for each in [each for each in found.attribute if each.name == key]:
                found.attribute.remove(each)
            if value is not None:
                found.attribute.append(helper.make_attribute(key, value))

    return change


def weight(name: str, function: Callable[[np.ndarray], np.ndarray]) -> Change:
    def change(model: onnx.ModelProto) -> None:
        found = next(each for each in model.graph.initializer if each.name == name)
        values = np.array(function(numpy_helper.to_array(found).copy()), order="C")
        found.CopyFrom(numpy_helper.from_array(values, name))

    return change


def kind(name: str, other: str, **attributes: Any) -> Change:
    """Another operator with these attributes."""

    def change(model: onnx.ModelProto) -> None:
        found = node(model, name)
        found.op_type = other
        del found.attribute[:]
        for key, value in attributes.items():
            found.attribute.append(helper.make_attribute(key, value))

    return change


def left_out(name: str, kept: int = 0) -> Change:
    """A node is gone; who took what it gave takes what it took."""

    def change(model: onnx.ModelProto) -> None:
        found = node(model, name)
        made, taken = found.output[0], found.input[kept]
        model.graph.node.remove(found)
        for each in model.graph.node:
            for place, own in enumerate(each.input):
                if own == made:
                    each.input[place] = taken
        if any(made == output.name for output in model.graph.output):
            maker = next(each for each in model.graph.node if taken in each.output)
            maker.output[list(maker.output).index(taken)] = made

    return change


def inputs(name: str, order: Sequence[int]) -> Change:
    """Inputs of a node in another order, or fewer of them."""

    def change(model: onnx.ModelProto) -> None:
        found = node(model, name)
        taken = list(found.input)
        del found.input[:]
        found.input.extend(taken[place] for place in order)

    return change


def replaced(name: str, nodes: Callable[[list[str], list[str]], list[onnx.NodeProto]], **weights: np.ndarray) -> Change:
    """Other nodes in the place of one; they get its inputs and outputs."""

    def change(model: onnx.ModelProto) -> None:
        found = node(model, name)
        place = list(model.graph.node).index(found)
        new = nodes(list(found.input), list(found.output))
        rest = list(model.graph.node)
        rest[place : place + 1] = new
        kept = [onnx.NodeProto.FromString(each.SerializeToString()) for each in rest]
        del model.graph.node[:]
        model.graph.node.extend(kept)
        for key, value in weights.items():
            model.graph.initializer.append(numpy_helper.from_array(value, key.replace("__", ".")))

    return change


def random_like(seed: int) -> Callable[[np.ndarray], np.ndarray]:
    return lambda values: (values.std() * np.random.default_rng(seed).normal(size=values.shape)).astype(values.dtype)


def order_of(axis: int, swap: tuple[int, int] | None = None) -> Callable[[np.ndarray], np.ndarray]:
    def change(values: np.ndarray) -> np.ndarray:
        order = list(range(values.shape[axis]))
        if swap is None:
            order.reverse()
        else:
            order[swap[0]], order[swap[1]] = order[swap[1]], order[swap[0]]
        return np.take(values, order, axis)

    return change


CONVOLUTIONS = {
    "cnn": ("stem.conv", "block0.conv1", "block1.conv1", "block2.conv1", "block3.conv1", "tail.conv"),
    "detector": ("stem", "down1", "down2", "up.conv"),
}


def of_convolutions() -> Iterator[Mutation]:
    for network, names in CONVOLUTIONS.items():
        for number, name in enumerate(names):
            weights = f"{name}.weight"
            turn = (lambda w: w.swapaxes(2, 3)) if number % 2 else (lambda w: w[:, :, ::-1, ::-1])
            yield Mutation(network, (name,), ("transposed weights",), "kernels turned", weight(weights, turn))
            yield Mutation(network, (name,), ("other weights",), "other weights", weight(weights, random_like(number)))
            if name not in ("block3.conv1",):
                size = 2 if name == "stem.conv" else 1
                yield Mutation(
                    network,
                    (name,),
                    ("padding",),
                    "padded on one side",
                    attribute(name, pads=[0, 0, 2 * size, 2 * size]),
                )
            if number % 2 == 0:
                yield Mutation(
                    network,
                    (name,),
                    ("swapped channels",),
                    "two output channels swapped",
                    weight(weights, order_of(0, (2, 3))),
                )
    for name in ("stem.conv", "block0.conv2", "block3.shortcut", "tail.conv"):
        yield Mutation("cnn", (name,), ("missing bias",), "no bias", inputs(name, (0, 1)))
    for name in ("down1", "spp.conv", "fine.boxes", "deconv"):
        yield Mutation("detector", (name,), ("missing bias",), "no bias", inputs(name, (0, 1)))
    yield Mutation("cnn", ("stem.conv",), ("swapped channels",), "BGR", weight("stem.conv.weight", order_of(1)))
    yield Mutation("detector", ("stem",), ("swapped channels",), "BGR", weight("stem.weight", order_of(1)))
    yield Mutation("cnn", ("stem.conv",), ("stride",), "stride 1", attribute("stem.conv", strides=[1, 1]))
    yield Mutation("cnn", ("tail.conv",), ("stride",), "stride 2", attribute("tail.conv", strides=[2, 2]))
    for name, now in (("block0.conv1", 2), ("block1.conv1", 2), ("block3.conv1", 1), ("tail.conv", 2)):
        yield Mutation(
            "cnn", (name,), ("dilation",), f"dilation {now}", attribute(name, dilations=[now] * 2, pads=[now] * 4)
        )
    yield Mutation(
        "cnn",
        ("block1.conv1",),
        ("groups", "swapped channels"),
        "groups interleaved",
        weight("block1.conv1.weight", lambda w: w[np.arange(16).reshape(4, -1).T.reshape(-1)]),
    )

    def one_group(model: onnx.ModelProto) -> None:
        attribute("block1.conv1", group=1)(model)
        weight("block1.conv1.weight", lambda w: np.tile(w, (1, 4, 1, 1)))(model)

    yield Mutation("cnn", ("block1.conv1",), ("groups",), "one group", one_group)
    yield Mutation(
        "detector",
        ("deconv",),
        ("transposed weights",),
        "kernels turned",
        weight("deconv.weight", lambda w: w[:, :, ::-1, ::-1]),
    )
    yield Mutation(
        "detector",
        ("deconv",),
        ("transposed weights",),
        "kernels transposed",
        weight("deconv.weight", lambda w: w.swapaxes(2, 3)),
    )


def of_pictures() -> Iterator[Mutation]:
    for number, name in enumerate(("stem.norm", "block0.norm1", "block1.norm2", "block3.norm1")):
        yield Mutation("cnn", (name,), ("epsilon",), "epsilon 1e-3", attribute(name, epsilon=1e-3))
        swapped = inputs(name, (0, 1, 2, 4, 3)) if number % 2 else weight(f"{name}.variance", np.sqrt)
        yield Mutation("cnn", (name,), ("normalization parameters",), "variance", swapped)
    yield Mutation(
        "cnn", ("block2.norm1",), ("normalization parameters",), "no scale", weight("block2.norm1.scale", np.ones_like)
    )
    yield Mutation("cnn", ("block2.norm2",), ("missing bias",), "no shift", weight("block2.norm2.shift", np.zeros_like))
    yield Mutation("cnn", ("block2.norm1",), ("missing normalization",), "left out", left_out("block2.norm1"))
    yield Mutation("detector", ("up.norm",), ("epsilon",), "epsilon 1e-3", attribute("up.norm", epsilon=1e-3))
    for name in ("stem.relu", "block0.relu2", "block1.relu1", "block3.relu2"):
        yield Mutation("cnn", (name,), ("missing activation",), "no activation", left_out(name))
    yield Mutation("cnn", ("stem.relu",), ("activation",), "LeakyRelu", kind("stem.relu", "LeakyRelu", alpha=0.1))
    yield Mutation("cnn", ("block2.relu2",), ("activation",), "Elu", kind("block2.relu2", "Elu"))
    yield Mutation(
        "cnn", ("block0.leaky1",), ("slope or factor",), "another slope", attribute("block0.leaky1", alpha=0.01)
    )
    yield Mutation("cnn", ("block2.leaky1",), ("activation",), "Relu", kind("block2.leaky1", "Relu"))
    yield Mutation("cnn", ("tail.swish",), ("activation",), "Relu", kind("tail.swish", "Relu"))
    pool = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
    yield Mutation("cnn", ("stem.pool",), ("pooling rule",), "AveragePool", kind("stem.pool", "AveragePool", **pool))
    yield Mutation("cnn", ("stem.pool",), ("padding",), "padded at the end", attribute("stem.pool", pads=[0, 0, 1, 1]))
    yield Mutation("cnn", ("tail.pool",), ("pooling rule",), "MaxPool", kind("tail.pool", "MaxPool", **pool))
    yield Mutation(
        "cnn", ("tail.pool",), ("pooling rule",), "padding counts", attribute("tail.pool", count_include_pad=1)
    )
    yield Mutation("cnn", ("pool",), ("pooling rule",), "GlobalMaxPool", kind("pool", "GlobalMaxPool"))
    yield Mutation("cnn", ("block1.add",), ("missing branch",), "no shortcut", left_out("block1.add", 1))
    yield Mutation(
        "cnn",
        ("classifier",),
        ("transposed weights",),
        "weights read in another order",
        weight("classifier.weight", lambda w: w.T.reshape(w.shape)),
    )
    yield Mutation("cnn", ("classifier",), ("missing bias",), "no bias", inputs("classifier", (0, 1)))
    yield Mutation(
        "cnn",
        ("classifier",),
        ("swapped channels",),
        "classes in another order",
        weight("classifier.weight", order_of(0)),
    )
    yield Mutation("cnn", ("scores",), ("axis",), "softmax over the batch", attribute("scores", axis=0))
    yield Mutation("cnn", ("scores",), ("activation",), "LogSoftmax", kind("scores", "LogSoftmax", axis=1))


def of_detectors() -> Iterator[Mutation]:
    for name in ("stem.act", "down2.act"):
        yield Mutation(
            "detector",
            (name, f"{name}.sigmoid"),
            ("activation", "missing scale", "missing activation"),
            "no gate",
            left_out(name),
        )
    yield Mutation(
        "detector", ("down1.act.sigmoid",), ("activation",), "hard sigmoid", kind("down1.act.sigmoid", "HardSigmoid")
    )
    yield Mutation("detector", ("up.gate",), ("activation",), "Tanh", kind("up.gate", "Tanh"))
    yield Mutation("detector", ("deconv.tanh",), ("missing activation",), "no activation", left_out("deconv.tanh"))
    yield Mutation("detector", ("spp.relu",), ("missing activation",), "no activation", left_out("spp.relu"))
    for name, changes in (
        ("nearest", {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}),
        ("corners aligned", {"coordinate_transformation_mode": "align_corners"}),
        ("asymmetric", {"coordinate_transformation_mode": "asymmetric"}),
        ("cubic", {"mode": "cubic"}),
    ):
        yield Mutation("detector", ("up",), ("upsampling rule", "rule"), name, attribute("up", **changes))
    yield Mutation(
        "detector",
        ("spp.pool0",),
        ("kernel size",),
        "smaller window",
        attribute("spp.pool0", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
    )
    yield Mutation(
        "detector",
        ("spp.pool1",),
        ("pooling rule",),
        "AveragePool",
        kind("spp.pool1", "AveragePool", kernel_shape=[5, 5], strides=[1, 1], pads=[2, 2, 2, 2]),
    )
    yield Mutation("detector", ("spp.concat",), ("order of branches",), "reversed", inputs("spp.concat", (2, 1, 0)))
    yield Mutation("detector", ("up.concat",), ("order of branches",), "reversed", inputs("up.concat", (1, 0)))
    yield Mutation(
        "detector",
        ("mix.pool",),
        ("pooling rule",),
        "MaxPool",
        kind("mix.pool", "MaxPool", kernel_shape=[2, 2], strides=[2, 2]),
    )
    yield Mutation(
        "detector",
        ("fine.boxes.turned", "fine.boxes.flat"),
        ("order of axes", "reshape"),
        "transposed otherwise",
        attribute("fine.boxes.turned", perm=[0, 3, 2, 1]),
    )
    yield Mutation(
        "detector",
        ("coarse.scores.turned", "coarse.scores.flat"),
        ("missing layer", "reshape", "order of axes"),
        "not transposed",
        left_out("coarse.scores.turned"),
    )
    yield Mutation(
        "detector", ("boxes.centers",), ("slice",), "the wrong part", weight("two", lambda w: np.array([3], np.int64))
    )
    yield Mutation(
        "detector", ("boxes.half",), ("slope or factor", "missing scale"), "whole extents", weight("half", np.ones_like)
    )
    yield Mutation("detector", ("boxes.low",), ("arithmetic",), "added", kind("boxes.low", "Add"))
    yield Mutation("detector", ("boxes",), ("order of branches",), "corners swapped", inputs("boxes", (1, 0)))
    yield Mutation("detector", ("boxes.sizes",), ("missing layer",), "no exponential", left_out("boxes.sizes"))
    yield Mutation("detector", ("scores",), ("axis",), "softmax over cells", attribute("scores", axis=1))
    yield Mutation("detector", ("scores",), ("activation",), "Sigmoid", kind("scores", "Sigmoid"))
    yield Mutation(
        "detector",
        ("fine.scores",),
        ("other weights",),
        "other weights of a head",
        weight("fine.scores.weight", random_like(9)),
    )


def of_encoders() -> Iterator[Mutation]:
    yield Mutation("encoder", ("placed",), ("missing bias", "missing branch"), "no places", left_out("placed"))
    yield Mutation("encoder", ("placed",), ("swapped channels",), "places reversed", weight("places", order_of(0)))
    for name in ("embedding.norm", "layer0.norm1", "layer1.norm2"):
        yield Mutation("encoder", (name,), ("epsilon",), "epsilon 1e-2", attribute(name, epsilon=1e-2))
    yield Mutation("encoder", ("layer0.norm2",), ("missing bias",), "no shift", inputs("layer0.norm2", (0, 1)))
    yield Mutation(
        "encoder",
        ("layer1.norm1",),
        ("normalization parameters",),
        "no scale",
        weight("layer1.norm1.scale", np.ones_like),
    )
    yield Mutation("encoder", ("layer0.norm1",), ("missing normalization",), "left out", left_out("layer0.norm1"))
    yield Mutation("encoder", ("layer0.attention.masked",), ("mask",), "no mask", left_out("layer0.attention.masked"))
    yield Mutation(
        "encoder",
        ("layer0.attention.masked",),
        ("mask",),
        "mask turned around",
        weight("mask", lambda m: np.where(m == 0, -1e9, 0).astype(np.float32)),
    )
    for place in range(2):
        own = f"layer{place}.attention"
        yield Mutation(
            "encoder", (f"{own}.shares",), ("axis",), "softmax over queries", attribute(f"{own}.shares", axis=2 - place)
        )
        yield Mutation(
            "encoder",
            (f"{own}.scaled",),
            ("slope or factor", "missing scale"),
            "another scale",
            weight(f"{own}.scale", lambda s: s**2) if place else left_out(f"{own}.scaled"),
        )
        yield Mutation(
            "encoder",
            (f"{own}.{'qv'[place]}.product",),
            ("transposed weights",),
            "weights transposed",
            weight(f"{own}.{'qv'[place]}.weight", lambda w: w.T),
        )
        yield Mutation(
            "encoder",
            (f"{own}.{'ko'[place]}" if not place else f"{own}.out",),
            ("missing bias",),
            "no bias",
            left_out(f"{own}.{'k' if not place else 'out'}"),
        )
        yield Mutation(
            "encoder",
            (f"layer{place}.sum{place + 1}",),
            ("missing branch",),
            "no shortcut",
            left_out(f"layer{place}.sum{place + 1}", 1),
        )
    yield Mutation(
        "encoder",
        ("layer0.attention.back", "layer0.attention.joined"),
        ("missing layer", "reshape", "order of axes"),
        "heads not turned back",
        left_out("layer0.attention.back"),
    )

    def wrong_heads(model: onnx.ModelProto) -> None:
        attribute("layer1.attention.q.heads", perm=[0, 1, 2, 3])(model)
        weight("layer1.attention.q.shape", lambda s: np.array([1, 4, 12, 8], np.int64))(model)

    yield Mutation(
        "encoder",
        ("layer1.attention.q.cut", "layer1.attention.q.heads"),
        ("reshape", "order of axes"),
        "heads cut by reshaping",
        wrong_heads,
    )

    def by_tanh(model: onnx.ModelProto) -> None:
        """GELU's other formula, in the place of the whole group."""
        own = "layer0.gelu"
        weights = {"cubic": 0.044715, "factor": (2 / np.pi) ** 0.5}
        for name, value in weights.items():
            model.graph.initializer.append(numpy_helper.from_array(np.array(value, np.float32), f"{own}.{name}"))

        def nodes(taken: list[str], made: list[str]) -> list[onnx.NodeProto]:
            return [
                helper.make_node("Mul", ["layer0.up", "layer0.up"], [f"{own}.square"]),
                helper.make_node("Mul", [f"{own}.square", "layer0.up"], [f"{own}.cube"]),
                helper.make_node("Mul", [f"{own}.cube", f"{own}.cubic"], [f"{own}.little"]),
                helper.make_node("Add", ["layer0.up", f"{own}.little"], [f"{own}.sum"]),
                helper.make_node("Mul", [f"{own}.sum", f"{own}.factor"], [f"{own}.inside"]),
                helper.make_node("Tanh", [f"{own}.inside"], made),
            ]

        replaced(f"{own}.erf", nodes)(model)

    yield Mutation(
        "encoder",
        ("layer0.gelu.erf", "layer0.gelu.more", "layer0.gelu", "layer0.gelu.twice", "layer0.gelu.scaled"),
        ("activation",),
        "GELU by tanh",
        by_tanh,
    )
    yield Mutation(
        "encoder",
        ("layer1.gelu.scaled",),
        ("slope or factor", "missing scale"),
        "another factor",
        weight("layer1.gelu.root", np.ones_like),
    )
    yield Mutation("encoder", ("pooled",), ("slice",), "the second token", weight("first", lambda p: p + 1))
    yield Mutation("encoder", ("pooler.tanh",), ("missing activation",), "no activation", left_out("pooler.tanh"))
    yield Mutation(
        "encoder",
        ("layer1.down.product",),
        ("other weights",),
        "other weights",
        weight("layer1.down.weight", random_like(5)),
    )
    yield Mutation(
        "encoder",
        ("layer0.up.product",),
        ("swapped channels",),
        "channels reversed",
        weight("layer0.up.weight", order_of(1)),
    )
    yield Mutation("encoder", ("classes",), ("missing bias",), "no bias", left_out("classes"))


def of_decoders() -> Iterator[Mutation]:
    def earlier_norm(model: onnx.ModelProto) -> None:
        """Behind the sum, and not in front of the attention."""
        left_out("layer0.norm1")(model)
        left_out("layer0.norm2")(model)

    yield Mutation("decoder", ("layer0.norm1",), ("missing normalization",), "norms not in front", earlier_norm)
    yield Mutation("decoder", ("layer1.norm2",), ("missing normalization",), "left out", left_out("layer1.norm2"))
    yield Mutation("decoder", ("final.norm",), ("missing normalization",), "left out", left_out("final.norm"))
    for name in ("layer0.norm2", "final.norm"):
        yield Mutation("decoder", (name,), ("epsilon",), "epsilon 1e-2", attribute(name, epsilon=1e-2))

    def by_root_mean_square(model: onnx.ModelProto) -> None:
        own = "layer1.norm1"
        for name, value in (("epsilon", np.float32(1e-5)), ("axes", np.array([-1], np.int64))):
            model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), f"{own}.{name}"))

        def nodes(taken: list[str], made: list[str]) -> list[onnx.NodeProto]:
            return [
                helper.make_node("Mul", [taken[0], taken[0]], [f"{own}.squares"]),
                helper.make_node("ReduceMean", [f"{own}.squares", f"{own}.axes"], [f"{own}.means"], keepdims=1),
                helper.make_node("Add", [f"{own}.means", f"{own}.epsilon"], [f"{own}.sum"]),
                helper.make_node("Sqrt", [f"{own}.sum"], [f"{own}.root"]),
                helper.make_node("Div", [taken[0], f"{own}.root"], [f"{own}.divided"]),
                helper.make_node("Mul", [f"{own}.divided", taken[1]], [f"{own}.scaled"]),
                helper.make_node("Add", [f"{own}.scaled", taken[2]], made),
            ]

        replaced(own, nodes)(model)

    yield Mutation("decoder", ("layer1.norm1",), ("normalization rule",), "RMS normalization", by_root_mean_square)
    for name, what, change in (
        ("layer0.attention.masked", "mask transposed", weight("mask", lambda m: m.swapaxes(2, 3))),
        (
            "layer0.attention.masked",
            "mask off by one",
            weight(
                "mask", lambda m: np.where(np.tril(np.ones(m.shape[2:]), 1) > 0, 0, -1e9).astype(np.float32)[None, None]
            ),
        ),
        ("layer1.attention.masked", "no mask", left_out("layer1.attention.masked")),
    ):
        yield Mutation("decoder", (name,), ("mask",), what, change)

    def every_other(name: str) -> Change:
        def nodes(taken: list[str], made: list[str]) -> list[onnx.NodeProto]:
            return [
                helper.make_node("Gather", [taken[0], f"{name}.even"], [made[0]], axis=3),
                helper.make_node("Gather", [taken[0], f"{name}.odd"], [made[1]], axis=3),
            ]

        def change(model: onnx.ModelProto) -> None:
            for at, word in enumerate(("even", "odd")):
                model.graph.initializer.append(numpy_helper.from_array(np.arange(at, 16, 2), f"{name}.{word}"))
            replaced(name, nodes)(model)

        return change

    for place, part in ((0, "q"), (1, "k")):
        own = f"layer{place}.attention.{part}"
        yield Mutation(
            "decoder",
            (f"{own}.low", f"{own}.high", f"{own}.halves"),
            ("rotary layout",),
            "every other number",
            every_other(f"{own}.halves"),
        )
        yield Mutation(
            "decoder",
            (f"{own}.minus", f"{own}.half_turned"),
            ("rotary layout", "missing layer", "arithmetic"),
            "no sign",
            left_out(f"{own}.minus"),
        )
        yield Mutation(
            "decoder",
            (f"{own}.half_turned",),
            ("order of branches", "rotary layout"),
            "halves swapped",
            inputs(f"{own}.half_turned", (1, 0)),
        )
        yield Mutation("decoder", (f"{own}.rotated",), ("missing branch",), "no sine", left_out(f"{own}.rotated"))
        yield Mutation(
            "decoder", (f"{own}.heads",), ("order of axes", "reshape"), "heads by reshaping", _heads_by_reshaping(own)
        )
    for place in range(2):
        own = f"layer{place}"
        yield Mutation(
            "decoder",
            (f"{own}.attention.scaled",),
            ("slope or factor", "missing scale"),
            "another scale",
            weight(f"{own}.attention.scale", np.sqrt),
        )
        yield Mutation(
            "decoder",
            (f"{own}.attention.{'kv'[place]}.product",),
            ("transposed weights",),
            "weights transposed",
            weight(f"{own}.attention.{'kv'[place]}.weight", lambda w: w.T),
        )
        yield Mutation(
            "decoder",
            (f"{own}.attention.shares",),
            ("axis",),
            "softmax over another axis",
            attribute(f"{own}.attention.shares", axis=1 + place),
        )
        yield Mutation(
            "decoder",
            (f"{own}.gate.act.sigmoid",),
            ("activation",),
            "Tanh in the gate",
            kind(f"{own}.gate.act.sigmoid", "Tanh"),
        )
        yield Mutation(
            "decoder",
            (f"{own}.{'up' if place else 'down'}",),
            ("missing bias",),
            "no bias",
            left_out(f"{own}.{'up' if place else 'down'}"),
        )
        yield Mutation(
            "decoder",
            (f"{own}.sum{2 - place}",),
            ("missing branch",),
            "no shortcut",
            left_out(f"{own}.sum{2 - place}", 1),
        )
        yield Mutation(
            "decoder",
            (f"{own}.gated",),
            ("missing scale", "arithmetic"),
            "added, not multiplied" if place else "no gate",
            kind(f"{own}.gated", "Add") if place else left_out(f"{own}.gated"),
        )
    yield Mutation("decoder", ("logits",), ("other weights",), "other weights", weight("head.weight", random_like(6)))
    yield Mutation(
        "decoder",
        ("layer0.up.product",),
        ("other weights",),
        "other weights",
        weight("layer0.up.weight", random_like(7)),
    )


def _heads_by_reshaping(own: str) -> Change:
    def change(model: onnx.ModelProto) -> None:
        attribute(f"{own}.heads", perm=[0, 1, 2, 3])(model)
        weight(f"{own}.shape", lambda s: np.array([1, 2, 10, 16], np.int64))(model)

    return change


def all_mutations() -> list[Mutation]:
    sources = (of_convolutions, of_pictures, of_detectors, of_encoders, of_decoders)
    return [mutation for source in sources for mutation in source()]
