"""timm: `pretrained_cfg`, alone or inside the `config.json` of a model on the Hugging Face hub, or printed by Python.

timm's evaluation: resize the shorter side to floor(size / crop_pct), cut the centre out, divide by 255, normalise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from mlmodelscope.author.draft import Draft, DraftOutput, DraftStep, Fact, one_line
from mlmodelscope.author.fields import Fields
from mlmodelscope.author.importer.registry import Context, importer
from mlmodelscope.author.processing import normalize_steps, resize_step
from mlmodelscope.author.request import name_from
from mlmodelscope.model_file.limit import MAX_LABELS, clean
from mlmodelscope_worker.builder.libraries import check_architecture
from mlmodelscope_worker.parameters import ParameterError

_SECTION = "timm"
_DEFAULT_CROP_PCT = 0.875
_IMAGENET_MEAN, _IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_METHODS = ("nearest", "bilinear", "bicubic", "box", "hamming", "lanczos")
# Names of layers, and how weights are loaded: nothing of an answer depends on them once a file is exported.
_LOADING = (
    "first_conv",
    "classifier",
    "pool_size",
    "fixed_input_size",
    "min_input_size",
    "custom_load",
    "file",
    "state_dict",
    "notes",
    "hf_hub_filename",
    "source",
    "num_features",
    "global_pool",
    "model_args",
    "label_descriptions",
    "has_text",
)


def _recognise(data: Mapping[str, Any]) -> bool:
    if any(isinstance(data.get(key), Mapping) for key in ("pretrained_cfg", "default_cfg")):
        return True
    return "input_size" in data and bool({"crop_pct", "interpolation", "pool_size", "first_conv"} & set(data))


@importer("timm", _recognise)
def read(data: Mapping[str, Any], context: Context) -> Draft:
    """timm's pretrained_cfg"""
    outer = Fields(data, context.file)
    key = next((key for key in ("pretrained_cfg", "default_cfg") if isinstance(data.get(key), Mapping)), None)
    fields = (outer.fields(key) if key else outer) or outer
    for each in (outer, fields):
        each.ignore(*_LOADING)
    draft = Draft()
    _read_words(draft, outer, fields, context)
    draft.steps, draft.steps_are_whole = _steps(draft, fields), True
    if "source.builder" in draft.facts:
        draft.steps.append(DraftStep("layout", "NCHW", "what PyTorch's models take"))
    draft.learn("task", "classification", "timm's models classify", guess=True)
    classes = fields.whole("num_classes", MAX_LABELS)
    outer.whole("num_classes", MAX_LABELS)
    if classes == 0:
        draft.learn("task", "embedding", "num_classes is 0")
    elif classes is not None:
        draft.outputs = [
            DraftOutput(Fact("logits", "timm's classifiers answer with logits"), steps=(DraftStep("softmax", None),))
        ]
        _read_offset(draft, fields, classes)
    for each in {id(outer): outer, id(fields): fields}.values():
        for name, value in each.rest().items():
            draft.keep(_SECTION, name, value)
    return draft


def _read_words(draft: Draft, outer: Fields, fields: Fields, context: Context) -> None:
    architecture = outer.text("architecture") or fields.text("architecture")
    tag = fields.text("tag")
    name = f"{architecture}.{tag}" if architecture and tag else architecture
    draft.learn("name", name_from(name or ""), "architecture and tag")
    if architecture:
        draft.attributes[_SECTION] = {"architecture": name}
    _read_source(draft, fields, context, name)
    draft.learn("license", fields.text("license"), "license")
    fields.text("origin_url")
    draft.references += [text for key in ("origin_url", "paper_ids") if (text := _address(fields.any(key)))]
    hub = fields.text("hf_hub_id")
    if hub:
        draft.references.append(f"https://huggingface.co/{hub}")
    url = fields.text("url")
    if url and "://" in url:
        draft.references.append(url)
    paper = fields.text("paper_name")
    if paper:
        draft.attributes.setdefault(_SECTION, {})["paper_name"] = paper
    names = outer.any("label_names")
    if isinstance(names, (list, tuple)) and len(names) <= MAX_LABELS:
        draft.labels = tuple(clean(str(name)) for name in names)
    described = outer.data.get("label_descriptions")
    if draft.labels and isinstance(described, Mapping) and all(name in described for name in draft.labels):
        draft.labels = tuple(clean(str(described[name])) for name in draft.labels)


def _read_source(draft: Draft, fields: Fields, context: Context, name: str | None) -> None:
    """Where no model file was given, timm builds the architecture and fills it with its own weights."""
    hub, url = fields.text("hf_hub_id"), fields.text("url")
    weights = f"https://huggingface.co/{hub}/resolve/main/model.safetensors" if hub else url
    if context.model is not None or not name or not weights or "://" not in weights:
        return
    try:
        check_architecture("timm", name)
    except ParameterError:
        return  # not a name of timm's registry: somebody's own model
    draft.learn("framework.name", "pytorch", "timm's models are PyTorch's")
    draft.learn("source.builder", "timm", "no model file was given: timm builds the architecture")
    draft.learn("source.architecture", name, "architecture and tag")
    draft.learn("source.weights_path", weights, "hf_hub_id" if hub else "url")


