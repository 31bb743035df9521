"""TensorFlow as a network: operations with calls of functions replaced by what they call, constants and variables."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path

from mlmodelscope.errors import ArtifactError
from mlmodelscope.model_file.graph import words
from mlmodelscope.model_file.limit import MAX_RANK, MAX_TENSORS, Budget, damaged
from mlmodelscope.model_file.network import Known, Layer, Network, Role, Weight, role_by_name
from mlmodelscope.model_file.protobuf import Message
from mlmodelscope.model_file.tensorflow import (
    ELEMENT_TYPES,
    describe_frozen_graph,
    describe_saved_model,
    read_shape,
    serving_graph,
    signature_inputs,
)
from mlmodelscope.model_file.tensorflow_graph import Function, Operation, read_functions, read_operations, tensor_name
from mlmodelscope.tensor_file.tensor import ELEMENT_BYTES, Tensor
from mlmodelscope.tensor_file.tensorflow_bundle import read_bundle

_CALLS = ("PartitionedCall", "StatefulPartitionedCall")
_HANDS_ON = ("Identity", "ReadVariableOp", "StopGradient", "Snapshot")
_NO_LAYERS = words(
    """
    Placeholder PlaceholderV2 NoOp Const VarHandleOp VariableV2 Variable SaveV2 RestoreV2 MergeV2Checkpoints
    ShardedFilename AssignVariableOp Assign VarIsInitializedOp
    """
)
_TENSOR_KIND, _TENSOR_SHAPE, _TENSOR_CONTENT, _FLOATS, _DOUBLES, _INTS, _LONGS = 1, 2, 4, 5, 6, 7, 10
_ATTRIBUTE_TYPE, _ATTRIBUTE_SHAPE, _ATTRIBUTE_TENSOR, _ATTRIBUTE_FUNCTION, _ATTRIBUTE_LIST = 6, 7, 8, 10, 1
_LIST_SHAPE = 7
_MOST_DEPTH, _MOST_LAYERS = 16, 1 << 19
_STATISTICS = {"FusedBatchNorm": (3, 4), "FusedBatchNormV2": (3, 4), "FusedBatchNormV3": (3, 4)}


def read_frozen_network(data: memoryview) -> Network:
    graph = Message(data, Budget())
    found = _Flat(read_functions(graph))
    found.add(list(read_operations(graph)), "", {}, 0)
    return _network(Network(describe_frozen_graph(data)), found, {})


def read_saved_network(data: memoryview, folder: Path | None = None) -> Network:
    file = describe_saved_model(data)
    graph = serving_graph(data)
    operations = list(read_operations(graph))
    found = _Flat(read_functions(graph), alias=signature_inputs(data))
    found.add(_needed(operations, found.functions), "", {}, 0)
    variables, notes = _variables(folder)
    network = _network(Network(file), found, variables)
    return replace(network, notes=(*network.notes, *notes))


def _variables(folder: Path | None) -> tuple[Mapping[str, Tensor], list[str]]:
    place = folder / "variables" if folder is not None else None
    if place is None or not (place / "variables.index").is_file():
        return {}, ["its variables are not available: the folder `variables` must lie beside saved_model.pb"]
    try:
        return read_bundle(place), []
    except ArtifactError as error:
        return {}, [f"its variables cannot be read: {error.message}"]


def _needed(operations: list[Operation], functions: Mapping[str, Function]) -> list[Operation]:
    """Without what only saves and restores: calls of those functions have the checkpoint's path as an argument."""
    saves = {"SaveV2", "RestoreV2", "MergeV2Checkpoints"}
    kept = []
    for one in operations:
        called = _called(one, functions)
        inside = {each.operator for each in called.operations} if called is not None else {one.operator}
        if not inside & saves:
            kept.append(one)
    return kept


def _called(operation: Operation, functions: Mapping[str, Function]) -> Function | None:
    attribute = operation.attributes.get("f") if operation.operator in _CALLS else None
    named = attribute.first(_ATTRIBUTE_FUNCTION) if attribute else None
    return functions.get(named.text(1)) if named else None


@dataclass
class _Flat:
    functions: Mapping[str, Function]
    layers: list[Layer] = field(default_factory=list)
    constants: dict[str, Weight] = field(default_factory=dict)
    handles: dict[str, Weight] = field(default_factory=dict)
    tensors: dict[str, Known] = field(default_factory=dict)
    alias: dict[str, str] = field(default_factory=dict)
    calls: int = 0

    def add(
        self, operations: list[Operation] | tuple[Operation, ...], scope: str, given: Mapping[str, str], depth: int
    ) -> None:
        self.alias |= {scope + name: other for name, other in given.items()}
        for one in operations:
            if len(self.layers) > _MOST_LAYERS or self.calls > _MOST_LAYERS:
                raise damaged("it has more operations than any model that we know of")
            inputs = tuple(
                self._real(scope + tensor_name(name)) for name in one.inputs[:MAX_TENSORS] if not name.startswith("^")
            )
            function = _called(one, self.functions)
            if function is not None and depth < _MOST_DEPTH:
                self._call(one, function, inputs, scope, depth)
            else:
                self._note(one, scope, inputs)

    def _call(self, one: Operation, function: Function, inputs: tuple[str, ...], scope: str, depth: int) -> None:
        self.calls += 1
        inside = f"{scope}{one.name}/"
        self.add(function.operations, inside, dict(zip(function.arguments, inputs, strict=False)), depth + 1)
        for number, result in enumerate(function.results[:MAX_TENSORS]):
            name = f"{scope}{one.name}" + (f":{number}" if number else "")
            self.alias[name] = self._real(inside + tensor_name(result))

    def _real(self, name: str) -> str:
        for _ in range(_MOST_DEPTH):
            if name not in self.alias or self.alias[name] == name:
                break
            name = self.alias[name]
        return name

    def _note(self, one: Operation, scope: str, inputs: tuple[str, ...]) -> None:
        name = scope + one.name
        if one.operator == "Const":
            self.constants[name] = _constant(name, one)
        elif one.operator in ("VarHandleOp", "VariableV2", "Variable"):
            weight = _handle(name, one)
            if weight is not None:
                self.handles[name] = weight
        elif one.operator in _HANDS_ON and len(inputs) == 1:
            self.alias[name] = inputs[0]
        elif one.operator not in _NO_LAYERS:
            self.tensors.setdefault(name, _known(one))
            self.layers.append(Layer(name, one.operator, inputs, (name,)))


