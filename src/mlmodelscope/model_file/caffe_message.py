"""Caffe's messages (caffemodel): the parts of a network that its text has as well, and the blobs of each layer."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from mlmodelscope.model_file.caffe_text import Tree
from mlmodelscope.model_file.limit import MAX_RANK, Budget, damaged
from mlmodelscope.model_file.model_file import ModelFileError
from mlmodelscope.model_file.protobuf import BYTES, Message

Blob = tuple[tuple[int, ...], str, memoryview]
"""Shape, element type and numbers."""

_NET_NAME, _NET_OLD_LAYER, _NET_LAYER = 1, 2, 100
_BLOB_DATA, _BLOB_SHAPE, _BLOB_DOUBLES = 5, 7, 8
# Of each message the fields that we ask for: number, name, and the message inside of it.
_SHAPE = {1: "dim"}
_CONVOLUTION = (
    "num_output bias_term pad kernel_size group stride _ _ pad_h pad_w kernel_h kernel_w stride_h stride_w _ axis _ "
    "dilation"
)
_POOLING = "pool kernel_size stride pad kernel_h kernel_w stride_h stride_w pad_h pad_w _ global_pooling round_mode"
PARAMETERS: dict[str, dict[int, str]] = {
    "convolution_param": {place: name for place, name in enumerate(_CONVOLUTION.split(), 1) if name != "_"},
    "pooling_param": {place: name for place, name in enumerate(_POOLING.split(), 1) if name != "_"},
    "inner_product_param": {1: "num_output", 2: "bias_term", 5: "axis", 6: "transpose"},
    "concat_param": {1: "concat_dim", 2: "axis"},
    "flatten_param": {1: "axis", 2: "end_axis"},
    "permute_param": {1: "order"},
    "softmax_param": {2: "axis"},
}
_LAYER = {"name": 1, "type": 2, "bottom": 3, "top": 4}
_LAYER_PARAMETERS = {
    104: "concat_param",
    106: "convolution_param",
    117: "inner_product_param",
    121: "pooling_param",
    125: "softmax_param",
    135: "flatten_param",
    202: "permute_param",
}
_OLD_LAYER = {"bottom": 2, "top": 3, "name": 4, "type": 5}
_OLD_PARAMETERS = {
    9: "concat_param",
    10: "convolution_param",
    17: "inner_product_param",
    19: "pooling_param",
    39: "softmax_param",
}
_KINDS = """
Accuracy BNLL Concat Convolution Data Dropout EuclideanLoss Flatten HDF5Data HDF5Output Im2col ImageData InfogainLoss
InnerProduct LRN MultinomialLogisticLoss Pooling ReLU Sigmoid Softmax SoftmaxWithLoss Split TanH WindowData Eltwise
Power SigmoidCrossEntropyLoss HingeLoss MemoryData ArgMax Threshold DummyData Slice MVN AbsVal Silence
"""
OLD_KINDS = {
    **dict(enumerate(_KINDS.split(), 1)),
    38: "Exp",
    39: "Deconvolution",
}


def is_caffemodel(data: memoryview) -> bool:
    """Layers that have a name, a kind and blobs where Caffe puts them, in the network's field 100 (or 2)."""
    try:
        for field in Message(data, Budget()).fields():
            if field.number in (_NET_LAYER, _NET_OLD_LAYER) and field.kind == BYTES:
                layer = Message(field.content(), Budget(1 << 12))
                if field.number == _NET_LAYER:
                    return layer.text(1).isprintable() and layer.text(2).isidentifier()
                return layer.integer(5) in OLD_KINDS and layer.text(4).isprintable()
    except ModelFileError:
        return False
    return False


def net_of_message(data: memoryview) -> Tree:
    """The parts of a caffemodel that its text has as well."""
    message, tree = Message(data, Budget()), Tree()
    for field in message.fields():
        if field.number == _NET_NAME and field.kind == BYTES:
            tree.add("name", field.text())
        elif field.number == 3 and field.kind == BYTES:
            tree.add("input", field.text())
        elif field.number == 4 and isinstance(field.value, int):
            tree.add("input_dim", str(field.integer()))
        elif field.number == 8 and field.kind == BYTES:
            tree.add("input_shape", _tree(message.of(field), _SHAPE))
        elif field.number == _NET_LAYER:
            tree.add("layer", _layer_of_message(message.of(field), _LAYER, _LAYER_PARAMETERS))
        elif field.number == _NET_OLD_LAYER:
            tree.add("layers", _layer_of_message(message.of(field), _OLD_LAYER, _OLD_PARAMETERS))
    return tree


def _layer_of_message(message: Message, numbers: dict[str, int], parameters: dict[int, str]) -> Tree:
    names = {number: name for name, number in numbers.items()}
    is_new = numbers is _LAYER
    tree = Tree()
    for field in message.fields():
        if field.number in names:
            number = isinstance(field.value, int)
            text = OLD_KINDS.get(field.integer(), str(field.integer())) if number else field.text()
            tree.add(names[field.number], text)
        elif field.number in parameters:
            tree.add(parameters[field.number], _tree(message.of(field), PARAMETERS[parameters[field.number]]))
        elif is_new and field.number in (8, 9):
            rule = message.of(field)
            phase = rule.integer(1)
            inner = Tree()
            if phase is not None:
                inner.add("phase", "TRAIN" if phase == 0 else "TEST")
            tree.add("include" if field.number == 8 else "exclude", inner)
        elif is_new and field.number in (133, 143):  # both have shapes: reshape_param and input_param
            inner = Tree()
            for shape in message.of(field).all(1):
                inner.add("shape", _tree(shape, _SHAPE))
            tree.add("reshape_param" if field.number == 133 else "input_param", inner)
    return tree


def _tree(message: Message, names: dict[int, str]) -> Tree:
    tree = Tree()
    for number, name in names.items():
        for value in message.integers(number, MAX_RANK):
            tree.add(name, str(value))
    return tree


def blobs_of_message(data: memoryview) -> Iterator[tuple[str, tuple[Blob, ...]]]:
    """The blobs of each layer: shape, element type and numbers."""
    message = Message(data, Budget())
    for field in message.fields():
        if field.number in (_NET_LAYER, _NET_OLD_LAYER) and field.kind == BYTES:
            layer = message.of(field)
            is_new = field.number == _NET_LAYER
            found = tuple(_blob(blob) for blob in layer.all(7 if is_new else 6))
            if found:
                yield layer.text(1 if is_new else 4), found


def _blob(blob: Message) -> Blob:
    told = blob.first(_BLOB_SHAPE)
    if told is not None:
        shape = tuple(told.integers(1, MAX_RANK))
    else:
        shape = tuple(blob.integer(number) or 0 for number in (1, 2, 3, 4))
    if any(size < 0 or size >= 1 << 40 for size in shape):
        raise damaged("a blob has a size that is none")
    pieces: dict[int, list[memoryview]] = {}
    for field in blob.fields():
        if field.number in (_BLOB_DATA, _BLOB_DOUBLES) and not isinstance(field.value, int):
            pieces.setdefault(field.number, []).append(field.value)
    kind = "float32" if _BLOB_DATA in pieces or _BLOB_DOUBLES not in pieces else "float64"
    stored = pieces.get(_BLOB_DATA if kind == "float32" else _BLOB_DOUBLES, [])
    data = stored[0] if len(stored) == 1 else memoryview(b"".join(stored))
    if len(data) != prod(shape) * (4 if kind == "float32" else 8):
        raise damaged(f"a blob of shape {shape} has {len(data):,} bytes")
    return shape, kind, data
