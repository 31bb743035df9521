"""Caffe2: two messages of operators, a net that predicts and a net that makes the weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from mlmodelscope.model_file.graph import Graph, Node
from mlmodelscope.model_file.limit import MAX_RANK, MAX_TENSORS, Budget, clean, damaged
from mlmodelscope.model_file.model_file import ModelFile, ModelFileError, TensorInfo
from mlmodelscope.model_file.network import Known, Layer, Network, Role, Value, Weight
from mlmodelscope.model_file.protobuf import BYTES, FIXED32, Message, read_varint

_NET_NAME, _NET_OPERATOR, _NET_INPUT, _NET_OUTPUT = 1, 2, 7, 8
_OPERATOR_INPUT, _OPERATOR_OUTPUT, _OPERATOR_NAME, _OPERATOR_KIND, _OPERATOR_ARGUMENT = 1, 2, 3, 4, 5
_NAME, _FLOAT, _INTEGER, _TEXT, _FLOATS, _INTEGERS, _TEXTS = 1, 2, 3, 4, 5, 6, 7
_FILLS = {
    "GivenTensorFill": "float32",
    "GivenTensorDoubleFill": "float64",
    "GivenTensorIntFill": "int32",
    "GivenTensorInt64Fill": "int64",
    "GivenTensorBoolFill": "bool",
    "GivenTensorByteStringToUInt8Fill": "uint8",
    "Int8GivenTensorFill": "uint8",
    "Int8GivenIntTensorFill": "int32",
}
_MADE = ("ConstantFill", "XavierFill", "MSRAFill", "GaussianFill", "UniformFill")
_CHANNELS_SECOND = ("Conv", "ConvTranspose", "MaxPool", "AveragePool", "SpatialBN", "LRN", "GlobalAveragePool")
_TAG = _FLOATS << 3 | FIXED32
_MOST_INTEGERS = 1 << 16


def is_caffe2(data: memoryview) -> bool:
    """A name and operators with a kind: TensorFlow's graph has a library of functions in the same field."""
    try:
        for field in Message(data, Budget(1 << 16)).fields():
            if field.number == _NET_NAME and (field.kind != BYTES or len(field.content()) > 256):
                return False
            if field.number == _NET_OPERATOR and field.kind == BYTES:
                operator = Message(field.content(), Budget(1 << 16))
                kinds = {each.number: each.kind for each in operator.fields()}
                return kinds.get(_OPERATOR_KIND) == BYTES and operator.text(_OPERATOR_KIND, 256).isidentifier()
    except ModelFileError:
        return False
    return False


def describe_caffe2(data: memoryview) -> ModelFile:
    return read_caffe2_network(data).file


def read_caffe2_network(data: memoryview, init: memoryview | None = None) -> Network:
    net = Message(data, Budget())
    layers = list(_layers(net))
    if not layers:
        raise damaged("it has no operators")
    told = [field.text() for field in net.fields() if field.number == _NET_INPUT]
    outputs = [field.text() for field in net.fields() if field.number == _NET_OUTPUT]
    if all(layer.kind in _FILLS or layer.kind in _MADE for layer in layers):
        return _weights_alone(net, outputs)
    weights, shapes = _read_init(Message(init, Budget())) if init is not None else ({}, {})
    # The model zoo's init nets also make something in place of the question, which comes first.
    given = [name for name in told if name not in weights] or told[:1]
    if init is None:
        taken = {name for layer in layers for name in layer.inputs[1:]}
        given = [name for name in told if name not in taken] or told[:1]
    weights = {name: weight for name, weight in weights.items() if name not in given}
    graph = Graph(
        Node(layer.kind, layer.inputs, layer.outputs, None, _layout(layer) if layer.kind in _CHANNELS_SECOND else None)
        for layer in layers
    )
    if len(given) > MAX_TENSORS or len(outputs) > MAX_TENSORS:
        raise damaged("it has too many inputs or outputs")
    notes = [] if init is not None else ["its weights are in the init net, which must lie beside it"]
    notes += [] if outputs else ["the net names no output"]
    inputs = [_input(name, shapes.get(name), graph) for name in given]
    file = _described(net, inputs, outputs, graph.ends_in_softmax(outputs[0]) if outputs else None, notes)
    return Network(file, tuple(layers), weights, {each.name: Known(each.element_type, each.shape) for each in inputs})


def _weights_alone(net: Message, outputs: list[str]) -> Network:
    weights, _ = _read_init(net)
    file = _described(net, [], [], None, ["it is an init net, which makes weights; the predict net has the layers"])
    return Network(file, (), weights)


def _described(
    net: Message, inputs: list[TensorInfo], outputs: list[str], ends_in_softmax: bool | None, notes: list[str]
) -> ModelFile:
    name = net.text(_NET_NAME)
    return ModelFile(
        format="caffe2",
        framework="caffe2",
        inputs=tuple(inputs),
        outputs=tuple(TensorInfo(each, "float32", None) for each in outputs),
        producer=None,
        version="NetDef",
        ends_in_softmax=ends_in_softmax,
        labels=(),
        metadata={"name": clean(name)} if name else {},
        notes=tuple(notes),
    )


