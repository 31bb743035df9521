"""How many layers are paired rightly, by correspondences that are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnx
from diff_mutations import Change, attribute, kind, weight
from diff_networks import NETWORKS
from diff_pairs import inputs_of
from diff_variants import made, variant

from mlmodelscope.layer.alignment import Seen, align
from mlmodelscope_worker.layers import sums

EARLY: dict[str, Change] = {
    "cnn": kind("stem.relu", "LeakyRelu", alpha=0.1),
    "detector": attribute("spp.pool0", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
    "encoder": attribute("embedding.norm", epsilon=0.1),
    "decoder": weight("layer0.norm1.scale", lambda values: values[::-1]),
}
"""A fault in each network after which nearly all numbers are others."""


@dataclass(frozen=True)
class Judged:
    right: int
    count: int
    wrong: Sequence[tuple[str, str | None, set[str]]]
    """(layer, what it was paired with, what it should have been paired with)."""


def judged_pairing(network: str, way: str, fault: Change | None = None) -> Judged:
    """Layers with a counterpart must have it, and those without one must stand alone."""

    def changed(model: onnx.ModelProto) -> onnx.ModelProto:
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        assert fault is not None
        fault(copy)
        return copy

    model = NETWORKS[network]()
    other = variant(network, way, changed if fault is not None else None)
    first, second = seen(model), seen(other.model)
    names = [each.names[0] for each in first], [each.names[0] for each in second]
    partner = {
        names[0][one]: names[1][place] if place is not None else None
        for one, place in align(first, second)
        if one is not None
    }
    wrong = []
    for name, found in partner.items():
        known = other.truth[name]
        if found not in known and not (found is None and not known):
            wrong.append((name, found, known))
    return Judged(len(partner) - len(wrong), len(partner), wrong)


def seen(model: onnx.ModelProto) -> list[Seen]:
    """Every layer in the order of execution, as `diff` knows it."""
    import onnxruntime

    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    outputs = {each.name for each in model.graph.output}
    names = made(model)
    whole.graph.output.extend(helper_of(name) for name in names if name not in outputs)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(whole.SerializeToString(), options)
    values = dict(zip(names, session.run(names, next(iter(inputs_of(model)))), strict=True))
    layers = {name: node for node in model.graph.node for name in node.output}
    return [
        Seen(
            (name, layers[name].name) if layers[name].name != name else (name,),
            layers[name].op_type,
            tuple(np.shape(values[name])),
            tuple(sums(values[name])),
        )
        for name in names
    ]


def helper_of(name: str) -> onnx.ValueInfoProto:
    return onnx.ValueInfoProto(name=name)
