"""TorchScript as a network: the operators that its source text calls, and its modules with their weights."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from mlmodelscope.errors import ArtifactError
from mlmodelscope.model_file.archive import Archive
from mlmodelscope.model_file.network import Layer, Network, weight_of
from mlmodelscope.model_file.torchscript import describe_torchscript, follow_torchscript
from mlmodelscope.model_file.weights_alone import modules_of
from mlmodelscope.tensor_file.torch import read_script

_NOT_READ = "its weights are pickled and were not read"


def read_torchscript_network(data: memoryview, path: Path) -> Network:
    """Which module an operator's weights are of is not told: modules stand beside operators, without a kind."""
    archive = Archive(data)
    file = describe_torchscript(archive)
    nodes = follow_torchscript(archive).nodes
    layers = [
        Layer(f"{node.operator}{place}", node.operator or "unknown", node.inputs, node.outputs)
        for place, node in enumerate(nodes)
    ]
    notes = [note for note in file.notes if note != _NOT_READ]
    try:
        tensors = read_script(path, data)
    except ArtifactError as error:
        return Network(file, tuple(layers), notes=(f"its weights cannot be read: {error.message}",))
    weights = {name: weight_of(tensor) for name, tensor in tensors.items()}
    said = ("operators are those that its source text certainly calls: branches and loops are left out",)
    return Network(replace(file, notes=tuple(notes)), (*layers, *modules_of(tensors)), weights, notes=said)
