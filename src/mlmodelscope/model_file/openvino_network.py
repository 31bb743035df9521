"""OpenVINO IR as a network: layers with the shapes of their ports, constants with their numbers in the .bin file."""

from __future__ import annotations

import re
from dataclasses import replace
from math import prod
from xml.etree.ElementTree import Element

from mlmodelscope.model_file.limit import MAX_RANK, damaged, listed
from mlmodelscope.model_file.network import Known, Layer, Network, Role, Weight
from mlmodelscope.model_file.openvino import ELEMENT_TYPES, describe_openvino, parse_ir, shape_of_port

_NO_LAYERS = ("Parameter", "Result", "Const")
_PARAMETER_TYPES = re.compile(r"(b?float|u?int[48]$)")
_NUMBER = re.compile(r"[0-9]{1,18}")
_BITS = re.compile(r"\d+$")
_STATISTICS = {"BatchNormInference": (3, 4)}
_SETTINGS = ("FakeQuantize", "Reshape", "Transpose", "Interpolate", "Pad", "Clamp", "StridedSlice", "Broadcast")
"""What these take behind their first input are no parameters, whatever type it has."""


def read_openvino_network(data: memoryview, weights: memoryview | None = None) -> Network:
    file = describe_openvino(data)
    net = parse_ir(data)
    elements = net.findall("layers/layer")
    sources = _sources(net)
    stored: dict[str, Weight] = {}
    renamed: dict[str, str] = {}
    tensors: dict[str, Known] = {}
    layers: list[Layer] = []
    lost = 0
    for element in elements:
        kind, name, number = element.get("type", ""), element.get("name", ""), element.get("id", "")
        outputs = _outputs(element, name, number)
        renamed.update(outputs)
        inputs = tuple(renamed.get(sources.get((number, port.get("id", "")), ""), "") for port in _ports(element))
        if kind == "Const":
            weight = _constant(element, name, weights)
            lost += weight.data is None
            stored[name] = weight
        elif kind == "Convert" and inputs and inputs[0] in stored:  # weights that are stored in fewer bits
            renamed.update(dict.fromkeys(outputs, inputs[0]))
        elif kind not in _NO_LAYERS:
            layers.append(Layer(name, kind, inputs, tuple(outputs.values())))
        for port in element.findall("output/port"):
            told = ELEMENT_TYPES.get(port.get("precision", "").lower())
            tensors[outputs[f"{number}:{port.get('id', '')}"]] = Known(told, shape_of_port(port))
    for tensor in file.inputs:
        tensors.setdefault(tensor.name, Known(tensor.element_type, tensor.shape))
    notes = []
    if weights is not None and lost:
        notes.append(f"the .bin file ends before {lost:,} of the weights: the two files may not belong together")
    bodies = [element.get("type", "") for element in elements if element.find("body") is not None]
    if bodies:
        notes.append(f"what lies inside of {listed(sorted(set(bodies)))} is not counted")
    found = _without_missing(file.notes) if weights is not None else file.notes
    kept = Network(file, tuple(layers), _with_roles(layers, stored), tensors, notes=tuple(notes))
    return kept if found == file.notes else _noted(kept, found)


def _noted(network: Network, notes: tuple[str, ...]) -> Network:
    return replace(network, file=replace(network.file, notes=notes))


def _without_missing(notes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(note for note in notes if "must lie beside it" not in note)


def _sources(net: Element) -> dict[tuple[str, str], str]:
    """(layer, port) that takes, and `layer:port` that gives."""
    found = {}
    for edge in net.findall("edges/edge"):
        source = f"{edge.get('from-layer', '')}:{edge.get('from-port', '')}"
        found[(edge.get("to-layer", ""), edge.get("to-port", ""))] = source
    return found


def _ports(element: Element) -> list[Element]:
    return element.findall("input/port")


def _outputs(element: Element, name: str, number: str) -> dict[str, str]:
    """What each port gives: by the layer's name, with the port's number where there are several."""
    ports = [port.get("id", "") for port in element.findall("output/port")]
    return {f"{number}:{port}": name if len(ports) == 1 else f"{name}:{port}" for port in ports}


def _constant(element: Element, name: str, weights: memoryview | None) -> Weight:
    told = element.find("data")
    said = told.attrib if told is not None else {}
    kind = ELEMENT_TYPES.get(said.get("element_type", "").lower(), "unknown")
    sizes = [size for size in re.split(r"[,\s]+", said.get("shape", "").strip()) if size]
    if len(sizes) > MAX_RANK or any(_NUMBER.fullmatch(size) is None for size in sizes):
        raise damaged("a constant has a shape that is none")
    shape = tuple(map(int, sizes))
    places = [said.get(key, "0") for key in ("offset", "size")]
    if any(_NUMBER.fullmatch(place) is None for place in places):
        raise damaged("a constant lies at a place that is none")
    start, size = map(int, places)
    content = None
    if weights is not None and start + size <= len(weights):
        content = weights[start : start + size]
        bits = _BITS.search(kind)
        if bits is not None and kind != "bool" and size < (prod(shape) * int(bits[0]) + 7) // 8:
            content = None
    return Weight(name, kind, shape, "constant", content)


def _with_roles(layers: list[Layer], stored: dict[str, Weight]) -> dict[str, Weight]:
    found = dict(stored)
    for layer in layers:
        for place, name in enumerate(layer.inputs):
            weight = stored.get(name)
            if weight is None or not weight.shape or _PARAMETER_TYPES.match(weight.element_type) is None:
                continue
            role: Role = "statistic" if place in _STATISTICS.get(layer.kind, ()) else "parameter"
            if place and layer.kind.startswith(_SETTINGS):
                continue
            found[name] = Weight(name, weight.element_type, weight.shape, role, weight.data)
    return found
