"""The formats that are read: how each is recognized by its content, described, and read as a network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mlmodelscope.model_file.archive import ZIP_START, Archive
from mlmodelscope.model_file.caffe import is_prototxt, read_caffe_network
from mlmodelscope.model_file.caffe2 import is_caffe2, read_caffe2_network
from mlmodelscope.model_file.caffe_message import is_caffemodel
from mlmodelscope.model_file.cntk import is_cntk, read_cntk_network
from mlmodelscope.model_file.companion import caffemodel, init_net, mxnet_params, nothing, same_stem
from mlmodelscope.model_file.limit import Budget
from mlmodelscope.model_file.model_file import ModelFile, ModelFileError
from mlmodelscope.model_file.mxnet import is_mxnet_symbol, read_mxnet_network
from mlmodelscope.model_file.ncnn import is_ncnn, read_ncnn_network
from mlmodelscope.model_file.network import Network, with_tensors
from mlmodelscope.model_file.onnx import describe_onnx
from mlmodelscope.model_file.onnx_network import read_onnx_network
from mlmodelscope.model_file.openvino import describe_openvino
from mlmodelscope.model_file.openvino_network import read_openvino_network
from mlmodelscope.model_file.protobuf import BYTES, VARINT, Message
from mlmodelscope.model_file.pt2 import describe_pt2, is_pt2
from mlmodelscope.model_file.pt2_network import read_pt2_network
from mlmodelscope.model_file.tensorflow import describe_frozen_graph, describe_saved_model
from mlmodelscope.model_file.tensorflow_network import read_frozen_network, read_saved_network
from mlmodelscope.model_file.tflite import describe_tflite, is_tflite
from mlmodelscope.model_file.tflite_network import read_tflite_network
from mlmodelscope.model_file.torchscript import describe_torchscript, is_torchscript
from mlmodelscope.model_file.torchscript_network import read_torchscript_network
from mlmodelscope.tensor_file.read import read_tensors


@dataclass(frozen=True)
class Opened:
    """A file that is mapped, with the file of its weights where that is apart."""

    path: Path
    data: memoryview
    weights: memoryview | None = None
    weights_path: Path | None = None
    key: str | None = None
    """Which dictionary of a checkpoint."""


@dataclass(frozen=True)
class ModelFormat:
    name: str
    """As people know it, with the suffix that its files mostly have."""
    describe: Callable[[Opened], ModelFile]
    network: Callable[[Opened], Network]
    find_weights: Callable[[Path], Path | None] = nothing
    """Where the weights lie, if they have a file of their own."""
    needs_weights: bool = False
    """Whether a description looks at that file, too: some formats tell inputs from weights by it."""


def _onnx_network(opened: Opened) -> Network:
    network = read_onnx_network(opened.data, opened.path.absolute().parent)
    if opened.weights_path is None:
        return network
    return with_tensors(network, read_tensors(opened.weights_path, opened.key))


ONNX = ModelFormat(
    "ONNX (.onnx)",
    lambda opened: describe_onnx(opened.data),
    _onnx_network,
)
TFLITE = ModelFormat(
    "TensorFlow Lite (.tflite)",
    lambda opened: describe_tflite(opened.data),
    lambda opened: read_tflite_network(opened.data),
)
TORCHSCRIPT = ModelFormat(
    "TorchScript (.pt)",
    lambda opened: describe_torchscript(Archive(opened.data)),
    lambda opened: read_torchscript_network(opened.data, opened.path),
)
PT2 = ModelFormat(
    "torch.export (.pt2)",
    lambda opened: describe_pt2(Archive(opened.data)),
    lambda opened: read_pt2_network(Archive(opened.data)),
)
SAVED_MODEL = ModelFormat(
    "TensorFlow SavedModel (its folder, or saved_model.pb)",
    lambda opened: describe_saved_model(opened.data),
    lambda opened: read_saved_network(opened.data, opened.path.absolute().parent),
)
FROZEN_GRAPH = ModelFormat(
    "TensorFlow frozen graph (.pb)",
    lambda opened: describe_frozen_graph(opened.data),
    lambda opened: read_frozen_network(opened.data),
)
OPENVINO = ModelFormat(
    "OpenVINO IR (.xml)",
    lambda opened: describe_openvino(opened.data),
    lambda opened: read_openvino_network(opened.data, opened.weights),
    same_stem(".bin"),
)
CAFFE = ModelFormat(
    "Caffe (.prototxt, .caffemodel)",
    lambda opened: read_caffe_network(opened.data, opened.weights).file,
    lambda opened: read_caffe_network(opened.data, opened.weights),
    caffemodel,
    needs_weights=True,
)
CAFFE2 = ModelFormat(
    "Caffe2 (predict_net.pb)",
    lambda opened: read_caffe2_network(opened.data, opened.weights).file,
    lambda opened: read_caffe2_network(opened.data, opened.weights),
    init_net,
    needs_weights=True,
)
CNTK = ModelFormat(
    "CNTK 2 (.dnn, .model)",
    lambda opened: read_cntk_network(opened.data).file,
    lambda opened: read_cntk_network(opened.data),
)
NCNN = ModelFormat(
    "ncnn (.param)",
    lambda opened: read_ncnn_network(opened.data, opened.weights).file,
    lambda opened: read_ncnn_network(opened.data, opened.weights),
    same_stem(".bin"),
    needs_weights=True,
)
MXNET = ModelFormat(
    "MXNet (-symbol.json)",
    lambda opened: read_mxnet_network(opened.data, opened.weights).file,
    lambda opened: read_mxnet_network(opened.data, opened.weights),
    mxnet_params,
    needs_weights=True,
)
FORMATS = (
    *(ONNX, TFLITE, TORCHSCRIPT, PT2, SAVED_MODEL, FROZEN_GRAPH, OPENVINO),
    *(CAFFE, CAFFE2, CNTK, NCNN, MXNET),
)
_EXTENSIONS = {
    ".onnx": ONNX,
    ".tflite": TFLITE,
    ".lite": TFLITE,
    ".pb": FROZEN_GRAPH,
    ".xml": OPENVINO,
    ".pt2": PT2,
    ".pt": TORCHSCRIPT,
    ".pth": TORCHSCRIPT,
    ".torchscript": TORCHSCRIPT,
    ".prototxt": CAFFE,
    ".caffemodel": CAFFE,
    ".param": NCNN,
    ".dnn": CNTK,
}


def format_by_content(data: memoryview) -> ModelFormat | None:
    """None where it is no format that we know, or damaged at its beginning."""
    start = bytes(data[:256])
    if is_tflite(start):
        return TFLITE
    if start.startswith(ZIP_START):
        archive = Archive(data)
        return PT2 if is_pt2(archive) else TORCHSCRIPT if is_torchscript(archive) else None
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith((b"<net", b"<?xml")):
        return OPENVINO
    if is_ncnn(start):
        return NCNN
    if is_mxnet_symbol(data):
        return MXNET
    if is_prototxt(data):
        return CAFFE
    return _format_of_message(data)


def format_by_name(path: Path) -> ModelFormat | None:
    return SAVED_MODEL if path.name == "saved_model.pb" else _EXTENSIONS.get(path.suffix.lower())


def _format_of_message(data: memoryview) -> ModelFormat | None:
    """Protocol buffers have no magic number; which fields the outermost message has tells the formats apart."""
    kinds: dict[int, int] = {}
    try:
        for field in Message(data, Budget()).fields():
            kinds.setdefault(field.number, field.kind)
    except ModelFileError:
        return None
    if kinds.get(1) == VARINT and kinds.get(7) == BYTES:
        return ONNX
    if kinds.get(1) == VARINT and kinds.get(2) == BYTES and set(kinds) == {1, 2}:
        return CNTK if is_cntk(data) else SAVED_MODEL
    if kinds.get(100) == BYTES or (kinds.get(2) == BYTES and is_caffemodel(data)):
        return CAFFE if is_caffemodel(data) else None
    if kinds.get(2) == BYTES and set(kinds) <= set(range(1, 10)) and is_caffe2(data):
        return CAFFE2
    if kinds.get(1) == BYTES and set(kinds) <= {1, 2, 3, 4}:
        return FROZEN_GRAPH
    return None
