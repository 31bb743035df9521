"""V1, the form of the original project's manifests: `inputs[].parameters`, `output.parameters`, `model`, `attributes`.

What the original agents did with it, and what a reader could not know, is made explicit: the fixed order decode →
resize → subtract the mean → divide by `scale` → layout → element type, without a crop whatever the manifest says;
mean and scale in R, G, B order even where the colour mode is BGR.
"""

from __future__ import annotations

import re
from typing import Any, get_args

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
from mlmodelscope.manifest.schema.model import Input, InputType
from mlmodelscope.manifest.schema.part import Part
from mlmodelscope.manifest.source import Place, SourceFloat, SourceInt, SourceList, SourceMap

ELEMENT_TYPES = {
    word: word
    for word in ("float32", "float16", "float64", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64")
} | {"int64": "int64", "bool": "bool", "float": "float32", "double": "float64", "half": "float16", "string": "string"}

FRAMEWORK = ("name", "version", "container", "envvars")
TOP_LEVEL = (
    "name",
    "version",
    "framework",
    "container",
    "description",
    "references",
    "licence",
    "license",
    "inputs",
    "outputs",
    "source",
    "attributes",
    "task",
    "training_dataset",
    "claims",
    "envvars",
    "author",
    "id",
)
_KNOWN_TOP_LEVEL = (*TOP_LEVEL, "output", "model", "input", "reference", "hidden", "modality")
_INPUT_PARAMETERS = (
    "layer_name",
    "input_layer",
    "element_type",
    "layout",
    "color_mode",
    "dimensions",
    "mean",
    "scale",
    "max_dimension",
    "keep_aspect_ratio",
    "input_type",
    "url",
)
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
_ATTRIBUTES = ("training_dataset", "top1", "Top1", "top5", "Top5", "kind", "manifest_author", "hidden", "mAP")

# What the original agents took when the manifest did not say it.
_AGENT_COLOR = {"caffe": "BGR", "caffe2": "BGR", "tensorrt": "BGR"}
_AGENT_LAYOUT = {"tensorflow": "HWC", "tflite": "HWC"}

# Old words for what a model does → (task, what its tensors hold).
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


def recognise(data: SourceMap) -> bool:
    if "source" in data and "model" not in data:
        return False
    inputs = data.get("inputs")
    layers = inputs if isinstance(inputs, list) else [inputs]
    written = any(isinstance(layer, dict) and "parameters" in layer for layer in layers)
    output = data.get("output")
    return written or isinstance(output, dict) or (isinstance(data.get("model"), dict) and "source" not in data)


def convert(data: SourceMap, notes: Notes) -> SourceMap:
    mend_keys(data, _KNOWN_TOP_LEVEL, notes)
    rename(data, "reference", "references")
    rename(data, "input", "inputs")
    attributes = attributes_of(data)
    mend_keys(attributes, _ATTRIBUTES, notes)
    settle_name(data, notes)
    framework = framework_word(data)
    convert_inputs(data, framework, notes)
    convert_output(data, notes)
    keep_unknown_inside(data, "framework", FRAMEWORK, notes)
    read_model_block(data, notes)
    convert_claims(data, notes)
    keep_unknown(data, TOP_LEVEL, attributes, notes)
    for key in ("attributes", "licence", "license", "description", "references", "container"):
        drop_empty(data, key)
    return data


def framework_word(data: SourceMap) -> str:
    framework = data.get("framework")
    name = framework.get("name") if isinstance(framework, dict) else framework
    return str(name or "").lower().replace(" ", "")


def settle_name(data: SourceMap, notes: Notes) -> None:
    """A name is one word; what was written is kept as the title."""
    name = data.get("name")
    if isinstance(name, str) and name.strip() and any(letter.isspace() for letter in name):
        data["name"] = "-".join(name.split())
        if name.strip() != data["name"]:
            attributes = attributes_of(data)
            title = free_name("title", attributes)
            attributes.put(title, name.strip(), data.places["name"], "the name as it was written")
            notes.add("implied", f"the name is `{data['name']}`: a name is one word", data.places["name"])


def convert_inputs(data: SourceMap, framework: str, notes: Notes) -> None:
    for layer in listed(data, "inputs"):
        if isinstance(layer, SourceMap):
            _convert_input(layer, framework, notes)


def _convert_input(layer: SourceMap, framework: str, notes: Notes) -> None:
    mend_value(layer, "type", INPUT_TYPES, notes)
    parameters = take_parameters(layer)
    mend_keys(parameters, _INPUT_PARAMETERS, notes)
    rename(parameters, "input_layer", "layer_name")
    for key in ("layer_name", "element_type"):
        drop_empty(parameters, key)
        if key in parameters and key not in layer:
            parameters.move(key, layer)
    mend_value(layer, "element_type", ELEMENT_TYPES, notes)
    if layer.get("type") == "image" and "processing" not in layer:
        layer.put("processing", _image_steps(parameters, layer, framework, notes), parameters.place)
        layer.reasons["processing"] = "in V1's fixed order: decode, resize, subtract mean, divide by scale, layout"
    _keep_parameters(parameters, layer, notes, "inputs[].parameters.")
    keep_others(layer, Input, notes, "inputs[].")


INPUT_TYPES = {word: word for word in get_args(InputType)} | {
    "images": "image",
    "raw": "tensor",
    "sentence": "text",
    "sentences": "text",
}


def take_parameters(layer: SourceMap) -> SourceMap:
    place = layer.places.get("parameters", layer.place)
    parameters = take(layer, "parameters")
    if isinstance(parameters, SourceMap):
        return parameters
    made = SourceMap()
    made.place = place
    if parameters is not None:
        made.put("parameters", parameters, place)
    return made


def _keep_parameters(parameters: SourceMap, layer: SourceMap, notes: Notes, prefix: str) -> None:
    for key in list(parameters):
        drop_empty(parameters, key)
    if parameters:
        keep_unknown(parameters, (), attributes_of(layer), notes, prefix)


def keep_others(layer: SourceMap, schema: type[Part], notes: Notes, prefix: str) -> None:
    """Move a layer's keys that today's schema does not know to its attributes."""
    if any(key not in schema.model_fields for key in layer):
        keep_unknown(layer, schema.model_fields, attributes_of(layer), notes, prefix)


def _image_steps(parameters: SourceMap, layer: SourceMap, framework: str, notes: Notes) -> SourceList:
    steps = Steps(parameters.place)
    color = _color(parameters, framework, notes)
    decoder = {"library": "pillow", "dct": "accurate", "color_layout": "RGB"}
    steps.add("decode", decoder, parameters.place, dict.fromkeys(decoder, _DECODED))
    _add_resize(steps, parameters, notes)
    arithmetic = [key for key in ("mean", "scale") if parameters.get(key) not in (None, "", [])]
    if arithmetic:
        steps.add("cast", {"element_type": "float32"}, parameters.place, {"element_type": "V1 computes in float32"})
    for key, name, parameter in (("mean", "mean", "values"), ("scale", "rescale", "divisor")):
        place = parameters.places.get(key, parameters.place)
        value = take(parameters, key)
        if key in arithmetic:
            steps.add(name, {parameter: value}, place)
    if color[0] != "RGB":
        # Mean and scale are in R, G, B order whatever the colour mode: the channels are turned round after them.
        steps.add("color", {"color_layout": color[0]}, color[1], _because("color_layout", color[2]))
        if arithmetic:
            notes.add(
                "implied", "mean and scale are in R, G, B order, so the channels are turned round after them", color[1]
            )
    layout = _layout(parameters, framework, notes)
    steps.add("layout", {"data_layout": layout[0]}, layout[1], _because("data_layout", layout[2]))
    element_type = layer.get("element_type", "float32")
    if isinstance(element_type, str):
        reason = layer.reasons.get("element_type") if "element_type" in layer else "V1's tensors are float32"
        place = layer.places.get("element_type", parameters.place)
        steps.add("cast", {"element_type": element_type}, place, _because("element_type", reason))
    return steps.list


_DECODED = "V1's agents decoded with libjpeg-turbo and its accurate DCT, to R, G, B"
_BILINEAR = "V1's agents interpolated bilinearly"


def _because(key: str, reason: str | None) -> dict[str, str]:
    return {key: reason} if reason else {}


class Steps:
    """Steps as a list of one-key mappings, each at the place that it was made of."""

    def __init__(self, place: Place) -> None:
        self.list = SourceList()
        self.list.place = place

    def add(self, name: str, parameters: dict[str, Any], place: Place, reasons: dict[str, str] | None = None) -> None:
        inner = SourceMap()
        inner.place = place
        for key, value in parameters.items():
            inner.put(key, value, place, (reasons or {}).get(key))
        outer = SourceMap()
        outer.place = place
        outer.put(name, inner, place)
        self.list.put(outer, place)


def _add_resize(steps: Steps, parameters: SourceMap, notes: Notes) -> None:
    if parameters.get("max_dimension") is not None:
        place = parameters.places["max_dimension"]
        sizes = {"max_dimension": take(parameters, "max_dimension"), "method": "bilinear"}
        if parameters.get("keep_aspect_ratio") is False:
            notes.add("unclear", "`max_dimension` keeps the aspect ratio, whatever `keep_aspect_ratio` says", place)
        elif "keep_aspect_ratio" in parameters:
            sizes["keep_aspect_ratio"] = take(parameters, "keep_aspect_ratio")
        steps.add("resize", sizes, place, {"method": _BILINEAR})
        return
    place = parameters.places.get("dimensions", parameters.place)
    dimensions = take(parameters, "dimensions")
    if not dimensions:
        notes.add("unclear", "the image is given to the model in its own size: no dimensions are written", place)
        return
    if isinstance(dimensions, list):
        dimensions = _height_and_width(dimensions, place, notes)
    if parameters.get("keep_aspect_ratio") is True:
        notes.add("unclear", "`keep_aspect_ratio` is not followed: V1's agents stretched to the dimensions", place)
    else:
        take(parameters, "keep_aspect_ratio")  # which is how it is without a word
    steps.add("resize", {"dimensions": dimensions, "method": "bilinear"}, place, {"method": _BILINEAR})


def _height_and_width(dimensions: list[Any], place: Place, notes: Notes) -> list[Any]:
    """V1 writes [channels, height, width], with or without the batch in front; a few files put the channels last."""
    sizes = dimensions[1:] if len(dimensions) == 4 else dimensions
    if len(sizes) == 3 and sizes[0] not in (1, 3) and sizes[2] in (1, 2, 3, 4):
        notes.add("unclear", f"dimensions {list(sizes)} are read as height, width, channels", place)
        sizes = [sizes[2], *sizes[:2]]
    if len(sizes) == 3 and sizes[0] != 3:
        notes.add("implied", f"the image has 3 channels, as all of V1's have; dimensions say {sizes[0]}", place)
    return sizes[1:] if len(sizes) == 3 else sizes


def _color(parameters: SourceMap, framework: str, notes: Notes) -> tuple[str, Place, str | None]:
    return _written_or_agents(parameters, "color_mode", ("RGB", "BGR"), _AGENT_COLOR.get(framework, "RGB"), notes)


def _layout(parameters: SourceMap, framework: str, notes: Notes) -> tuple[str, Place, str | None]:
    return _written_or_agents(
        parameters, "layout", ("HWC", "CHW", "NHWC", "NCHW"), _AGENT_LAYOUT.get(framework, "CHW"), notes
    )


def _written_or_agents(
    parameters: SourceMap, key: str, words: tuple[str, ...], default: str, notes: Notes
) -> tuple[str, Place, str | None]:
    """What a key says, or what the agent took where it is not written; where that is, and why."""
    mend_value(parameters, key, words, notes)
    place = parameters.places.get(key, parameters.place)
    written = parameters.get(key)
    if written is None or written == "":
        take(parameters, key)
        notes.add("implied", f"`{key}` is not written; the original agent of this framework took {default}", place)
        return default, place, f"`{key}` is not written; the original agent of this framework took {default}"
    take(parameters, key)
    return written, place, None


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
    task = TASKS.get(str(seen).lower()) if seen is not None else None
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


def convert_claims(data: SourceMap, notes: Notes) -> None:
    """`attributes.Top1` and the like are claims; `training_dataset` is a field of its own."""
    attributes = attributes_of(data)
    dataset = attributes.get("training_dataset")
    if "training_dataset" not in data and dataset is not None and dataset != "":
        _move_training_dataset(data, attributes, notes)
    else:
        drop_empty(attributes, "training_dataset")
    if "claims" in data:
        return
    claims = SourceList()
    for key in ("top1", "Top1", "top5", "Top5"):
        place = attributes.places.get(key)
        value = attributes.get(key)
        if place is None:
            continue
        if value is None or value == "":
            take(attributes, key)
            continue
        number = percentage(value)
        if number is None:
            notes.add("unclear", f"`{key}: {value}` is no number in percent and stays under `attributes`", place)
            continue
        attributes[key] = number
        claim = SourceMap()
        claim.place = place
        claim.put("metric", key.lower(), place, f"is what `attributes.{key}` claims")
        attributes.move(key, claim, "value")
        if any(other["metric"] == claim["metric"] for other in claims):
            notes.add("unclear", f"`{claim['metric']}` is claimed twice", place)
        claims.put(claim, place)
    if claims:
        claims.place = claims.places[0]
        data.put("claims", claims, claims.place)


def percentage(value: Any) -> SourceFloat | SourceInt | None:
    """A number in percent as it was written: `46.` is 46, `78.8 %` is 78.8."""
    text = str(getattr(value, "text", value)).strip().removesuffix("%").strip().removesuffix(".")
    if isinstance(value, bool) or not re.fullmatch(r"\d{1,6}(\.\d{1,10})?", text):
        return None
    number = SourceFloat(text) if "." in text else SourceInt(text)
    number.text = text
    return number


def _move_training_dataset(data: SourceMap, attributes: SourceMap, notes: Notes) -> None:
    place = attributes.places["training_dataset"]
    dataset = attributes["training_dataset"]
    if isinstance(dataset, list):  # the CLOUD'20 paper writes a list: name, then version
        names = [str(getattr(item, "text", item)) for item in dataset if isinstance(item, (str, int, float))]
        if len(names) != len(dataset) or not names:
            notes.add("unclear", "the training dataset is not a name and is left under `attributes`", place)
            return
        take(attributes, "training_dataset")
        dataset = ", ".join(names)
    elif isinstance(dataset, SourceMap):
        attributes.move("training_dataset", data)
        return
    else:
        take(attributes, "training_dataset")
    named = SourceMap()
    named.place = place
    named.put("name", getattr(dataset, "text", None) or str(dataset), place)
    data.put("training_dataset", named, place)
