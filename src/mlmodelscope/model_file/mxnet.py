"""MXNet: a symbol as JSON, whose nodes without an operator are inputs and weights, and the parameters beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from mlmodelscope.model_file.graph import Graph, Node
from mlmodelscope.model_file.limit import MAX_NAME_BYTES, MAX_RANK, MAX_TENSORS, Budget, clean, damaged, listed
from mlmodelscope.model_file.model_file import ModelFile, ModelFileError, TensorInfo
from mlmodelscope.model_file.network import Known, Layer, Network, Role, Value, Weight
from mlmodelscope.tensor_file.mxnet_params import read_mxnet_params
from mlmodelscope.tensor_file.tensor import Tensor

_MOST_BYTES = 1 << 26
_TYPES = {"0": "float32", "1": "float64", "2": "float16", "3": "uint8", "4": "int32", "5": "int8", "6": "int64"}
_WEIGHT_ENDS = ("_weight", "_bias", "_gamma", "_beta", "_moving_mean", "_moving_var", "_running_mean", "_running_var")
_STATISTICS = ("_moving_mean", "_moving_var", "_running_mean", "_running_var", "_moving_inv_var", "_moving_avg")
_LOSSES = ("SoftmaxOutput", "LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput", "SVMOutput")
_CHANNELS_SECOND = ("Convolution", "Deconvolution", "Pooling", "BatchNorm", "LRN")


def is_mxnet_symbol(data: memoryview) -> bool:
    """JSON that begins as a symbol does: its nodes come first."""
    return re.match(rb"\s*\{\s*\"nodes\"\s*:\s*\[", bytes(data[:256])) is not None and b'"op"' in bytes(data[:4096])


def describe_mxnet(data: memoryview) -> ModelFile:
    return read_mxnet_network(data).file


def read_mxnet_network(data: memoryview, parameters: memoryview | None = None) -> Network:
    symbol = _load(data)
    nodes = _nodes(symbol)
    stored = read_mxnet_params(parameters) if parameters is not None else None
    names = _names(nodes)
    weights = dict(_weights(nodes, stored))
    layers = tuple(
        Layer(node["name"], node["op"], _inputs(node, names), (names[place],), _attributes(node))
        for place, node in enumerate(nodes)
        if node["op"] != "null"
    )
    labels = {each for layer in layers if layer.kind in _LOSSES for each in layer.inputs[1:]}
    given = [node for node in nodes if node["op"] == "null" and node["name"] not in {*weights, *labels}]
    if stored is None:
        given = [node for node in given if not node["name"].endswith(_WEIGHT_ENDS)]
    graph = Graph(_graph(layers))
    heads = _heads(symbol, nodes)
    if len(given) > MAX_TENSORS or len(heads) > MAX_TENSORS:
        raise damaged("it has too many inputs or outputs")
    notes = [] if stored is not None else ["its weights are in a .params file, which must lie beside it"]
    lost = [node["name"] for node in given if node["name"].endswith(_WEIGHT_ENDS)]
    if lost:
        notes.append(f"the parameters have no value for {listed(lost)}")
    file = ModelFile(
        format="mxnet",
        framework="mxnet",
        inputs=tuple(_input(node, graph) for node in given),
        outputs=tuple(TensorInfo(shown, "float32" if stored else None, None) for shown, _ in heads),
        producer=_version(symbol),
        version="symbol JSON",
        ends_in_softmax=_ends_in_softmax(graph, heads),
        labels=(),
        metadata={},
        notes=tuple(notes),
    )
    tensors = {tensor.name: Known(tensor.element_type, tensor.shape) for tensor in file.inputs}
    return Network(file, layers, weights, tensors)


def _load(data: memoryview) -> dict[str, Any]:
    if len(data) > _MOST_BYTES:
        raise ModelFileError(f"it has {len(data):,} bytes, far too many for a graph without weights")
    try:
        symbol = json.loads(bytes(data))
    except (ValueError, RecursionError) as error:
        raise damaged("it is not JSON") from error
    if not isinstance(symbol, dict) or not isinstance(symbol.get("nodes"), list):
        raise damaged("it has no nodes")
    return symbol


def _nodes(symbol: dict[str, Any]) -> list[dict[str, Any]]:
    """Each with name, op, inputs as places and the number of the output, and attributes as texts."""
    budget, found = Budget(), []
    for place, node in enumerate(symbol["nodes"]):
        budget.spend()
        if not isinstance(node, dict) or not all(isinstance(node.get(key), str) for key in ("op", "name")):
            raise damaged(f"node {place} has no name or no operator")
        if len(node["name"]) > MAX_NAME_BYTES or len(node["op"]) > MAX_NAME_BYTES:
            raise damaged(f"node {place} has a name that is too long")
        sources = []
        for source in node.get("inputs") or ():
            budget.spend()
            pair = source[:2] if isinstance(source, list) else ()
            if len(pair) != 2 or not all(type(one) is int and 0 <= one < max(place, 1 << 10) for one in pair):
                raise damaged(f"node {place} takes something from nowhere")
            if pair[0] >= place:
                raise damaged(f"node {place} takes something from a node behind it")
            sources.append((pair[0], pair[1]))
        told: dict[str, Any] = {}
        for key in ("attr", "param", "attrs"):
            if isinstance(node.get(key), dict):
                told |= node[key]
        texts = {str(key): value for key, value in told.items() if isinstance(value, str)}
        found.append({"name": node["name"], "op": node["op"], "inputs": sources, "attributes": texts})
    return found


def _names(nodes: list[dict[str, Any]]) -> list[str]:
    """What each node gives, by a name that no other node has."""
    seen: dict[str, int] = {}
    found = []
    for node in nodes:
        count = seen[node["name"]] = seen.get(node["name"], 0) + 1
        found.append(node["name"] if count == 1 else f"{node['name']}#{count}")
    return found


def _inputs(node: dict[str, Any], names: list[str]) -> tuple[str, ...]:
    return tuple(names[place] if number == 0 else f"{names[place]}:{number}" for place, number in node["inputs"])


def _attributes(node: dict[str, Any]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for key, text in node["attributes"].items():
        if re.fullmatch(r"[\[(]\s*(-?\d{1,12}\s*[,L]*\s*)*[\])]", text[:200]):
            found[key] = tuple(map(int, re.findall(r"-?\d+", text[:200])))
        elif re.fullmatch(r"-?\d{1,12}", text):
            found[key] = int(text)
        else:
            found[key] = text[:MAX_NAME_BYTES]
    return found


def _weights(nodes: list[dict[str, Any]], stored: Mapping[str, Tensor] | None) -> Iterator[tuple[str, Weight]]:
    """Nodes without an operator that the parameters have; without parameters, those whose name says so."""
    for node in nodes:
        name = node["name"]
        if node["op"] != "null":
            continue
        if stored is None:
            if name.endswith(_WEIGHT_ENDS):
                shape = _shape(node["attributes"].get("__shape__"))
                if shape is not None and None not in shape:
                    yield name, Weight(name, "float32", tuple(size or 0 for size in shape), _role(name))
            continue
        tensor = stored.get(name) or stored.get(f"aux:{name}")
        if tensor is not None:
            yield name, Weight(name, tensor.element_type, tensor.shape, _role(name), tensor.data)


def _role(name: str) -> Role:
    return "statistic" if name.endswith(_STATISTICS) else "parameter"


def _shape(text: Any) -> tuple[int | None, ...] | None:
    if not isinstance(text, str) or re.fullmatch(r"[\[(][\d\s,L-]{0,400}[\])]", text) is None:
        return None
    sizes = [int(size) for size in re.findall(r"-?\d{1,12}", text)]
    if len(sizes) > MAX_RANK:
        raise damaged("an input has too many axes")
    return tuple(size if size > 0 else None for size in sizes)


def _input(node: dict[str, Any], graph: Graph) -> TensorInfo:
    shape = _shape(node["attributes"].get("__shape__"))
    kind = _TYPES.get(node["attributes"].get("__dtype__", ""))
    return TensorInfo(node["name"], kind, shape, graph.input_layout(node["name"], len(shape) if shape else 4))


def _graph(layers: tuple[Layer, ...]) -> Iterator[Node]:
    for layer in layers:
        layout = layer.attributes.get("layout", "NCHW") if layer.kind in _CHANNELS_SECOND else None
        kind = "softmax" if layer.kind in ("SoftmaxOutput", "SoftmaxActivation") else layer.kind
        yield Node(kind, layer.inputs, layer.outputs, None, layout if layout in ("NCHW", "NHWC") else None)


def _heads(symbol: dict[str, Any], nodes: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """(as MXNet calls the output, the node's name)."""
    found = []
    heads = symbol.get("heads") if isinstance(symbol.get("heads"), list) else []
    pairs = [head[:2] for head in heads or () if isinstance(head, list) and len(head) >= 2]
    counts = [place for place, _ in pairs]
    for place, number in pairs:
        if not (type(place) is int and type(number) is int and 0 <= place < len(nodes)):
            raise damaged("one of its outputs comes from nowhere")
        name = nodes[place]["name"]
        numbered = number > 0 or counts.count(place) > 1
        found.append((f"{name}_output{number}" if numbered else f"{name}_output", name))
    return found


def _ends_in_softmax(graph: Graph, heads: list[tuple[str, str]]) -> bool | None:
    return graph.ends_in_softmax(heads[0][1]) if heads else None


def _version(symbol: dict[str, Any]) -> str | None:
    attributes = symbol.get("attrs")
    told = attributes.get("mxnet_version") if isinstance(attributes, dict) else None
    number = told[1] if isinstance(told, list) and len(told) > 1 else None
    if type(number) is not int or not 0 < number < 10**7:
        return None
    return clean(f"mxnet {number // 10000}.{number // 100 % 100}.{number % 100}")
