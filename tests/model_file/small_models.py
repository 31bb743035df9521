"""The same small network in formats that nobody's framework need write here: bytes by hand, as their readers want them.

A convolution of 4 filters over 3 channels, a ReLU, a sum over the picture and a softmax, with weights by a fixed rule.
"""

import json
import struct
from collections.abc import Sequence
from math import prod
from pathlib import Path

from mlmodelscope_worker.predictor.protobuf import write as field

SHAPE = (1, 3, 8, 8)
WEIGHT, BIAS, DENSE, DENSE_BIAS = (4, 3, 3, 3), (4,), (5, 4), (5,)
PARAMETERS = prod(WEIGHT) + prod(BIAS) + prod(DENSE) + prod(DENSE_BIAS)


def numbers(shape: Sequence[int], seed: int) -> list[float]:
    return [((place * 7 + seed * 13) % 23 - 11) / 8 for place in range(prod(shape))]


def floats(shape: Sequence[int], seed: int) -> bytes:
    return struct.pack(f"<{prod(shape)}f", *numbers(shape, seed))


TENSORS = {
    "conv.weight": (WEIGHT, floats(WEIGHT, 1)),
    "conv.bias": (BIAS, floats(BIAS, 2)),
    "dense.weight": (DENSE, floats(DENSE, 3)),
    "dense.bias": (DENSE_BIAS, floats(DENSE_BIAS, 4)),
}

PROTOTXT = """
name: "small" # by hand
input: "data"
input_dim: 1 input_dim: 3 input_dim: 8 input_dim: 8
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
  convolution_param { num_output: 4 kernel_size: 3 pad: 1 weight_filler { type: "xavier" } } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool" pooling_param { pool: AVE global_pooling: true } }
layer { name: "dense" type: "InnerProduct" bottom: "pool" top: "dense" inner_product_param { num_output: 5 } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "dense" bottom: "label" include { phase: TRAIN } }
layer { name: "prob" type: "Softmax" bottom: "dense" top: "prob" }
"""


def caffemodel() -> bytes:
    content = field(1, "small")
    for name, kind in (("conv", "Convolution"), ("dense", "InnerProduct")):
        layer = field(1, name) + field(2, kind) + field(3, "data") + field(4, name)
        for what in ("weight", "bias"):
            shape, data = TENSORS[f"{name}.{what}"]
            layer += field(7, field(7, b"".join(field(1, size) for size in shape)) + field(5, data))
        content += field(100, layer)
    return content


def old_caffemodel() -> bytes:
    """As it was until 2014: kinds are numbers, and every blob has four sizes."""
    blob = b"".join(field(number, size) for number, size in zip((1, 2, 3, 4), WEIGHT, strict=True))
    bias = field(1, 1) + field(2, 1) + field(3, 1) + field(4, 4)
    layer = field(4, "conv") + field(5, 4) + field(2, "data") + field(3, "conv")
    layer += field(6, blob + field(5, floats(WEIGHT, 1))) + field(6, bias + field(5, floats(BIAS, 2)))
    return field(1, "old") + field(2, layer)


NCNN = """7767517
6 6
Input data 0 1 data 0=8 1=8 2=3
Convolution conv 1 1 data conv 0=4 1=3 4=1 5=1 6=108
ReLU relu 1 1 conv conv_relu
Pooling pool 1 1 conv_relu pool 0=1 4=1
InnerProduct dense 1 1 pool dense 0=5 1=1 2=20
Softmax prob 1 1 dense prob 0=0
"""


def ncnn_weights() -> bytes:
    content = b""
    for name in ("conv", "dense"):
        content += bytes(4) + TENSORS[f"{name}.weight"][1] + TENSORS[f"{name}.bias"][1]
    return content


