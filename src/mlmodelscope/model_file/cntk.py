"""CNTK 2: a message of dictionaries inside of one another, with the functions of the graph and its variables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from mlmodelscope.model_file.cntk_operators import operator_name
from mlmodelscope.model_file.graph import Graph, Node
from mlmodelscope.model_file.limit import MAX_RANK, MAX_TENSORS, Budget, clean, damaged, quote
from mlmodelscope.model_file.model_file import ModelFile, ModelFileError, TensorInfo
from mlmodelscope.model_file.network import Known, Layer, Network, Role, Shape, Weight
from mlmodelscope.model_file.protobuf import BYTES, Message

_KEYS = ("version", "type", "root", "name", "uid", "inputs", "primitive_functions", "state")
_DICTIONARY_DATA, _VECTOR_VALUE, _SHAPE_SIZES = 2, 1, 1
_VALUE_INTEGER, _VALUE_SIZE, _VALUE_TEXT, _VALUE_SHAPE, _VALUE_AXIS = 4, 5, 8, 9, 10
_VALUE_VECTOR, _VALUE_DICTIONARY, _VALUE_ARRAY = 11, 12, 13
_ARRAY_KIND, _ARRAY_FORMAT, _ARRAY_SHAPE, _ARRAY_FLOATS, _ARRAY_DOUBLES, _ARRAY_BYTES = 1, 2, 3, 4, 5, 6
_INPUT, _PARAMETER, _CONSTANT = 0, 2, 3
_TYPES = {1: "float32", 2: "float64", 4: "float16", 5: "int8", 6: "int16"}
_MOST_DEPTH = 24
_NO_LAYERS = ("Combine", "Block")
_STATISTICS = ("runmean", "runvariance", "runcount", "runsqrinvstd", "runningmean", "runningvariance", "runningcount")


@dataclass(frozen=True)
class _Array:
    element_type: str
    shape: tuple[int, ...]
    data: memoryview | None


_Value = int | str | tuple[int, ...] | list["_Value"] | dict[str, "_Value"] | _Array | None


def is_cntk(data: memoryview) -> bool:
    """Entries of a map with keys that only CNTK's dictionaries have."""
    try:
        for field in Message(data, Budget(1 << 10)).fields():
            if field.number == _DICTIONARY_DATA and field.kind == BYTES:
                return Message(field.content(), Budget(64)).text(1, 64) in _KEYS
    except ModelFileError:
        return False
    return False


def describe_cntk(data: memoryview) -> ModelFile:
    return read_cntk_network(data).file


def read_cntk_network(data: memoryview) -> Network:
    model = _dictionary(Message(data, Budget()), 0)
    variables = [each for each in _list(model, "inputs") if isinstance(each, dict)]
    functions = [each for each in _list(model, "primitive_functions") if isinstance(each, dict)]
    if not functions:
        raise damaged("it has no functions: it is not a model, or was written by CNTK 1")
    names = _names(variables)
    weights = {weight.name: weight for weight in _weights(variables, names)}
    layers = [_layer(function, names) for function in functions]
    given = [each for each in variables if each.get("kind") == _INPUT]
    graph = Graph(Node(layer.kind, layer.inputs, layer.outputs, None, None) for layer in layers)
    outputs = _outputs(model, functions)
    if len(given) > MAX_TENSORS or len(outputs) > MAX_TENSORS:
        raise damaged("it has too many inputs or outputs")
    file = ModelFile(
        format="cntk",
        framework="cntk",
        inputs=tuple(_input(each) for each in given),
        outputs=tuple(TensorInfo(shown, None, None) for shown, _ in outputs),
        producer=None,
        version=f"CNTK 2 dictionary {model.get('version')}" if isinstance(model.get("version"), int) else "CNTK 2",
        ends_in_softmax=graph.ends_in_softmax(outputs[0][1]) if outputs else None,
        labels=(),
        metadata={"name": clean(_text(model, "name"))} if model.get("name") else {},
        notes=(),
    )
    tensors = {tensor.name: Known(tensor.element_type, tensor.shape) for tensor in file.inputs}
    kept = tuple(layer for layer in layers if layer.kind not in _NO_LAYERS)
    return Network(file, kept, weights, tensors)


def _dictionary(message: Message, depth: int) -> dict[str, _Value]:
    return {key: _value(value, depth + 1) for key, value in message.map(_DICTIONARY_DATA)}


def _value(message: Message, depth: int) -> _Value:
    if depth > _MOST_DEPTH:
        raise damaged("its dictionaries are nested too deeply")
    for field in message.fields():
        number = field.number
        if number in (3, _VALUE_INTEGER, _VALUE_SIZE) and isinstance(field.value, int):
            return field.integer()
        if number == _VALUE_TEXT:
            return field.text(1 << 16)
        if number == _VALUE_SHAPE:
            return _sizes(message.of(field))
        if number == _VALUE_AXIS:
            return message.of(field).text(2)
        if number == _VALUE_VECTOR:
            return [_value(each, depth + 1) for each in message.of(field).all(_VECTOR_VALUE)]
        if number == _VALUE_DICTIONARY:
            return _dictionary(message.of(field), depth)
        if number == _VALUE_ARRAY:
            return _array(message.of(field))
    return None


