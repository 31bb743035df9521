"""TensorFlow's operations as one flat graph: calls of functions are replaced by what they call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mlmodelscope.model_file.graph import LAYOUTS, Node
from mlmodelscope.model_file.limit import MAX_TENSORS, Budget, damaged
from mlmodelscope.model_file.protobuf import Message

_GRAPH_NODE, _GRAPH_LIBRARY, _LIBRARY_FUNCTION = 1, 2, 1
_NODE_NAME, _NODE_OPERATOR, _NODE_INPUT, _NODE_ATTRIBUTE = 1, 2, 3, 5
_FUNCTION_SIGNATURE, _FUNCTION_NODE, _FUNCTION_RESULT = 1, 3, 4
_SIGNATURE_NAME, _SIGNATURE_INPUT, _SIGNATURE_OUTPUT = 1, 2, 3
_ATTRIBUTE_BYTES, _ATTRIBUTE_TENSOR, _ATTRIBUTE_FUNCTION = 2, 8, 10
_TENSOR_CONTENT, _TENSOR_INTS = 4, 7

_CALLS = ("PartitionedCall", "StatefulPartitionedCall")
_HAS_LAYOUT = ("Conv2D", "DepthwiseConv2dNative", "_FusedConv2D", "MaxPool", "AvgPool", "FusedBatchNorm")
# Functions that call functions: Keras nests a handful, and a hostile file can nest them without end.
_MAX_DEPTH = 16
_MAX_NODES = 1 << 19


@dataclass(frozen=True, slots=True)
class Operation:
    name: str
    operator: str
    inputs: tuple[str, ...]
    """Names of tensors; those with a caret only say what must happen before."""
    attributes: dict[str, Message]


@dataclass(frozen=True, slots=True)
class Function:
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    """The tensors that it returns, in order."""
    operations: tuple[Operation, ...]


def read_operations(graph: Message, number: int = _GRAPH_NODE) -> Iterator[Operation]:
    for node in graph.all(number):
        name, operator, inputs, attributes = "", "", [], {}
        for field in node.fields():
            if field.number == _NODE_NAME:
                name = field.text()
            elif field.number == _NODE_OPERATOR:
                operator = field.text()
            elif field.number == _NODE_INPUT:
                inputs.append(field.text())
            elif field.number == _NODE_ATTRIBUTE:
                entry = node.of(field)
                attributes[entry.text(1)] = entry.first(2) or Message(memoryview(b""), node.budget)
        if not name or not operator:
            raise damaged("an operation has no name or no kind")
        yield Operation(name, operator, tuple(inputs), attributes)


def read_functions(graph: Message) -> dict[str, Function]:
    library = graph.first(_GRAPH_LIBRARY)
    functions: dict[str, Function] = {}
    for message in library.all(_LIBRARY_FUNCTION) if library else ():
        signature = message.first(_FUNCTION_SIGNATURE)
        if signature is None:
            raise damaged("a function has no signature")
        results = {entry.text(1): entry.text(2) for entry in message.all(_FUNCTION_RESULT)}
        functions[signature.text(_SIGNATURE_NAME)] = Function(
            tuple(argument.text(1) for argument in signature.all(_SIGNATURE_INPUT)),
            tuple(results.get(result.text(1), "") for result in signature.all(_SIGNATURE_OUTPUT)),
            tuple(read_operations(message, _FUNCTION_NODE)),
        )
    return functions


def tensor_name(name: str) -> str:
    """`node`, `node:0` and, inside a function, `node:output:0` are the same tensor; others keep their number."""
    node, _, rest = name.partition(":")
    number = rest.rpartition(":")[2]
    return node if number in ("", "0") else f"{node}:{number}"


def flat_nodes(operations: list[Operation], functions: dict[str, Function]) -> list[Node]:
    flat = _Flat(functions)
    flat.add(operations, "", 0)
    return flat.nodes


class _Flat:
    def __init__(self, functions: dict[str, Function]) -> None:
        self.nodes: list[Node] = []
        self._functions = functions
        self._budget = Budget(_MAX_NODES)
        self._calls = 0

    def add(self, operations: list[Operation] | tuple[Operation, ...], scope: str, depth: int) -> None:
        constants = {one.name: one for one in operations if one.operator == "Const"}
        for one in operations:
            self._budget.spend(1 + len(one.inputs))
            inputs = tuple(scope + tensor_name(name) for name in one.inputs if not name.startswith("^"))
            called = self._called(one)
            if called is not None and depth < _MAX_DEPTH:
                self._add_call(one, called, inputs, scope, depth)
                continue
            order = None
            if one.operator == "Transpose" and len(one.inputs) > 1:
                order = _read_order(constants.get(tensor_name(one.inputs[1])))
            outputs = (scope + one.name, *(f"{scope}{one.name}:{number}" for number in range(1, 4)))
            self.nodes.append(Node(one.operator, inputs, outputs, order, _read_layout(one)))

    def _called(self, operation: Operation) -> Function | None:
        attribute = operation.attributes.get("f") if operation.operator in _CALLS else None
        named = attribute.first(_ATTRIBUTE_FUNCTION) if attribute else None
        return self._functions.get(named.text(1)) if named else None

    def _add_call(
        self, operation: Operation, function: Function, inputs: tuple[str, ...], scope: str, depth: int
    ) -> None:
        self._budget.spend(len(function.results))
        self._calls += 1
        inside = f"<{self._calls}>/"  # no operation's name may begin so
        for argument, given in zip(function.arguments, inputs, strict=False):
            self.nodes.append(Node("Identity", (given,), (inside + argument,)))
        self.add(function.operations, inside, depth + 1)
        for number, result in enumerate(function.results[:MAX_TENSORS]):
            name = f"{scope}{operation.name}" + (f":{number}" if number else "")
            self.nodes.append(Node("Identity", (inside + tensor_name(result),), (name,)))


def _read_layout(operation: Operation) -> str | None:
    if not operation.operator.startswith(_HAS_LAYOUT):
        return None
    attribute = operation.attributes.get("data_format")
    # A SavedModel leaves attributes out that have their default.
    layout = attribute.text(_ATTRIBUTE_BYTES) if attribute else "NHWC"
    return layout if layout in LAYOUTS else None


def _read_order(constant: Operation | None) -> tuple[int, ...] | None:
    """The axes of a transposition, if they are a constant of four 32-bit integers."""
    attribute = constant.attributes.get("value") if constant else None
    tensor = attribute.first(_ATTRIBUTE_TENSOR) if attribute else None
    if tensor is None:
        return None
    content = tensor.first(_TENSOR_CONTENT)
    if content is not None and len(content.data) == 16:
        return tuple(int.from_bytes(content.data[place : place + 4], "little") for place in range(0, 16, 4))
    return tuple(tensor.integers(_TENSOR_INTS, 64)) or None
