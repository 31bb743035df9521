"""Drawings of ten classes, and a small network that tells them apart: a bed that needs nothing from anywhere.

Five shapes, each in warm or in cold colors, with noise: some differ by their color alone, some by which way is up.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from PIL import Image, ImageDraw

SIDE, CELL = 32, 4
NAMES = [f"{color}-{shape}" for color in ("warm", "cold") for shape in ("disc", "square", "wedge", "beam", "pole")]
_FEATURES = 3 * (SIDE // CELL) ** 2
_HIDDEN = 48


def draw(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(RGB bytes of so many drawings, their classes)."""
    chance = np.random.default_rng(seed)
    labels = chance.integers(0, len(NAMES), count)
    return np.stack([_draw(int(label), chance) for label in labels]), labels


def _draw(label: int, chance: np.random.Generator) -> np.ndarray:
    is_warm, shape = label < 5, label % 5
    ground = chance.integers(40, 150, 3)
    strong, weak = chance.normal(172, 30), chance.normal(105, 30)
    color = [strong, chance.normal(110, 35), weak] if is_warm else [weak, chance.normal(110, 35), strong]
    image = Image.new("RGB", (SIDE, SIDE), tuple(int(each) for each in ground))
    pen = ImageDraw.Draw(image)
    size = chance.integers(7, 12)
    x, y = (int(each) for each in chance.integers(12, 21, 2))
    fill = tuple(int(each) for each in np.clip(color, 0, 255))
    left, top, right, bottom = x - size, y - size, x + size, y + size
    if shape == 0:
        pen.ellipse((left, top, right, bottom), fill)
    elif shape == 1:
        pen.rectangle((left, top, right, bottom), fill)
    elif shape == 2:
        pen.polygon([(left, top), (right, top), (left, bottom)], fill)
    elif shape == 3:
        pen.rectangle((left, y - size // 3, right, y + size // 3), fill)
    else:
        pen.rectangle((x - size // 3, top, x + size // 3, bottom), fill)
    noisy = np.asarray(image, np.float64) + chance.normal(0, 22, (SIDE, SIDE, 3))
    return noisy.clip(0, 255).astype(np.uint8)


def _features(pictures: np.ndarray) -> np.ndarray:
    """What the network sees: reals for RGB, averaged over small squares, channel by channel."""
    reals = (pictures.astype(np.float32) / 255 - 0.5) / 0.5
    cells = SIDE // CELL
    pooled = reals.reshape(-1, cells, CELL, cells, CELL, 3).mean(axis=(2, 4))
    return pooled.transpose(0, 3, 1, 2).reshape(len(pictures), _FEATURES)


@cache
def train() -> dict[str, np.ndarray]:
    """Weights of two layers, by gradient descent with momentum."""
    pictures, labels = draw(6000, seed=1)
    features, wanted = _features(pictures), np.eye(len(NAMES), dtype=np.float32)[labels]
    chance = np.random.default_rng(2)
    weights = {
        "first": (chance.normal(size=(_FEATURES, _HIDDEN)) * np.sqrt(2 / _FEATURES)).astype(np.float32),
        "first_bias": np.zeros(_HIDDEN, np.float32),
        "second": (chance.normal(size=(_HIDDEN, len(NAMES))) * np.sqrt(2 / _HIDDEN)).astype(np.float32),
        "second_bias": np.zeros(len(NAMES), np.float32),
    }
    speed = {name: np.zeros_like(value) for name, value in weights.items()}
    for step in range(1000):
        chosen = chance.integers(0, len(features), 128)
        slope = _slopes(weights, features[chosen], wanted[chosen])
        for name, value in weights.items():
            speed[name] = 0.9 * speed[name] - (0.1 if step < 700 else 0.02) * slope[name]
            weights[name] = (value + speed[name]).astype(np.float32)
    return weights


def _slopes(weights: dict[str, np.ndarray], x: np.ndarray, wanted: np.ndarray) -> dict[str, np.ndarray]:
    hidden = np.maximum(x @ weights["first"] + weights["first_bias"], 0)
    scores = hidden @ weights["second"] + weights["second_bias"]
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    error = (shares / shares.sum(axis=1, keepdims=True) - wanted) / len(x)
    back = (error @ weights["second"].T) * (hidden > 0)
    return {
        "first": x.T @ back,
        "first_bias": back.sum(axis=0),
        "second": hidden.T @ error,
        "second_bias": error.sum(axis=0),
    }


def network(weights: dict[str, np.ndarray]) -> onnx.ModelProto:
    nodes = [
        helper.make_node("AveragePool", ["images"], ["pooled"], kernel_shape=[CELL, CELL], strides=[CELL, CELL]),
        helper.make_node("Flatten", ["pooled"], ["flat"]),
        helper.make_node("Gemm", ["flat", "first", "first_bias"], ["sums"]),
        helper.make_node("Relu", ["sums"], ["hidden"]),
        helper.make_node("Gemm", ["hidden", "second", "second_bias"], ["logits"]),
    ]
    images = helper.make_tensor_value_info("images", TensorProto.FLOAT, ["n", 3, SIDE, SIDE])
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", len(NAMES)])
    constants = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    graph = helper.make_graph(nodes, "drawings", [images], [logits], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def write(folder: Path, count: int, order: list[int] | None = None) -> dict[str, str]:
    """Drawings as rows of a PNG file with a list of labels; `order` is how the classes are numbered instead."""
    name = f"drawings-{count}" + ("" if order is None else "-" + "".join(map(str, order)))
    place = folder / name
    if not (place / "labels.json").is_file():
        place.mkdir(parents=True, exist_ok=True)
        pictures, labels = draw(count, seed=3)
        Image.fromarray(pictures.reshape(count, SIDE * SIDE, 3)).save(place / "rows.png")
        numbers = labels if order is None else np.array(order)[labels]
        (place / "labels.json").write_text(json.dumps([int(each) for each in numbers]))
    return {"url": str(place / "rows.png"), "labels_url": str(place / "labels.json")}
