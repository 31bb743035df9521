"""ONNX: one protocol-buffer message that holds the graph and, mostly, its weights, which are passed over unseen."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence

from mlmodelscope.model_file.graph import Graph, Node, words
from mlmodelscope.model_file.labels import labels_of
from mlmodelscope.model_file.limit import (
    MAX_METADATA,
    MAX_RANK,
    MAX_TENSORS,
    MAX_TEXT_BYTES,
    Budget,
    clean,
    damaged,
    listed,
)
from mlmodelscope.model_file.model_file import ModelFile, Quantization, TensorInfo
from mlmodelscope.model_file.protobuf import Message

_MODEL_IR_VERSION, _MODEL_PRODUCER, _MODEL_PRODUCER_VERSION, _MODEL_DOC = 1, 2, 3, 6
_MODEL_GRAPH, _MODEL_OPSET, _MODEL_METADATA = 7, 8, 14
_GRAPH_NODE, _GRAPH_INITIALIZER, _GRAPH_INPUT, _GRAPH_OUTPUT, _GRAPH_SPARSE = 1, 5, 11, 12, 15
_NODE_INPUT, _NODE_OUTPUT, _NODE_OPERATOR, _NODE_ATTRIBUTE, _NODE_DOMAIN = 1, 2, 4, 5, 7
_ATTRIBUTE_NAME, _ATTRIBUTE_INTS = 1, 8
_VALUE_NAME, _VALUE_TYPE = 1, 2
_TYPE_TENSOR, _TENSOR_TYPE_ELEMENT, _TENSOR_TYPE_SHAPE, _SHAPE_DIM, _DIM_VALUE = 1, 1, 2, 1, 1
_TENSOR_NAME, _TENSOR_EXTERNAL, _SPARSE_VALUES = 8, 13, 1
_TENSOR_DIMS, _TENSOR_KIND, _TENSOR_FLOATS, _TENSOR_INTEGERS, _TENSOR_RAW = 1, 2, 4, 5, 9
_FORMATS = {"float32": "<f", "int8": "<b", "uint8": "<B"}
# Operators whose first input is quantized: its scale and zero point follow.
_WITH_SCALE = frozenset(["DequantizeLinear", "QLinearConv", "QLinearMatMul"])

ELEMENT_TYPES = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    8: "string",
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
    14: "complex64",
    15: "complex128",
    16: "bfloat16",
    17: "float8e4m3fn",
    19: "float8e5m2",
    21: "uint4",
    22: "int4",
}
# Operators whose first input has its channels second, by the standard's own definition.
_CHANNELS_SECOND = words(
    """
    Conv ConvTranspose ConvInteger QLinearConv FusedConv BatchNormalization InstanceNormalization LRN
    MaxPool AveragePool LpPool GlobalMaxPool GlobalAveragePool SpaceToDepth DepthToSpace
    """
)
_CHANNELS_LAST = frozenset(["NhwcConv", "NhwcFusedConv", "NhwcMaxPool"])
STANDARD_DOMAINS = ("", "ai.onnx", "com.microsoft")


def describe_onnx(data: memoryview) -> ModelFile:
    model = Message(data, Budget())
    graph = model.first(_MODEL_GRAPH)
    if graph is None:
        raise damaged("it has no graph")
    weights, elsewhere = _read_weights(graph)
    nodes, strange = _read_nodes(graph)
    connected = Graph(nodes)
    inputs = [tensor for tensor in read_tensors(graph, _GRAPH_INPUT) if tensor.name not in weights]
    outputs = read_tensors(graph, _GRAPH_OUTPUT)
    quantization = _read_quantization(graph, nodes)
    metadata = _read_metadata(model)
    notes = []
    if elsewhere:
        notes.append(f"its weights are in other files, which must lie beside it: {listed(elsewhere)}")
    if strange:
        notes.append(f"it uses operators that are not ONNX's own: {listed(strange)}")
    return ModelFile(
        format="onnx",
        framework="onnxruntime",
        inputs=tuple(
            TensorInfo(
                tensor.name,
                tensor.element_type,
                tensor.shape,
                connected.input_layout(tensor.name, len(tensor.shape) if tensor.shape is not None else None),
                quantization.get(tensor.name),
            )
            for tensor in inputs
        ),
        outputs=tuple(outputs),
        producer=clean(f"{model.text(_MODEL_PRODUCER)} {model.text(_MODEL_PRODUCER_VERSION)}".strip()) or None,
        version=_read_version(model),
        ends_in_softmax=connected.ends_in_softmax(outputs[0].name) if outputs else None,
        labels=labels_of(metadata),
        metadata=metadata,
        notes=tuple(notes),
    )


def _read_version(model: Message) -> str:
    opsets = {opset.text(1): opset.integer(2) or 0 for opset in model.all(_MODEL_OPSET)}
    versions = [f"opset {opsets.get('') or opsets.get('ai.onnx') or 'unknown'}"]
    return ", ".join([*versions, f"ir {model.integer(_MODEL_IR_VERSION)}"])


def _read_metadata(model: Message) -> dict[str, str]:
    metadata: dict[str, str] = {}
    for entry in model.all(_MODEL_METADATA):
        if len(metadata) >= MAX_METADATA:
            break
        metadata[clean(entry.text(1))] = clean(entry.text(2, MAX_TEXT_BYTES))
    doc = model.text(_MODEL_DOC, MAX_TEXT_BYTES).strip()
    return {**metadata, "doc": clean(doc)} if doc else metadata


def _read_weights(graph: Message) -> tuple[set[str], list[str]]:
    """Names of all initializers, and in which other files their numbers are."""
    names: set[str] = set()
    elsewhere: dict[str, None] = {}
    dense = graph.all(_GRAPH_INITIALIZER)
    sparse = (values for tensor in graph.all(_GRAPH_SPARSE) if (values := tensor.first(_SPARSE_VALUES)))
    for tensor in (*dense, *sparse):
        for field in tensor.fields():
            if field.number == _TENSOR_NAME:
                names.add(field.text())
            elif field.number == _TENSOR_EXTERNAL:
                entry = tensor.of(field)
                if entry.text(1) == "location":
                    elsewhere[entry.text(2)] = None
    return names, list(elsewhere)


def _read_quantization(graph: Message, nodes: Sequence[Node]) -> dict[str, Quantization]:
    """What integers stand for, of each tensor that an operator takes with one scale and one zero point."""
    named = {
        node.inputs[0]: node.inputs[1:3]
        for node in nodes
        if node.operator in _WITH_SCALE and len(node.inputs) >= 2 and node.inputs[0] != node.inputs[1]
    }
    wanted = {name for names in named.values() for name in names if name}
    numbers: dict[str, float] = {}
    for tensor in graph.all(_GRAPH_INITIALIZER) if wanted else ():
        name = tensor.text(_TENSOR_NAME)
        if name in wanted and (number := _read_number(tensor)) is not None:
            numbers[name] = number
    found = {}
    for name, (scale, *zero) in named.items():
        has_zero = bool(zero and zero[0])
        if scale in numbers and (not has_zero or zero[0] in numbers):
            found[name] = Quantization((numbers[scale],), (int(numbers[zero[0]]) if has_zero else 0,))
    return found


def _read_number(tensor: Message) -> float | None:
    """The value of a tensor that holds a single number of a type that scales and zero points have."""
    kind = ELEMENT_TYPES.get(tensor.integer(_TENSOR_KIND) or 0)
    if any(size != 1 for size in tensor.integers(_TENSOR_DIMS, MAX_RANK)):
        return None
    for field in tensor.fields():
        if field.number == _TENSOR_RAW and kind in _FORMATS:
            return _finite(_FORMATS[kind], bytes(field.content()[:9]))
        if field.number == _TENSOR_FLOATS and kind == "float32" and not isinstance(field.value, int):
            return _finite("<f", bytes(field.value[:9]))
        if field.number == _TENSOR_INTEGERS and kind in ("int8", "uint8"):
            return float(tensor.integers(_TENSOR_INTEGERS, 1)[0])
    return None


def _finite(form: str, content: bytes) -> float | None:
    if len(content) != struct.calcsize(form):
        return None
    (number,) = struct.unpack(form, content)
    return float(number) if math.isfinite(number) else None


def read_tensors(graph: Message, number: int) -> list[TensorInfo]:
    tensors: list[TensorInfo] = []
    for value in graph.all(number):
        # Files of before IR version 4 list every weight among the inputs, so this is no small number.
        if len(tensors) >= 16 * MAX_TENSORS:
            raise damaged("it has too many inputs or outputs")
        kind = value.first(_VALUE_TYPE)
        tensor = kind.first(_TYPE_TENSOR) if kind else None
        element_type = ELEMENT_TYPES.get(tensor.integer(_TENSOR_TYPE_ELEMENT) or 0) if tensor else None
        tensors.append(TensorInfo(value.text(_VALUE_NAME), element_type, _read_shape(tensor)))
    return tensors


def _read_shape(tensor: Message | None) -> tuple[int | None, ...] | None:
    shape = tensor.first(_TENSOR_TYPE_SHAPE) if tensor else None
    if shape is None:
        return None
    sizes: list[int | None] = []
    for dim in shape.all(_SHAPE_DIM):
        size = dim.integer(_DIM_VALUE)
        # Some exporters write -1, or 0 for the batch, where the standard wants a named size.
        sizes.append(size if size is not None and size > 0 else None)
        if len(sizes) > MAX_RANK:
            raise damaged("a tensor has too many axes")
    return tuple(sizes)


def _read_nodes(graph: Message) -> tuple[list[Node], list[str]]:
    nodes: list[Node] = []
    strange: dict[str, None] = {}
    for message in graph.all(_GRAPH_NODE):
        inputs, outputs, operator, domain = [], [], "", ""
        attributes = []
        for field in message.fields():
            if field.number == _NODE_INPUT:
                inputs.append(field.text())
            elif field.number == _NODE_OUTPUT:
                outputs.append(field.text())
            elif field.number == _NODE_OPERATOR:
                operator = field.text()
            elif field.number == _NODE_DOMAIN:
                domain = field.text()
            elif field.number == _NODE_ATTRIBUTE:
                attributes.append(message.of(field))
        if domain not in STANDARD_DOMAINS:
            strange[f"{domain}.{operator}"] = None
        known = operator if domain in STANDARD_DOMAINS else None
        order = _read_order(attributes, len(inputs)) if known == "Transpose" else None
        nodes.append(Node(_plain(known), tuple(inputs), tuple(filter(None, outputs)), order, _layout(known)))
    return nodes, list(strange)


def _plain(operator: str | None) -> str | None:
    """onnxruntime's quantized operators do what their namesakes do."""
    return operator.removeprefix("QLinear") if operator else operator


def _layout(operator: str | None) -> str | None:
    return "NCHW" if operator in _CHANNELS_SECOND else "NHWC" if operator in _CHANNELS_LAST else None


def _read_order(attributes: list[Message], inputs: int) -> tuple[int, ...] | None:
    named: Iterator[Message] = (one for one in attributes if one.text(_ATTRIBUTE_NAME) == "perm")
    found = next(named, None)
    return tuple(found.integers(_ATTRIBUTE_INTS, MAX_RANK)) if found and inputs else None