def mxnet_symbol() -> str:
    def node(operator: str, name: str, inputs: Sequence[int] = (), **attributes: str) -> dict[str, object]:
        return {"op": operator, "name": name, "attrs": attributes, "inputs": [[place, 0, 0] for place in inputs]}

    nodes = [
        node("null", "data", __shape__="(0, 3, 8, 8)", __dtype__="0"),
        node("null", "conv_weight"),
        node("null", "conv_bias"),
        node("Convolution", "conv", (0, 1, 2), kernel="(3, 3)", num_filter="4", pad="(1, 1)"),
        node("Activation", "relu", (3,), act_type="relu"),
        node("Pooling", "pool", (4,), global_pool="True", kernel="(1, 1)", pool_type="avg"),
        node("null", "dense_weight"),
        node("null", "dense_bias"),
        node("FullyConnected", "dense", (5, 6, 7), num_hidden="5"),
        node("null", "softmax_label"),
        node("SoftmaxOutput", "softmax", (8, 9)),
    ]
    return json.dumps({"nodes": nodes, "heads": [[10, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}})


def mxnet_params() -> bytes:
    def array(shape: Sequence[int], data: bytes) -> bytes:
        sizes = struct.pack(f"<i{len(shape)}q", len(shape), *shape)
        return struct.pack("<Ii", 0xF993FAC9, 0) + sizes + struct.pack("<iii", 1, 0, 0) + data

    names = [f"arg:{name.replace('.', '_')}".encode() for name in TENSORS]
    content = struct.pack("<QQQ", 0x112, 0, len(TENSORS)) + b"".join(array(*each) for each in TENSORS.values())
    return content + struct.pack("<Q", len(names)) + b"".join(struct.pack("<Q", len(name)) + name for name in names)


def caffe2_operator(kind: str, inputs: Sequence[str], output: str, **arguments: object) -> bytes:
    content = b"".join(field(1, name) for name in inputs) + field(2, output) + field(4, kind)
    for name, value in arguments.items():
        argument = field(1, name)
        if isinstance(value, bytes):  # numbers of four bytes, each behind its own tag
            argument += b"".join(b"\x2d" + value[at : at + 4] for at in range(0, len(value), 4))
        elif isinstance(value, tuple):
            argument += b"".join(field(6, size) for size in value)
        else:
            argument += field(3, value)
        content += field(5, argument)
    return field(2, content)


def caffe2_predict() -> bytes:
    content = field(1, "small")
    content += caffe2_operator("Conv", ("data", "conv_w", "conv_b"), "conv", kernel=3, pad=1)
    content += caffe2_operator("Relu", ("conv",), "relu")
    content += caffe2_operator("AveragePool", ("relu",), "pool", global_pooling=1)
    content += caffe2_operator("FC", ("pool", "dense_w", "dense_b"), "dense")
    content += caffe2_operator("Softmax", ("dense",), "prob")
    for name in ("data", "conv_w", "conv_b", "dense_w", "dense_b"):
        content += field(7, name)
    return content + field(8, "prob")


def caffe2_init() -> bytes:
    content = field(1, "small_init")
    for name, (shape, data) in TENSORS.items():
        short = name.replace("weight", "w").replace("bias", "b").replace(".", "_")
        content += caffe2_operator("GivenTensorFill", (), short, shape=shape, values=data)
    return content + caffe2_operator("ConstantFill", (), "data", shape=SHAPE)


def _dictionary(**values: bytes) -> bytes:
    return field(1, 1) + b"".join(field(2, field(1, key) + field(2, value)) for key, value in values.items())


def _value(number: int, content: object) -> bytes:
    return field(1, 1) + field(number, content)


def _cntk_variable(uid: str, name: str, kind: int, shape: Sequence[int], data: bytes | None = None) -> bytes:
    """CNTK's first axis runs fastest: its shapes are ours backwards."""
    sizes = field(1, b"".join(bytes([size]) for size in reversed(shape)))
    values = {
        "uid": _value(8, uid),
        "name": _value(8, name),
        "kind": _value(5, kind),
        "data_type": _value(5, 1),
        "shape": _value(9, sizes),
    }
    if data is None:
        values["dynamic_axis"] = _value(11, field(1, _value(10, field(2, "defaultBatchAxis"))))
    else:
        values["value"] = _value(13, field(1, 1) + field(3, sizes) + field(4, field(1, data)))
    return _value(12, _dictionary(**values))


def _cntk_function(uid: str, name: str, operator: int, inputs: Sequence[str]) -> bytes:
    texts = _value(11, b"".join(field(1, _value(8, each)) for each in inputs))
    values = {"uid": _value(8, uid), "name": _value(8, name), "op": _value(5, operator), "inputs": texts}
    return _value(12, _dictionary(**values))


def cntk() -> bytes:
    variables = [_cntk_variable("Input0", "data", 0, SHAPE[1:])]
    variables += [_cntk_variable(f"Parameter{place}", name, 2, *TENSORS[name]) for place, name in enumerate(TENSORS, 1)]
    functions = [
        _cntk_function("Convolution6", "maps", 33, ("Parameter1", "Input0")),
        _cntk_function("Plus7", "conv", 19, ("Convolution6_Output_0", "Parameter2")),
        _cntk_function("ReLU8", "relu", 3, ("Plus7_Output_0",)),
        _cntk_function("Times9", "dense", 31, ("ReLU8_Output_0", "Parameter3")),
        _cntk_function("Plus10", "scores", 19, ("Times9_Output_0", "Parameter4")),
        _cntk_function("Softmax11", "prob", 10, ("Plus10_Output_0",)),
    ]
    return _dictionary(
        version=_value(5, 1),
        type=_value(8, "CompositeFunction"),
        root=_value(8, "Softmax11"),
        inputs=_value(11, b"".join(field(1, each) for each in variables)),
        primitive_functions=_value(11, b"".join(field(1, each) for each in functions)),
    )


def safetensors() -> bytes:
    header, place = {"__metadata__": {"format": "pt"}}, 0
    for name, (shape, data) in TENSORS.items():
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [place, place + len(data)]}
        place += len(data)
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + b"".join(data for _, data in TENSORS.values())


