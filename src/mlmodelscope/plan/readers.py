"""One model in another framework: which frameworks read its file, or a conversion of it that its manifest records."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from mlmodelscope.errors import PlanError
from mlmodelscope.manifest.reference import parse_reference
from mlmodelscope.manifest.schema import Framework, ModelManifest, SoftwareManifest
from mlmodelscope.manifest.schema.model import Conversion, Source
from mlmodelscope.plan.framework import framework_word

_READERS: Mapping[str, tuple[str, ...]] = {
    ".onnx": ("onnxruntime", "openvino", "opencv", "tensorrt"),
    ".tflite": ("tflite", "openvino", "opencv"),
    ".pb": ("tensorflow", "openvino", "opencv"),
    ".prototxt": ("caffe", "opencv"),
    ".caffemodel": ("caffe", "opencv"),
}
"""By the file's ending; only for models of one of these frameworks, since others have files of the same ending."""


def readers_of(model: ModelManifest) -> dict[str, str]:
    """The frameworks that can run a model: its own, those that read its file, and those with a conversion; and why."""
    if model.framework is None:
        return {}
    own, suffix = framework_word(model.framework), suffix_of(model)
    found = {own: "the model is written for it"}
    others = _READERS.get(suffix, ())
    if own in others and (model.source is None or model.source.builder is None):
        found |= {name: f"it reads {suffix} files" for name in others if name != own}
    for name in model.conversions:
        found.setdefault(framework_word(Framework(name=name)), "the manifest records a conversion")
    return found


def suffix_of(model: ModelManifest) -> str:
    """How the model's file ends; empty where it has none, or is built by a library."""
    graph = model.source.graph_path if model.source is not None else None
    return PurePath(parse_reference(graph).name).suffix.lower() if graph is not None else ""


def model_read_by(model: ModelManifest, software: SoftwareManifest | None) -> tuple[ModelManifest, str | None]:
    """The model as a stack's framework runs it, and a note for the record where that is another one than its own.

    PlanError, which names the frameworks that can, where this one cannot.
    """
    theirs = software.framework if software is not None else None
    if theirs is None or model.framework is None or model.run is not None:
        return model, None
    word = framework_word(theirs)
    if word == framework_word(model.framework):
        return model, None
    assert software is not None
    readers = readers_of(model)
    if word not in readers:
        brings = f"{software.name} brings {theirs.name}, which {_why_not(model)}"
        raise PlanError(
            f"{model.name} is for {model.framework.name}, {brings}",
            hint=f"{', '.join(readers)} can run it: mlmodelscope stacks lists the stacks of each; a converted file "
            "can be named under `conversions` in the model's manifest",
        )
    conversion = next(
        (each for name, each in model.conversions.items() if framework_word(Framework(name=name)) == word), None
    )
    changed: dict[str, Any] = {"framework": Framework(name=theirs.name)}
    how = f"{theirs.name} runs it in {software.name} because {readers[word]}"
    if conversion is not None:
        changed |= _converted(model, conversion)
    return model.model_copy(update=changed), f"{model.name} is written for {model.framework.name}; {how}"


def _why_not(model: ModelManifest) -> str:
    if model.source is not None and model.source.builder is not None:
        return f"does not build models of {model.source.builder}"
    suffix = suffix_of(model)
    return f"does not read {suffix} files" if suffix else "does not read its file"


def _converted(model: ModelManifest, conversion: Conversion) -> dict[str, Any]:
    """What the conversion's files and names replace."""
    names = conversion.layer_names

    def renamed(places: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            place.model_copy(update={"layer_name": names[str(place.layer_name)]})
            if str(place.layer_name) in names
            else place
            for place in places
        )

    source = Source(
        graph_path=conversion.graph_path,
        graph_checksum=conversion.graph_checksum,
        weights_path=conversion.weights_path,
        weights_checksum=conversion.weights_checksum,
    )
    return {"source": source, "inputs": renamed(model.inputs), "outputs": renamed(model.outputs)}
