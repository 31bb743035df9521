"""torchvision: what a weights entry says of itself, as docs/init.md shows how to write it to a file.

The presets resize Pillow's images (which antialiases), cut the centre out with rounding, divide by 255, normalise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mlmodelscope.author.draft import Draft, DraftOutput, DraftStep, Fact, one_line, plain
from mlmodelscope.author.fields import Fields
from mlmodelscope.author.importer.registry import Context, importer
from mlmodelscope.author.literal import LiteralError, parse_literal
from mlmodelscope.author.processing import normalize_steps, resize_step
from mlmodelscope.author.request import name_from
from mlmodelscope.model_file.limit import MAX_LABELS, clean
from mlmodelscope.task.measure import find_measure

_SECTION = "torchvision"
_TASKS = {
    "ImageClassification": "classification",
    "ObjectDetection": "object_detection",
    "SemanticSegmentation": "semantic_segmentation",
    "VideoClassification": "classification",
    "OpticalFlow": "general",
}
# The presets' own defaults, where a dump leaves them out.
_RESIZE_SIZE = {"ImageClassification": 256, "SemanticSegmentation": 520}
_METRICS = {"box_map": "map", "kp_map": "keypoint_map", "miou": "mean_iou"}
_ABOUT = ("num_params", "min_size", "_ops", "_file_size", "_weight_size", "_docs", "backend", "unquantized", "license")
_DATASETS = {"ImageNet-1K": "imagenet-val"}
_MEAN, _STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def _recognise(data: Mapping[str, Any]) -> bool:
    return "transforms" in data and ("meta" in data or "url" in data)


@importer("torchvision", _recognise)
def read(data: Mapping[str, Any], context: Context) -> Draft:
    """torchvision's weights, dumped as JSON"""
    fields = Fields(data, context.file)
    draft = Draft()
    transforms = _transforms(fields)
    kind = _kind(transforms)
    meta = fields.fields("meta")
    draft.learn("task", _TASKS.get(kind), one_line(f"the preset {kind}"))
    draft.learn("name", name_from((fields.text("name") or "").lower()), "name")
    url = fields.text("url")
    if url and "://" in url:
        draft.references.append(url)
        if context.model is None:
            draft.notes.append("torchvision's weights are under `references`; a manifest needs an exported model file")
    draft.steps, draft.steps_are_whole = _steps(draft, transforms, kind), True
    if meta is not None:
        _read_meta(draft, meta)
    if draft.get("task") == "classification":
        draft.outputs = [
            DraftOutput(
                Fact("logits", "torchvision's classifiers answer with logits"), steps=(DraftStep("softmax", None),)
            )
        ]
    for name, value in fields.rest().items():
        draft.keep(_SECTION, name, value)
    return draft


def _transforms(fields: Fields) -> Fields:
    value = fields.any("transforms")
    if isinstance(value, str):
        text = re.sub(r"^functools\.partial\(\s*<class '[\w.]*?(\w+)'>\s*,?", r"\1(", value.strip())
        try:
            value = parse_literal(text)
        except LiteralError:
            fields.refuse("transforms", "a preset such as ImageClassification(crop_size=[224] …)")
    if isinstance(value, str):
        value = {"": value}
    if not isinstance(value, Mapping):
        fields.refuse("transforms", "a preset or its parameters")
    assert isinstance(value, Mapping)
    return Fields(value, fields.file, "transforms")


def _kind(transforms: Fields) -> str:
    for key in ("", "type", "name", "preset"):
        text = transforms.any(key)
        if isinstance(text, str) and text:
            return clean(text).rsplit(".", 1)[-1]
    return "ImageClassification" if "crop_size" in transforms else "unknown"


