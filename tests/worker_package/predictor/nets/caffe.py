"""Caffe: a text and bare protobuf, written without Caffe; OpenCV 4 reads the same files.

Caffe pads alike on both sides. Where a network does not, the filter grows by zeros in front, which adds nothing.
"""

from pathlib import Path
from typing import Dict, List, Sequence

import numpy as np

from mlmodelscope_worker.predictor.protobuf import write as field
from worker_package.predictor.nets.network import Files, Layer, Network


def write(network: Network, folder: Path) -> Files:
    sizes = " ".join("dim: %d" % size for size in (1,) + network.shape)
    lines = ['name: "%s"' % network.name]
    lines.append('layer { name: "input" type: "Input" top: "input" input_param { shape { %s } } }' % sizes)
    weights = {}  # type: Dict[str, Sequence[np.ndarray]]
    for layer in network.layers:
        weight, pads = even(layer) if layer.kind == "convolution" else (layer.weight, layer.pads)
        lines.append(_line(layer, weight, pads))
        if weight is not None:
            weights[layer.name] = [weight, layer.bias]
    return save(folder, "\n".join(lines) + "\n", weights)


def save(folder: Path, network: str, weights: Dict[str, Sequence[np.ndarray]]) -> Files:
    files = {"graph": str(folder / "deploy.prototxt"), "weights": str(folder / "model.caffemodel")}
    Path(files["graph"]).write_text(network)
    Path(files["weights"]).write_bytes(caffemodel(weights))
    return files


def caffemodel(layers: Dict[str, Sequence[np.ndarray]]) -> bytes:
    """NetParameter.layer (100) with LayerParameter.name (1) and blobs (7): BlobProto.shape (7) and data (5)."""
    content = field(1, "network")
    for name, values in layers.items():
        layer = field(1, name)
        for value in values:
            shape = b"".join(field(1, size) for size in value.shape)
            layer += field(7, field(7, shape) + field(5, np.asarray(value, "<f4").tobytes()))
        content += field(100, layer)
    return content


def even(layer: Layer) -> tuple:
    """(filter, padding) with as much padding in front as behind."""
    top, left, bottom, right = layer.pads
    rows, columns = max(0, bottom - top), max(0, right - left)
    if top > bottom or left > right:
        raise ValueError("%s has more padding in front than behind" % layer.name)
    grown = np.pad(layer.weight, ((0, 0), (0, 0), (rows, 0), (columns, 0)), "constant")
    return grown, [bottom, right, bottom, right]


def _line(layer: Layer, weight: np.ndarray, pads: List[int]) -> str:
    ends = "".join(' bottom: "%s"' % name for name in layer.inputs) + ' top: "%s"' % layer.name
    if layer.kind == "convolution":
        said = "num_output: %d kernel_h: %d kernel_w: %d stride: %d pad_h: %d pad_w: %d group: %d" % (
            weight.shape[0],
            weight.shape[2],
            weight.shape[3],
            layer.stride,
            pads[0],
            pads[1],
            layer.groups,
        )
        kind, more = "Convolution", "convolution_param { %s }" % said
    elif layer.kind == "dense":
        kind, more = "InnerProduct", "inner_product_param { num_output: %d }" % weight.shape[0]
    elif layer.kind == "relu6":
        raise ValueError("no ReLU6 is known to Caffe and to OpenCV by the same name")
    else:
        kind, more = {
            "relu": ("ReLU", ""),
            "max_pool": ("Pooling", "pooling_param { pool: MAX kernel_size: 2 stride: 2 }"),
            "average": ("Pooling", "pooling_param { pool: AVE global_pooling: true }"),
            "softmax": ("Softmax", ""),
            "add": ("Eltwise", "eltwise_param { operation: SUM }"),
        }[layer.kind]
    return 'layer { name: "%s" type: "%s"%s %s }' % (layer.name, kind, ends, more)
