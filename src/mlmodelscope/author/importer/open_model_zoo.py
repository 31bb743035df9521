"""OpenVINO's Open Model Zoo: `model.yml`, where a model's files are and how they are converted.

Mean, scale and order of channels among the conversion's arguments go *into* an OpenVINO model. They are steps for the
original model only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mlmodelscope.author.draft import Draft, DraftStep, one_line, plain
from mlmodelscope.author.fields import Fields, numbers_of
from mlmodelscope.author.importer.accuracy_checker import FRAMEWORKS
from mlmodelscope.author.importer.registry import Context, importer
from mlmodelscope.author.processing import normalize_steps, resize_step
from mlmodelscope.author.request import name_from
from mlmodelscope.manifest.reference import parse_reference
from mlmodelscope.model_file.limit import clean
from mlmodelscope.model_file.model_file import TensorInfo
from mlmodelscope.types import Checksum

_SECTION = "open_model_zoo"
_FRAMEWORKS = {**FRAMEWORKS, "dldt": "openvino", "onnx": "onnxruntime", "paddle": "paddlepaddle", "keras": "tensorflow"}
_TASKS = {
    "classification": "classification",
    "detection": "object_detection",
    "object_attributes": "general",
    "head_pose_estimation": "regression",
    "human_pose_estimation": "keypoint_detection",
    "image_inpainting": "image_enhancement",
    "image_processing": "image_enhancement",
    "colorization": "image_enhancement",
    "background_matting": "semantic_segmentation",
    "salient_object_detection": "semantic_segmentation",
    "semantic_segmentation": "semantic_segmentation",
    "instance_segmentation": "instance_segmentation",
    "monocular_depth_estimation": "depth_estimation",
    "face_recognition": "embedding",
    "feature_extraction": "embedding",
    "style_transfer": "image_generation",
    "image_translation": "image_generation",
    "machine_translation": "translation",
    "question_answering": "question_answering",
    "named_entity_recognition": "token_classification",
    "speech_recognition": "speech_recognition",
    "sound_classification": "audio_classification",
    "recommendation": "recommendation",
    "text_prediction": "text_generation",
}
# Which of several files is the graph, and which its weights.
_GRAPHS = (
    ".xml",
    ".onnx",
    ".pb",
    ".tflite",
    ".prototxt",
    ".json",
    ".pt",
    ".pdmodel",
    ".h5",
    ".pth",
    ".pth.tar",
    ".hdf5",
)
_WEIGHTS = {".xml": (".bin",), ".prototxt": (".caffemodel",), ".json": (".params",), ".pdmodel": (".pdiparams",)}
_ENDINGS = {"openvino": ".xml", "onnxruntime": ".onnx", "tflite": ".tflite", "tensorflow": ".pb", "pytorch": ".pt"}
_ARCHIVE = re.compile(r"\.(zip|whl|tar|tar\.gz|tgz|tar\.bz2|tar\.xz)$")


def _recognise(data: Mapping[str, Any]) -> bool:
    if "models" in data:
        return False
    return "task_type" in data or (
        "files" in data and bool({"framework", "model_optimizer_args", "license"} & set(data))
    )


@importer("open_model_zoo", _recognise)
def read(data: Mapping[str, Any], context: Context) -> Draft:
    """Open Model Zoo's model.yml"""
    fields = Fields(data, context.file)
    draft = Draft()
    task = fields.text("task_type")
    draft.learn(
        "task", _TASKS.get(task or "", "general") if task else None, f"task_type {task}", guess=task not in _TASKS
    )
    text = fields.text("description")
    draft.learn("description", " ".join(text.split())[:4000] if text else None, "description")
    draft.references += _addresses(text or "")
    draft.learn("license", fields.text("license"), "license")
    original = _FRAMEWORKS.get(fields.text("framework") or "", fields.text("framework"))
    arguments = _Arguments.read(fields)
    target = _target(context, original)
    if target is not None:
        draft.learn("framework.name", name_from(target), "framework")
    converted = target == "openvino" and original != "openvino"
    _read_files(draft, fields, arguments, target if target != original else None, context)
    _read_input(draft, fields, arguments, converted)
    _read_processing(draft, arguments, converted, context)
    fields.ignore("quantizable", "$cmake", "model_info")
    for key, value in fields.rest().items():
        draft.keep(_SECTION, key, value)
    return draft


def _target(context: Context, original: str | None) -> str | None:
    """The framework of the manifest: the file's, the launcher's, or the original's."""
    if context.model is not None:
        return context.model.framework
    said = context.so_far.get("framework.name") if context.so_far is not None else None
    return said or (_FRAMEWORKS.get(context.launcher, context.launcher) if context.launcher else original)


