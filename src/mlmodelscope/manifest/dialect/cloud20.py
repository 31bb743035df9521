"""The form of the CLOUD'20 paper: `inputs[].steps` and `outputs[].steps` are lists of one-key mappings."""

from __future__ import annotations

from typing import Any

from mlmodelscope.manifest.dialect import v1, v1_claims, v1_input, v1_layer, v2
from mlmodelscope.manifest.dialect.notes import Notes
from mlmodelscope.manifest.dialect.source_files import read_model_block
from mlmodelscope.manifest.dialect.words import (
    attributes_of,
    drop_empty,
    free_name,
    keep_unknown,
    keep_unknown_inside,
    listed,
    mend_keys,
    mend_value,
    rename,
    take,
)
from mlmodelscope.manifest.source import Place, SourceList, SourceMap


def recognise(data: SourceMap) -> bool:
    for kind in ("inputs", "outputs"):
        layers = data.get(kind)
        layers = layers if isinstance(layers, list) else [layers]
        if any(isinstance(layer, dict) and "steps" in layer for layer in layers):
            return True
    return False


def convert(data: SourceMap, notes: Notes) -> SourceMap:
    mend_keys(data, (*v1.TOP_LEVEL, "model", "input", "output"), notes)
    v1.settle_name(data, notes)
    rename(data, "input", "inputs")
    rename(data, "output", "outputs")
    for kind in ("inputs", "outputs"):
        for layer in listed(data, kind):
            if isinstance(layer, SourceMap):
                _convert_layer(layer, kind, notes)
    _imply_task(data, notes)
    keep_unknown_inside(data, "framework", v1.FRAMEWORK, notes)
    read_model_block(data, notes)
    v1_claims.convert_claims(data, notes)
    keep_unknown(data, v1.TOP_LEVEL, attributes_of(data), notes)
    drop_empty(data, "attributes")
    return data


def _convert_layer(layer: SourceMap, kind: str, notes: Notes) -> None:
    parameters = v1_layer.take_parameters(layer)
    for key in list(parameters):
        if key not in layer:
            parameters.move(key, layer)
    for old in ("input_layer", "output_layer", "layer"):
        rename(layer, old, "layer_name")
    mend_value(layer, "element_type", v1_layer.ELEMENT_TYPES, notes)
    if kind == "inputs":
        mend_value(layer, "type", v1_input.INPUT_TYPES, notes)
        if isinstance(layer.get("steps"), (list, dict)) and "processing" not in layer:
            layer.put("processing", _input_steps(layer, notes), layer.places["steps"])
            take(layer, "steps")
        _keep(layer, ("type", "layer_name", "element_type", "description", "processing", "shape", "attributes"), notes)
        return
    _output_steps(layer, notes)
    mend_value(layer, "type", v2.OUTPUT_TYPES, notes)
    if layer.get("type") is None or str(layer["type"]).lower() == "label":
        place = layer.places.get("type", layer.place)
        take(layer, "type")
        layer.put("type", "probability", place, "CLOUD'20's outputs are probabilities over classes")
        notes.add("implied", "the output's `type` is `probability`", place)
    known = ("type", "layer_name", "element_type", "description", "processing", "features_url", "features_checksum")
    _keep(layer, (*known, "label_offset", "shape", "attributes"), notes)


def _keep(layer: SourceMap, known: tuple[str, ...], notes: Notes) -> None:
    if any(key not in known for key in layer):
        keep_unknown(layer, known, attributes_of(layer), notes)


def _pairs(steps: Any) -> list[tuple[str, Any, Place]]:
    if isinstance(steps, SourceMap):
        return [(name, value, steps.places[name]) for name, value in steps.items()]
    found = []
    for index, item in enumerate(steps):
        if isinstance(item, SourceMap):
            found += [(name, value, item.places[name]) for name, value in item.items()]
        else:
            found.append((str(item), None, steps.places[index]))
    return found


def _input_steps(layer: SourceMap, notes: Notes) -> SourceList:
    """The paper's steps in our words: `normalize{mean, rescale}` subtracts and divides, `resize` interpolates."""
    steps = SourceList()
    steps.place = layer.places["steps"]
    for name, value, place in _pairs(layer["steps"]):
        inner = value if isinstance(value, SourceMap) else None
        if inner is not None:
            rename(inner, "color_mode", "color_layout")
            rename(inner, "layout", "data_layout") if name == "decode" else None
            rename(inner, "interpolation", "method") if name == "resize" else None
        if name == "normalize" and inner is not None:
            rename(inner, "scale", "rescale")
            if "rescale" in inner and "std" not in inner:
                notes.add("implied", "`rescale` divides, as `scale` does in V1", inner.places["rescale"])
                rename(inner, "rescale", "std")
            if "std" not in inner:
                inner.put("std", 1.0, place, "nothing is divided by")
            if "mean" not in inner:
                inner.put("mean", 0.0, place, "nothing is subtracted")
        step = SourceMap()
        step.place = place
        step.put(name, value, place)
        steps.put(step, place)
    return steps


def _output_steps(layer: SourceMap, notes: Notes) -> None:
    """`argsort{labels_url}` sorts by score, which every classification does; its labels are the output's features."""
    if not isinstance(layer.get("steps"), (list, dict)):
        return
    rest = SourceList()
    rest.place = layer.places["steps"]
    for name, value, place in _pairs(layer["steps"]):
        if name in ("argsort", "sort", "topk") and (value is None or isinstance(value, SourceMap)):
            inner = value if isinstance(value, SourceMap) else SourceMap()
            for old, new in (("labels_url", "features_url"), ("labels_checksum", "features_checksum")):
                if old in inner and new not in layer:
                    inner.move(old, layer, new)
            notes.add("implied", f"`{name}`: answers are always sorted by their score", place)
            for key in list(inner):
                kept = attributes_of(layer)
                inner.move(key, kept, free_name(key, kept))
            continue
        step = SourceMap()
        step.place = place
        step.put(name, value, place)
        rest.put(step, place)
    if rest and "processing" not in layer:
        layer.put("processing", rest, rest.place)
    take(layer, "steps")


def _imply_task(data: SourceMap, notes: Notes) -> None:
    outputs = data.get("outputs")
    if "task" not in data and isinstance(outputs, list) and outputs:
        types = [str(layer.get("type")) for layer in outputs if isinstance(layer, SourceMap)]
        kind = next((kind for kind in types if kind in _TASKS), "")
        reason = f"is what an output of type `{kind}` is for" if kind else "is taken where the outputs say nothing"
        notes.imply(data, "task", _TASKS.get(kind, "general"), data.places["outputs"], reason)


_TASKS = {
    "boxes": "object_detection",
    "masks": "semantic_segmentation",
    "probability": "classification",
    "logits": "classification",
}
