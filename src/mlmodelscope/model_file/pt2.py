"""torch.export: a zip archive whose JSON has the graph and its signature. Pickled parts stay closed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from mlmodelscope.model_file.archive import Archive
from mlmodelscope.model_file.graph import Graph, Node
from mlmodelscope.model_file.limit import MAX_NAME_BYTES, MAX_RANK, MAX_TENSORS, clean, damaged, listed
from mlmodelscope.model_file.model_file import ModelFile, ModelFileError, TensorInfo

# Every operation carries its Python stack trace, so graphs of large models take tens of megabytes.
_MAX_JSON_BYTES = 1 << 26
_OLD_NAME = "serialized_exported_program.json"

_ELEMENT_TYPES = {
    1: "uint8",
    2: "int8",
    3: "int16",
    4: "int32",
    5: "int64",
    6: "float16",
    7: "float32",
    8: "float64",
    10: "complex64",
    11: "complex128",
    12: "bool",
    13: "bfloat16",
    28: "uint16",
    29: "float8e4m3fn",
    30: "float8e5m2",
    34: "uint32",
    35: "uint64",
}
_SCALARS = {"as_int": "int64", "as_float": "float64", "as_bool": "bool", "as_string": "string", "as_sym_int": "int64"}
_CHANNELS_SECOND = ("conv2d", "convolution", "max_pool2d", "avg_pool2d", "batch_norm")


def is_pt2(archive: Archive) -> bool:
    return bool(_graph_names(archive))


def describe_pt2(archive: Archive) -> ModelFile:
    names = _graph_names(archive)
    program = load_program(archive)
    graph, signature = part_of(program, "graph_module", "graph"), part_of(program, "graph_module", "signature")
    connected = Graph(_nodes(graph))
    inputs = [_tensor(graph, one, connected) for one in _arguments(signature, "input_specs", "user_input")]
    outputs = [_tensor(graph, one) for one in _arguments(signature, "output_specs", "user_output")]
    version, schema = program.get("torch_version"), program.get("schema_version")
    notes = ["its example inputs are pickled and were not read"]
    if len(names) > 1:
        notes.append(f"it holds several models; this is {listed([_main(names)])}")
    return ModelFile(
        format="pt2",
        framework="pytorch",
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        producer=clean(f"pytorch {version}") if isinstance(version, str) and len(version) < 256 else None,
        version=f"schema {schema.get('major')}.{schema.get('minor')}"[:64] if isinstance(schema, dict) else None,
        ends_in_softmax=connected.ends_in_softmax(outputs[0].name) if outputs else None,
        labels=(),
        metadata=_ranges(program),
        notes=tuple(notes),
    )


def _graph_names(archive: Archive) -> list[str]:
    """The graph at the archive's root, as torch 2.1 wrote it, or models/*.json inside its one folder."""
    names = []
    for name in archive.names:
        folders = name.split("/")
        inside = len(folders) in (2, 3) and folders[-2] == "models" and name.endswith(".json")
        if inside or folders[-1] == _OLD_NAME and len(folders) <= 2:
            names.append(name)
    return names


def load_program(archive: Archive) -> dict[str, Any]:
    """The graph with its signature, as JSON has it."""
    return _load(archive.read(_main(_graph_names(archive)), _MAX_JSON_BYTES))


def _main(names: list[str]) -> str:
    if not names:
        raise ModelFileError("it is a zip archive, but torch.export did not write it: it has no graph in JSON")
    return next((one for one in names if one.endswith("/model.json")), names[0])


def arguments_of(value: Any, key: str) -> list[dict[str, Any]]:
    """The objects of a list; whatever else is in it is left out."""
    return [one for one in _list(value, key) if isinstance(one, dict)]


def known_tensor(graph: dict[str, Any], name: str) -> TensorInfo:
    return _tensor(graph, {"as_tensor": {"name": name}})


def _load(text: bytes) -> dict[str, Any]:
    try:
        program = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise damaged("its graph is no JSON") from error
    if not isinstance(program, dict):
        raise damaged("its graph is no JSON object")
    return program


