"""V2, manifests that carry Python: `modality`, `outputs`, `preprocess` and `postprocess`; V2′ is its older form.

Their functions are called for one sample at a time: `data` is the sample's number in the list `dataset`, or its path.
"""

from __future__ import annotations

from typing import get_args

from mlmodelscope.manifest.dialect import v1, v1_claims, v1_input, v1_layer, v1_output
from mlmodelscope.manifest.dialect.conventions import settle_conventions
from mlmodelscope.manifest.dialect.notes import Notes
from mlmodelscope.manifest.dialect.source_files import read_model_block
from mlmodelscope.manifest.dialect.words import (
    attributes_of,
    drop_empty,
    free_name,
    keep_unknown,
    keep_unknown_inside,
    mend_keys,
    mend_value,
    rename,
    take,
)
from mlmodelscope.manifest.schema.model import Input, Output, OutputType
from mlmodelscope.manifest.source import SourceList, SourceMap

_FUNCTIONS = ("preprocess", "postprocess", "before_preprocess", "setup", "run")
_TOP_LEVEL = (*v1.TOP_LEVEL, *_FUNCTIONS, "hyperparameters")
TASKS = {
    "image_classification": "classification",
    "image_object_detection": "object_detection",
    "image_semantic_segmentation": "semantic_segmentation",
    "image_instance_segmentation": "instance_segmentation",
    "image_instance_segmentation_raw": "instance_segmentation",
    "image_enhancement": "image_enhancement",
    "image_captioning": "text_generation",
    "image_synthesis": "image_generation",
    "text_to_text": "text_generation",
    "text_to_image": "image_generation",
    "audio_to_text": "speech_recognition",
    "audio_classification": "audio_classification",
    "text_classification": "text_classification",
    "question_answering": "question_answering",
    "recommendation": "recommendation",
    "classification": "classification",
    "general": "general",
}
OUTPUT_TYPES = {word: word for word in get_args(OutputType)} | {
    "classification": "probability",
    "feature": "probability",
    "probabilities": "probability",
    "boundingbox": "boxes",
    "boundingboxes": "boxes",
    "bounding_boxes": "boxes",
    "semanticsegment": "masks",
    "instancesegment": "masks",
    "raw": "tensor",
}


def recognise(data: SourceMap) -> bool:
    carries = any(isinstance(data.get(key), str) for key in ("preprocess", "postprocess", "before_preprocess"))
    return (carries or "modality" in data) and ("model" in data or "output" in data or "modality" in data)


def convert(data: SourceMap, notes: Notes) -> SourceMap:
    mend_keys(data, (*_TOP_LEVEL, "modality", "output", "model"), notes)
    v1.settle_name(data, notes)
    v1.nest_framework(data)
    rename(data, "before_preprocess", "setup")
    _convert_task(data, notes)
    _call_per_sample(data, notes)
    _convert_outputs(data, notes)
    if "preprocess" in data:
        _convert_plain_inputs(data, notes)
    else:
        v1_input.convert_inputs(data, v1.framework_word(data), notes)
    keep_unknown_inside(data, "framework", v1.FRAMEWORK, notes)
    read_model_block(data, notes)
    v1_claims.convert_claims(data, notes)
    settle_conventions(data, v1.framework_word(data), notes)
    keep_unknown(data, _TOP_LEVEL, attributes_of(data), notes)
    for key in ("attributes", "licence", "license", "description", "references", "container"):
        drop_empty(data, key)
    return data


def _convert_task(data: SourceMap, notes: Notes) -> None:
    if "modality" not in data or "task" in data:
        return
    seen = data["modality"]
    mend_value(data, "modality", {word: word for word in TASKS}, notes)
    task = TASKS.get(str(data["modality"]).lower())
    place = data.places["modality"]
    if task is None:
        notes.add("unclear", f"the modality `{seen}` is not known; the task is `general`", place)
        data.move("modality", attributes_of(data))
    else:
        take(data, "modality")
    said = _task_of_outputs(data) if task in (None, "general") else None
    if said is not None:  # `general` only says that the answers are in MLCommons' form
        notes.add("implied", f"the task is `{said}`: the output's type says more than `modality: {seen}`", place)
    data.put("task", said or task or "general", place, f"is what V2's `modality: {seen}` stands for")


