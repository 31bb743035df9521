"""TensorFlow Lite: a FlatBuffer; its first subgraph is the model. A zip archive of label files may follow it."""

from __future__ import annotations

from mlmodelscope.model_file.flatbuffer import Table, root_table
from mlmodelscope.model_file.graph import Graph, Node
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
from mlmodelscope.model_file.tflite_metadata import METADATA_NAME, TfliteMetadata, read_metadata
from mlmodelscope.model_file.tflite_operators import operator_name

_MODEL_VERSION, MODEL_CODES, MODEL_SUBGRAPHS, _MODEL_DESCRIPTION = 0, 1, 2, 3
MODEL_BUFFERS, _MODEL_METADATA, _MODEL_SIGNATURES = 4, 6, 7
CODE_OLD, CODE_CUSTOM, CODE_NEW = 0, 1, 3
SUBGRAPH_TENSORS, SUBGRAPH_INPUTS, SUBGRAPH_OUTPUTS, SUBGRAPH_OPERATORS = 0, 1, 2, 3
_TENSOR_SHAPE, TENSOR_TYPE, TENSOR_BUFFER, TENSOR_NAME, _TENSOR_QUANTIZATION = 0, 1, 2, 3, 4
_TENSOR_SIGNATURE, _TENSOR_HAS_RANK = 7, 8
_SCALE, _ZERO_POINT, _QUANTIZED_AXIS = 2, 3, 6
OPERATOR_CODE, OPERATOR_INPUTS, OPERATOR_OUTPUTS = 0, 1, 2
BUFFER_DATA = 0
_METADATA_NAME, _METADATA_BUFFER = 0, 1

ELEMENT_TYPES = {
    0: "float32",
    1: "float16",
    2: "int32",
    3: "uint8",
    4: "int64",
    5: "string",
    6: "bool",
    7: "int16",
    8: "complex64",
    9: "int8",
    10: "float64",
    11: "complex128",
    12: "uint64",
    15: "uint32",
    16: "uint16",
    17: "int4",
    18: "bfloat16",
}
_CHANNELS_LAST = frozenset(["CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D"])


def is_tflite(start: bytes) -> bool:
    return start[4:8] == b"TFL3"


def describe_tflite(data: memoryview) -> ModelFile:
    if not is_tflite(bytes(data[:8])):
        raise damaged("it is no TensorFlow Lite file: the mark TFL3 is missing")
    model = root_table(data, Budget())
    subgraph = next(model.tables(MODEL_SUBGRAPHS), None)
    if subgraph is None:
        raise damaged("it has no graph")
    tensors = list(subgraph.tables(SUBGRAPH_TENSORS))
    nodes, custom = _read_nodes(model, subgraph, tensors)
    graph = Graph(nodes)
    inputs = subgraph.integers(SUBGRAPH_INPUTS, "int32", MAX_TENSORS)
    outputs = subgraph.integers(SUBGRAPH_OUTPUTS, "int32", MAX_TENSORS)
    told = _read_told(model, data)
    description = clean(model.text(_MODEL_DESCRIPTION, MAX_TEXT_BYTES))
    notes = list(told.notes)
    if custom:
        notes.append(f"it uses custom operators, which TensorFlow Lite alone does not run: {listed(custom)}")
    if len(inputs) != 1 and _count(model, _MODEL_SIGNATURES) > 1:
        notes.append("it has several signatures; this is its main graph")
    return ModelFile(
        format="tflite",
        framework="tflite",
        inputs=tuple(_tensor(tensors, index, graph) for index in inputs),
        outputs=tuple(_tensor(tensors, index) for index in outputs),
        producer=description or None,
        version=f"TFL{model.integer(_MODEL_VERSION, 'uint32')}",
        ends_in_softmax=graph.ends_in_softmax(str(outputs[0])) if outputs else None,
        labels=told.labels,
        metadata=told.entries,
        notes=tuple(notes),
    )


def _count(model: Table, number: int) -> int:
    return sum(1 for _ in model.tables(number))


def _tensor(tensors: list[Table], index: int, graph: Graph | None = None) -> TensorInfo:
    if not 0 <= index < len(tensors):
        raise damaged(f"it names tensor {index} and has {len(tensors):,}")
    table = tensors[index]
    element_type = ELEMENT_TYPES.get(table.integer(TENSOR_TYPE, "int8"))
    shape = shape_of(table)
    layout = graph.input_layout(str(index), len(shape) if shape is not None else None) if graph else None
    return TensorInfo(table.text(TENSOR_NAME), element_type, shape, layout, quantization_of(table))


