"""What the benchmarks evaluate: pictures with the statistics of photographs, and ONNX models with random weights."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from PIL import Image, ImageDraw

GRAPH = Path(__file__).parents[1] / "manifests" / "models" / "graphs" / "efficientnet-lite0.onnx"

CLASSES = 1000
_OCTAVES = ((3, 70), (8, 40), (20, 25), (50, 14), (125, 9), (250, 8))  # cells across, strength: about 1/f, as in nature
_DISTINCT = 64


def photograph(seed: int, width: int = 500, height: int = 375) -> bytes:
    """A JPEG of about 75 KB: noise at every scale, a few edges, and the grain of a sensor."""
    random = np.random.default_rng(seed)
    canvas = np.full((height, width, 3), 120, np.float32)
    for cells, strength in _OCTAVES:
        patch = random.normal(0, strength, (max(2, cells * height // width), cells, 3)).astype(np.float32)
        patch = 1.2 * patch.mean(axis=2, keepdims=True) + 0.3 * patch  # channels go together, mostly
        for channel in range(3):
            plane = Image.fromarray(np.ascontiguousarray(patch[:, :, channel]))
            canvas[:, :, channel] += np.asarray(plane.resize((width, height), Image.Resampling.BICUBIC))
    canvas += random.normal(0, 7, (height, width, 1)).astype(np.float32)
    picture = Image.fromarray(canvas.clip(0, 255).astype(np.uint8))
    draw = ImageDraw.Draw(picture)
    for _ in range(6):
        left, top, wide, high = (int(value) for value in random.integers(0, (width, height, 160, 120)))
        shape = draw.ellipse if random.integers(2) else draw.rectangle
        shape((left, top, left + wide, top + high), outline=tuple(map(int, random.integers(0, 256, 3))), width=4)
    return _jpeg(picture)


def thumbnail(seed: int) -> bytes:
    """A JPEG of 32 x 32 pixels and less than a kilobyte."""
    return _jpeg(Image.open(io.BytesIO(photograph(seed, 64, 48))).resize((32, 32)))


def _jpeg(picture: Image.Image) -> bytes:
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=90)
    return out.getvalue()


def write_images(folder: Path, count: int, make: Any = photograph) -> Path:
    """A folder of `count` images, labelled in their names. Some dozens are different, the others are their copies."""
    folder.mkdir(parents=True)
    contents = [make(seed) for seed in range(min(count, _DISTINCT))]
    for index in range(count):
        (folder / f"{index:06d}_{index % CLASSES}.jpg").write_bytes(contents[index % _DISTINCT])
    return folder


def write_small_model(path: Path) -> Path:
    """One convolution over 224 x 224 pixels, about 0.1 ms: whatever prepares its input takes much longer."""
    random = np.random.default_rng(0)
    nodes = [
        helper.make_node("Conv", ["images", "kernel"], ["c"], kernel_shape=[3, 3], strides=[4, 4], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("GlobalAveragePool", ["r"], ["p"]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Gemm", ["f", "weight", "bias"], ["logits"], transB=1),
    ]
    weights = {
        "kernel": random.normal(0, 0.3, (8, 3, 3, 3)),
        "weight": random.normal(0, 1, (CLASSES, 8)),
        "bias": random.normal(0, 0.1, CLASSES),
    }
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, ["N", 3, 224, 224])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", CLASSES])],
        [numpy_helper.from_array(values.astype(np.float32), name) for name, values in weights.items()],
    )
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)]), path)
    return path


def write_efficientnet(path: Path) -> Path:
    """The shipped EfficientNet-Lite0 graph with random weights: as slow as the real one, and as sure of nothing."""
    from mlmodelscope.provision.weights.join_onnx import join_weights
    from mlmodelscope.tensor_file.tensor import Tensor

    random = np.random.default_rng(0)
    tensors = {}
    for wanted in onnx.load(GRAPH, load_external_data=False).graph.initializer:
        shape = tuple(wanted.dims)
        if wanted.name.endswith("running_var"):
            values = random.uniform(0.5, 1.5, shape)
        elif wanted.name.endswith(("running_mean", "bias")):
            values = random.normal(0, 0.1, shape)
        elif len(shape) == 1:
            values = random.uniform(0.8, 1.2, shape)
        else:
            values = random.normal(0, np.sqrt(2 / np.prod(shape[1:])), shape)
        tensors[wanted.name] = Tensor(wanted.name, "float32", shape, values.astype("<f4").tobytes())
    join_weights(GRAPH, tensors, path)
    return path


def model_manifest(graph: Path, framework: str, steps: dict[str, Any]) -> Any:
    """A manifest for a model file: one image in, scores out."""
    from mlmodelscope import load_manifest

    return load_manifest(
        {
            "name": graph.stem,
            "version": "1.0.0",
            "task": "classification",
            "framework": {"name": framework, "version": "*"},
            "inputs": [{"type": "image", "element_type": "float32", "processing": steps}],
            "outputs": [{"type": "logits", "processing": {"softmax": None}}],
            "source": {"graph_path": str(graph)},
        }
    )


def dataset_manifest(folder: Path) -> Any:
    """A manifest for a folder of `write_images`."""
    from mlmodelscope import load_manifest

    return load_manifest(
        {
            "name": folder.name,
            "version": "1.0.0",
            "task": "classification",
            "format": "list",
            "sources": [{"url": f"{folder}/"}],
            "labels": {"pattern": r"_(\d+)\.jpg$"},
        }
    )
