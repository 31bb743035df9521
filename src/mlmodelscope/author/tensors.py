"""What a tensor's name and shape tell about its meaning."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mlmodelscope.author.draft import DraftOutput, DraftStep, Fact
from mlmodelscope.model_file.model_file import ModelFile, TensorInfo
from mlmodelscope.task.class_answer import CLASS_TASKS

_NUMERIC = ("float32", "float16", "float64", "bfloat16", "uint8", "int8", "int16", "int32", None)
_IMAGE_NAME = re.compile(r"image|img|pixel|input|data|^x(?:[.:_]|$)|photo|picture", re.IGNORECASE)
_NO_IMAGE_NAME = re.compile(r"mask|info|shape|scale|ids?$|token|size|hidden|state", re.IGNORECASE)
_NHWC_FIRST = ("tensorflow", "tflite")


@dataclass(frozen=True)
class ImageShape:
    """How a tensor holds images."""

    layout: Fact
    height: int | None
    width: int | None
    channels: int | None


def image_shape(tensor: TensorInfo, framework: str) -> ImageShape | None:
    """None where the tensor is nothing that images go into."""
    if tensor.element_type not in _NUMERIC or _NO_IMAGE_NAME.search(tensor.name):
        return None
    shape = tensor.shape
    if shape is None:
        if tensor.layout is None and not _IMAGE_NAME.search(tensor.name):
            return None
        layout = _layout(tensor, None, framework)
        return ImageShape(layout, None, None, None)
    if len(shape) != 4:
        return None
    layout = _layout(tensor, shape, framework)
    channels, height, width = (shape[1], shape[2], shape[3]) if layout.value == "NCHW" else (shape[3], *shape[1:3])
    if channels not in (1, 3, None) or any(side is not None and not 4 <= side <= 16384 for side in (height, width)):
        return None
    return ImageShape(layout, height, width, channels)


def _layout(tensor: TensorInfo, shape: tuple[int | None, ...] | None, framework: str) -> Fact:
    if tensor.layout in ("NCHW", "NHWC"):
        return Fact(tensor.layout, "the file says so")
    if shape is not None:
        first, last = shape[1] in (1, 3), shape[3] in (1, 3)
        if first and not last:
            return Fact("NCHW", f"axis 1 of {spell_shape(shape)} has the size of channels", guess=True)
        if last and not first:
            return Fact("NHWC", f"axis 3 of {spell_shape(shape)} has the size of channels", guess=True)
    usual = "NHWC" if framework in _NHWC_FIRST else "NCHW"
    return Fact(usual, f"it is usual with {framework}", guess=True)


def spell_shape(shape: tuple[int | None, ...]) -> str:
    return "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"


# Names of a detector's outputs, as TensorFlow's Object Detection API, torchvision, DETR and others have them.
_BOXES = re.compile(r"box|bbox|^dets?$|rois?$|location", re.IGNORECASE)
_SCORES = re.compile(r"score|conf", re.IGNORECASE)
_CLASSES = re.compile(r"class|label|categor", re.IGNORECASE)
_MASKS = re.compile(r"mask|segm", re.IGNORECASE)
_PROBABILITY = re.compile(r"prob|softmax", re.IGNORECASE)
_LOGITS = re.compile(r"logit", re.IGNORECASE)


def guess_task(model: ModelFile, image: ImageShape | None) -> Fact:
    """What the model does, by the outputs it has."""
    outputs = model.outputs
    if not outputs:
        return Fact("general", "the file names no output", guess=True)
    if image is None:
        return Fact("general", "no input looks like an image", guess=True)
    if (found := detector_outputs(model)) is not None:
        return Fact("object_detection", found, guess=True)
    classes = [class_count(tensor) for tensor in outputs]
    if len(outputs) == 1 and (classes[0] or 0) > 1:
        return Fact("classification", f"one output of {classes[0]} scores", guess=True)
    if classes[0] is not None and classes[0] > 1:
        return Fact("classification", f"the first output has {classes[0]} scores", guess=True)
    if is_map(outputs[0], image):
        return Fact("semantic_segmentation", "the output has a value for each place of the image", guess=True)
    if outputs[0].shape is None and model.ends_in_softmax:
        return Fact("classification", "the output ends in a softmax", guess=True)
    return Fact("general", "names and shapes of the outputs are of no kind that we know", guess=True)


def class_count(tensor: TensorInfo) -> int | None:
    """[N, C], [N, C, 1, 1] or [N, 1, 1, C]: C; None where it is something else."""
    shape = tensor.shape
    if shape is None or len(shape) < 2:
        return None
    inner = [size for size in shape[1:] if size != 1]
    return inner[0] if len(inner) == 1 and len(shape) in (2, 4) else None


def is_map(tensor: TensorInfo, image: ImageShape) -> bool:
    """Whether a tensor has a value, or one for each class, at every place."""
    shape = tensor.shape
    if shape is None or len(shape) not in (3, 4):
        return False
    sides = [size for size in shape[1:] if size is not None]
    if image.height is not None and image.width is not None:
        return sum(1 for size in sides if size in (image.height, image.width)) >= 2
    return sum(1 for size in sides if size > 16) >= 2


def detector_outputs(model: ModelFile) -> str | None:
    """Why the outputs look like a detector's."""
    outputs = model.outputs
    boxes = [tensor for tensor in outputs if _is_boxes(tensor)]
    if boxes and len(outputs) > 1:
        return f"the output `{boxes[0].name[:40]}` holds four numbers for each of several boxes"
    for tensor in outputs:
        if _is_ssd_rows(tensor):
            return "an output of rows of seven numbers, as SSD's DetectionOutput writes them"
        if _is_yolo(tensor, model):
            return f"an output of {spell_shape(tensor.shape or ())}, as YOLO's are"
    if len(outputs) >= 3 and any(_BOXES.search(tensor.name) for tensor in outputs):
        return "the outputs' names speak of boxes"
    return None