@dataclass(frozen=True)
class _Arguments:
    """What the conversion is told, by name: model optimizer's and the exporter's to ONNX."""

    values: dict[str, str]
    flags: frozenset[str]

    @classmethod
    def read(cls, fields: Fields) -> _Arguments:
        values: dict[str, str] = {}
        flags = set()
        for key in ("conversion_to_onnx_args", "model_optimizer_args"):
            for item in fields.items(key):
                name, mark, value = str(item).strip().lstrip("-").partition("=")
                name = name.strip().replace("-", "_")
                if mark:
                    values[name] = value.strip()
                else:
                    flags.add(name)
        return cls(values, frozenset(flags))

    def numbers(self, name: str) -> list[float] | None:
        """`data[123.675,116.28,103.53]`, `[104,117,123]` or `58.8`."""
        text = self.values.get(name)
        if text is None:
            return None
        match = re.search(r"[\[(]([^\])]*)[\])]", text)
        values = numbers_of(match[1] if match else text)
        fine = values is not None and len(values) <= 4 and all(abs(value) < 1e12 for value in values)
        return values if fine else None

    @property
    def shape(self) -> list[int] | None:
        values = self.values.get("input_shape")
        found = [int(text) for text in re.findall(r"\d{1,6}", values.split("]")[0])] if values else []
        return found if len(found) == 4 and all(0 < side <= 65535 for side in found) else None

    @property
    def reverses(self) -> bool:
        return "reverse_input_channels" in self.flags or "reverse_input_channels" in self.values


def _addresses(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"https?://[^\s<>\"']+[^\s<>\"'.,)]", text)))[:10]


def _read_files(
    draft: Draft, fields: Fields, arguments: _Arguments, converted_to: str | None, context: Context
) -> None:
    files = fields.each("files")
    known: dict[str, tuple[str, str | None]] = {}
    for file in files:
        name, source = file.text("name"), file.any("source")
        address = source if isinstance(source, str) else None
        if isinstance(source, Mapping):
            draft.keep(
                _SECTION, f"files.{name}.source", dict(source), "an address of a kind that artifacts do not know"
            )
        checksum = next((text for key in ("checksum", "sha256") if (text := file.text(key))), None)
        original = file.any("original_source")
        if isinstance(original, str) and "://" in original:
            draft.references.append(clean(original))
        elif original is not None:
            draft.attributes.setdefault(_SECTION, {})[f"files.{name}.original_source"] = plain(original)
        if name and address and _is_reference(address):
            known[name] = (address, _checksum(draft, name, checksum))
    if converted_to is not None:
        stem = str((context.so_far.get("name") if context.so_far else None) or "model")
        made = arguments.values.get("output_file", "").rsplit("/", 1)[-1] if converted_to == "onnxruntime" else ""
        name = name_from(made) or f"{stem}{_ENDINGS.get(converted_to, '')}"
        draft.learn("source.graph_path", name, "the converted model; convert it as the zoo says", guess=True)
        draft.references += [address for address, _ in known.values()]
        return
    graph = _graph(known, arguments)
    if graph is None:
        draft.references += [address for address, _ in known.values()]
        return
    address, checksum = graph[1]
    draft.learn("source.graph_path", address, f"the file {one_line(graph[0])}")
    draft.learn("source.graph_checksum", checksum, "model.yml")
    ending = next((end for end in _GRAPHS if graph[0].lower().endswith(end)), "")
    for name, (weights, digest) in known.items():
        if name.lower().endswith(_WEIGHTS.get(ending, ("\0",))) and _stem(name) == _stem(graph[0]):
            draft.learn("source.weights_path", weights, f"the file {one_line(name)}")
            draft.learn("source.weights_checksum", digest, "model.yml")
            break
    others = [name for name in known if known[name][0] not in (address, draft.get("source.weights_path"))]
    if others:
        draft.attributes.setdefault(_SECTION, {})["other_files"] = {name: known[name][0] for name in others}


def _is_reference(address: str) -> bool:
    try:
        parse_reference(address)
    except ValueError:
        return False
    return "://" in address and len(address) <= 4096


def _checksum(draft: Draft, name: str, text: str | None) -> str | None:
    if text is None:
        return None
    try:
        return str(Checksum.parse(text))
    except ValueError:
        draft.keep(_SECTION, f"files.{name}.checksum", text, "is no checksum")
        return None


def _stem(name: str) -> str:
    return name.rsplit("/", 1)[-1].split(".", 1)[0]


def _graph(
    known: dict[str, tuple[str, str | None]], arguments: _Arguments
) -> tuple[str, tuple[str, str | None]] | None:
    """The file that the conversion starts from; inside an archive where it is in one."""
    wanted = arguments.values.get("input_model") or arguments.values.get("saved_model_dir") or ""
    wanted = re.sub(r"^\$(dl|conv|config)_dir/", "", wanted)
    for name, (address, checksum) in known.items():
        if name == wanted:
            return name, (address, checksum)
    archives = [name for name in known if _ARCHIVE.search(name) and _ARCHIVE.search(known[name][0])]
    if wanted and "$" not in wanted and len(archives) == 1 and not wanted.endswith(".onnx"):
        return wanted, (f"{known[archives[0]][0]}#{wanted}", None)  # the checksum is the archive's
    for end in _GRAPHS:
        # FP32 before FP16: the former is what the latter was made of
        fitting = sorted((name for name in known if name.lower().endswith(end)), key=lambda name: "FP32" not in name)
        if fitting:
            return fitting[0], known[fitting[0]]
    return None


