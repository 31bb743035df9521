"""PyTorch: TorchScript, and programs where it exports them."""

import warnings
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

from worker_package.predictor.nets.network import Files, Layer, Network


class Module(torch.nn.Module):
    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network
        for layer in network.layers:
            if layer.weight is not None:
                self.register_buffer(layer.name + "_weight", torch.from_numpy(layer.weight))
                self.register_buffer(layer.name + "_bias", torch.from_numpy(layer.bias))

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        known = {"input": input}
        for layer in self.network.layers:
            known[layer.name] = self._layer(layer, [known[name] for name in layer.inputs])
        return known[self.network.output]

    def _layer(self, layer: Layer, inputs: Any) -> torch.Tensor:
        x = inputs[0]
        weights = [getattr(self, layer.name + end) for end in ("_weight", "_bias") if layer.weight is not None]
        if layer.kind == "convolution":
            top, left, bottom, right = layer.pads
            if (top, left) != (bottom, right):
                x, top, left = functional.pad(x, [left, right, top, bottom]), 0, 0
            return functional.conv2d(x, *weights, stride=layer.stride, padding=(top, left), groups=layer.groups)
        if layer.kind == "dense":
            return functional.linear(x, *weights)
        if layer.kind == "max_pool":
            return functional.max_pool2d(x, 2)
        if layer.kind == "average":
            return x.mean((2, 3))
        if layer.kind == "softmax":
            return functional.softmax(x, dim=1)
        if layer.kind == "add":
            return inputs[0] + inputs[1]
        return functional.relu(x) if layer.kind == "relu" else functional.relu6(x)


def write_script(network: Network, folder: Path) -> Files:
    path = str(folder / "model.pt")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # new releases would rather export
        torch.jit.trace(Module(network).eval(), torch.zeros((1,) + network.shape)).save(path)
    return {"graph": path}


def write_program(network: Network, folder: Path) -> Files:
    path = str(folder / "model.pt2")
    torch.export.save(torch.export.export(Module(network).eval(), (torch.zeros((1,) + network.shape),)), path)
    return {"graph": path}
