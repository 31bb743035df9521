"""The output of V1, which may name several layers: one output for each."""

from __future__ import annotations

from mlmodelscope.manifest.dialect.notes import Notes
from mlmodelscope.manifest.dialect.v1_input import Steps
from mlmodelscope.manifest.dialect.v1_layer import ELEMENT_TYPES, take_parameters
from mlmodelscope.manifest.dialect.v1_task import judge_task
from mlmodelscope.manifest.dialect.words import (
    attributes_of,
    drop_empty,
    free_name,
    mend_keys,
    mend_value,
    rename,
    take,
)
from mlmodelscope.manifest.source import Place, SourceList, SourceMap

_OUTPUT_PARAMETERS = (
    "layer_name",
    "element_type",
    "probabilities_layer",
    "probabilities_transform",
    "boxes_layer",
    "classes_layer",
    "masks_layer",
    "features_url",
    "features_checksum",
    "dimensions",
)
VAGUE = ("feature", "features")
"""V1's word for scores of anything."""
# Old words for what a model does → its task.
TASKS = {
    "classification": "classification",
    "feature": "classification",
    "features": "classification",
    "label": "classification",
    "boundingbox": "object_detection",
    "detection": "object_detection",
    "semanticsegment": "semantic_segmentation",
    "instancesegment": "instance_segmentation",
    "image": "image_enhancement",
    "coordinates": "regression",
    "raw": "general",
    "general": "general",
}
_LAYERS = (
    ("probabilities_layer", "scores"),
    ("boxes_layer", "boxes"),
    ("classes_layer", "classes"),
    ("masks_layer", "masks"),
)


def convert_output(data: SourceMap, notes: Notes) -> None:
    """One `output` that names several layers becomes one output for each layer."""
    listed = data.get("outputs", data.get("output"))
    if isinstance(listed, list) and len(listed) == 1 and isinstance(listed[0], SourceMap) and "parameters" in listed[0]:
        rename(data, "outputs", "output")
        data["output"] = listed[0]
    if "outputs" in data or not isinstance(data.get("output"), SourceMap):
        rename(data, "output", "outputs")
        return
    place = data.places["output"]
    written: SourceMap = take(data, "output")
    parameters = take_parameters(written)
    mend_keys(parameters, _OUTPUT_PARAMETERS, notes)
    mend_value(parameters, "element_type", ELEMENT_TYPES, notes)
    mend_value(written, "type", TASKS.keys(), notes)
    seen = written.get("type")
    task = _task_of(data, written, parameters, notes)
    if task is not None and "task" not in data:
        data.put("task", task, written.places["type"], f"is what V1's `output.type: {seen}` stands for")
    elif task is not None and data["task"] != task:
        notes.add("unclear", f"`task: {data['task']}` is taken, though `output.type: {seen}` says {task}", place)
    for key in ("features_checksum", "element_type"):
        drop_empty(parameters, key)
    outputs = SourceList()
    outputs.place = place
    if task in (None, "classification", "general", "regression"):
        outputs.put(_scores_output(written, parameters, task, place, notes), place)
    else:
        for output in _layer_outputs(written, parameters, task):
            outputs.put(output, output.place)
    data.put("outputs", outputs, place)


def _task_of(data: SourceMap, written: SourceMap, parameters: SourceMap, notes: Notes) -> str | None:
    """What the model does, by the output's type; where that says nothing, by what else is written, and noted."""
    seen = written.get("type")
    if seen is None:
        return None
    word, place = str(seen).lower(), written.places["type"]
    if word not in TASKS:
        if "task" in data or not isinstance(seen, str):
            return None
        written.move("type", attributes_of(data), free_name("output_type", attributes_of(data)))
        written.put("type", "general", place)
        notes.add("unclear", f"`output.type: {seen}` is not known; the task is `general`", place)
        return "general"
    if word not in VAGUE:
        return TASKS[word]
    task, reason = judge_task(data, parameters)
    if task != TASKS[word]:
        notes.add("unclear", f"`output.type: {seen}` says little; the task is taken for `{task}`: {reason}", place)
    if task == "semantic_segmentation" and "masks_layer" not in parameters:
        rename(parameters, "probabilities_layer", "masks_layer")
    return task


def _scores_output(
    written: SourceMap, parameters: SourceMap, task: str | None, place: Place, notes: Notes
) -> SourceMap:
    output = SourceMap()
    output.place = place
    at = written.places.get("type", place)
    transform = parameters.get("probabilities_transform")
    softmax = isinstance(transform, str) and transform.lower() == "softmax"
    if task == "classification":
        kind = "logits" if softmax else "probability"
        output.put("type", kind, at, "is what V1 means by scores over classes")
        notes.add(
            "implied",
            f"the output's `type` is `{kind}`" + ("" if softmax else ": V1 calls the layer probabilities"),
            at,
        )
    elif task is None and "type" in written:
        written.move("type", output)  # not a word of V1: the schema says which words there are
    else:
        output.put("type", "tensor", at, "is a tensor without a further meaning")
    if softmax:
        steps = Steps(parameters.places["probabilities_transform"])
        take(parameters, "probabilities_transform")
        softmax_step = SourceList()
        softmax_step.place = steps.list.place
        softmax_step.put("softmax", steps.list.place)
        output.put("processing", softmax_step, steps.list.place)
    rename(parameters, "probabilities_layer", "layer_name")
    _finish_output(written, parameters, output)
    return output


def _layer_outputs(written: SourceMap, parameters: SourceMap, task: str) -> list[SourceMap]:
    """A detector's or segmentation's layers, each an output of its own."""
    outputs = []
    at = parameters.places.get("element_type", parameters.place)
    element_type = take(parameters, "element_type")
    for key, kind in _LAYERS:
        place = parameters.places.get(key)
        layer = take(parameters, key)
        if place is None or layer is None or layer == "":
            continue
        output = SourceMap()
        output.place = place
        output.put("type", "image" if task == "image_enhancement" else kind, place, f"is what `{key}` holds")
        output.put("layer_name", layer, place)
        if element_type is not None:
            output.put("element_type", element_type, at)
        outputs.append(output)
    if not outputs:
        output = SourceMap()
        output.place = written.place
        kind = "image" if task == "image_enhancement" else "tensor"
        output.put("type", kind, written.place, "no layer is named that would say more")
        if element_type is not None:
            output.put("element_type", element_type, at)
        outputs.append(output)
    _finish_output(written, parameters, outputs[0])
    return outputs


def _finish_output(written: SourceMap, parameters: SourceMap, output: SourceMap) -> None:
    take(written, "type")
    for key in ("layer_name", "element_type", "features_url", "features_checksum"):
        drop_empty(parameters, key)
        if key in parameters and key not in output:
            parameters.move(key, output)
    for holder in (written, parameters):
        for key in list(holder):
            drop_empty(holder, key)
            if key == "description" and key in holder:
                holder.move(key, output)
            elif key in holder:
                kept = attributes_of(output)
                holder.move(key, kept, free_name(key, kept))