def _steps(draft: Draft, transforms: Fields, kind: str) -> list[DraftStep]:
    decode = DraftStep(
        "decode", {"library": "pillow", "color_layout": "RGB"}, "torchvision's datasets decode with Pillow"
    )
    steps = [decode]
    antialias = transforms.flag("antialias")
    if antialias is False:
        draft.keep(_SECTION, "antialias", antialias, "Pillow always antialiases")
    resize, crop = _size(transforms, "resize_size"), _size(transforms, "crop_size")
    method = _method(draft, transforms)
    if resize is None and kind in _RESIZE_SIZE:
        resize = [_RESIZE_SIZE[kind]]
        draft.notes.append(f"resize_size is not given; {resize[0]} is the default of {kind}")
    if kind == "ObjectDetection":
        resize = None  # the network itself resizes and normalises
        draft.notes.append("torchvision's detectors resize and normalise inside the network")
    if resize is not None:
        value: dict[str, Any] = (
            {"short_side": resize[0], "rounding": "floor"} if len(resize) == 1 else {"dimensions": resize}
        )
        steps.append(resize_step(value, method, "pillow", "resize_size", antialias=method != "nearest"))
    if crop is not None:
        value = {"method": "center", "dimensions": [crop[0], crop[-1]], "offset": "round"}
        steps.append(DraftStep("crop", value, "crop_size"))
    mean, std = transforms.numbers("mean"), transforms.divisors("std")
    if mean is None and std is None and kind in _RESIZE_SIZE:
        mean, std = _MEAN, _STD
        draft.notes.append(f"mean and std are not given; ImageNet's are the default of {kind}")
    steps += normalize_steps(255, mean, std, "")
    for name, value in transforms.rest().items():
        draft.keep(_SECTION, f"transforms.{name}", value)
    if kind not in ("ImageClassification", "ObjectDetection", "SemanticSegmentation"):
        draft.unknown.append(
            one_line(f"torchvision.transforms: the preset {kind} is not known; only its fields are read")
        )
    return steps


def _size(transforms: Fields, key: str) -> list[int] | None:
    value = transforms.any(key)
    if value is None:
        return None
    sides = list(value) if isinstance(value, (list, tuple)) else [value]
    whole = all(isinstance(side, int) and not isinstance(side, bool) and 0 < side <= 65535 for side in sides)
    if len(sides) not in (1, 2) or not whole:
        transforms.refuse(key, "a number of pixels, or height and width")
    return [int(side) for side in sides]


def _method(draft: Draft, transforms: Fields) -> str:
    text = (transforms.word("interpolation") or "bilinear").rsplit(".", 1)[-1]
    if text in ("nearest", "bilinear", "bicubic", "box", "hamming", "lanczos"):
        return text
    draft.keep(_SECTION, "interpolation", text, "is no method of Pillow's; bilinear is written instead")
    return "bilinear"


def _read_meta(draft: Draft, meta: Fields) -> None:
    names = meta.any("categories")
    if isinstance(names, (list, tuple)) and 0 < len(names) <= MAX_LABELS:
        draft.labels = tuple(clean(str(name)) for name in names)
    recipe = meta.text("recipe")
    if recipe and "://" in recipe:
        draft.references.append(recipe)
    # Nothing of an answer depends on these, so they are kept without being named.
    about = {key.lstrip("_"): plain(meta.any(key)) for key in _ABOUT if key in meta}
    if about:
        draft.attributes.setdefault(_SECTION, {}).update(about)
    metrics = meta.fields("_metrics") or meta.fields("metrics")
    for dataset in metrics.data if metrics is not None else ():
        values = metrics.fields(dataset) if metrics is not None else None
        for metric in values.data if values is not None else ():
            _claim(draft, dataset, metric, values)
    for name, value in meta.rest().items():
        draft.keep(_SECTION, f"meta.{name}", value)


def _claim(draft: Draft, dataset: str, metric: str, values: Fields | None) -> None:
    value = values.any(metric) if values is not None else None
    text = str(getattr(value, "text", value))
    measure = find_measure(metric)
    known = _METRICS.get(metric) or (measure.name if measure is not None else name_from(metric))
    if known is None or isinstance(value, bool) or not re.fullmatch(r"\d{1,3}(\.\d{1,10})?", text) or float(text) > 100:
        draft.keep(_SECTION, f"metrics.{dataset}.{metric}", value, "is no number in percent, as claims are")
        return
    source = "torchvision's _metrics" if dataset not in _DATASETS else f"torchvision's _metrics on {dataset}"
    draft.claims.append(
        {"metric": known, "value": text, "dataset": _DATASETS.get(dataset, clean(dataset)), "source": source}
    )