def part_of(value: Any, *path: str) -> dict[str, Any]:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    if not isinstance(value, dict):
        raise damaged(f"its graph lacks {'.'.join(path)}")
    return value


def _list(value: Any, key: str) -> list[Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def _arguments(signature: dict[str, Any], specs: str, kind: str) -> list[dict[str, Any]]:
    """What a caller gives or gets; parameters and buffers are listed beside it."""
    found = [one[kind]["arg"] for one in _list(signature, specs) if isinstance(one, dict) and _has_argument(one, kind)]
    if len(found) > MAX_TENSORS:
        raise damaged("it has too many inputs or outputs")
    return found


def _has_argument(spec: dict[str, Any], kind: str) -> bool:
    return isinstance(spec.get(kind), dict) and isinstance(spec[kind].get("arg"), dict)


def name_of(argument: Any) -> str | None:
    """`{"as_tensor": {"name": "x"}}`, and the same for symbolic numbers."""
    for value in argument.values() if isinstance(argument, dict) else ():
        if isinstance(value, dict):
            name = value.get("name", value.get("as_name"))
            if isinstance(name, str) and len(name) <= MAX_NAME_BYTES:
                return name
    return None


def _tensor(graph: dict[str, Any], argument: dict[str, Any], connected: Graph | None = None) -> TensorInfo:
    name = name_of(argument)
    tensors = graph.get("tensor_values")
    told = tensors.get(name) if isinstance(tensors, dict) and name is not None else None
    if not isinstance(told, dict):
        kind = next(iter(argument), "")
        return TensorInfo(name or str(kind)[:64], _SCALARS.get(kind), () if kind in _SCALARS else None)
    sizes = _list(told, "sizes")
    if len(sizes) > MAX_RANK:
        raise damaged("a tensor has too many axes")
    shape = tuple(_size(size) for size in sizes)
    layout = connected.input_layout(name or "", len(shape)) if connected else None
    number = told.get("dtype")
    return TensorInfo(name or "", _ELEMENT_TYPES.get(number) if isinstance(number, int) else None, shape, layout)


def _size(size: Any) -> int | None:
    """A number; an expression of symbols is an open size."""
    value = size.get("as_int") if isinstance(size, dict) else None
    return value if isinstance(value, int) and value >= 0 else None


def _nodes(graph: dict[str, Any]) -> Iterator[Node]:
    for node in _list(graph, "nodes"):
        arguments = [one.get("arg") for one in _list(node, "inputs") if isinstance(one, dict)]
        inputs = tuple(name for one in arguments if (name := name_of(one)) is not None)
        outputs = tuple(name for one in _list(node, "outputs") if (name := name_of(one)) is not None)
        target = node.get("target") if isinstance(node, dict) else None
        parts = target.split(".") if isinstance(target, str) else []
        # torch.ops.aten.softmax.int: behind the operator's name stands which of its overloads it is.
        operator = parts[3] if parts[:3] == ["torch", "ops", "aten"] and len(parts) > 3 else None
        orders = (one.get("as_ints") for one in arguments if isinstance(one, dict))
        order = next(
            (one for one in orders if isinstance(one, list) and all(isinstance(axis, int) for axis in one)), None
        )
        layout = "NCHW" if operator and operator.lstrip("_").startswith(_CHANNELS_SECOND) else None
        yield Node(operator, inputs, outputs, tuple(order) if order and operator == "permute" else None, layout)


def _ranges(program: dict[str, Any]) -> dict[str, str]:
    """Between which numbers the open sizes may be."""
    ranges = program.get("range_constraints")
    told = {}
    for name, limits in list(ranges.items())[:MAX_TENSORS] if isinstance(ranges, dict) else ():
        if isinstance(limits, dict):
            told[clean(f"range.{name}"[:256])] = f"{limits.get('min_val')} to {limits.get('max_val')}"[:64]
    return told
