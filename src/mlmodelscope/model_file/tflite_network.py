"""TensorFlow Lite as a network: operators of all subgraphs, constant tensors with their numbers, and all shapes."""

from __future__ import annotations

from dataclasses import replace

from mlmodelscope.model_file.flatbuffer import Table, root_table
from mlmodelscope.model_file.limit import MAX_TENSORS, Budget, damaged
from mlmodelscope.model_file.network import Known, Layer, Network, Weight
from mlmodelscope.model_file.tflite import (
    BUFFER_DATA,
    CODE_CUSTOM,
    CODE_NEW,
    CODE_OLD,
    ELEMENT_TYPES,
    MODEL_BUFFERS,
    MODEL_CODES,
    MODEL_SUBGRAPHS,
    OPERATOR_CODE,
    OPERATOR_INPUTS,
    OPERATOR_OUTPUTS,
    SUBGRAPH_OPERATORS,
    SUBGRAPH_TENSORS,
    TENSOR_BUFFER,
    TENSOR_NAME,
    TENSOR_TYPE,
    describe_tflite,
    quantization_of,
    shape_of,
)
from mlmodelscope.model_file.tflite_operators import operator_name

_BUFFER_OFFSET, _BUFFER_SIZE = 1, 2
_WEIGHTED = ("CONV", "FULLY_CONNECTED", "BATCH_MATMUL", "LSTM", "RNN", "SVDF", "EMBEDDING_LOOKUP", "DENSIFY")
_FLOATS = ("float16", "bfloat16", "float32", "float64")


def read_tflite_network(data: memoryview) -> Network:
    file = describe_tflite(data)
    model = root_table(data, Budget())
    codes = [_code(code) for code in model.tables(MODEL_CODES)]
    buffers = list(model.tables(MODEL_BUFFERS))
    layers: list[Layer] = []
    weights: dict[str, Weight] = {}
    tensors: dict[str, Known] = {}
    graphs = list(model.tables(MODEL_SUBGRAPHS))
    for number, graph in enumerate(graphs):
        scope = f"<{number}>/" if number else ""
        names = _read_tensors(graph, scope, data, buffers, weights, tensors)
        for place, operator in enumerate(graph.tables(SUBGRAPH_OPERATORS)):
            layers.append(_layer(operator, scope, place, codes, names))
    notes = ["operators of its other subgraphs are counted once each"] if len(graphs) > 1 else []
    if any(layer.kind == "READ_VARIABLE" for layer in layers):
        notes.append("some weights are variables, which another subgraph fills; they are not among the weights here")
    return Network(file, tuple(layers), _with_roles(layers, weights), tensors, notes=tuple(notes))


def _code(code: Table) -> tuple[str, str]:
    """(operator, whose it is)."""
    name = operator_name(max(code.integer(CODE_OLD, "int8"), code.integer(CODE_NEW, "int32")))
    return (code.text(CODE_CUSTOM) or name, "custom") if name == "CUSTOM" else (name, "")


def _read_tensors(
    graph: Table,
    scope: str,
    data: memoryview,
    buffers: list[Table],
    weights: dict[str, Weight],
    tensors: dict[str, Known],
) -> list[str]:
    """Names of the tensors in order. One that another tensor has already gets its number as well."""
    names: list[str] = []
    for number, table in enumerate(graph.tables(SUBGRAPH_TENSORS)):
        name = scope + (table.text(TENSOR_NAME) or str(number))
        if name in tensors:
            name = f"{name}#{number}"
        names.append(name)
        element_type = ELEMENT_TYPES.get(table.integer(TENSOR_TYPE, "int8"))
        shape = shape_of(table)
        tensors[name] = Known(element_type, shape)
        place = table.integer(TENSOR_BUFFER, "uint32")
        if place >= len(buffers):
            raise damaged(f"it names buffer {place} and has {len(buffers):,}")
        content = _content(buffers[place], data)
        if len(content) and element_type != "string" and shape is not None and None not in shape:
            whole = tuple(size for size in shape if size is not None)
            weights[name] = Weight(name, element_type or "", whole, "constant", content, quantization_of(table))
    return names


def _content(buffer: Table, data: memoryview) -> memoryview:
    """Inside of the FlatBuffer, or behind it where that would be too large."""
    start, size = buffer.integer(_BUFFER_OFFSET, "uint64"), buffer.integer(_BUFFER_SIZE, "uint64")
    if start > 1:
        if start + size > len(data):
            raise damaged("a buffer reaches beyond the end of the file")
        return data[start : start + size]
    return buffer.content(BUFFER_DATA)


def _layer(operator: Table, scope: str, place: int, codes: list[tuple[str, str]], names: list[str]) -> Layer:
    index = operator.integer(OPERATOR_CODE, "uint32")
    if index >= len(codes):
        raise damaged(f"it names operator code {index} and has {len(codes):,}")

    def named(number: int) -> tuple[str, ...]:
        places = operator.integers(number, "int32", MAX_TENSORS)
        if any(each >= len(names) for each in places):
            raise damaged("an operator names a tensor that is not there")
        return tuple(names[each] if each >= 0 else "" for each in places)

    kind, domain = codes[index]
    outputs = named(OPERATOR_OUTPUTS)
    name = outputs[0] if outputs else f"{scope}{kind}_{place}"
    return Layer(name, kind, named(OPERATOR_INPUTS), outputs, {}, domain)


def _with_roles(layers: list[Layer], weights: dict[str, Weight]) -> dict[str, Weight]:
    found = dict(weights)
    for layer in layers:
        has_weights = any(word in layer.kind for word in _WEIGHTED)
        for place, name in enumerate(layer.inputs):
            weight = weights.get(name)
            if weight is None:
                continue
            # Weights are whole numbers where the network is quantized; so are shapes, which have no scale.
            counts = weight.element_type in _FLOATS or weight.quantization is not None
            is_shape = not weight.shape or (layer.kind == "TRANSPOSE_CONV" and place == 0)
            if not is_shape and (counts or (has_weights and place in (1, 2))):
                found[name] = replace(weight, role="parameter")
    return found
