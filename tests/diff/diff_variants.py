"""The same network written in another way, with the layers that correspond known: to measure how layers are paired."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import onnx
from diff_networks import NETWORKS
from onnx import helper, numpy_helper

Truth = dict[str, set[str]]
"""The layers of the variant that hold the numbers of a layer of the original; none where no layer does."""


@dataclass(frozen=True)
class Written:
    model: onnx.ModelProto
    truth: Truth

    def then(self, change: Callable[[onnx.ModelProto], Written]) -> Written:
        """A further change, which knows only the layers of this variant."""
        after = change(self.model)
        truth = {name: {new for each in known for new in after.truth[each]} for name, known in self.truth.items()}
        return Written(after.model, truth)


def original(model: onnx.ModelProto) -> Written:
    return Written(model, {name: {name} for name in made(model)})


def made(model: onnx.ModelProto) -> list[str]:
    return [name for node in model.graph.node for name in node.output if name]


def _copy(model: onnx.ModelProto) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    return copy


def _same(model: onnx.ModelProto) -> Truth:
    return {name: {name} for name in made(model)}


def _set_nodes(model: onnx.ModelProto, nodes: Iterable[onnx.NodeProto]) -> None:
    kept = [onnx.NodeProto.FromString(each.SerializeToString()) for each in nodes]
    del model.graph.node[:]
    model.graph.node.extend(kept)


def renamed(model: onnx.ModelProto) -> Written:
    """Every node and tensor has a name that tells nothing; what goes in and comes out keeps its own."""
    copy = _copy(model)
    kept = {each.name for each in (*copy.graph.input, *copy.graph.output, *copy.graph.initializer)} | {""}
    names: dict[str, str] = {}
    for number, node in enumerate(copy.graph.node):
        node.name = f"op_{number}"
        for names_of in (node.input, node.output):
            for place, name in enumerate(names_of):
                if name not in kept:
                    names[name] = f"t{hashlib.sha256(name.encode()).hexdigest()[:10]}"
                    names_of[place] = names[name]
    return Written(copy, {name: {names.get(name, name)} for name in made(model)})


def fused(model: onnx.ModelProto) -> Written:
    """Normalizations are folded into the convolutions before them, whose own numbers no layer has any more."""
    copy = _copy(model)
    truth = _same(copy)
    values = {each.name: numpy_helper.to_array(each) for each in copy.graph.initializer}
    makers = {node.output[0]: node for node in copy.graph.node}
    users: dict[str, int] = {}
    for node in copy.graph.node:
        for name in node.input:
            users[name] = users.get(name, 0) + 1
    kept = []
    for node in copy.graph.node:
        before = makers.get(node.input[0]) if node.input else None
        if node.op_type != "BatchNormalization" or before is None or before.op_type != "Conv":
            kept.append(node)
            continue
        if users[before.output[0]] > 1:
            kept.append(node)
            continue
        scale, shift, mean, variance = (values[name] for name in node.input[1:])
        factor = scale / np.sqrt(variance + 1e-5)
        bias = values[before.input[2]] if len(before.input) > 2 else np.zeros_like(mean)
        folded = values[before.input[1]] * factor.reshape(-1, *[1] * (values[before.input[1]].ndim - 1))
        own = before.output[0]
        copy.graph.initializer.append(numpy_helper.from_array(folded, f"{own}.folded"))
        copy.graph.initializer.append(numpy_helper.from_array((bias - mean) * factor + shift, f"{own}.folded.bias"))
        del before.input[1:]
        before.input.extend([f"{own}.folded", f"{own}.folded.bias"])
        before.output[0] = node.output[0]
        truth[own] = set()
    _set_nodes(copy, kept)
    return Written(copy, truth)


def split(model: onnx.ModelProto) -> Written:
    """Layer normalizations are written out in the operators that they are made of."""
    copy = _copy(model)
    truth, nodes = _same(copy), []
    copy.graph.initializer.append(numpy_helper.from_array(np.float32(1e-5), "split.epsilon"))
    copy.graph.initializer.append(numpy_helper.from_array(np.float32(2), "split.two"))
    copy.graph.initializer.append(numpy_helper.from_array(np.array([-1], np.int64), "split.last"))
    for node in copy.graph.node:
        if node.op_type != "LayerNormalization":
            nodes.append(node)
            continue
        taken, scale, shift = node.input
        own = node.output[0]
        steps = (
            ("ReduceMean", [taken, "split.last"], "mean"),
            ("Sub", [taken, f"{own}.mean"], "centered"),
            ("Pow", [f"{own}.centered", "split.two"], "squares"),
            ("ReduceMean", [f"{own}.squares", "split.last"], "variance"),
            ("Add", [f"{own}.variance", "split.epsilon"], "more"),
            ("Sqrt", [f"{own}.more"], "root"),
            ("Div", [f"{own}.centered", f"{own}.root"], "even"),
            ("Mul", [f"{own}.even", scale], "scaled"),
        )
        nodes += [helper.make_node(kind, given, [f"{own}.{end}"], name=f"{own}.{end}") for kind, given, end in steps]
        nodes.append(helper.make_node("Add", [f"{own}.scaled", shift], [own], name=own))
    _set_nodes(copy, nodes)
    return Written(copy, truth)


_AS_IT_IS = ("Relu", "LeakyRelu", "HardSwish", "Sigmoid", "Tanh")
_CHANNELS_FIRST = ("Conv", "BatchNormalization", "MaxPool", "AveragePool", "ConvTranspose", "Resize")


def channels_last(model: onnx.ModelProto) -> Written:
    """Pictures pass between the layers as NHWC; only what needs channels first is turned for it, and turned back."""
    copy = _copy(model)
    truth, nodes = _same(copy), []
    pictures = _pictures(copy)
    turned: set[str] = set()

    def transposed(name: str, order: tuple[int, ...], end: str) -> str:
        nodes.append(helper.make_node("Transpose", [name], [f"{name}.{end}"], name=f"{name}.{end}", perm=order))
        return f"{name}.{end}"

    def first(name: str, user: str) -> str:
        """The tensor with its channels first."""
        return transposed(name, (0, 3, 1, 2), f"first.for.{user}") if name in turned else name

    for node in copy.graph.node:
        own = node.output[0]
        if own in pictures and node.op_type in _AS_IT_IS and node.input[0] in turned:
            nodes.append(node)
            turned.add(own)
            continue
        if own in pictures and node.op_type in ("Add", "Mul") and all(each in turned for each in node.input):
            nodes.append(node)
            turned.add(own)
            continue
        for place, name in enumerate(node.input):
            node.input[place] = first(name, own) if name else name
        if node.op_type not in _CHANNELS_FIRST or own not in pictures:
            nodes.append(node)
            continue
        node.output[0] = f"{own}.first"
        nodes.append(node)
        nodes.append(helper.make_node("Transpose", [f"{own}.first"], [own], name=f"{own}.last", perm=(0, 2, 3, 1)))
        turned.add(own)
        truth[own] = {own, f"{own}.first"}
    for name, known in truth.items():
        known |= {made for node in nodes for made in node.output if made.startswith(f"{name}.first.for.")}
    _set_nodes(copy, nodes)
    return Written(copy, truth)


def _pictures(model: onnx.ModelProto) -> set[str]:
    """Tensors of four axes that no node but those for pictures takes or gives."""
    bare = _copy(model)
    for output in bare.graph.output:
        output.type.tensor_type.ClearField("shape")
    seen = onnx.shape_inference.infer_shapes(bare)
    outputs = {each.name for each in model.graph.output}
    shapes = {each.name: len(each.type.tensor_type.shape.dim) for each in seen.graph.value_info}
    return {name for name, rank in shapes.items() if rank == 4 and name not in outputs}


def detoured(model: onnx.ModelProto) -> Written:
    """Every third tensor goes through an operator that changes nothing."""
    copy = _copy(model)
    truth, nodes, place = _same(copy), [], 0
    outputs = {each.name for each in copy.graph.output}
    for node in copy.graph.node:
        nodes.append(node)
        for number, name in enumerate(node.output):
            place += 1
            if place % 3 or name in outputs or not name:
                continue
            node.output[number] = f"{name}.bare"
            nodes.append(helper.make_node("Identity", [f"{name}.bare"], [name], name=f"{name}.detour"))
            truth[name] = {name, f"{name}.bare"}
    _set_nodes(copy, nodes)
    return Written(copy, truth)


def shuffled(model: onnx.ModelProto) -> Written:
    """Branches run in another order."""
    copy = _copy(model)
    random = np.random.default_rng(5)
    known = {each.name for each in (*copy.graph.input, *copy.graph.initializer)} | {""}
    waiting, nodes = list(copy.graph.node), []
    while waiting:
        ready = [node for node in waiting if all(name in known for name in node.input)]
        node = ready[int(random.integers(len(ready)))]
        waiting.remove(node)
        nodes.append(node)
        known.update(node.output)
    _set_nodes(copy, nodes)
    return Written(copy, _same(copy))


WAYS: Mapping[str, tuple[Callable[[onnx.ModelProto], Written], ...]] = {
    "other names": (renamed,),
    "normalizations folded": (fused, renamed),
    "normalizations written out": (split, renamed),
    "channels last": (channels_last, renamed),
    "with detours": (detoured, renamed),
    "another order": (shuffled, renamed),
    "all together": (fused, split, channels_last, detoured, shuffled, renamed),
}


def variant(network: str, way: str, changed: Callable[[onnx.ModelProto], onnx.ModelProto] | None = None) -> Written:
    """A network in another way; `changed` plants a fault in it first, which leaves the layers what they are."""
    model = NETWORKS[network]()
    written = original(model if changed is None else changed(model))
    for change in WAYS[way]:
        written = written.then(change)
    onnx.checker.check_model(written.model)
    return written
