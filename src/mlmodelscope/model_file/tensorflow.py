"""TensorFlow: a SavedModel with signatures, or a frozen graph whose placeholders and loose ends must do for one."""

from __future__ import annotations

from collections.abc import Iterable

from mlmodelscope.model_file.graph import Graph
from mlmodelscope.model_file.limit import MAX_RANK, MAX_TENSORS, Budget, clean, damaged, listed
from mlmodelscope.model_file.model_file import ModelFile, ModelFileError, TensorInfo
from mlmodelscope.model_file.protobuf import Message
from mlmodelscope.model_file.tensorflow_graph import Operation, flat_nodes, read_functions, read_operations, tensor_name

_SAVED_META_GRAPH = 2
_META_INFO, _META_GRAPH, _META_SIGNATURE = 1, 2, 5
_INFO_TAG, _INFO_VERSION = 4, 5
_SIGNATURE_INPUT, _SIGNATURE_OUTPUT, _SIGNATURE_METHOD = 1, 2, 3
_TENSOR_NAME, _TENSOR_TYPE, _TENSOR_SHAPE = 1, 2, 3
_SHAPE_DIM, _SHAPE_UNKNOWN, _DIM_SIZE = 2, 3, 1
_GRAPH_VERSIONS = 4
_ATTRIBUTE_LIST, _ATTRIBUTE_TYPE, _ATTRIBUTE_SHAPE, _LIST_SHAPE = 1, 6, 7, 7
_SERVING = "serving_default"

ELEMENT_TYPES = {
    1: "float32",
    2: "float64",
    3: "int32",
    4: "uint8",
    5: "int16",
    6: "int8",
    7: "string",
    8: "complex64",
    9: "int64",
    10: "bool",
    14: "bfloat16",
    17: "uint16",
    18: "complex128",
    19: "float16",
    22: "uint32",
    23: "uint64",
}
# Loose ends that nobody wants as an output.
_NO_OUTPUT = frozenset(["NoOp", "Const", "Placeholder", "Assert", "SaveV2", "RestoreV2", "Assign", "VariableV2"])


def describe_saved_model(data: memoryview) -> ModelFile:
    saved = Message(data, Budget())
    serving = _serving(saved)
    name, signature, notes = _choose_signature(serving)
    graph = serving.first(_META_GRAPH)
    if graph is None:
        raise damaged("it has no graph")
    connected = Graph(flat_nodes(list(read_operations(graph)), read_functions(graph)))
    inputs = [_signature_tensor(key, tensor, connected) for key, tensor in signature.map(_SIGNATURE_INPUT)]
    outputs = sorted(signature.map(_SIGNATURE_OUTPUT), key=lambda entry: entry[0])
    version = (serving.first(_META_INFO) or serving).text(_INFO_VERSION) if serving.first(_META_INFO) else ""
    if len(inputs) > MAX_TENSORS or len(outputs) > MAX_TENSORS:
        raise damaged("it has too many inputs or outputs")
    return ModelFile(
        format="savedmodel",
        framework="tensorflow",
        inputs=tuple(sorted(inputs, key=lambda tensor: tensor.name)),
        outputs=tuple(_signature_tensor(key, tensor) for key, tensor in outputs),
        producer=clean(f"tensorflow {version}") if version else None,
        version=f"SavedModel {saved.integer(1) or 1}",
        ends_in_softmax=_softmax_of(outputs[0][1], connected) if outputs else None,
        labels=(),
        metadata={
            "signature": clean(name),
            "tags": clean(", ".join(_tags(serving))),
            "method": clean(signature.text(_SIGNATURE_METHOD)),
        },
        notes=notes,
    )


def serving_graph(data: memoryview) -> Message:
    """The graph that answers."""
    graph = _serving(Message(data, Budget())).first(_META_GRAPH)
    if graph is None:
        raise damaged("it has no graph")
    return graph


def signature_inputs(data: memoryview) -> dict[str, str]:
    """Names of the graph's tensors, and as the signature calls them."""
    _, signature, _ = _choose_signature(_serving(Message(data, Budget())))
    return {tensor_name(tensor.text(_TENSOR_NAME)): key for key, tensor in signature.map(_SIGNATURE_INPUT)}


def _serving(saved: Message) -> Message:
    graphs = list(saved.all(_SAVED_META_GRAPH))
    if not graphs:
        raise damaged("it is not a SavedModel: it has no graph")
    return next((graph for graph in graphs if "serve" in _tags(graph)), graphs[0])


