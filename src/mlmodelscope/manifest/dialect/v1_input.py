"""Inputs of V1: its fixed order of pre-processing, written out as steps."""

from __future__ import annotations

from typing import Any, get_args

from mlmodelscope.manifest.dialect.notes import Notes
from mlmodelscope.manifest.dialect.v1_layer import ELEMENT_TYPES, keep_others, keep_parameters, take_parameters
from mlmodelscope.manifest.dialect.words import (
    attributes_of,
    drop_empty,
    free_name,
    listed,
    mend_keys,
    mend_value,
    rename,
    take,
)
from mlmodelscope.manifest.schema.model import Input, InputType
from mlmodelscope.manifest.source import Place, SourceList, SourceMap

INPUT_TYPES = {word: word for word in get_args(InputType)} | {
    "images": "image",
    "raw": "tensor",
    "sentence": "text",
    "sentences": "text",
}
MEAN_IMAGE = "mean_image"
"""The attribute of an input that keeps the address of a mean image."""
_INPUT_PARAMETERS = (
    "mean_image",
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
# What the original agents took when the manifest did not say it.
_AGENT_COLOR = {"caffe": "BGR", "caffe2": "BGR", "tensorrt": "BGR"}
_AGENT_LAYOUT = {"tensorflow": "HWC", "tflite": "HWC"}
_DECODED = "V1's agents decoded with libjpeg-turbo and its accurate DCT, to R, G, B"
_BILINEAR = "V1's agents interpolated bilinearly"


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
    _read_raw_image(layer, notes)
    _keep_mean_image(parameters, layer, notes)
    mend_value(layer, "element_type", ELEMENT_TYPES, notes)
    if layer.get("type") == "image" and "processing" not in layer:
        layer.put("processing", _image_steps(parameters, layer, framework, notes), parameters.place)
        layer.reasons["processing"] = "in V1's fixed order: decode, resize, subtract mean, divide by scale, layout"
    keep_parameters(parameters, layer, notes, "inputs[].parameters.")
    keep_others(layer, Input, notes, "inputs[].")


def _read_raw_image(layer: SourceMap, notes: Notes) -> None:
    written = layer.get("element_type")
    if isinstance(written, str) and written.strip().lower().replace("-", "_") == "raw_image":
        place = layer.places["element_type"]
        layer["element_type"] = "uint8"
        notes.add("unclear", f"`element_type: {written}` is read as `uint8`, which a picture's own values are", place)


def _keep_mean_image(parameters: SourceMap, layer: SourceMap, notes: Notes) -> None:
    """A file with a mean for each pixel: steps subtract numbers, so it is kept, and plans say that it is missing."""
    for key in ("mean", "mean_image"):
        written = parameters.get(key)
        if not isinstance(written, str) or not written.strip() or _is_number(written):
            continue
        place = parameters.places[key]
        parameters.move(key, attributes_of(layer), free_name(MEAN_IMAGE, attributes_of(layer)))
        what = f"the mean image {written.strip()} is not subtracted: no step does that; it is kept under `attributes`"
        notes.add("unclear", what, place)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


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