FILES = {
    "caffe": {"small.prototxt": PROTOTXT.encode(), "small.caffemodel": caffemodel()},
    "ncnn": {"small.param": NCNN.encode(), "small.bin": ncnn_weights()},
    "mxnet": {"small-symbol.json": mxnet_symbol().encode(), "small-0000.params": mxnet_params()},
    "caffe2": {"predict_net.pb": caffe2_predict(), "init_net.pb": caffe2_init()},
    "cntk": {"small.dnn": cntk()},
    "safetensors": {"small.safetensors": safetensors()},
}


def write(kind: str, folder: Path) -> Path:
    """The files of a format; the path is that of the one to be named."""
    for name, content in FILES[kind].items():
        (folder / name).write_bytes(content)
    return folder / next(iter(FILES[kind]))


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def _table_block(entries: Sequence[tuple[bytes, bytes]]) -> bytes:
    """Keys with what they share with the key before left out, as LevelDB's tables have it."""
    content, before = b"", b""
    for key, value in entries:
        shared = 0
        while shared < min(len(key), len(before)) and key[shared] == before[shared]:
            shared += 1
        content += _varint(shared) + _varint(len(key) - shared) + _varint(len(value)) + key[shared:] + value
        before = key
    return content + struct.pack("<II", 0, 1)


def bundle() -> dict[str, bytes]:
    """The variables of a SavedModel: an index and one file of numbers; two names are known to the graph of objects."""
    numbers_of_all, entries = b"", []
    keys = {name: f"model/{place}/.ATTRIBUTES/VARIABLE_VALUE" for place, name in enumerate(TENSORS)}
    nodes = b"".join(
        field(1, field(2, field(1, "VARIABLE_VALUE") + field(2, name) + field(3, keys[name])))
        for name in ("conv.weight", "conv.bias")
    )
    text = _varint(len(nodes)) + bytes(4) + nodes
    entries.append((b"", field(1, 1)))
    entries.append((b"_CHECKPOINTABLE_OBJECT_GRAPH", field(1, 7) + field(5, len(text))))
    numbers_of_all += text
    for name, (shape, data) in TENSORS.items():
        sizes = b"".join(field(2, field(1, size)) for size in shape)
        place = field(4, len(numbers_of_all)) + field(5, len(data))
        entries.append((keys[name].encode(), field(1, 1) + field(2, sizes) + place))
        numbers_of_all += data
    block = _table_block(entries) + bytes(5)
    handle = _varint(0) + _varint(len(block) - 5)
    directory = _table_block([(b"z", handle)]) + bytes(5)
    footer = _varint(0) * 2 + _varint(len(block)) + _varint(len(directory) - 5)
    end = footer.ljust(40, b"\0") + (0xDB4775248B80FB57).to_bytes(8, "little")
    return {
        "variables.index": block + directory + end,
        "variables.data-00000-of-00001": numbers_of_all,
    }