def _is_boxes(tensor: TensorInfo) -> bool:
    shape = tensor.shape
    if shape is None:
        return False
    named = bool(_BOXES.search(tensor.name)) and shape[-1:] in ((4,), (5,))
    return named or (len(shape) == 3 and shape[2] == 4 and (shape[1] is None or shape[1] >= 5))


def _is_ssd_rows(tensor: TensorInfo) -> bool:
    return tensor.shape is not None and len(tensor.shape) == 4 and tensor.shape[3] == 7 and tensor.shape[1] == 1


def _is_yolo(tensor: TensorInfo, model: ModelFile) -> bool:
    shape = tensor.shape
    if shape is None or len(shape) != 3 or len(model.outputs) > 4:
        return False
    few, many = sorted((shape[1] or 0, shape[2] or 0))
    return 5 <= few <= 1024 and many >= 500 and many > 4 * few


def read_outputs(model: ModelFile, task: str) -> list[DraftOutput]:
    """What each output holds, for this task."""
    kinds = {"classification": _classifier, "object_detection": _detector}
    read = kinds.get(task, _other)
    return [
        DraftOutput(fact, tensor.name, tensor, (*_dequantize(tensor, fact.value), *_scores_steps(fact)), about)
        for index, tensor in enumerate(model.outputs)
        for fact, about in [read(model, task, index, tensor)]
    ]


def _classifier(model: ModelFile, task: str, index: int, tensor: TensorInfo) -> tuple[Fact, str | None]:
    if index > 0:
        return Fact("tensor", "the answer is taken from the first output", guess=True), None
    if model.ends_in_softmax is not None:
        known = "probability" if model.ends_in_softmax else "logits"
        why = "the graph ends in a softmax" if model.ends_in_softmax else "the graph does not end in a softmax"
        return Fact(known, why), None
    if _PROBABILITY.search(tensor.name):
        return Fact("probability", f"the output is called `{tensor.name[:40]}`", guess=True), None
    if _LOGITS.search(tensor.name):
        return Fact("logits", f"the output is called `{tensor.name[:40]}`", guess=True), None
    return Fact("logits", "whether the graph ends in a softmax cannot be told", guess=True), None


def _scores_steps(fact: Fact) -> tuple[DraftStep, ...]:
    if fact.value != "logits":
        return ()
    return (DraftStep("softmax", None),)


def _dequantize(tensor: TensorInfo, kind: str) -> tuple[DraftStep, ...]:
    quantization = tensor.quantization
    if quantization is None or tensor.element_type not in ("uint8", "int8", "int16") or kind == "classes":
        return ()
    if len(quantization.scale) != 1 or not 0 < quantization.scale[0] < 1e12:
        return ()
    zero = quantization.zero_point[0] if quantization.zero_point else 0
    value = {"scale": quantization.scale[0], **({"zero_point": zero} if zero else {})}
    return (DraftStep("dequantize", value, "as the file says"),)


def _detector(model: ModelFile, task: str, index: int, tensor: TensorInfo) -> tuple[Fact, str | None]:
    name = tensor.name
    if _is_ssd_rows(tensor):
        about = "rows of image, class, confidence, x_min, y_min, x_max, y_max"
        return Fact("boxes", "rows of seven numbers, as SSD's DetectionOutput writes them", guess=True), about
    if _is_boxes(tensor):
        return Fact("boxes", "four numbers for each box", guess=True), None
    if re.search(r"num|count", name, re.IGNORECASE) and not _SCORES.search(name):
        return Fact("tensor", "its name says that it is a number of boxes", guess=True), "how many boxes there are"
    for pattern, kind in ((_SCORES, "scores"), (_CLASSES, "classes"), (_MASKS, "masks"), (_LOGITS, "scores")):
        if pattern.search(name):
            return Fact(kind, f"the output is called `{name[:40]}`", guess=True), None
    if _is_yolo(tensor, model):
        return Fact("tensor", "boxes and scores in one tensor, as YOLO has them", guess=True), None
    return _post_process(model, index, tensor)


def _post_process(model: ModelFile, index: int, tensor: TensorInfo) -> tuple[Fact, str | None]:
    """TFLite_Detection_PostProcess has no telling names but a fixed order: boxes, classes, scores, number."""
    shapes = [output.shape for output in model.outputs]
    if len(shapes) == 4 and shapes[0] is not None and len(shapes[0]) == 3 and shapes[0][2] == 4:
        kind, about = (("boxes", None), ("classes", None), ("scores", None), ("tensor", "how many boxes there are"))[
            index
        ]
        return Fact(kind, "four outputs in the order of TFLite_Detection_PostProcess", guess=True), about
    shape = tensor.shape or ()
    if len(shape) == 3:
        return Fact("scores", "one number for each box and class", guess=True), None
    return Fact("tensor", "neither name nor shape tells", guess=True), None


def _other(model: ModelFile, task: str, index: int, tensor: TensorInfo) -> tuple[Fact, str | None]:
    if index == 0 and task in ("semantic_segmentation", "instance_segmentation"):
        return Fact("masks", f"it is what {task.replace('_', ' ')} answers with", guess=True), None
    if index == 0 and task in ("image_enhancement", "image_generation"):
        return Fact("image", f"it is what {task.replace('_', ' ')} answers with", guess=True), None
    if index == 0 and task in CLASS_TASKS:
        return _classifier(model, task, index, tensor)
    return Fact("tensor", "neither name nor shape tells", guess=True), None