def describe_frozen_graph(data: memoryview) -> ModelFile:
    graph = Message(data, Budget())
    operations = list(read_operations(graph))
    if not operations:
        raise damaged("it is no TensorFlow graph: it has no operations")
    used = {tensor_name(name.removeprefix("^")).partition(":")[0] for one in operations for name in one.inputs}
    inputs = [one for one in operations if one.operator in ("Placeholder", "PlaceholderV2")]
    outputs = [one for one in operations if one.name not in used and one.operator not in _NO_OUTPUT]
    if not inputs and not outputs or len(inputs) > MAX_TENSORS or len(outputs) > MAX_TENSORS:
        raise damaged("it is no TensorFlow graph: nothing goes in, or far too much")
    connected = Graph(flat_nodes(operations, read_functions(graph)))
    variables = [one.name for one in operations if one.operator in ("VariableV2", "VarHandleOp", "Variable")]
    versions = graph.first(_GRAPH_VERSIONS)
    notes = ["a graph has no signature: its placeholders are given as inputs, what nobody uses as outputs"]
    if variables:
        notes.append(f"its variables are not in it, so it is not frozen: {listed(variables)}")
    return ModelFile(
        format="frozen_graph",
        framework="tensorflow",
        inputs=tuple(_operation_tensor(one, connected) for one in inputs),
        outputs=tuple(_operation_tensor(one) for one in outputs),
        producer=None,
        version=f"GraphDef {versions.integer(1)}" if versions and versions.integer(1) else None,
        ends_in_softmax=connected.ends_in_softmax(outputs[0].name) if outputs else None,
        labels=(),
        metadata={},
        notes=tuple(notes),
    )


def _tags(graph: Message) -> list[str]:
    info = graph.first(_META_INFO)
    return [field.text() for field in info.fields() if field.number == _INFO_TAG] if info else []


def _choose_signature(graph: Message) -> tuple[str, Message, tuple[str, ...]]:
    """The one that servers use, or the only one; internal ones begin with two underscores."""
    signatures = {name: one for name, one in graph.map(_META_SIGNATURE) if not name.startswith("__")}
    if not signatures:
        raise ModelFileError("it has no signature, so nobody can tell its inputs and outputs")
    name = _SERVING if _SERVING in signatures else min(signatures)
    others = sorted(set(signatures) - {name})
    return name, signatures[name], (f"it has other signatures: {listed(others)}",) if others else ()


def _signature_tensor(key: str, tensor: Message, graph: Graph | None = None) -> TensorInfo:
    shape = read_shape(tensor.first(_TENSOR_SHAPE))
    rank = len(shape) if shape is not None else None
    layout = graph.input_layout(tensor_name(tensor.text(_TENSOR_NAME)), rank) if graph else None
    return TensorInfo(key, ELEMENT_TYPES.get(tensor.integer(_TENSOR_TYPE) or 0), shape, layout)


def _softmax_of(tensor: Message, graph: Graph) -> bool | None:
    return graph.ends_in_softmax(tensor_name(tensor.text(_TENSOR_NAME)))


def _operation_tensor(operation: Operation, graph: Graph | None = None) -> TensorInfo:
    attributes = operation.attributes
    kind = next((attributes[name] for name in ("dtype", "T", "DstT") if name in attributes), None)
    shapes = attributes.get("_output_shapes")
    listed_shapes = shapes.first(_ATTRIBUTE_LIST) if shapes else None
    told = listed_shapes.first(_LIST_SHAPE) if listed_shapes else None
    if told is None and "shape" in attributes:
        told = attributes["shape"].first(_ATTRIBUTE_SHAPE)
    shape = read_shape(told)
    layout = graph.input_layout(operation.name, len(shape) if shape is not None else None) if graph else None
    element_type = ELEMENT_TYPES.get(kind.integer(_ATTRIBUTE_TYPE) or 0) if kind else None
    return TensorInfo(operation.name, element_type, shape, layout)


def read_shape(shape: Message | None) -> tuple[int | None, ...] | None:
    if shape is None or shape.integer(_SHAPE_UNKNOWN):
        return None
    sizes: list[int | None] = []
    dims: Iterable[Message] = shape.all(_SHAPE_DIM)
    for dim in dims:
        size = dim.integer(_DIM_SIZE) or 0  # a size of 0 is not written at all
        sizes.append(size if size >= 0 else None)
        if len(sizes) > MAX_RANK:
            raise damaged("a tensor has too many axes")
    return tuple(sizes)