def _input(name: str, shape: tuple[int, ...] | None, graph: Graph) -> TensorInfo:
    """The placeholder's first size is that of some batch; nets take batches of any size."""
    sizes = (None, *shape[1:]) if shape is not None and len(shape) > 1 else None
    return TensorInfo(name, "float32", sizes, graph.input_layout(name, len(sizes) if sizes else 4))


def _layout(layer: Layer) -> str | None:
    order = layer.attributes.get("order", "NCHW")
    return order if order in ("NCHW", "NHWC") else None


def _layers(net: Message) -> Iterator[Layer]:
    for place, message in enumerate(net.all(_NET_OPERATOR)):
        inputs, outputs, kind, name = [], [], "", ""
        attributes: dict[str, Value] = {}
        for field in message.fields():
            if field.number == _OPERATOR_INPUT:
                inputs.append(field.text())
            elif field.number == _OPERATOR_OUTPUT:
                outputs.append(field.text())
            elif field.number == _OPERATOR_KIND:
                kind = field.text()
            elif field.number == _OPERATOR_NAME:
                name = field.text()
            elif field.number == _OPERATOR_ARGUMENT and len(field.content()) < 1 << 12:
                argument = message.of(field)
                value = _value(argument)
                if value is not None:
                    attributes[argument.text(_NAME)] = value
        if not kind:
            raise damaged(f"operator {place} has no kind")
        yield Layer(
            name or (outputs[0] if outputs else f"{kind}_{place}"), kind, tuple(inputs), tuple(outputs), attributes
        )


def _value(argument: Message) -> Value | None:
    kinds = {field.number: field for field in argument.fields()}
    if _INTEGERS in kinds:
        return tuple(argument.integers(_INTEGERS, _MOST_INTEGERS))
    if _INTEGER in kinds:
        return kinds[_INTEGER].integer()
    return kinds[_TEXT].text() if _TEXT in kinds and kinds[_TEXT].kind == BYTES else None


def _read_init(net: Message) -> tuple[dict[str, Weight], dict[str, tuple[int, ...]]]:
    weights: dict[str, Weight] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    for message in net.all(_NET_OPERATOR):
        kind = message.text(_OPERATOR_KIND)
        outputs = [field.text() for field in message.fields() if field.number == _OPERATOR_OUTPUT]
        arguments = {argument.text(_NAME): argument for argument in message.all(_OPERATOR_ARGUMENT)}
        if "shape" not in arguments or not outputs:
            continue
        shape = tuple(arguments["shape"].integers(_INTEGERS, MAX_RANK))
        if any(not 0 <= size < 1 << 40 for size in shape):
            raise damaged("a weight has a size that is none")
        shapes[outputs[0]] = shape
        element_type = _FILLS.get(kind, "float32")
        content = _numbers(arguments, element_type, shape)
        weights[outputs[0]] = Weight(outputs[0], element_type, shape, _role(outputs[0], element_type), content)
    return weights, shapes


def _role(name: str, element_type: str) -> Role:
    if name.endswith(("_rm", "_riv", "_mean", "_var")):  # running mean, running inverse variance
        return "statistic"
    return "parameter" if element_type in ("float32", "float64", "uint8") else "constant"


def _numbers(arguments: Mapping[str, Message], element_type: str, shape: tuple[int, ...]) -> bytes | None:
    """Where they are stored as bytes or as numbers of four bytes with a tag before each."""
    values = arguments.get("values")
    if values is None or element_type not in ("float32", "uint8"):
        return None
    if element_type == "uint8":
        texts = [
            field.content() for field in values.fields() if field.number in (_TEXT, _TEXTS) and field.kind == BYTES
        ]
        return bytes(texts[0]) if len(texts) == 1 and len(texts[0]) == prod(shape) else None
    content = _floats(values.data)
    if len(content) != 4 * prod(shape):
        raise damaged(f"a weight of shape {shape} has {len(content) // 4:,} numbers")
    return content


def _floats(data: memoryview) -> bytes:
    """All numbers of an argument: each has its tag in front, and slices take those away without a loop."""
    found, position = [], 0
    while position < len(data):
        if data[position] == _TAG:
            tags = bytes(data[position::5])
            count = min(len(tags) - len(tags.lstrip(bytes([_TAG]))), (len(data) - position) // 5)
            run = data[position : position + 5 * count]
            numbers = bytearray(4 * count)
            for byte in range(4):
                numbers[byte::4] = run[byte + 1 :: 5]
            if not count:
                raise damaged("a number is cut off")
            found.append(bytes(numbers))
            position += 5 * count
            continue
        tag, position = read_varint(data, position)
        kind = tag & 7
        if kind == BYTES:
            size, position = read_varint(data, position)
            if tag >> 3 == _FLOATS:  # packed, as newer writers have it
                found.append(bytes(data[position : position + size]))
            position += size
        elif kind == 0:
            _, position = read_varint(data, position)
        else:
            position += 4 if kind == FIXED32 else 8
    return b"".join(found)
