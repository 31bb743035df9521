"""ONNX as a network: every node with its attributes, every initializer, and the shapes of `value_info`."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path

from mlmodelscope.model_file.limit import MAX_RANK, MAX_TEXT_BYTES, Budget, damaged, listed, quote
from mlmodelscope.model_file.network import (
    QUANTIZED_WEIGHTS,
    Known,
    Layer,
    Network,
    Role,
    Value,
    Weight,
    roles_of_inputs,
)
from mlmodelscope.model_file.onnx import ELEMENT_TYPES, STANDARD_DOMAINS, describe_onnx, read_tensors
from mlmodelscope.model_file.protobuf import BYTES, Message
from mlmodelscope.tensor_file.tensor import ELEMENT_BYTES

_MODEL_GRAPH, _MODEL_OPSET, _MODEL_FUNCTION = 7, 8, 25
_GRAPH_NODE, _GRAPH_INITIALIZER, _GRAPH_INPUT, _GRAPH_OUTPUT, _GRAPH_VALUE, _GRAPH_SPARSE = 1, 5, 11, 12, 13, 15
_NODE_INPUT, _NODE_OUTPUT, _NODE_NAME, _NODE_OPERATOR, _NODE_ATTRIBUTE, _NODE_DOMAIN = 1, 2, 3, 4, 5, 7
_NAME, _FLOAT, _INTEGER, _TEXT, _TENSOR, _GRAPH, _FLOATS, _INTEGERS = 1, 2, 3, 4, 5, 6, 7, 8
_DIMS, _KIND, _FLOAT_DATA, _INT32_DATA, _INT64_DATA, _TENSOR_NAME, _RAW = 1, 2, 4, 5, 7, 8, 9
_DOUBLE_DATA, _UINT64_DATA, _EXTERNAL, _LOCATION = 10, 11, 13, 14
_MOST_NUMBERS = 1 << 16
"""Of an attribute's list. Tensors have no such bound: they stay views."""
_MOST_DEPTH = 8
_MOST_REWRITTEN = 1 << 22
"""Numbers that are not stored as bytes and must be read one by one."""
_STORED_AS_INTEGERS = {"float16": 2, "bfloat16": 2, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "bool": 1}


def read_onnx_network(data: memoryview, folder: Path | None = None) -> Network:
    """`folder` is where weights in other files are looked for; without one they stay unread."""
    file = describe_onnx(data)
    model = Message(data, Budget())
    graph = model.first(_MODEL_GRAPH)
    assert graph is not None, "describe_onnx has seen it"
    found = _Found(_Elsewhere(folder))
    _read_graph(graph, "", found, 0)
    opsets = {opset.text(1) or "ai.onnx": opset.integer(2) or 0 for opset in model.all(_MODEL_OPSET)}
    notes = found.elsewhere.notes()
    functions = [function.text(1) for function in model.all(_MODEL_FUNCTION)]
    if functions:
        notes.append(f"it has functions of its own, whose insides are not counted: {listed(functions)}")
    if found.nested:
        notes.append(f"{found.nested} graphs lie inside of If, Loop or Scan; each is counted once")
    known = {tensor.name: Known(tensor.element_type, tensor.shape) for tensor in (*file.inputs, *file.outputs)}
    return Network(file, tuple(found.layers), _with_roles(found), {**found.tensors, **known}, opsets, tuple(notes))


@dataclass
class _Found:
    elsewhere: _Elsewhere
    layers: list[Layer] = field(default_factory=list)
    weights: dict[str, Weight] = field(default_factory=dict)
    tensors: dict[str, Known] = field(default_factory=dict)
    nested: int = 0


def _read_graph(graph: Message, scope: str, found: _Found, depth: int) -> None:
    for message in graph.all(_GRAPH_INITIALIZER):
        weight = _weight(message, scope + message.text(_TENSOR_NAME), found.elsewhere)
        found.weights[weight.name] = weight
    for sparse in graph.all(_GRAPH_SPARSE):
        values = sparse.first(1)
        if values is not None:
            shape = tuple(sparse.integers(3, MAX_RANK))
            name = scope + values.text(_TENSOR_NAME)
            found.weights[name] = Weight(name, _element_type(values), shape, "parameter")
    for number in (_GRAPH_INPUT, _GRAPH_VALUE, _GRAPH_OUTPUT):
        for tensor in read_tensors(graph, number):
            found.tensors.setdefault(scope + tensor.name, Known(tensor.element_type, tensor.shape))
    for place, message in enumerate(graph.all(_GRAPH_NODE)):
        _read_node(message, scope, place, found, depth)


