"""The manifest beside the model's own file, where that is available."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator
from pathlib import Path

from mlmodelscope.lint.finding import Finding, Severity
from mlmodelscope.lint.rule import rule
from mlmodelscope.lint.rules.checksums import named_files
from mlmodelscope.lint.rules.containers import known_framework
from mlmodelscope.lint.subject import DataPath, Subject, is_there
from mlmodelscope.manifest.schema import DatasetManifest, Input, Output
from mlmodelscope.model_file.labels import labels_from_lines, labels_from_text
from mlmodelscope.model_file.model_file import TensorInfo
from mlmodelscope.settings import Settings

_MODEL_SUFFIXES = (".onnx", ".tflite", ".pt2", ".xml")
_ALL_INPUTS_NEEDED = ("onnx", "tflite")
_MAX_LABELS_BYTES = 16 << 20


@rule("M072", "label-count", "warning", ("model",))
def label_count(subject: Subject) -> Iterator[Finding]:
    """The list of classes is longer or shorter than the output.

    Every class after the missing one gets another one's name. A difference of one is usually a background class, which
    some models count and some lists do not. Looked up in the model's own file, where that is available.

    Wrong:

        outputs:
          - type: probability
            features_url: 1000-classes.txt   # the model has 1001 outputs

    Right:

        outputs:
          - type: probability
            features_url: 1000-classes.txt
            label_offset: 1                  # output 0 is the background
    """
    for number, output in enumerate(subject.model.outputs):
        path: DataPath = ("outputs", number, "features_url")
        labels = _count_labels(subject.local(output.features_url))
        classes = _classes(_tensor(subject, output.layer_name, number, "outputs"))
        if labels is None or classes is None or labels in (classes, classes - output.label_offset):
            continue
        hint = None
        if abs(labels - classes) == 1:
            more = "the model" if classes > labels else "the list"
            hint = f"{more} probably counts a background class: see `label_offset`"
        yield subject.finding(path, f"the list has {labels} classes, the model's output {classes}", hint)


@rule("M073", "tensor-mismatch", "warning", ("model",))
def tensor_mismatch(subject: Subject) -> Iterator[Finding]:
    """A layer of the manifest is not the one in the model's file.

    Its name, element type, shape or layout is another one. The framework refuses it when it runs, or worse, takes it:
    an image in the wrong layout is noise to a model. Looked up in the model's own file, where that is available.

    Wrong:

        inputs:
          - type: image
            layer_name: image     # the file calls it `images`

    Right:

        inputs:
          - type: image
            layer_name: images
    """
    described = subject.model_file
    if described is None or subject.model.run is not None:
        return
    for number, layer in enumerate(subject.model.inputs):
        yield from _compare(subject, "inputs", number, layer, described.inputs)
    for number, output in enumerate(subject.model.outputs):
        yield from _compare(subject, "outputs", number, output, described.outputs)
    fed = sum(len(each.layers) or 1 for each in subject.model.inputs)
    missing = len(described.inputs) - fed
    if missing > 0 and described.format in _ALL_INPUTS_NEEDED:
        names = ", ".join(f"`{tensor.name[:60]}`" for tensor in described.inputs[:5])
        count = f"the model's file has {len(described.inputs)} inputs, the manifest {fed}"
        yield subject.finding(("inputs",), count, f"the file's are {names}")


@rule("M074", "foreign-model-file", "warning", ("model",))
def foreign_model_file(subject: Subject) -> Iterator[Finding]:
    """The model's file is another framework's.

    The file is of a format that the manifest's framework does not read. Looked up in the file itself, if it is
    available; ONNX files are taken by many frameworks and are not told.

    Wrong:

        framework: {name: pytorch}
        source:
          graph_path: resnet50.tflite

    Right:

        framework: {name: tflite}
        source:
          graph_path: resnet50.tflite
    """
    described, framework = subject.model_file, subject.model.framework
    if described is None or framework is None or described.format == "onnx" or subject.model.run is not None:
        return
    own, files = known_framework(framework.name), known_framework(described.framework)
    if own and files and own != files and own != "openvino":  # OpenVINO reads nearly everything
        text = f"the model's file is {described.format}, for {described.framework}, the manifest for {framework.name}"
        yield subject.finding(("source", "graph_path"), text)


def _compare(
    subject: Subject, kind: str, number: int, layer: Input | Output, tensors: tuple[TensorInfo, ...]
) -> Iterator[Finding]:
    names = [tensor.name for tensor in tensors]
    if isinstance(layer.layer_name, str) and names and layer.layer_name not in names:
        short = [name.partition(":")[0] for name in names]
        if kind == "inputs" and layer.layer_name not in short:  # any inner tensor may be asked for as an output
            yield subject.finding(
                (kind, number, "layer_name"),
                f"the model's file has no input `{layer.layer_name}`",
                f"it has {', '.join(f'`{name[:60]}`' for name in names[:5])}",
            )
        return
    if isinstance(layer.layer_name, int) and names and not 0 <= layer.layer_name < len(names):
        yield subject.finding(
            (kind, number, "layer_name"), f"there is no number {layer.layer_name}: the model's file has {len(names)}"
        )
        return
    tensor = _tensor(subject, layer.layer_name, number, kind)
    if tensor is None:
        return
    if layer.shape and tensor.shape and not _fits(layer.shape, tensor.shape):
        shown = ", ".join("?" if size is None else str(size) for size in tensor.shape)
        text = f"the shape is [{', '.join(map(str, layer.shape))}], in the model's file [{shown}]"
        yield subject.finding((kind, number, "shape"), text)
    if kind == "outputs":
        return
    if tensor.element_type and tensor.element_type != layer.element_type:
        yield subject.finding(
            (kind, number, "element_type"),
            f"the element type is {layer.element_type}, in the model's file {tensor.element_type}",
        )
    if isinstance(layer, Input):
        yield from _compare_image(subject, number, layer, tensor)


def _fits(written: tuple[int, ...], shape: tuple[int | None, ...]) -> bool:
    """Whether a shape, with or without the batch in front, could be the file's."""
    bare = written if len(written) == len(shape) else (-1, *written)
    return len(bare) == len(shape) and all(
        size is None or want < 0 or want == size for want, size in zip(bare, shape, strict=True)
    )