def shape_of(table: Table) -> tuple[int | None, ...] | None:
    sizes = table.integers(_TENSOR_SHAPE, "int32", MAX_RANK)
    # The signature has -1 for an open size; the shape beside it has 1 there.
    signature = table.integers(_TENSOR_SIGNATURE, "int32", MAX_RANK)
    if not sizes and not signature and not table.integer(_TENSOR_HAS_RANK, "bool"):
        return None
    return tuple(size if size >= 0 else None for size in (signature or sizes))


def quantization_of(table: Table) -> Quantization | None:
    told = table.table(_TENSOR_QUANTIZATION)
    scale = told.floats(_SCALE, MAX_TEXT_BYTES) if told else ()
    if told is None or not scale:
        return None
    zero_point = told.integers(_ZERO_POINT, "int64", MAX_TEXT_BYTES) or (0,) * len(scale)
    axis = told.integer(_QUANTIZED_AXIS, "int32") if len(scale) > 1 else None
    return Quantization(scale, zero_point, axis)


def _read_nodes(model: Table, subgraph: Table, tensors: list[Table]) -> tuple[list[Node], list[str]]:
    """Tensors are called by their number here, for names may be missing or the same."""
    codes, custom = [], []
    for code in model.tables(MODEL_CODES):
        # The old field has one byte; files for newer operators fill the new one, and readers take the larger.
        number = max(code.integer(CODE_OLD, "int8"), code.integer(CODE_NEW, "int32"))
        codes.append(operator_name(number))
        if codes[-1] == "CUSTOM":
            custom.append(code.text(CODE_CUSTOM))
    buffers = None
    nodes: list[Node] = []
    for operator in subgraph.tables(SUBGRAPH_OPERATORS):
        index = operator.integer(OPERATOR_CODE, "uint32")
        if index >= len(codes):
            raise damaged(f"it names operator code {index} and has {len(codes):,}")
        inputs = operator.integers(OPERATOR_INPUTS, "int32", MAX_TENSORS)
        outputs = operator.integers(OPERATOR_OUTPUTS, "int32", MAX_TENSORS)
        order = None
        if codes[index] == "TRANSPOSE" and len(inputs) == 2:
            buffers = list(model.tables(MODEL_BUFFERS)) if buffers is None else buffers
            order = _read_order(tensors, buffers, inputs[1])
        layout = "NHWC" if codes[index] in _CHANNELS_LAST else None
        nodes.append(Node(codes[index], tuple(map(str, inputs)), tuple(map(str, outputs)), order, layout))
    return nodes, custom


def _read_order(tensors: list[Table], buffers: list[Table], index: int) -> tuple[int, ...] | None:
    """The second input of a transposition, if it is a constant of four integers."""
    if not 0 <= index < len(tensors):
        return None
    buffer = tensors[index].integer(TENSOR_BUFFER, "uint32")
    content = buffers[buffer].content(BUFFER_DATA) if buffer < len(buffers) else b""
    if len(content) != 16:
        return None
    return tuple(int.from_bytes(content[place : place + 4], "little") for place in range(0, 16, 4))


def _read_told(model: Table, data: memoryview) -> TfliteMetadata:
    """The metadata that is itself a FlatBuffer inside a buffer; the others are for converters."""
    told = TfliteMetadata({}, (), ())
    others: dict[str, str] = {}
    buffers: list[Table] | None = None
    for count, entry in enumerate(model.tables(_MODEL_METADATA)):
        if count >= MAX_METADATA:
            break
        name = entry.text(_METADATA_NAME)
        index = entry.integer(_METADATA_BUFFER, "uint32")
        buffers = list(model.tables(MODEL_BUFFERS)) if buffers is None else buffers
        content = buffers[index].content(BUFFER_DATA) if index < len(buffers) else memoryview(b"")
        if name == METADATA_NAME and len(content):
            told = read_metadata(content, data)
        elif name == "min_runtime_version" and len(content) <= 64:
            others[name] = clean(bytes(content).rstrip(b"\0").decode(errors="replace"))
    return TfliteMetadata({**others, **told.entries}, told.labels, told.notes)