def _read_node(message: Message, scope: str, place: int, found: _Found, depth: int) -> None:
    inputs, outputs, texts = [], [], {_NODE_NAME: "", _NODE_OPERATOR: "", _NODE_DOMAIN: ""}
    attributes: dict[str, Value] = {}
    tensor: Message | None = None
    graphs: list[Message] = []
    for each in message.fields():
        if each.number == _NODE_INPUT:
            inputs.append(each.text())
        elif each.number == _NODE_OUTPUT:
            outputs.append(each.text())
        elif each.number in texts:
            texts[each.number] = each.text()
        elif each.number == _NODE_ATTRIBUTE:
            attribute = message.of(each)
            value = _value(attribute)
            if value is not None:
                attributes[attribute.text(_NAME)] = value
            tensor = attribute.first(_TENSOR) or tensor
            graphs += attribute.all(_GRAPH)
    operator, name = texts[_NODE_OPERATOR], texts[_NODE_NAME] or (outputs[0] if outputs else "")
    if operator == "Constant" and outputs:
        found.weights[scope + outputs[0]] = _constant(scope + outputs[0], tensor, attributes, found.elsewhere)
        return
    # A name from inside may be one of outside: both are told where the scope's own is not known.
    taken = tuple(each if not each or (scope + each) not in found.tensors else scope + each for each in inputs)
    if scope:
        taken = tuple(scope + each if (scope + each) in found.weights else each for each in taken)
    made = tuple(scope + each for each in outputs)
    for output in made:
        found.tensors.setdefault(output, Known(None, None))
    domain = texts[_NODE_DOMAIN]
    own = "" if domain in ("", "ai.onnx") else domain
    found.layers.append(Layer(scope + (name or f"{operator}_{place}"), operator, taken, made, attributes, own))
    for graph in graphs:
        found.nested += 1
        if depth >= _MOST_DEPTH:
            raise damaged("its graphs are nested too deeply")
        _read_graph(graph, f"{scope}{name or place}/", found, depth + 1)


def _value(attribute: Message) -> Value | None:
    kinds = {each.number: each for each in attribute.fields()}
    if _INTEGERS in kinds:
        return tuple(attribute.integers(_INTEGERS, _MOST_NUMBERS))
    if _FLOATS in kinds:
        return tuple(_floats(attribute))
    if _INTEGER in kinds:
        return kinds[_INTEGER].integer()
    if _TEXT in kinds and kinds[_TEXT].kind == BYTES and len(kinds[_TEXT].content()) <= MAX_TEXT_BYTES:
        return kinds[_TEXT].text(MAX_TEXT_BYTES)
    if _FLOAT in kinds:
        content = kinds[_FLOAT].value
        if not isinstance(content, int) and len(content) == 4:
            return float(struct.unpack("<f", content)[0])
    return None