def _compare_image(subject: Subject, number: int, layer: Input, tensor: TensorInfo) -> Iterator[Finding]:
    if layer.type != "image" or tensor.shape is None or len(tensor.shape) != 4 or subject.model.preprocess is not None:
        return
    path = ("inputs", number, "processing")
    layout = _layout(layer)
    wanted = tensor.layout or _layout_by_channels(tensor.shape)
    if wanted and layout and wanted != layout and layer.processing:
        yield subject.finding(path, f"the layout is {layout}, in the model's file {wanted}")
        return
    size = _size(layer)
    axes = (2, 3) if (wanted or layout) == "NCHW" else (1, 2)
    expected = tuple(tensor.shape[axis] for axis in axes)
    if size and any(want is not None and want != got for want, got in zip(expected, size, strict=True)):
        shown = " x ".join("?" if side is None else str(side) for side in expected)
        yield subject.finding(path, f"the image becomes {size[0]} x {size[1]}, the model's file wants {shown}")


def _layout(layer: Input) -> str | None:
    found = None
    for step in layer.processing:
        if step.name in ("layout", "decode"):
            found = step.parameters.get("data_layout")
    return f"N{found}" if found in ("HWC", "CHW") else None


def _layout_by_channels(shape: tuple[int | None, ...]) -> str | None:
    first, last = shape[1] in (1, 3), shape[3] in (1, 3)
    return None if first == last else "NCHW" if first else "NHWC"


def _size(layer: Input) -> tuple[int, int] | None:
    """Height and width after the last step that settles them."""
    size = None
    for step in layer.processing:
        if step.name in ("resize", "crop", "pad", "transpose"):
            dimensions = step.parameters.get("dimensions")
            size = (dimensions[0], dimensions[1]) if dimensions and len(dimensions) == 2 else None
    return size