def _address(value: Any) -> str | None:
    if isinstance(value, (list, tuple)):
        value = value[0] if value else None
    if not isinstance(value, str) or not value:
        return None
    if value.lower().startswith("arxiv:"):
        return f"https://arxiv.org/abs/{clean(value[6:])}"
    return clean(value) if "://" in value else None


def _steps(draft: Draft, fields: Fields) -> list[DraftStep]:
    channels, height, width = _input_size(fields, "input_size") or (3, 224, 224)
    if "input_size" not in fields:
        draft.notes.append("input_size is not given; 224 is timm's default")
    color = "GRAY" if channels == 1 else "RGB"
    steps = [DraftStep("decode", {"library": "pillow", "color_layout": color}, "timm decodes with Pillow")]
    steps += _geometry(draft, fields, height, width)
    mean, std = fields.numbers("mean"), fields.divisors("std")
    if mean is None and std is None:
        value = {"mean": list(_IMAGENET_MEAN), "std": list(_IMAGENET_STD)}
        steps += [DraftStep("rescale", 255), DraftStep("normalize", value, "not given; timm's default", guess=True)]
    else:
        steps += normalize_steps(255, mean, std, "")
    _name_test_size(draft, fields)
    return steps


def _geometry(draft: Draft, fields: Fields, height: int, width: int) -> list[DraftStep]:
    share = fields.number("crop_pct")
    said = "crop_pct" if share is not None else "crop_pct, which is 0.875 where it is not given"
    share = _DEFAULT_CROP_PCT if share is None else share
    if not 0 < share <= 10 or max(height, width) / share > 65535:
        fields.refuse("crop_pct", "a share above 0")
    method = (fields.word("interpolation") or "bicubic").replace("_exact", "")
    if method not in _METHODS:
        draft.keep(_SECTION, "interpolation", method, "is no method of Pillow's; bilinear is written instead")
        method = "bilinear"
    mode = fields.word("crop_mode") or "center"
    larger = [math.floor(side / share) for side in (height, width)]
    why = f"floor({height} / {share:g}), {said}"
    crop = DraftStep("crop", {"method": "center", "dimensions": [height, width], "offset": "round"}, "input_size")
    if mode == "squash":
        squeezed = resize_step({"dimensions": larger}, method, "pillow", f"{why}; crop_mode squash")
        if larger == [height, width]:
            return [squeezed]
        return [squeezed, crop if share <= 1 else _cut_or_bordered(height, width)]
    if mode == "border":
        inside = {"dimensions": larger, "mode": "contain", "method": method}
        mean = fields.numbers("mean") or list(_IMAGENET_MEAN)
        border = [round(255 * value) for value in mean]
        return [
            DraftStep("fit", inside, f"{why}; crop_mode border"),
            DraftStep("crop_or_pad", {"dimensions": [height, width], "value": border}, "crop_mode border"),
        ]
    if mode != "center":
        draft.keep(_SECTION, "crop_mode", mode, "is not known; center is written instead")
    if larger[0] != larger[1]:
        value = {"dimensions": larger, "method": method}
        return [DraftStep("fit", value, why), crop if share <= 1 else _cut_or_bordered(height, width)]
    resized = resize_step({"short_side": larger[0], "rounding": "floor"}, method, "pillow", why)
    return [resized, crop if share <= 1 else _cut_or_bordered(height, width)]


def _cut_or_bordered(height: int, width: int) -> DraftStep:
    """A share above 1 makes pictures that may be smaller than what is cut out of them; timm's border is black."""
    return DraftStep("crop_or_pad", [height, width], "crop_pct above 1")


def _input_size(fields: Fields, key: str) -> tuple[int, int, int] | None:
    value = fields.any(key)
    if value is None:
        return None
    sizes = list(value) if isinstance(value, (list, tuple)) else [3, value, value]
    whole = all(isinstance(size, int) and not isinstance(size, bool) and 0 < size <= 65535 for size in sizes)
    if len(sizes) != 3 or not whole:
        fields.refuse(key, "channels, height and width")
    return int(sizes[0]), int(sizes[1]), int(sizes[2])


def _name_test_size(draft: Draft, fields: Fields) -> None:
    """What timm uses with --use-train-size turned off; the numbers of its tables are often of this size."""
    size, share = fields.any("test_input_size"), fields.number("test_crop_pct")
    if size is not None:
        draft.keep(_SECTION, "test_input_size", size, "timm's results are often at this size; input_size is written")
    if share is not None:
        draft.keep(_SECTION, "test_crop_pct", share, "timm's results are often at this share; crop_pct is written")


def _read_offset(draft: Draft, fields: Fields, classes: int) -> None:
    """timm takes the background out of the weights as it loads them; only an untouched export still has it."""
    offset = fields.whole("label_offset")
    if offset:
        draft.facts["classes.before_offset"] = Fact(classes + offset, "")
        draft.facts["classes.offset"] = Fact(
            offset, one_line(f"label_offset of timm, and there are {classes + offset} outputs")
        )
        draft.notes.append(
            f"timm's label_offset {offset} is about its weights: what timm loads has {classes} outputs without it"
        )