def _known(one: Operation) -> Known:
    kind = next((one.attributes[name] for name in ("dtype", "T", "DstT") if name in one.attributes), None)
    shapes = one.attributes.get("_output_shapes")
    listed = shapes.first(_ATTRIBUTE_LIST) if shapes else None
    told = listed.first(_LIST_SHAPE) if listed else None
    element_type = ELEMENT_TYPES.get(kind.integer(_ATTRIBUTE_TYPE) or 0) if kind else None
    return Known(element_type, read_shape(told))


def _constant(name: str, one: Operation) -> Weight:
    attribute = one.attributes.get("value")
    tensor = attribute.first(_ATTRIBUTE_TENSOR) if attribute else None
    if tensor is None:
        return Weight(name, "unknown", (), "constant")
    kind = ELEMENT_TYPES.get(tensor.integer(_TENSOR_KIND) or 0, "unknown")
    shape = _whole(read_shape(tensor.first(_TENSOR_SHAPE)))
    if shape is None or any(size >= 1 << 48 for size in shape):
        raise damaged("a constant has a size that is none")
    return Weight(name, kind, shape, "constant", _numbers(tensor, kind, shape))


def _whole(shape: tuple[int | None, ...] | None) -> tuple[int, ...] | None:
    whole = tuple(size for size in shape or () if size is not None)
    return whole if len(whole) == len(shape or ()) and len(whole) <= MAX_RANK else None


def _numbers(tensor: Message, kind: str, shape: tuple[int, ...]) -> memoryview | bytes | None:
    wanted = prod(shape) * ELEMENT_BYTES.get(kind, 0)
    for each in tensor.fields():
        is_packed = each.number == {"float32": _FLOATS, "float64": _DOUBLES}.get(kind)
        is_stored = (each.number == _TENSOR_CONTENT or is_packed) and not isinstance(each.value, int)
        if is_stored and not isinstance(each.value, int) and len(each.value) == wanted:
            return each.value
    number = {"int32": _INTS, "int64": _LONGS}.get(kind)
    if number is None or prod(shape) > 1 << 12:
        return None
    found = tensor.integers(number, 1 << 12)
    if len(found) == 1:
        found *= max(1, prod(shape))  # one number stands for all of them
    if len(found) != max(1, prod(shape)):
        return None
    try:
        return struct.pack(f"<{len(found)}{'i' if kind == 'int32' else 'q'}", *found)
    except struct.error as error:
        raise damaged("a constant is not a number of its type") from error


def _handle(name: str, one: Operation) -> Weight | None:
    kind, told = one.attributes.get("dtype"), one.attributes.get("shape")
    shape = _whole(read_shape(told.first(_ATTRIBUTE_SHAPE))) if told else None
    if kind is None or shape is None:
        return None
    shared = one.attributes.get("shared_name")
    called = shared.text(2) if shared is not None and shared.text(2) else name
    element_type = ELEMENT_TYPES.get(kind.integer(_ATTRIBUTE_TYPE) or 0, "unknown")
    return Weight(called, element_type, shape, role_by_name(called, element_type, shape))


def _network(network: Network, found: _Flat, variables: Mapping[str, Tensor]) -> Network:
    """Variables have the numbers of the checkpoint, where one of the same name and shape is in it."""
    weights = dict(found.constants)
    renamed: dict[str, str] = {}
    for place, handle in found.handles.items():
        tensor = variables.get(handle.name)
        fits = tensor is not None and tensor.shape == handle.shape
        weights[handle.name] = replace(handle, data=tensor.data) if tensor is not None and fits else handle
        renamed[place] = handle.name
    layers = tuple(
        replace(layer, inputs=tuple(renamed.get(found._real(name), found._real(name)) for name in layer.inputs))
        for layer in found.layers
    )
    taken = {name for layer in layers for name in layer.inputs}
    kept = {name: weight for name, weight in weights.items() if name in taken}
    lost = [weight for weight in kept.values() if weight.data is None and weight.name in renamed.values()]
    notes = (f"the numbers of {len(lost):,} variables are not available",) if lost and variables else ()
    inputs = {tensor.name: Known(tensor.element_type, tensor.shape) for tensor in network.file.inputs}
    return replace(
        network,
        layers=layers,
        weights=_with_roles(layers, kept),
        tensors={**found.tensors, **inputs},
        notes=(*network.notes, *notes),
    )


def _with_roles(layers: tuple[Layer, ...], weights: Mapping[str, Weight]) -> dict[str, Weight]:
    found = dict(weights)
    for layer in layers:
        for place, name in enumerate(layer.inputs):
            weight = weights.get(name)
            if weight is None or not weight.shape:
                continue
            own = role_by_name(name, weight.element_type, weight.shape)
            role: Role = "statistic" if place in _STATISTICS.get(layer.kind, ()) else own
            found[name] = replace(weight, role=role)
    return found
