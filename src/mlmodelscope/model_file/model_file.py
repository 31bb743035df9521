"""What a model file says of itself, in one shape whatever framework wrote it."""

from __future__ import annotations

from dataclasses import dataclass

from mlmodelscope.errors import ArtifactError


class ModelFileError(ArtifactError):
    """The file is no model that we know, or it is damaged."""


@dataclass(frozen=True)
class Quantization:
    """A stored integer `q` stands for `scale * (q - zero_point)`."""

    scale: tuple[float, ...]
    """One number for the whole tensor, or one for each index of `axis`."""
    zero_point: tuple[int, ...]
    axis: int | None = None


@dataclass(frozen=True)
class TensorInfo:
    name: str
    """Exactly as the file has it, because a framework is asked for it; quote it before showing it."""
    element_type: str | None
    """float32, uint8, string, …; None where the file does not tell."""
    shape: tuple[int | None, ...] | None
    """None inside is an open size; None instead is an unknown rank."""
    layout: str | None = None
    """NCHW or NHWC, where the file proves it."""
    quantization: Quantization | None = None


@dataclass(frozen=True)
class ModelFile:
    format: str
    """onnx, tflite, torchscript, pt2, savedmodel, frozen_graph or openvino."""
    framework: str
    """The framework that runs it, as a manifest names it."""
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    producer: str | None
    """What wrote the file, with its version."""
    version: str | None
    """The version of the format."""
    ends_in_softmax: bool | None
    """Whether the first output is made by a softmax; None where that cannot be told."""
    labels: tuple[str, ...]
    """Names of the classes, where the file carries them."""
    metadata: dict[str, str]
    """What else the file says in words."""
    notes: tuple[str, ...]
    """What a reader should know: files that are missing, contents that were not read."""
