"""What the numbers of an old manifest's outputs mean, by the habits of the framework that the model comes from.

V1 names layers by role and leaves the rest to its agents; the current format has steps under `answer`. Every step is a
note. What no habit decides stays open: a plan then says which key is missing.
"""

from __future__ import annotations

import re
from typing import Any

from mlmodelscope.manifest.dialect.notes import Notes
from mlmodelscope.manifest.dialect.v1_input import Steps
from mlmodelscope.manifest.dialect.words import attributes_of, free_name, take
from mlmodelscope.manifest.source import Place, SourceMap

_KEYS = {"boxes": "boxes_layer", "scores": "probabilities_layer", "masks": "masks_layer"}
_NEEDED = {"object_detection": ("boxes", "scores"), "instance_segmentation": ("boxes", "scores", "masks")}
_OF_TENSORFLOW = "TensorFlow's Object Detection API: top, left, bottom, right as shares of the input"
_OF_GLUON = "GluonCV: left, top, right, bottom in pixels of the input; rows that are not in use have the class -1"
_OF_FUNCTIONS = "V2's functions return boxes as top, left, bottom, right, in shares of the picture"
# What the class lists of the original project hold, by their files' names: whether they begin with a background, or
# list the 91 classes of COCO's paper, whose numbers are COCO's ids.
_LISTS = (
    (re.compile(r"coco_labels_paper"), "coco91"),
    (re.compile(r"no_background"), 0),
    (re.compile(r"_background|pascal[-_]voc[-_](labels|classes)"), 1),
    (re.compile(r"coco_labels_2014_2017"), 0),
)


def settle_conventions(data: SourceMap, framework: str, notes: Notes) -> None:
    """Write the answer steps that the original agents, or the functions' readers, had in their code."""
    outputs = data.get("outputs")
    if "answer" in data or not isinstance(outputs, list) or not all(isinstance(each, SourceMap) for each in outputs):
        return
    task, by_function = data.get("task"), "postprocess" in data
    if task in _NEEDED:
        _settle_boxes(data, outputs, framework, by_function, notes)
    elif by_function:
        return
    elif task == "semantic_segmentation":
        _settle_map(data, outputs, framework, notes)
    elif task == "image_enhancement":
        _settle_picture(data, outputs, notes)
    if not by_function and framework == "pytorch":
        _forget_name(outputs, notes)


def _settle_boxes(data: SourceMap, outputs: list[Any], framework: str, by_function: bool, notes: Notes) -> None:
    steps = Steps(outputs[0].place)
    roles = {each.get("type"): each for each in outputs}
    if by_function:
        _add(steps, notes, "boxes", {"order": "yxyx", "unit": "share", "of": "original"}, _OF_FUNCTIONS)
    else:
        missing = [role for role in _NEEDED[data["task"]] if role not in roles]
        for role in missing:
            what = f"`{_KEYS[role]}` is not written: without an output of type `{role}` there are no answers"
            notes.add("unclear", what, outputs[0].place)
        if missing:
            return
        if framework in ("tensorflow", "tflite"):
            _add(steps, notes, "boxes", {"order": "yxyx", "unit": "share"}, _OF_TENSORFLOW)
            _add(steps, notes, "threshold", {"score": 0}, "rows beyond `num_detections` have the score 0")
        elif framework == "mxnet":
            _add(steps, notes, "boxes", {"order": "xyxy", "unit": "pixel"}, _OF_GLUON)
        else:
            what = "what the four numbers of a box are is not written, and has no usual form in this framework: "
            notes.add("unclear", what + "`answer` must say it", roles["boxes"].place)
            return
    _settle_classes(outputs, framework, by_function, steps, notes)
    if data["task"] == "instance_segmentation":
        _add(steps, notes, "paste_masks", {"threshold": 0.5}, "a mask covers its box, as Mask R-CNN's do")
    data.put("answer", steps.list, steps.list.place)


def _settle_classes(outputs: list[Any], framework: str, is_own: bool, steps: Steps, notes: Notes) -> None:
    """Class numbers as a dataset has them, from 0; `is_own` where a function gives them."""
    roles = {each.get("type"): each for each in outputs}
    named = next((each for each in outputs if each.get("features_url")), None)
    file = str(named["features_url"]).rpartition("/")[2] if named is not None else ""
    kind = next((kind for pattern, kind in _LISTS if pattern.search(file)), None)
    reason = f"`{file}` lists them so"
    holder = roles.get("classes", outputs[0])
    if not is_own and _is_mlperf(roles):
        _forget_list(named, kind == "coco91", notes)
        kind, reason = 1, "MLPerf's SSD-ResNet34 numbers COCO's 80 classes from 1"
    elif kind is None and framework in ("tensorflow", "tflite") and not is_own:
        kind, reason = 1, "TensorFlow's Object Detection API numbers classes from 1"
    if kind == "coco91":
        _add(steps, notes, "class_ids", {"scheme": "coco91"}, f"classes have COCO's ids, 1 to 90: {reason}")
    elif kind and "label_offset" not in holder:
        notes.imply(holder, "label_offset", kind, holder.place, f"since class 0 is the background: {reason}")