def _floats(attribute: Message) -> Iterator[float]:
    for each in attribute.fields():
        if each.number == _FLOATS and not isinstance(each.value, int):
            whole = bytes(each.value[: 4 * _MOST_NUMBERS])
            yield from (float(one[0]) for one in struct.iter_unpack("<f", whole[: len(whole) // 4 * 4]))


def _constant(name: str, tensor: Message | None, attributes: Mapping[str, Value], elsewhere: _Elsewhere) -> Weight:
    if tensor is not None:
        return _weight(tensor, name, elsewhere)
    for key, form, kind in (("value_int", "<q", "int64"), ("value_float", "<f", "float32")):
        value = attributes.get(key, attributes.get(f"{key}s"))
        if isinstance(value, int | float):
            return Weight(name, kind, (), "constant", _packed(form, (value,)))
        if isinstance(value, tuple):
            return Weight(name, kind, (len(value),), "constant", _packed(form, value))
    return Weight(name, "string", (), "constant")


def _packed(form: str, values: tuple[int | float, ...]) -> bytes:
    try:
        return b"".join(struct.pack(form, value) for value in values)
    except (struct.error, OverflowError) as error:
        raise damaged("a constant is not a number of its type") from error


def _element_type(tensor: Message) -> str:
    number = tensor.integer(_KIND) or 0
    return ELEMENT_TYPES.get(number, f"type {number}")


def _weight(tensor: Message, name: str, elsewhere: _Elsewhere) -> Weight:
    element_type = _element_type(tensor)
    shape = tuple(tensor.integers(_DIMS, MAX_RANK))
    if any(size < 0 or size >= 1 << 48 for size in shape):
        raise damaged(f"the tensor {quote(name)} has a size that is none")
    return Weight(name, element_type, shape, "constant", _numbers(tensor, element_type, shape, elsewhere))


def _numbers(
    tensor: Message, element_type: str, shape: tuple[int, ...], elsewhere: _Elsewhere
) -> memoryview | bytes | None:
    """The bytes of a tensor; None where they are in another file, or not at all."""
    entries: dict[str, str] = {}
    pieces: dict[int, list[memoryview]] = {}
    whole: list[int] = []
    for each in tensor.fields():
        if each.number == _EXTERNAL:
            entry = tensor.of(each)
            entries[entry.text(1)] = entry.text(2)
        elif each.number in (_RAW, _FLOAT_DATA, _DOUBLE_DATA) and not isinstance(each.value, int):
            pieces.setdefault(each.number, []).append(each.value)
    wanted = prod(shape) * ELEMENT_BYTES.get(element_type, 0)
    if "location" in entries:
        return elsewhere.read(entries, wanted)
    stored = pieces.get(_RAW) or pieces.get({"float32": _FLOAT_DATA, "float64": _DOUBLE_DATA}.get(element_type, 0))
    if stored:
        data = stored[0] if len(stored) == 1 else memoryview(b"".join(stored))
        if wanted and len(data) != wanted and element_type in ELEMENT_BYTES:
            raise damaged(f"a tensor of shape {shape} has {len(data):,} bytes")
        return data
    number = {"int64": _INT64_DATA, "uint64": _UINT64_DATA, "uint32": _UINT64_DATA}.get(element_type, _INT32_DATA)
    if prod(shape) <= _MOST_REWRITTEN:
        whole = tensor.integers(number, prod(shape))
    if not whole or len(whole) != prod(shape):
        return b"" if wanted == 0 else None
    size = _STORED_AS_INTEGERS.get(element_type, ELEMENT_BYTES.get(element_type, 8))
    return b"".join((value & ((1 << 8 * size) - 1)).to_bytes(size, "little") for value in whole)


class _Elsewhere:
    """Weights in files beside the graph. A name that leaves the folder is not followed."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._files: dict[str, memoryview | None] = {}

    def read(self, entries: Mapping[str, str], wanted: int) -> memoryview | None:
        location = entries["location"]
        if location not in self._files:
            self._files[location] = self._open(location)
        data = self._files[location]
        try:
            start, length = int(entries.get("offset", "0")), int(entries.get("length", wanted))
        except ValueError as error:
            raise damaged("a tensor's place in another file is not a number") from error
        if data is None or start < 0 or length != wanted or start + length > len(data):
            return None
        return data[start : start + length]

    def _open(self, location: str) -> memoryview | None:
        path = Path(location)
        if self._folder is None or path.is_absolute() or ".." in path.parts or "\\" in location or "\0" in location:
            return None
        try:
            with (self._folder / path).open("rb") as file:
                return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except (OSError, ValueError):
            return None

    def notes(self) -> list[str]:
        lost = [name for name, data in self._files.items() if data is None]
        return [f"the numbers of some weights are not available: {listed(lost)}"] if lost else []


def _with_roles(found: _Found) -> dict[str, Weight]:
    """What each tensor is for, by the operators that take it: learned, counted, or a setting."""
    roles: dict[str, set[Role]] = {}
    for layer in found.layers:
        settings = roles_of_inputs(layer.kind, len(layer.inputs))
        quantized = QUANTIZED_WEIGHTS.get(layer.kind, ())
        for place, name in enumerate(layer.inputs):
            if name in found.weights:
                whole = found.weights[name].element_type in ("float16", "bfloat16", "float32", "float64")
                own: Role = "parameter" if whole or place in quantized else "constant"
                roles.setdefault(name, set()).add(settings.get(place, own))
    order: tuple[Role, ...] = ("parameter", "statistic", "constant")
    result = {}
    for name, weight in found.weights.items():
        said = roles.get(name, {"parameter" if weight.element_type.startswith(("float", "bfloat")) else "constant"})
        role: Role = next(each for each in order if each in said)
        # One number that everything is multiplied with is a setting that an exporter wrote as a tensor.
        result[name] = replace(weight, role="constant" if role == "parameter" and not weight.shape else role)
    return result


def strange_operators(layers: tuple[Layer, ...]) -> list[str]:
    return sorted({f"{layer.domain}.{layer.kind}" for layer in layers if layer.domain not in STANDARD_DOMAINS})
