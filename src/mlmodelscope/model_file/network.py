"""A model file as a network: its layers, their weights and the shapes that it tells, whatever format it is in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Literal

from mlmodelscope.model_file.graph import words
from mlmodelscope.model_file.model_file import ModelFile, Quantization
from mlmodelscope.tensor_file.tensor import Tensor

Shape = tuple[int | None, ...]
Value = int | float | str | tuple[int, ...] | tuple[float, ...]
Role = Literal["parameter", "statistic", "constant"]
"""What is learned; what normalization has counted, such as a running mean; and shapes, indices, scales."""

_BITS = {
    **{"bool": 8, "int4": 4, "uint4": 4, "float8e4m3fn": 8, "float8e5m2": 8, "bfloat16": 16},
    **{"complex64": 64, "complex128": 128},
    **{f"{kind}{bits}": bits for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
    **{f"float{bits}": bits for bits in (16, 32, 64)},
}
_STATISTICS = ("running_mean", "running_var", "moving_mean", "moving_var", "moving_variance")
_NUMBERS = words("float16 bfloat16 float32 float64 float8e4m3fn float8e5m2")


@dataclass(frozen=True, slots=True, eq=False)
class Weight:
    name: str
    element_type: str
    shape: tuple[int, ...]
    role: Role
    data: memoryview | bytes | None = None
    """Row-major and little-endian, mostly a view into the file; None where the numbers are not available."""
    quantization: Quantization | None = None

    @property
    def count(self) -> int:
        return prod(self.shape)

    @property
    def size_bytes(self) -> int:
        if self.data is not None:
            return len(self.data)
        return self.count * _BITS.get(self.element_type, 0) // 8


@dataclass(frozen=True, slots=True)
class Layer:
    name: str
    kind: str
    """The format's own word for the operator."""
    inputs: tuple[str, ...]
    """Tensors that it takes, weights among them; an empty name is an input that was left out."""
    outputs: tuple[str, ...]
    attributes: Mapping[str, Value] = field(default_factory=dict)
    domain: str = ""
    """Whose operator it is, where that is not the format's own."""


@dataclass(frozen=True)
class Known:
    """What the file tells of a tensor that passes between layers."""

    element_type: str | None
    shape: Shape | None


@dataclass(frozen=True)
class Network:
    file: ModelFile
    layers: tuple[Layer, ...] = ()
    weights: Mapping[str, Weight] = field(default_factory=dict)
    tensors: Mapping[str, Known] = field(default_factory=dict)
    opsets: Mapping[str, int] = field(default_factory=dict)
    """Versions of the operator sets by domain, where the format has such."""
    notes: tuple[str, ...] = ()
    """What a reader of counts should know: weights that are elsewhere, layers whose weights cannot be placed."""

    def weights_of(self, layer: Layer) -> list[Weight]:
        return [self.weights[name] for name in dict.fromkeys(layer.inputs) if name in self.weights]


def size_bytes(element_type: str | None, shape: Sequence[int | None] | None) -> int | None:
    """Of a tensor; None where type or shape is open."""
    bits = _BITS.get(element_type or "")
    if bits is None or shape is None:
        return None
    sizes = [size for size in shape if size is not None]
    return (prod(sizes) * bits + 7) // 8 if len(sizes) == len(shape) else None


def with_tensors(network: Network, tensors: Mapping[str, Tensor]) -> Network:
    """The same with the numbers of another file for the weights that have none."""
    filled = {}
    for name, weight in network.weights.items():
        tensor = tensors.get(name)
        if weight.data is None and tensor is not None and tensor.shape == weight.shape:
            weight = replace(weight, data=tensor.data, element_type=tensor.element_type)
        filled[name] = weight
    if any(weight.data is None for weight in filled.values()):
        return replace(network, weights=filled)
    # What was said of files that are missing is no longer so.
    return replace(network, weights=filled, notes=(), file=replace(network.file, notes=()))


def role_by_name(name: str, element_type: str, shape: Sequence[int]) -> Role:
    """Where no operator says what a tensor is for."""
    if name.rpartition(".")[2].rpartition("/")[2].lower().endswith(_STATISTICS):
        return "statistic"
    return "parameter" if element_type in _NUMBERS else "constant"


def weight_of(tensor: Tensor, role: Role | None = None) -> Weight:
    told = role or role_by_name(tensor.name, tensor.element_type, tensor.shape)
    return Weight(tensor.name, tensor.element_type, tensor.shape, told, tensor.data)


def roles_of_inputs(kind: str, count: int) -> dict[int, Role]:
    """Inputs of ONNX's operators that are no parameters, by their place."""
    if kind == "BatchNormalization" and count >= 5:
        return {3: "statistic", 4: "statistic"}
    return dict.fromkeys(_SETTINGS.get(kind, ()), "constant")


_SETTINGS: dict[str, tuple[int, ...]] = {
    "Clip": (1, 2),
    "Resize": (1, 2, 3),
    "Upsample": (1,),
    "Pad": (1, 2),
    "QuantizeLinear": (1, 2),
    "DequantizeLinear": (1, 2),
    "QLinearConv": (1, 2, 4, 5, 6, 7),
    "QLinearMatMul": (1, 2, 4, 5, 6, 7),
    "QLinearAdd": (1, 2, 4, 5, 6, 7),
    "QLinearMul": (1, 2, 4, 5, 6, 7),
    "MatMulInteger": (2, 3),
    "ConvInteger": (2, 3),
    "NonMaxSuppression": (2, 3, 4),
    "Pow": (1,),
    "Dropout": (1, 2),
}
QUANTIZED_WEIGHTS: dict[str, tuple[int, ...]] = {
    "DequantizeLinear": (0,),
    "QLinearConv": (0, 3, 8),
    "QLinearMatMul": (0, 3),
    "QGemm": (0, 3, 6),
    "ConvInteger": (1,),
    "MatMulInteger": (1,),
    "MatMulNBits": (1,),
    "DynamicQuantizeMatMul": (1,),
}
"""Inputs that hold parameters although their numbers are whole."""
