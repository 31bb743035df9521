"""A network as data, and what it computes in double precision.

Pictures are NCHW. A layer is named for what it passes on; the last one is the answer.
"""

import io
import json
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

import numpy as np

Files = Dict[str, str]
"""Where a model is, by role: `graph`, and `weights` where they are apart."""

KINDS = ("convolution", "relu", "relu6", "max_pool", "average", "dense", "softmax", "add")


class Layer:
    """`convolution` and `dense` have weights, output channels first, and a bias; `max_pool` halves; `average` is over
    the picture."""

    def __init__(self, kind: str, name: str, inputs: Sequence[str], **more: Any) -> None:
        assert kind in KINDS
        self.kind = kind
        self.name = name
        self.inputs = list(inputs)
        self.weight = more.get("weight")
        self.bias = more.get("bias")
        self.stride = int(more.get("stride", 1))
        self.pads = [int(each) for each in more.get("pads", (0, 0, 0, 0))]  # top, left, bottom, right
        self.groups = int(more.get("groups", 1))

    @property
    def kernel(self) -> Tuple[int, int]:
        return self.weight.shape[2], self.weight.shape[3]

    def describe(self) -> Dict[str, Any]:
        return {
            "kind": self.kind,
            "name": self.name,
            "inputs": self.inputs,
            "stride": self.stride,
            "pads": self.pads,
            "groups": self.groups,
        }


class Network:
    def __init__(self, name: str, shape: Sequence[int], layers: Sequence[Layer]) -> None:
        self.name = name
        self.shape = tuple(int(size) for size in shape)  # of a picture: channels, height, width
        self.layers = list(layers)

    @property
    def output(self) -> str:
        return self.layers[-1].name

    @property
    def classes(self) -> int:
        return self.shapes()[self.output][0]

    def shapes(self) -> Dict[str, Tuple[int, ...]]:
        """What each layer passes on for one picture."""
        return {name: value.shape[1:] for name, value in self.values(np.zeros((1,) + self.shape)).items()}

    def values(self, pictures: np.ndarray) -> Dict[str, np.ndarray]:
        """What every layer passes on, in double precision, with nothing but numpy."""
        known = {"input": pictures.astype(np.float64)}
        for layer in self.layers:
            known[layer.name] = _compute(layer, [known[name] for name in layer.inputs])
        return known

    def answers(self, pictures: np.ndarray) -> np.ndarray:
        return np.concatenate([self.values(each[None])[self.output] for each in pictures])

    def to_bytes(self) -> bytes:
        """For another process, whatever its Python."""
        arrays = {"%d.weight" % i: each.weight for i, each in enumerate(self.layers) if each.weight is not None}
        arrays.update({"%d.bias" % i: each.bias for i, each in enumerate(self.layers) if each.bias is not None})
        said = {"name": self.name, "shape": self.shape, "layers": [each.describe() for each in self.layers]}
        arrays["description"] = np.frombuffer(json.dumps(said).encode(), np.uint8)
        file = io.BytesIO()
        np.savez(file, **arrays)
        return file.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> "Network":
        arrays = np.load(io.BytesIO(content))
        said = json.loads(arrays["description"].tobytes().decode())
        layers = []
        for place, each in enumerate(said["layers"]):
            more = {role: arrays["%d.%s" % (place, role)] for role in ("weight", "bias") if _has(arrays, place, role)}
            layers.append(Layer(**dict(each, **more)))
        return cls(said["name"], said["shape"], layers)

    def save(self, path: Path) -> None:
        path.write_bytes(self.to_bytes())

    @classmethod
    def load(cls, path: Path) -> "Network":
        return cls.from_bytes(path.read_bytes())


def _has(arrays: Any, place: int, role: str) -> bool:
    return "%d.%s" % (place, role) in arrays.files


def _compute(layer: Layer, values: List[np.ndarray]) -> np.ndarray:
    x = values[0]
    if layer.kind == "convolution":
        return _convolve(layer, x)
    if layer.kind == "relu":
        return np.maximum(x, 0)
    if layer.kind == "relu6":
        return np.clip(x, 0, 6)
    if layer.kind == "max_pool":
        n, c, height, width = x.shape
        return x.reshape(n, c, height // 2, 2, width // 2, 2).max((3, 5))
    if layer.kind == "average":
        return x.mean((2, 3))
    if layer.kind == "dense":
        return x @ layer.weight.T.astype(np.float64) + layer.bias
    if layer.kind == "add":
        return values[0] + values[1]
    raised = np.exp(x - x.max(1, keepdims=True))
    return raised / raised.sum(1, keepdims=True)


def _convolve(layer: Layer, x: np.ndarray) -> np.ndarray:
    top, left, bottom, right = layer.pads
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), "constant")
    n, channels, height, width = x.shape
    rows, columns = layer.kernel
    out_height, out_width = (height - rows) // layer.stride + 1, (width - columns) // layer.stride + 1
    outputs, per_group = layer.weight.shape[:2]
    weight = layer.weight.astype(np.float64).reshape(layer.groups, outputs // layer.groups, per_group, rows, columns)
    total = np.zeros((n, layer.groups, outputs // layer.groups, out_height * out_width))
    for row in range(rows):
        for column in range(columns):
            seen = x[
                :,
                :,
                row : row + layer.stride * (out_height - 1) + 1 : layer.stride,
                column : column + layer.stride * (out_width - 1) + 1 : layer.stride,
            ]
            total += weight[:, :, :, row, column] @ seen.reshape(n, layer.groups, per_group, -1)
    return total.reshape(n, outputs, out_height, out_width) + layer.bias[:, None, None]


def conformance(seed: int = 3) -> Network:
    """Two convolutions with ReLU, a pooling between them, mean over the picture, ten probabilities."""
    random = np.random.RandomState(seed)  # its numbers are the same in every release of numpy

    def normal(scale: float, *shape: int) -> np.ndarray:
        return (scale * random.standard_normal(shape)).astype(np.float32)

    first = {"weight": normal(0.27, 8, 3, 3, 3), "bias": normal(0.1, 8), "pads": (1, 1, 1, 1)}
    second = {"weight": normal(0.17, 16, 8, 3, 3), "bias": normal(0.1, 16), "pads": (1, 1, 1, 1)}
    layers = [
        Layer("convolution", "conv1", ["input"], **first),
        Layer("relu", "relu1", ["conv1"]),
        Layer("max_pool", "pool1", ["relu1"]),
        Layer("convolution", "conv2", ["pool1"], **second),
        Layer("relu", "relu2", ["conv2"]),
        Layer("average", "average", ["relu2"]),
        Layer("dense", "scores", ["average"], weight=normal(3.0, 10, 16), bias=normal(1.0, 10)),
        Layer("softmax", "probabilities", ["scores"]),
    ]
    return Network("conformance", (3, 64, 64), layers)