def _sizes(message: Message) -> tuple[int, ...]:
    return tuple(message.integers(_SHAPE_SIZES, MAX_RANK))


def _array(message: Message) -> _Array:
    """Dense numbers. CNTK's first axis runs fastest, so that the shape reads backwards."""
    told = message.first(_ARRAY_SHAPE)
    shape = tuple(reversed(_sizes(told))) if told is not None else ()
    kind = _TYPES.get(message.integer(_ARRAY_KIND) or 0, "unknown")
    if any(not 0 <= size < 1 << 48 for size in shape):
        raise damaged("an array has a size that is none")
    data = None
    number, size = {"float32": (_ARRAY_FLOATS, 4), "float64": (_ARRAY_DOUBLES, 8), "float16": (_ARRAY_BYTES, 2)}.get(
        kind, (0, 0)
    )
    held = message.first(number) if number and not message.integer(_ARRAY_FORMAT) else None
    if held is not None:
        pieces = [field.value for field in held.fields() if field.number == 1 and not isinstance(field.value, int)]
        data = pieces[0] if len(pieces) == 1 else memoryview(b"".join(pieces))
        if len(data) != prod(shape) * size:
            raise damaged(f"an array of shape {shape} has {len(data):,} bytes")
    return _Array(kind, shape, data)


def _list(value: dict[str, _Value], key: str) -> list[_Value]:
    found = value.get(key)
    return found if isinstance(found, list) else []


def _text(value: dict[str, _Value], key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""


def _name(variable: dict[str, _Value]) -> str:
    """CNTK itself calls a variable without a name by its number."""
    return _text(variable, "name") or _text(variable, "uid")


def _names(variables: list[dict[str, _Value]]) -> dict[str, str]:
    """What each variable is called, by its number; a name that is taken already is none."""
    found: dict[str, str] = {}
    seen: set[str] = set()
    for each in variables:
        uid, name = _text(each, "uid"), _name(each)
        found[uid] = name if name not in seen else uid
        seen.add(found[uid])
    return found


def _weights(variables: list[dict[str, _Value]], names: dict[str, str]) -> Iterator[Weight]:
    for each in variables:
        array, kind = each.get("value"), each.get("kind")
        if kind not in (_PARAMETER, _CONSTANT) or not isinstance(array, _Array):
            continue
        name = names[_text(each, "uid")]
        role: Role = "parameter" if kind == _PARAMETER else "constant"
        if any(word in name.lower().replace("_", "") for word in _STATISTICS):
            role = "statistic"
        yield Weight(name, array.element_type, array.shape, role, array.data)


def _layer(function: dict[str, _Value], names: dict[str, str]) -> Layer:
    uid, number = _text(function, "uid"), function.get("op")
    if not uid or not isinstance(number, int):
        raise damaged(f"the function {quote(_name(function))} has no number or no operator")
    inputs = tuple(names.get(each, each) for each in _list(function, "inputs") if isinstance(each, str))
    return Layer(_text(function, "name") or uid, operator_name(number), inputs, (f"{uid}_Output_0",))


def _outputs(model: dict[str, _Value], functions: list[dict[str, _Value]]) -> list[tuple[str, str]]:
    """(as CNTK calls the output, the tensor's own number); a Combine stands for what it combines."""
    by_uid = {_text(function, "uid"): function for function in functions}
    root = by_uid.get(_text(model, "root"))
    if root is None:
        raise damaged("its root is none of its functions")
    if operator_name(root["op"] if isinstance(root.get("op"), int) else -1) != "Combine":  # type: ignore[arg-type]
        uid = f"{_text(root, 'uid')}_Output_0"
        return [(_text(root, "name") or uid, uid)]
    found = []
    for each in _list(root, "inputs"):
        if isinstance(each, str):
            function = by_uid.get(each.rpartition("_Output_")[0], {})
            found.append((_text(function, "name") or each, each))
    return found


def _input(variable: dict[str, _Value]) -> TensorInfo:
    """The axes that CNTK leaves open, such as that of the batch, come first."""
    sizes = variable.get("shape")
    axes = _list(variable, "dynamic_axis")
    shape: Shape | None = None
    if isinstance(sizes, tuple):
        own = [size if isinstance(size, int) and 0 < size < 1 << 48 else None for size in reversed(sizes)]
        shape = (*[None] * len(axes), *own)
        if len(shape) > MAX_RANK:
            raise damaged("an input has too many axes")
    kind = variable.get("data_type")
    return TensorInfo(_name(variable), _TYPES.get(kind) if isinstance(kind, int) else None, shape)
