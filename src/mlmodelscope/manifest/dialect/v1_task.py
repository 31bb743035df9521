"""What a model of V1 does whose output is only called a `feature`: the name knows more than the type.

Most of these are classifiers, but some are fully convolutional networks, R-CNNs, counting models. Nothing is called a
classifier without a reason.
"""

from __future__ import annotations

import re
from typing import Any

from mlmodelscope.manifest.dialect.words import near
from mlmodelscope.manifest.source import SourceMap, is_empty

# In this order: Mask R-CNN is no detector only.
_BY_NAME = (
    (re.compile(r"mask[-_ ]?r-?cnn|instance[-_ ]?seg"), "instance_segmentation"),
    (re.compile(r"r-?cnn|(?<![a-z])ssd(?![a-z])|(?<![a-z])yolo|detect(?:or|ion)"), "object_detection"),
    (re.compile(r"(?<![a-z])fcn|segment|deeplab|pspnet|(?<![a-z])unet"), "semantic_segmentation"),
    (re.compile(r"count|subitiz|crowd|density|salient|(?<![a-z])so[sd](?![a-z])"), "general"),
    (re.compile(r"style|(?<![a-z])gan(?![a-z])|generat|embed|caption|pose"), "general"),
)
_BY_DESCRIPTION = (
    (re.compile(r"semantic segmentation|fully convolutional networks? for"), "semantic_segmentation"),
    (re.compile(r"instance segmentation"), "instance_segmentation"),
    (re.compile(r"object detect(?:or|ion)"), "object_detection"),
    (re.compile(r"(?:object|crowd|people) counting|subitizing"), "general"),
)
_SCORES = re.compile(r"prob|softmax|logit|predict|classif", re.IGNORECASE)
_CLASSIFIES = re.compile(r"classif|recogni[sz]|categor", re.IGNORECASE)


def judge_task(data: SourceMap, parameters: SourceMap) -> tuple[str, str]:
    """(the task, why) of a model whose output type leaves it open."""
    attributes = data.get("attributes")
    name = " ".join(_texts(data.get("name"), attributes.get("title") if isinstance(attributes, dict) else None))
    for pattern, task in _BY_NAME:
        found = pattern.search(name.lower())
        if found:
            return _with_boxes(task, parameters, f"the name has `{found[0]}` in it")
    described = " ".join(_texts(data.get("description")))
    if not _CLASSIFIES.search(described):
        for pattern, task in _BY_DESCRIPTION:
            found = pattern.search(described.lower())
            if found:
                return _with_boxes(task, parameters, f"the description has `{found[0]}` in it")
    layer = parameters.get("probabilities_layer", parameters.get("layer_name"))
    if isinstance(layer, str) and _SCORES.search(layer):
        return "classification", f"the layer is called `{layer}`"
    if not is_empty(parameters.get("probabilities_transform")):
        return "classification", "the scores become probabilities"
    for key in ("features_url", "features_path"):
        if not is_empty(parameters.get(key)):
            return "classification", f"`{key}` lists classes"
    if isinstance(attributes, dict) and any(near(key.lower(), ("top1", "top5")) for key in attributes):
        return "classification", "top-1 or top-5 is claimed"
    if _CLASSIFIES.search(f"{name} {described}"):
        return "classification", "name or description says so"
    return "general", "nothing says that these are scores of classes"


def _with_boxes(task: str, parameters: SourceMap, reason: str) -> tuple[str, str]:
    """A detector whose boxes are in no layer gives scores of something that was cut out before."""
    if task in ("object_detection", "instance_segmentation") and is_empty(parameters.get("boxes_layer")):
        return "general", f"{reason}, and no layer has boxes"
    return task, reason


def _texts(*values: Any) -> list[str]:
    return [value[:4000] for value in values if isinstance(value, str)]
