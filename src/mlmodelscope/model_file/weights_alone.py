"""Files of weights without a graph: safetensors, state dicts, shards with an index. Nothing in a pickle is run."""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Mapping
from pathlib import Path

from mlmodelscope.errors import ArtifactError
from mlmodelscope.model_file.limit import clean
from mlmodelscope.model_file.model_file import ModelFile, ModelFileError
from mlmodelscope.model_file.network import Layer, Network, weight_of
from mlmodelscope.tensor_file.mxnet_params import is_mxnet_params, read_mxnet_params
from mlmodelscope.tensor_file.read import read_tensors
from mlmodelscope.tensor_file.safetensors import is_safetensors, safetensors_metadata
from mlmodelscope.tensor_file.tensor import Tensor

_INDEX = ".index.json"
_OLD_TORCH = b"\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"
_FRAMEWORKS = {"pt": "pytorch", "tf": "tensorflow", "flax": "jax", "np": "numpy", "mlx": "mlx"}
_MOST_METADATA = 64


def is_index(path: Path) -> bool:
    return path.name.endswith(_INDEX)


def is_weights(data: memoryview) -> bool:
    """Of what has a mark of its own; a pickle of torch's before 1.6 has the number of its format in front."""
    start = bytes(data[:24])
    return is_mxnet_params(start) or is_safetensors(data) or _OLD_TORCH in bytes(data[:32])


def read_weights_network(path: Path, key: str | None = None) -> Network:
    """Layers are the modules that the names speak of: `layer1.0.conv1` has `weight` and `bias`."""
    try:
        kind, framework, metadata, tensors = _read(path, key)
    except ModelFileError:
        raise
    except ArtifactError as error:
        hint = f"{error.hint}; --key picks one" if error.hint and "keys that do hold" in error.hint else error.hint
        raise ModelFileError(error.message.removeprefix(f"cannot read weights from {path}: "), hint=hint) from error
    file = ModelFile(
        format=kind,
        framework=framework,
        inputs=(),
        outputs=(),
        producer=None,
        version=None,
        ends_in_softmax=None,
        labels=(),
        metadata=metadata,
        notes=("it holds weights without a graph: inputs, outputs, operators and shapes of what passes are not in it",),
    )
    return Network(file, tuple(modules_of(tensors)), {name: weight_of(tensor) for name, tensor in tensors.items()})


def _read(path: Path, key: str | None) -> tuple[str, str, dict[str, str], Mapping[str, Tensor]]:
    if is_index(path) or path.is_dir():
        return "sharded weights", "pytorch", {}, read_tensors(path.parent if is_index(path) else path, key)
    data = _map(path)
    if is_mxnet_params(bytes(data[:24])):
        return "mxnet parameters", "mxnet", {}, read_mxnet_params(data)
    if is_safetensors(data):
        said = safetensors_metadata(data)
        told = {clean(name)[:256]: clean(value)[:4096] for name, value in list(said.items())[:_MOST_METADATA]}
        return "safetensors", _FRAMEWORKS.get(said.get("format", ""), "unknown"), told, read_tensors(path, key)
    return "state dict", "pytorch", {}, read_tensors(path, key)


def _map(path: Path) -> memoryview:
    try:
        with path.open("rb") as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except ValueError as error:
        raise ModelFileError("the file is empty") from error


def modules_of(tensors: Iterable[str]) -> list[Layer]:
    modules: dict[str, list[str]] = {}
    for name in tensors:
        modules.setdefault(name.rpartition(".")[0] or name, []).append(name)
    return [Layer(name, "", tuple(members), ()) for name, members in modules.items()]
