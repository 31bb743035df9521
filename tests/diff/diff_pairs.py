"""Pairs of right implementations: the same network in another framework, release, layout or element type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from diff_networks import NETWORKS
from onnx import TensorProto

ROWS = 4
"""Inputs that the quantization is calibrated with."""


@dataclass(frozen=True)
class CorrectPair:
    network: str
    element_type: str
    """Of the second network: float32, float16 or int8."""
    stack: str | None
    """Of the second network; the running Python by default."""
    first_type: str = "float32"
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the second predictor."""

    @property
    def name(self) -> str:
        options = " ".join(f"{key}={value}" for key, value in self.options.items())
        first = f"{self.network} {self.first_type} in onnxruntime"
        return f"{first}, {self.element_type} in {self.stack or 'onnxruntime'} {options}".strip()


def all_pairs() -> list[CorrectPair]:
    found = []
    for network in NETWORKS:
        for stack in ("openvino-2026", "openvino-2023", "onnxruntime-1.17", "onnxruntime-1.31"):
            found.append(CorrectPair(network, "float32", stack))
        found.append(CorrectPair(network, "float16", None))
        found.append(CorrectPair(network, "float16", "openvino-2026", "float16"))
        found.append(CorrectPair(network, "int8", None, "int8", {"graph_optimization": "disabled"}))
        found.append(CorrectPair(network, "int8", "openvino-2026", "int8"))
        found.append(CorrectPair(network, "float32", "openvino-2026", options={"precision": "f16"}))
    for network in ("cnn", "detector"):
        for stack in ("opencv-4", "opencv-5"):
            found.append(CorrectPair(network, "float32", stack))
        found.append(CorrectPair(network, "int8", None))
    return found


def written(network: str, element_type: str, folder: Path) -> Path:
    """The file of a network in an element type."""
    place = folder / f"{network}-{element_type}.onnx"
    if not place.exists():
        model = NETWORKS[network]()
        if element_type == "float16":
            model = halved(model)
        plain = folder / f"{network}-float32.onnx"
        plain.write_bytes(NETWORKS[network]().SerializeToString())
        if element_type == "int8":
            quantize(plain, place, model)
        else:
            place.write_bytes(model.SerializeToString())
    return place


def halved(model: onnx.ModelProto) -> onnx.ModelProto:
    """Computed in float16, with inputs and outputs of float32."""
    from onnxruntime.transformers.float16 import convert_float_to_float16

    return convert_float_to_float16(model, keep_io_types=True)


def quantize(plain: Path, place: Path, model: onnx.ModelProto) -> None:
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    class Inputs(CalibrationDataReader):
        def __init__(self) -> None:
            self.rows = iter(list(inputs_of(model)))

        def get_next(self) -> dict[str, np.ndarray] | None:
            return next(self.rows, None)

    quantize_static(
        str(plain),
        str(place),
        Inputs(),
        quant_format=QuantFormat.QDQ,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
    )


def inputs_of(model: onnx.ModelProto) -> Iterator[dict[str, np.ndarray]]:
    random = np.random.default_rng(0)
    for _ in range(ROWS):
        row = {}
        for value in model.graph.input:
            shape = [each.dim_value for each in value.type.tensor_type.shape.dim]
            is_words = value.type.tensor_type.elem_type == TensorProto.INT64
            row[value.name] = random.integers(0, 50, shape) if is_words else random.normal(size=shape).astype("f4")
        yield row
