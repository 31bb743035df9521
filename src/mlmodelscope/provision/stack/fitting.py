"""Which stacks on this machine can run a model, and what its manifest is in each of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.manifest.catalog import find_manifest, list_catalog
from mlmodelscope.manifest.reference import parse_reference
from mlmodelscope.manifest.schema import Framework, ModelManifest, SoftwareManifest
from mlmodelscope.plan.framework import framework_word
from mlmodelscope.plan.stack import provides
from mlmodelscope.provision.stack.choose import recipe_of
from mlmodelscope.provision.stack.current import describe_current
from mlmodelscope.provision.stack.known import is_for_this_machine
from mlmodelscope.provision.stack.store import StackStore, digest_of
from mlmodelscope.settings import Settings

CURRENT = "current"
_READERS = {
    ".onnx": ("onnxruntime", "openvino", "opencv"),
    ".tflite": ("tflite", "openvino", "opencv"),
    ".pb": ("tensorflow", "openvino", "opencv"),
    ".prototxt": ("caffe", "opencv"),
}
"""Which frameworks read a file beside its own; TensorRT does too, on a GPU, where it is asked for by name."""


def fitting_stacks(model: ModelManifest, settings: Settings) -> Iterator[str]:
    """The running Python, and the known stacks that are built already and read the model's file."""
    if provides(model, None, describe_current()):
        yield CURRENT
    own = {framework_word(model.framework)} if model.framework is not None else set()
    graph = model.source.graph_path if model.source is not None else None
    suffix = Path(parse_reference(graph).name).suffix if graph is not None else ""
    readers = {*own, *_READERS.get(suffix, ())}
    built = {each.digest for each in StackStore(settings).list()}
    for entry in list_catalog("software"):
        try:
            software = find_manifest(SoftwareManifest, entry.path)
        except MLModelScopeError:
            continue  # somebody's broken manifest is not what was asked for
        if software.framework is None or software.stack is None or not is_for_this_machine(software.stack.architecture):
            continue
        if framework_word(software.framework) in readers and digest_of(recipe_of(software)) in built:
            yield software.name


def model_for_stack(model: ModelManifest, name: str) -> ModelManifest:
    """The model as it is, or said to be for the stack's framework, which reads the same file."""
    if name == CURRENT or name.startswith("image:") or model.framework is None:
        return model
    brought = find_manifest(SoftwareManifest, name).framework
    if brought is None or framework_word(brought) == framework_word(model.framework):
        return model
    return model.model_copy(update={"framework": Framework(name=brought.name)})