def _is_mlperf(roles: dict[Any, Any]) -> bool:
    """The one detector of TensorFlow in these manifests that is not of the Object Detection API."""
    return "boxes" in roles and roles["boxes"].get("layer_name") == "detection_bboxes"


def _forget_list(named: SourceMap | None, is_other: bool, notes: Notes) -> None:
    """A list of other classes than the model's would give them wrong names."""
    if named is None or not is_other:
        return
    kept = attributes_of(named)
    notes.add("unclear", "the list of classes has 91, the model 80: it is kept under `attributes`", named.place)
    for key in ("features_url", "features_checksum"):
        if key in named:
            named.move(key, kept, free_name(key, kept))


def _settle_map(data: SourceMap, outputs: list[Any], framework: str, notes: Notes) -> None:
    if [each.get("type") for each in outputs] != ["masks"]:
        notes.add("unclear", "`masks_layer` is not written: no output is known to hold the classes", outputs[0].place)
        return
    steps = Steps(outputs[0].place)
    layout = "HWC" if framework in ("tensorflow", "tflite") else "CHW"
    reason = "the layer holds a class for each pixel, or scores of which the best is taken"
    _add(steps, notes, "argmax_map", {"layout": layout}, reason)
    data.put("answer", steps.list, steps.list.place)


def _settle_picture(data: SourceMap, outputs: list[Any], notes: Notes) -> None:
    """A picture comes back in the numbers and the order of axes in which it was given to the model."""
    inputs = data.get("inputs")
    layer = inputs[0] if isinstance(inputs, list) and len(inputs) == 1 else None
    given = _given(layer) if isinstance(layer, SourceMap) else {}
    factor, offset = _single(given.get("divisor", 1)), _single(given.get("values", 0))
    if len(outputs) != 1 or not given or factor is None or offset is None:
        what = "how the model's numbers become those of a picture is not written: `answer` must say it"
        notes.add("unclear", what, outputs[0].place)
        return
    steps = Steps(outputs[0].place)
    layout = {"layout": str(given.get("data_layout", "CHW")).removeprefix("N")}
    layout["color"] = str(given.get("color_layout", "RGB"))
    _add(steps, notes, "picture", layout, "the picture comes back in the order of axes and channels of the input")
    if (factor, offset) != (1, 0):
        reason = "the picture comes back in the numbers of the input: `scale` and `mean` are undone"
        _add(steps, notes, "multiply", {"factor": factor, "offset": offset}, reason)
    _add(steps, notes, "clip_picture", {}, "a pixel has 0 to 255")
    data.put("answer", steps.list, steps.list.place)


def _given(layer: SourceMap) -> dict[str, Any]:
    """The parameters of an image input's steps, the last of a name."""
    found: dict[str, Any] = {}
    for step in layer.get("processing") or ():
        for parameters in step.values() if isinstance(step, SourceMap) else ():
            found |= parameters if isinstance(parameters, SourceMap) else {}
    return found


def _single(value: Any) -> float | None:
    """One number for all channels; none where they differ."""
    numbers = value if isinstance(value, list) else [value]
    if not numbers or not all(isinstance(each, (int, float)) for each in numbers) or len(set(numbers)) != 1:
        return None
    return numbers[0] if isinstance(numbers[0], int) else float(numbers[0])


def _forget_name(outputs: list[Any], notes: Notes) -> None:
    if len(outputs) == 1 and isinstance(outputs[0].get("layer_name"), str):
        place: Place = outputs[0].places["layer_name"]
        name = take(outputs[0], "layer_name")
        kept = attributes_of(outputs[0])
        kept.put(free_name("layer_name", kept), name, place)
        what = f"TorchScript's outputs have no names: the only one is taken, `{name}` is kept under `attributes`"
        notes.add("implied", what, place)


def _add(steps: Steps, notes: Notes, name: str, parameters: dict[str, Any], reason: str) -> None:
    place = steps.list.place
    steps.add(name, parameters, place, dict.fromkeys(parameters, reason))
    notes.add("implied", f"`answer` has the step `{name}`: {reason}", place)