def _read_input(draft: Draft, fields: Fields, arguments: _Arguments, converted: bool) -> None:
    info = fields.each("input_info")
    name = re.sub(r"^\d+:", "", info[0].text("name") or "") if info else None  # the optimizer's port
    named = (arguments.values.get("input_names") or arguments.values.get("input") or "").split(",")[0]
    named = re.sub(r"^\d+:|\[.*|\{.*", "", named).strip()
    draft.learn("inputs.layer_name", name or named or None, "the conversion's input")
    layout = next((text for each in info if (text := (each.text("layout") or "").upper())), "")
    match = re.search(r"\(?\b(N[CHWD?.]{3})\b\)?", (arguments.values.get("layout") or "").upper())
    layout = layout or (match[1] if match else "")
    if layout in ("NCHW", "NHWC") and not converted:
        draft.learn("inputs.layout", layout, "the conversion's layout")
    draft.inputs = [tensor for each in info if (tensor := _tensor(draft, each)) is not None]
    if len(draft.inputs) != len(info):
        draft.inputs = []


def _tensor(draft: Draft, info: Fields) -> TensorInfo | None:
    """One entry of `input_info`."""
    name, layout = re.sub(r"^\d+:", "", info.text("name") or ""), (info.text("layout") or "").upper()
    sizes = info.items("shape") if isinstance(info.any("shape"), (list, tuple)) else []
    whole = all(isinstance(size, int) and not isinstance(size, bool) and -1 <= size < 1 << 31 for size in sizes)
    if not name or not whole or len(sizes) > 16:
        draft.keep(_SECTION, f"input_info.{name or '?'}", dict(info.data))
        return None
    shape = tuple(None if size < 1 else int(size) for size in sizes) if "shape" in info else None
    return TensorInfo(name, None, shape, layout if layout in ("NCHW", "NHWC") and len(sizes) == 4 else None)


def _read_processing(draft: Draft, arguments: _Arguments, converted: bool, context: Context) -> None:
    mean = arguments.numbers("mean_values")
    scale = arguments.numbers("scale_values") or arguments.numbers("scale")
    if scale is not None and 0 in scale:
        scale = None
    inside = [
        text
        for text, there in (
            (f"mean {arguments.values.get('mean_values')}", mean),
            (f"scale {arguments.values.get('scale_values') or arguments.values.get('scale')}", scale),
            ("the order of channels (it takes BGR)", arguments.reverses),
        )
        if there
    ]
    if converted and inside:
        draft.notes.append(one_line(f"inside the converted model, and no step here: {', '.join(inside)}"))
    so_far = context.so_far.steps if context.so_far is not None else None
    if so_far is not None:
        written_for = context.so_far.get("launcher.framework") if context.so_far is not None else None
        if not converted and inside and written_for == "openvino":
            _complete(draft, so_far, arguments, mean, scale, context)
        return
    shape = arguments.shape or _image_shape(draft)
    if shape is None and not inside:
        return
    color = "BGR" if converted or not arguments.reverses else "RGB"
    why = (
        "the zoo's converted models take BGR"
        if converted
        else "reverse_input_channels turns the BGR that the zoo reads into this"
        if arguments.reverses
        else "the zoo reads BGR, and nothing turns it round"
    )
    steps = [DraftStep("decode", {"library": "opencv", "color_layout": color}, why, guess=True)]
    if shape is not None:
        height, width = (shape[2], shape[3]) if shape[1] in (1, 3) else (shape[1], shape[2])
        unsure = "the size is input_shape's; how it is reached is not in model.yml"
        steps.append(resize_step({"dimensions": [height, width]}, "bilinear", "opencv", unsure, guess=True))
    if not converted:
        steps += normalize_steps(None, mean, scale, f"mean_values, scale_values, in the order {color}")
    draft.steps, draft.steps_are_whole = steps, converted or mean is not None or scale is not None


def _image_shape(draft: Draft) -> list[int] | None:
    """The size of the image among `input_info`."""
    for tensor in draft.inputs:
        sizes = [size for size in tensor.shape or () if size is not None and size <= 65535]
        if len(sizes) == 4 and (sizes[1] in (1, 3) or sizes[3] in (1, 3)):
            return sizes
    return None


def _complete(
    draft: Draft,
    so_far: list[DraftStep],
    arguments: _Arguments,
    mean: list[float] | None,
    scale: list[float] | None,
    context: Context,
) -> None:
    """accuracy-check.yml was about the converted model; the original needs what conversion put inside."""
    if arguments.reverses:
        current = next((step.value for step in reversed(so_far) if step.name == "color"), None)
        current = current or next((step.value.get("color_layout") for step in so_far if step.name == "decode"), "BGR")
        if current == "BGR":
            so_far.append(DraftStep("color", "RGB", f"reverse_input_channels of {context.file}"))
    steps = normalize_steps(None, mean, scale, f"mean_values, scale_values of {context.file}")
    so_far += steps
    if context.so_far is not None and steps:
        context.so_far.steps_are_whole = True
    draft.notes.append("mean, scale and order of channels are model.yml's: the zoo puts them into its converted model")