@rule("M075", "odd-model-file", "warning", ("model",))
def odd_model_file(subject: Subject) -> Iterator[Finding]:
    """The model's file cannot be read.

    The file is available, and is not what its name says: it is cut off, a web page that was saved instead of the model,
    or a pointer of Git LFS. An evaluation would fail after everything else was prepared.

    Wrong:

        source:
          graph_path: resnet50.onnx   # 131 bytes: a Git LFS pointer

    Right:

        source:
          graph_path: resnet50.onnx   # after `git lfs pull`
    """
    path = subject.local(subject.model.source.graph_path) if subject.model.source else None
    if path is not None and path.suffix.lower() in _MODEL_SUFFIXES and subject.model_file_fault:
        reason = subject.model_file_fault.partition(": ")[2] or subject.model_file_fault
        yield subject.finding(("source", "graph_path"), f"the model's file cannot be read: {reason}")


@rule("M076", "missing-file", "warning", ("model", "dataset"))
def missing_file(subject: Subject) -> Iterator[Finding]:
    """A file that should lie on this machine does not.

    The manifest names a file by a path, which is taken from the manifest's own folder, and there is none. On another
    machine there may be; whoever gets the manifest alone will not have it. An information only where there is a
    checksum and a mirror that can be asked for the file. The same goes for a pattern in a path, which only picks
    members of packages and archives, and for an `include` that matches none of the files.

    Wrong:

        source:
          graph_path: /home/me/models/resnet50.onnx

    Right:

        source:
          graph_path: https://example.org/resnet50.onnx
    """
    for file in named_files(subject):
        path = subject.local(file.reference)
        if path is None or is_there(path):
            continue
        if "*" in path.name or "?" in path.name:
            hint = f"name the folder itself, and its files by `include: '{path.name}'` at the top level"
            yield subject.finding(file.path, f"{path} is a pattern, and only members of archives are picked so", hint)
            continue
        # With a checksum, a mirror may have it.
        severity: Severity | None = "info" if file.checksum and Settings.from_environment().mirrors else None
        yield subject.finding(file.path, f"there is no file {path}", severity=severity)
    yield from _included(subject)


def _included(subject: Subject) -> Iterator[Finding]:
    """`include` of a dataset whose folders are here, where it picks none of their files."""
    manifest = subject.manifest
    if not isinstance(manifest, DatasetManifest) or manifest.include == "*":
        return
    for source in manifest.sources:
        folder = subject.local(source.url)
        if folder is not None and folder.is_dir() and not _holds(folder, manifest.include):
            yield subject.finding(("include",), f"no file of {folder} has a name like `{manifest.include}`")


def _holds(folder: Path, pattern: str) -> bool:
    names = (name for _, _, files in os.walk(folder) for name in files)
    return any(fnmatch.fnmatchcase(name, pattern) for name in names)


def _tensor(subject: Subject, name: str | int | None, number: int, kind: str) -> TensorInfo | None:
    described = subject.model_file
    if described is None:
        return None
    tensors = described.inputs if kind == "inputs" else described.outputs
    if isinstance(name, str):
        return next((tensor for tensor in tensors if tensor.name in (name, f"{name}:0")), None)
    index = name if isinstance(name, int) else number
    return tensors[index] if 0 <= index < len(tensors) else None


def _classes(tensor: TensorInfo | None) -> int | None:
    """How many scores an output holds for each sample."""
    if tensor is None or not tensor.shape or len(tensor.shape) < 2:
        return None
    sizes = [size for size in tensor.shape[1:] if size != 1]
    return sizes[0] if len(sizes) == 1 else None


def _count_labels(path: Path | None) -> int | None:
    try:
        if path is None or not path.is_file() or path.stat().st_size > _MAX_LABELS_BYTES:
            return None
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        return None
    labels = labels_from_text(text) if path.suffix.lower() == ".json" else labels_from_lines(text)
    return len(labels) or None
