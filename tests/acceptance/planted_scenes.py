"""Drawn scenes with boxes, masks and smooth pictures, and networks of one layer: nothing is fetched for them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

CLASSES = ("red", "green", "blue")
_CELL = 4


def write(folder: Path) -> Path:
    """All data below one folder: `squares`, `scenes`; drawn at the first time."""
    if not (folder / "done").is_file():
        _squares(folder / "squares", 120)
        _maps(folder / "scenes", 80)
        _smooth(folder / "scenes" / "smooth", 40)
        (folder / "done").write_text("")
    return folder


def _squares(folder: Path, count: int) -> None:
    """Squares of 4 x 4 in pictures of 32 x 32; every fifth is faint, and annotated as difficult."""
    chance = np.random.default_rng(5)
    for name in ("pictures", "annotations"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    images, things = [], []
    for number in range(count):
        pixels = chance.integers(0, 120, (32, 32, 3)).astype(np.uint8)
        images.append({"id": number, "file_name": f"{number:04d}.png", "width": 32, "height": 32})
        objects = []
        for cell in chance.choice(64, chance.integers(2, 8), replace=False):
            top, left = int(cell // 8 * _CELL), int(cell % 8 * _CELL)
            kind, is_faint = int(chance.integers(0, 3)), bool(chance.random() < 0.2)
            bright = chance.integers(*((50, 80) if is_faint else (70, 200)))
            pixels[top : top + _CELL, left : left + _CELL, kind] = bright
            # Boxes are drawn by hand: some are a pixel too large.
            right, bottom = (edge + _CELL + int(chance.integers(0, 2)) for edge in (left, top))
            box = [left, top, min(right, 32), min(bottom, 32)]
            objects.append((CLASSES[kind], is_faint, box))
            size = [box[2] - box[0], box[3] - box[1]]
            things.append({"id": len(things), "image_id": number, "category_id": kind + 1, "bbox": [left, top, *size]})
            things[-1] |= {"area": size[0] * size[1], "iscrowd": 0}
        Image.fromarray(pixels).save(folder / "pictures" / f"{number:04d}.png")
        (folder / "annotations" / f"{number:04d}.xml").write_text(_xml(objects))
    kinds = [{"id": number + 1, "name": name} for number, name in enumerate(CLASSES)]
    (folder / "truth.json").write_text(json.dumps({"images": images, "annotations": things, "categories": kinds}))


def _xml(objects: list[tuple[str, bool, list[int]]]) -> str:
    """Classes are numbered in the order of their names, so that each name begins with its number."""
    text = "".join(
        f"<object><name>{CLASSES.index(name)} {name}</name><difficult>{int(is_faint)}</difficult>"
        f"<bndbox><xmin>{box[0]}</xmin><ymin>{box[1]}</ymin><xmax>{box[2]}</xmax><ymax>{box[3]}</ymax></bndbox></object>"
        for name, is_faint, box in objects
    )
    return f"<annotation><size><width>32</width><height>32</height><depth>3</depth></size>{text}</annotation>"


def _maps(folder: Path, count: int) -> None:
    """Discs and bars of three colors, in pictures of several shapes."""
    chance = np.random.default_rng(6)
    for name in ("pictures", "masks"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for number in range(count):
        height, width = ((72, 96), (96, 64), (60, 96), (96, 96))[number % 4]
        mask = np.ones((height, width), np.uint8)
        pixels = chance.integers(20, 90, (height, width, 3)).astype(float)
        rows, columns = np.mgrid[:height, :width]
        for _ in range(int(chance.integers(1, 5))):
            kind, size = int(chance.integers(0, 3)), int(chance.integers(8, 24))
            top, left = int(chance.integers(0, height)), int(chance.integers(0, width))
            far = np.hypot(rows - top, columns - left) if chance.random() < 0.5 else abs(rows - top) + 0 * columns
            inside = (far < size) & (abs(columns - left) < 2 * size)
            outline = (far < size + 1.5) & (abs(columns - left) < 2 * size + 1.5) & ~inside
            mask[inside], mask[outline] = kind + 2, 0
            pixels[inside] *= 0.6
            pixels[inside, kind] += chance.integers(50, 130)
        noisy = pixels + chance.normal(0, 25, pixels.shape)
        Image.fromarray(noisy.clip(0, 255).astype(np.uint8)).save(folder / "pictures" / f"{number:04d}.png")
        Image.fromarray(mask).save(folder / "masks" / f"{number:04d}.png")


def _smooth(folder: Path, count: int) -> None:
    """Pictures that a filter can clean: waves of color with a few edges."""
    chance = np.random.default_rng(7)
    folder.mkdir(parents=True, exist_ok=True)
    rows, columns = np.mgrid[:40, :52] / 40
    for number in range(count):
        waves = [
            128 + 100 * np.sin(6 * (chance.random() * rows + chance.random() * columns) + 6 * chance.random())
            for _ in range(3)
        ]
        pixels = np.stack(waves, axis=2)
        top, left = chance.integers(4, 24, 2)
        pixels[top : top + 10, left : left + 14] = chance.integers(0, 256, 3)
        Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(folder / f"{number:04d}.png")


def make(path: Path) -> Path:
    """The network that a manifest names as `{models}/scenes-NAME.onnx`."""
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_bytes(_NETWORKS[path.stem.partition("-")[2]]().SerializeToString())
        draft.rename(path)
    return path


def _convolution(
    weights: np.ndarray, bias: np.ndarray, shape: list[int | str], to: list[int | str], **how: list[int]
) -> onnx.ModelProto:
    node = helper.make_node("Conv", ["input", "weights", "bias"], ["map"], kernel_shape=list(weights.shape[2:]), **how)
    graph = helper.make_graph(
        [node],
        "scenes",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("map", TensorProto.FLOAT, to)],
        [numpy_helper.from_array(weights, "weights"), numpy_helper.from_array(bias, "bias")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)


def _find_squares() -> onnx.ModelProto:
    """RGB of 0 to 1: box, objectness and three classes of each cell of 4 x 4."""
    weights = np.zeros((8, 3, _CELL, _CELL), np.float32)
    weights[4] = 1 / 16
    for channel in range(3):
        weights[5 + channel] = -0.4 / 16
        weights[5 + channel, channel] = 1 / 16
    bias = np.zeros(8, np.float32)
    bias[2:4], bias[5:] = 1.1, 0.1
    return _convolution(weights, bias, ["n", 3, 32, 32], ["n", 8, 8, 8], strides=[_CELL, _CELL])


def _color_maps() -> onnx.ModelProto:
    """RGB of 0 to 1: scores of ground, red, green, blue, white at a quarter of the resolution."""
    weights = np.full((5, 3, _CELL, _CELL), -0.5 / 16, np.float32)
    weights[0], weights[4] = 0, 1 / 48
    for channel in range(3):
        weights[1 + channel, channel] = 1 / 16
    bias = np.array([0.2, 0, 0, 0.02, -0.9], np.float32)
    return _convolution(weights, bias, ["n", 3, 48, 48], ["n", 5, 12, 12], strides=[_CELL, _CELL])


def _clean() -> onnx.ModelProto:
    """BGR of 0 to 1 in and out: blue is smoothed most, red hardly, as if eyes saw it."""
    weights = np.zeros((3, 3, 3, 3), np.float32)
    for channel, center in enumerate((0.2, 0.35, 0.75)):
        weights[channel, channel] = (1 - center) / 8
        weights[channel, channel, 1, 1] = center
    return _convolution(weights, np.zeros(3, np.float32), ["n", 3, "h", "w"], ["n", 3, "h", "w"], pads=[1, 1, 1, 1])


_NETWORKS = {"squares": _find_squares, "maps": _color_maps, "pictures": _clean}
