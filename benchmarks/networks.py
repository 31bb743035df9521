"""ResNet-50 and MobileNet-v2 with random weights, each written once and made for PyTorch, JAX and ONNX.

The weights are drawn in the order of the layers from one seed, so that every framework computes the same function.
A framework is imported when a network is made for it; nothing else is needed but numpy.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

CLASSES = 1000
EPSILON = 1e-5  # beside the variance of a normalisation


def resnet50(net: Any, x: Any) -> Any:
    x = net.largest(net.relu(net.norm(net.conv(x, 64, 7, 2))))
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            step = 1 if block else stride
            shortcut = x if block else net.norm(net.conv(x, 4 * width, 1, step))
            y = net.relu(net.norm(net.conv(x, width, 1)))
            y = net.relu(net.norm(net.conv(y, width, 3, step)))
            x = net.relu(net.add(net.norm(net.conv(y, 4 * width, 1)), shortcut))
    return net.dense(net.mean(x), CLASSES)


def mobilenet_v2(net: Any, x: Any) -> Any:
    x, channels = net.relu(net.norm(net.conv(x, 32, 3, 2))), 32
    for factor, width, blocks, stride in (
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ):
        for block in range(blocks):
            step, inner = 1 if block else stride, factor * channels
            y = net.relu(net.norm(net.conv(x, inner, 1))) if factor > 1 else x
            y = net.relu(net.norm(net.conv(y, inner, 3, step, groups=inner)))
            y = net.norm(net.conv(y, width, 1))
            x, channels = net.add(y, x) if block else y, width
    return net.dense(net.mean(net.relu(net.norm(net.conv(x, 1280, 1)))), CLASSES)


NETWORKS: dict[str, Callable[[Any, Any], Any]] = {"resnet50": resnet50, "mobilenet_v2": mobilenet_v2}
PARAMETERS = {"resnet50": 25_557_032, "mobilenet_v2": 3_504_872}  # as published: the shapes are right


class Shapes:
    """What a network's weights look like; here a value is its number of channels."""

    def __init__(self) -> None:
        self.drawn: list[tuple[tuple[int, ...], float]] = []

    def _draw(self, *shape: int, spread: float) -> None:
        self.drawn.append((shape, spread))

    def conv(self, x: int, out: int, size: int, stride: int = 1, groups: int = 1) -> int:
        self._draw(out, x // groups, size, size, spread=(2 / (x // groups * size * size)) ** 0.5)
        return out

    def norm(self, x: int) -> int:
        self._draw(x, spread=-0.7)  # around this factor, so that a deep network's values stay small
        self._draw(x, spread=0.1)
        return x

    def dense(self, x: int, out: int) -> int:
        self._draw(out, x, spread=x**-0.5)
        self._draw(out, spread=0.1)
        return out

    def add(self, x: int, y: int) -> int:
        return x

    relu = largest = mean = staticmethod(lambda x: x)


def draw_weights(name: str) -> list[np.ndarray]:
    shapes, random = Shapes(), np.random.default_rng(0)
    NETWORKS[name](shapes, 3)
    weights = [
        (random.normal(0, spread, shape) if spread > 0 else -spread + random.normal(0, 0.05, shape)).astype(np.float32)
        for shape, spread in shapes.drawn
    ]
    assert sum(weight.size for weight in weights) == PARAMETERS[name]
    return weights


def save_for_pytorch(name: str, folder: Path) -> str:
    """A traced TorchScript file."""
    import torch
    from torch.nn import functional

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            made = [torch.nn.Parameter(torch.from_numpy(each), requires_grad=False) for each in draw_weights(name)]
            self.weights = torch.nn.ParameterList(made)
            for size in {len(each) for each in made}:  # what a normalisation has seen in training
                self.register_buffer(f"mean{size}", torch.zeros(size))
                self.register_buffer(f"variance{size}", torch.ones(size))

        def forward(self, x: Any) -> Any:
            self._next = iter(self.weights)
            return NETWORKS[name](self, x)

        def conv(self, x: Any, out: int, size: int, stride: int = 1, groups: int = 1) -> Any:
            return functional.conv2d(x, next(self._next), None, stride, size // 2, 1, groups)

        def norm(self, x: Any) -> Any:
            scale, bias = next(self._next), next(self._next)
            seen = [self.get_buffer(f"{word}{len(scale)}") for word in ("mean", "variance")]
            return functional.batch_norm(x, *seen, scale, bias, eps=EPSILON)

        def dense(self, x: Any, out: int) -> Any:
            return functional.linear(x, next(self._next), next(self._next))

        def largest(self, x: Any) -> Any:
            return functional.max_pool2d(x, 3, 2, 1)

        def mean(self, x: Any) -> Any:
            return x.mean((2, 3))

        relu = staticmethod(functional.relu)
        add = staticmethod(torch.add)

    path = folder / f"{name}.pt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # new releases would rather export
        torch.jit.trace(Net().eval(), torch.zeros(1, 3, 224, 224)).save(str(path))
    return str(path)


def save_for_jax(name: str, folder: Path) -> str:
    """An exported function that takes a batch of any size."""
    import jax
    from jax import export, lax

    class Net:
        def __init__(self, weights: Iterator[np.ndarray]) -> None:
            self._next = weights

        def conv(self, x: Any, out: int, size: int, stride: int = 1, groups: int = 1) -> Any:
            around = [(size // 2, size // 2)] * 2
            return lax.conv_general_dilated(x, next(self._next), (stride, stride), around, feature_group_count=groups)

        def norm(self, x: Any) -> Any:
            scale = next(self._next) / np.sqrt(np.float32(1 + EPSILON))
            return x * scale[:, None, None] + next(self._next)[:, None, None]

        def dense(self, x: Any, out: int) -> Any:
            return x @ next(self._next).T + next(self._next)

        def largest(self, x: Any) -> Any:
            around = [(0, 0), (0, 0), (1, 1), (1, 1)]
            return lax.reduce_window(x, -np.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), around)

        def mean(self, x: Any) -> Any:
            return x.mean((2, 3))

        relu = staticmethod(jax.nn.relu)
        add = staticmethod(lax.add)

    weights = draw_weights(name)
    shape = export.symbolic_shape("n, 3, 224, 224")
    make = export.export(jax.jit(lambda x: NETWORKS[name](Net(iter(weights)), x)), platforms=["cpu", "cuda"])
    path = folder / f"{name}.jax"
    path.write_bytes(make(jax.ShapeDtypeStruct(shape, "float32")).serialize())
    return str(path)


def save_for_onnxruntime(name: str, folder: Path) -> str:
    """An ONNX file that takes a batch of any size."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    nodes, constants, weights = [], [], iter(draw_weights(name))

    def constant(value: np.ndarray) -> str:
        constants.append(numpy_helper.from_array(value, f"w{len(constants)}"))
        return str(constants[-1].name)

    def node(kind: str, *inputs: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(kind, list(inputs), [f"x{len(nodes)}"], **attributes))
        return str(nodes[-1].output[0])

    class Net:
        def conv(self, x: str, out: int, size: int, stride: int = 1, groups: int = 1) -> str:
            pads, strides = [size // 2] * 4, [stride, stride]
            return node("Conv", x, constant(next(weights)), pads=pads, strides=strides, group=groups)

        def norm(self, x: str) -> str:
            scale, bias = next(weights), next(weights)
            told = [constant(each) for each in (scale, bias, np.zeros_like(bias), np.ones_like(scale))]
            return node("BatchNormalization", x, *told, epsilon=EPSILON)

        def dense(self, x: str, out: int) -> str:
            return node("Gemm", x, constant(next(weights)), constant(next(weights)), transB=1)

        def largest(self, x: str) -> str:
            return node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])

        def mean(self, x: str) -> str:
            return node("Flatten", node("GlobalAveragePool", x))

        relu = staticmethod(lambda x: node("Relu", x))
        add = staticmethod(lambda x, y: node("Add", x, y))

    end = NETWORKS[name](Net(), "images")
    given = helper.make_tensor_value_info("images", TensorProto.FLOAT, ["n", 3, 224, 224])
    told = helper.make_tensor_value_info(end, TensorProto.FLOAT, ["n", CLASSES])
    graph = helper.make_graph(nodes, name, [given], [told], constants)
    path = folder / f"{name}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    return str(path)