def _task_of_outputs(data: SourceMap) -> str | None:
    outputs = data.get("outputs", data.get("output"))
    layers = outputs if isinstance(outputs, list) else [outputs]
    if len(layers) != 1 or not isinstance(layers[0], SourceMap):
        return None
    task = v1_output.TASKS.get(str(layers[0].get("type")).lower())
    return task if task not in ("general", "image_enhancement") else None


def _call_per_sample(data: SourceMap, notes: Notes) -> None:
    code = data.get("preprocess")
    if isinstance(code, str):
        place = data.places["preprocess"]
        function = SourceMap()
        function.place = place
        function.put("code", code, place)
        function.put("gets", "sample", place, "V2's functions are called for one sample at a time")
        data["preprocess"] = function
        notes.add("implied", "`preprocess` is called for one sample at a time", place)


def _convert_outputs(data: SourceMap, notes: Notes) -> None:
    written = data.get("output")
    if "outputs" not in data and isinstance(written, SourceMap):
        place = data.places["output"]
        wrapped = SourceList()
        wrapped.place = place
        wrapped.put(take(data, "output"), place)
        data.put("outputs", wrapped, place)
        if "task" not in data:
            kind = str(written.get("type", "general")).lower()
            task = v1_output.TASKS.get(kind) or TASKS.get(kind) or "general"
            data.put("task", task, written.places.get("type", place), f"is what the output's `type: {kind}` stands for")
    outputs = data.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        if isinstance(output, SourceMap):
            convert_layer(output, OUTPUT_TYPES, notes)


def _convert_plain_inputs(data: SourceMap, notes: Notes) -> None:
    inputs = data.get("inputs")
    for layer in inputs if isinstance(inputs, list) else ():
        if isinstance(layer, SourceMap):
            convert_layer(layer, v1_input.INPUT_TYPES, notes)


def convert_layer(layer: SourceMap, types: dict[str, str], notes: Notes) -> None:
    """An input or output that is described for people: its type, its `parameters`."""
    _convert_type(layer, types, notes)
    parameters = v1_layer.take_parameters(layer)
    for old in ("input_layer", "output_layer", "probabilities_layer"):
        rename(parameters, old, "layer_name")
    _lift(parameters, layer, ("layer_name", "element_type", "features_url", "features_checksum"), notes)
    is_input = types is v1_input.INPUT_TYPES
    v1_layer.keep_others(layer, Input if is_input else Output, notes, "inputs[]." if is_input else "outputs[].")


def _convert_type(layer: SourceMap, words: dict[str, str], notes: Notes) -> None:
    """V2 describes a layer for people: what is not one of our words is kept as an attribute."""
    mend_value(layer, "type", words, notes)
    seen = layer.get("type")
    if isinstance(seen, str) and seen not in words.values():
        place = layer.places["type"]
        layer.move("type", attributes_of(layer))
        layer.put("type", "general", place, f"V2's `type: {seen}` is a description")
        notes.add("implied", f"the layer's type is `general`; `{seen}` is kept under its attributes", place)


def _lift(parameters: SourceMap, layer: SourceMap, keys: tuple[str, ...], notes: Notes) -> None:
    for key in keys:
        drop_empty(parameters, key)
        if key in parameters and key not in layer:
            parameters.move(key, layer)
    mend_value(layer, "element_type", v1_layer.ELEMENT_TYPES, notes)
    for key in list(parameters):
        drop_empty(parameters, key)
        if key in parameters:
            kept = attributes_of(layer)
            what = f"`parameters.{key}` is for people where functions do the work; it is kept under `attributes`"
            notes.add("kept", what, parameters.places[key], key)
            parameters.move(key, kept, free_name(key, kept))
