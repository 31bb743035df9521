"""A world of colored squares on black, and a detector of three convolution weights that finds them: real, and tiny.

Pictures are 32 x 32 pixels; squares of one color each lie somewhere on a grid of 4 pixels. The network takes the mean
of each cell and channel: where a channel is bright, there is a square of that class.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

CLASSES = ("red", "green", "blue")
_SIDE, _CELL = 32, 4


def draw(folder: Path, count: int = 12, seed: int = 0) -> Path:
    """A COCO dataset: `pictures/` and `truth.json`."""
    chance = np.random.default_rng(seed)
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    data: dict[str, Any] = {
        "images": [],
        "annotations": [],
        "categories": [{"id": number + 1, "name": name} for number, name in enumerate(CLASSES)],
    }
    for number in range(count):
        pixels = chance.integers(0, 40, (_SIDE, _SIDE, 3)).astype(np.uint8)
        data["images"].append({"id": number, "file_name": f"{number:04d}.png", "width": _SIDE, "height": _SIDE})
        for cell in chance.choice(64, chance.integers(1, 6), replace=False):
            top, left = int(cell // 8 * _CELL), int(cell % 8 * _CELL)
            kind = int(chance.integers(0, 3))
            pixels[top : top + _CELL, left : left + _CELL, kind] = chance.integers(90, 255)
            data["annotations"].append(
                {
                    "id": len(data["annotations"]),
                    "image_id": number,
                    "category_id": kind + 1,
                    "bbox": [left, top, _CELL, _CELL],
                    "area": _CELL * _CELL,
                    "iscrowd": 0,
                }
            )
        Image.fromarray(pixels).save(folder / "pictures" / f"{number:04d}.png")
    (folder / "truth.json").write_text(json.dumps(data))
    return folder


def network(path: Path) -> Path:
    """[n, 3, 32, 32] in 0..1 to [n, 8, 8, 8]: box, objectness and three classes of each cell."""
    weights = np.zeros((8, 3, _CELL, _CELL), np.float32)
    weights[4] = 1 / 16
    for channel in range(3):
        weights[5 + channel, channel] = 1 / 16
    bias = np.zeros(8, np.float32)
    bias[2:4] = 1  # a box of one cell
    node = helper.make_node("Conv", ["input", "weights", "bias"], ["map"], kernel_shape=[4, 4], strides=[4, 4])
    graph = helper.make_graph(
        [node],
        "squares",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, ["n", 3, _SIDE, _SIDE])],
        [helper.make_tensor_value_info("map", TensorProto.FLOAT, ["n", 8, 8, 8])],
        [numpy_helper.from_array(weights, "weights"), numpy_helper.from_array(bias, "bias")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
    path.write_bytes(onnx.ModelProto.SerializeToString(model))
    return path


def model(folder: Path, **changes: Any) -> dict[str, Any]:
    """The detector's manifest."""
    return {
        "name": "squares",
        "version": "1.0.0",
        "task": "object_detection",
        "framework": {"name": "onnxruntime", "version": ">=1.0"},
        "inputs": [
            {
                "type": "image",
                "element_type": "float32",
                "processing": {"decode": {"color_layout": "RGB"}, "rescale": 255, "layout": "NCHW"},
            }
        ],
        "outputs": [{"type": "tensor"}],
        "answer": [
            {"decode_grid": {"size": "cells", "objectness": "given", "classes": "given"}},
            {"best_class": None},
            {"threshold": 0.04},
            {"nms": 0.5},
            {"limit": 100},
        ],
        "source": {"graph_path": str(network(folder / "squares.onnx"))},
        **changes,
    }


def dataset(folder: Path, count: int = 12, **changes: Any) -> dict[str, Any]:
    """The dataset's manifest."""
    place = draw(folder / "squares", count)
    source = {"url": f"{place}/pictures/", "labels_url": f"{place}/truth.json"}
    return {
        "name": "squares",
        "version": "1.0.0",
        "task": "object_detection",
        "format": "coco",
        "sources": [source],
        "size": count,
        **changes,
    }
