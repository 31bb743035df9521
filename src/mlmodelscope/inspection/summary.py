"""A network in numbers: parameters, memory and operations of each layer, and of all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mlmodelscope.analysis.cost.cost import layer_cost
from mlmodelscope.inspection.blocks import Block, blocks_of
from mlmodelscope.inspection.shapes import Shapes, infer, settle_inputs
from mlmodelscope.inspection.spelling import spelled_as_onnx
from mlmodelscope.model_file.describe import read_network
from mlmodelscope.model_file.limit import listed
from mlmodelscope.model_file.network import Layer, Network, size_bytes

Whole = tuple[int, ...]


@dataclass(frozen=True)
class LayerSummary:
    name: str
    kind: str
    domain: str
    parameters: int
    statistics: int
    weight_bytes: int
    weights: tuple[tuple[str, Whole, str], ...]
    """Name, shape and element type of each."""
    outputs: tuple[Whole | None, ...]
    flops: int | None
    """None where shapes are not known, or we have no rule for the operator."""


@dataclass(frozen=True)
class Summary:
    network: Network
    layers: tuple[LayerSummary, ...]
    operators: tuple[tuple[str, int], ...]
    """How often each is used, the most frequent first."""
    parameters: int
    statistics: int
    """What normalization has counted, such as running means: no gradient has made them."""
    constants: int
    weight_bytes: int
    by_type: Mapping[str, int]
    """Parameters by element type."""
    largest_activation: tuple[str, Whole, int] | None
    """Tensor, shape and bytes, of those whose shape is known."""
    unknown_shapes: int
    """Of tensors that pass between layers."""
    flops: int | None
    """Of the layers whose operations are known; None where no layer's are."""
    uncounted: tuple[tuple[str, int], ...]
    """Operators whose operations are not known."""
    blocks: tuple[Block, ...]
    supposed: tuple[str, ...]
    """What was supposed for shapes that the file leaves open."""


def inspect_file(
    path: Path, weights: Path | None = None, key: str | None = None, shapes: Mapping[str, Whole] | None = None
) -> Summary:
    return summarize(read_network(path, weights, key), shapes or {})


def summarize(network: Network, given: Mapping[str, Whole]) -> Summary:
    """`given` are shapes of inputs, by name, or by the empty name for the only one."""
    inputs, supposed = settle_inputs(network, given)
    known = infer(network, inputs)
    layers = tuple(_layer(network, layer, known) for layer in network.layers)
    roles: Counter[str] = Counter()
    types: Counter[str] = Counter()
    for weight in network.weights.values():
        roles[weight.role] += weight.count
        if weight.role == "parameter":
            types[weight.element_type] += weight.count
    counts = Counter(f"{layer.domain}.{layer.kind}" if layer.domain else layer.kind for layer in network.layers)
    told = [layer.flops for layer in layers if layer.flops is not None]
    uncounted = Counter(layer.kind for layer in layers if layer.flops is None and layer.kind)
    return Summary(
        network,
        layers,
        tuple(sorted(((kind, count) for kind, count in counts.items() if kind), key=lambda one: (-one[1], one[0]))),
        roles["parameter"],
        roles["statistic"],
        roles["constant"],
        sum(weight.size_bytes for weight in network.weights.values()),
        dict(types.most_common()),
        _largest(network, known),
        sum(known.of(name) is None for layer in network.layers for name in layer.outputs),
        sum(told) if told else None,
        tuple(uncounted.most_common()),
        tuple(blocks_of(network, layers_parameters(layers))),
        tuple(supposed),
    )


def layers_parameters(layers: Sequence[LayerSummary]) -> dict[str, int]:
    found: dict[str, int] = {}
    for layer in layers:
        found[layer.name] = found.get(layer.name, 0) + layer.parameters
    return found


def _layer(network: Network, layer: Layer, known: Shapes) -> LayerSummary:
    weights = network.weights_of(layer)
    outputs = tuple(known.of(name) for name in layer.outputs)
    return LayerSummary(
        layer.name,
        layer.kind,
        layer.domain,
        sum(weight.count for weight in weights if weight.role == "parameter"),
        sum(weight.count for weight in weights if weight.role == "statistic"),
        sum(weight.size_bytes for weight in weights),
        tuple((weight.name, weight.shape, weight.element_type) for weight in weights),
        outputs,
        _flops(network, layer, outputs, known),
    )


def _flops(network: Network, layer: Layer, outputs: Sequence[Whole | None], known: Shapes) -> int | None:
    """By the format's own word, or by ONNX's where that says more."""
    if layer.domain not in ("", "com.microsoft") or not outputs or None in outputs:
        return None
    whole = [shape for shape in outputs if shape is not None]
    for each in (layer, spelled_as_onnx(network.file.format, layer)):
        inputs = known.all([name for name in each.inputs if name])
        if inputs is not None:
            found = layer_cost(each.kind, {"inputs": inputs, "outputs": whole, "element_type": "float32"}).flops
            if found is not None:
                return found
    return None


def _largest(network: Network, known: Shapes) -> tuple[str, Whole, int] | None:
    best: tuple[str, Whole, int] | None = None
    for layer in network.layers:
        for name in layer.outputs:
            shape = known.of(name)
            told = network.tensors.get(name)
            # Where the file does not say, what passes is of the type that comes in.
            kind = told.element_type if told is not None and told.element_type else _usual(network)
            size = size_bytes(kind, shape)
            if shape is not None and size is not None and (best is None or size > best[2]):
                best = (name, shape, size)
    return best


def _usual(network: Network) -> str | None:
    kinds = {
        tensor.element_type for tensor in network.file.inputs if (tensor.element_type or "").startswith(("f", "b"))
    }
    return kinds.pop() if len(kinds) == 1 else None


def notes_of(summary: Summary) -> list[str]:
    notes = [*summary.network.file.notes, *summary.network.notes, *summary.supposed]
    if summary.uncounted and summary.flops is not None:
        kinds = [kind for kind, _ in summary.uncounted]
        notes.append(f"operations of {listed(kinds)} are not counted: their shapes or their cost are not known")
    return notes


def to_json(summary: Summary) -> dict[str, Any]:
    file = summary.network.file
    largest = summary.largest_activation
    return {
        "format": file.format,
        "framework": file.framework,
        "producer": file.producer,
        "version": file.version,
        "opsets": dict(summary.network.opsets),
        "inputs": [asdict(tensor) for tensor in file.inputs],
        "outputs": [asdict(tensor) for tensor in file.outputs],
        "parameters": summary.parameters,
        "statistics": summary.statistics,
        "constants": summary.constants,
        "parameters_by_type": dict(summary.by_type),
        "weight_bytes": summary.weight_bytes,
        "largest_activation": None
        if largest is None
        else {"name": largest[0], "shape": list(largest[1]), "size_bytes": largest[2]},
        "unknown_shapes": summary.unknown_shapes,
        "flops": summary.flops,
        "not_counted": dict(summary.uncounted),
        "operators": dict(summary.operators),
        "blocks": [asdict(block) for block in summary.blocks],
        "layers": [
            {
                "name": layer.name,
                "kind": layer.kind or None,
                "domain": layer.domain or None,
                "parameters": layer.parameters,
                "statistics": layer.statistics,
                "weight_bytes": layer.weight_bytes,
                "weights": [
                    {"name": name, "shape": list(shape), "element_type": kind} for name, shape, kind in layer.weights
                ],
                "outputs": [list(shape) if shape is not None else None for shape in layer.outputs],
                "flops": layer.flops,
            }
            for layer in summary.layers
        ],
        "notes": notes_of(summary),
    }
