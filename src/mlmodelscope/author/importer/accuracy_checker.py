"""OpenVINO's Accuracy Checker: `accuracy-check.yml`, one model and launcher of it.

Processing and references are only true together, so one pair is chosen: the one that was named, else the one that
runs the file that was given, else the first. What is left out is said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any

from mlmodelscope.author.config_file import ConfigFile
from mlmodelscope.author.draft import Draft, DraftOutput, Fact, one_line, plain
from mlmodelscope.author.fields import Fields
from mlmodelscope.author.from_model import find_image
from mlmodelscope.author.importer.accuracy_checker_steps import SECTION, StepReader
from mlmodelscope.author.importer.registry import Context, importer
from mlmodelscope.author.request import name_from
from mlmodelscope.errors import ManifestError, Problem, UsageError

FRAMEWORKS = {
    "openvino": "openvino",
    "dlsdk": "openvino",
    "g-api": "openvino",
    "onnx_runtime": "onnxruntime",
    "tf": "tensorflow",
    "tf2": "tensorflow",
    "tf_lite": "tflite",
    "pytorch": "pytorch",
    "caffe": "caffe",
    "caffe2": "caffe2",
    "mxnet": "mxnet",
    "opencv": "opencv",
    "paddlepaddle": "paddlepaddle",
}
_DETECTORS = re.compile(
    r"ssd|yolo|detection|retina|faster_rcnn|rcnn|rfcn|centernet|ctdet|detr|efficientdet|ultra_?face|centerface|mtcnn|fcos|nanodet|"
    r"face_boxes|faceboxes|tf_object|pytorch_ssd|mxnet_ssd|onnx_ssd|lpr_box|action_detection|east|ctpn|class_agnostic|background_subtr"
)
_KEYPOINTS = re.compile(r"landmark|pose|keypoint")
_SEGMENTERS = re.compile(r"segmentation|background_matting|salient|deeplab")
_TASKS_OF_METRICS = {
    "accuracy": "classification",
    "accuracy_per_class": "classification",
    "map": "object_detection",
    "coco_precision": "object_detection",
    "coco_orig_precision": "object_detection",
    "coco_recall": "object_detection",
    "recall": "object_detection",
    "mean_iou": "semantic_segmentation",
    "mean_accuracy": "semantic_segmentation",
    "segmentation_accuracy": "semantic_segmentation",
    "coco_segm_precision": "instance_segmentation",
    "coco_orig_segm_precision": "instance_segmentation",
    "coco_keypoints_precision": "keypoint_detection",
    "coco_orig_keypoints_precision": "keypoint_detection",
}
# Measured as a share, so that a reference can be given in percent.
_SHARES = re.compile(
    r"accuracy|precision|recall|^map$|_map$|miss_rate|iou|f1|auc|dice|cmc|_ap$|^ap$|similarity|hit_ratio|f-measure|hmean"
)
_SPREAD = re.compile(r"^std$|@std$|max_error")
_NO_SHARE = re.compile(r"mse|mae|psnr|error|perplexity|distance|loss|bleu|wer|cer|epe|fid|inception")
_OUTPUT_KEYS = {
    "boxes_out": "boxes",
    "bboxes_out": "boxes",
    "boxes_name": "boxes",
    "scores_out": "scores",
    "scores_name": "scores",
    "labels_out": "classes",
    "classes_out": "classes",
    "masks_out": "masks",
    "raw_masks_out": "masks",
    "mask_out": "masks",
}
# The checker's names for the validation images of ImageNet, which manifests call by this one.
_IMAGENET = {"imagenet_1000_classes": "imagenet-val", "imagenet_1001_classes": "imagenet-val"}
_METRIC_FIELDS = ("type", "name", "top_k", "reference", "presenter", "abs_threshold", "rel_threshold")


def _recognise(data: Mapping[str, Any]) -> bool:
    return isinstance(data.get("models"), list) or isinstance(data.get("evaluations"), list)


@importer("accuracy_checker", _recognise)
def read(data: Mapping[str, Any], context: Context) -> Draft:
    """Accuracy Checker's accuracy-check.yml"""
    fields = Fields(data, context.file)
    draft = Draft()
    model, launcher = _choose(draft, fields, context)
    name = model.text("name")
    draft.learn("name", name_from(name or ""), "the name in accuracy-check.yml")
    _read_launcher(draft, launcher)
    datasets = model.each("datasets")
    if not datasets:
        raise ManifestError(
            Problem("the model has no datasets, so nothing is said about processing", file=context.file)
        )
    if len(datasets) > 1:
        others = ", ".join(one_line(dataset.text("name") or "?")[:40] for dataset in datasets[1:])
        draft.unknown.append(
            one_line(f"{SECTION}.datasets: only the first of {len(datasets)} is read; the others are {others}")
        )
    dataset = _with_definition(datasets[0], fields)
    _read_dataset(draft, dataset, context)
    for key, value in model.rest().items():
        draft.keep(SECTION, f"model.{key}", value)
    fields.ignore("global_definitions")
    for key, value in fields.rest().items():
        draft.keep(SECTION, key, value)
    return draft


def with_definitions(configs: list[ConfigFile]) -> list[ConfigFile]:
    """The checker's `dataset_definitions.yml` is no configuration of its own: it completes the others."""
    definitions = [config for config in configs if _is_definitions(config.data)]
    wanted = [config for config in configs if not _is_definitions(config.data)]
    if not definitions or not any(_recognise(config.data) for config in wanted):
        return configs
    more = [each for config in definitions for each in config.data["datasets"]]
    return [
        replace(config, data={**config.data, "dataset_definitions": [*_listed(config.data), *more]})
        if _recognise(config.data)
        else config
        for config in wanted
    ]


def _is_definitions(data: Mapping[str, Any]) -> bool:
    return isinstance(data.get("datasets"), list) and not {"models", "evaluations"} & set(data)


def _listed(data: Mapping[str, Any]) -> list[Any]:
    found = data.get("dataset_definitions")
    return found if isinstance(found, list) else []


def _choose(draft: Draft, fields: Fields, context: Context) -> tuple[Fields, Fields]:
    models = fields.each("models")
    if not models:
        evaluations = fields.each("evaluations")
        modules = ", ".join(one_line(each.data.get("module", "?"))[:60] for each in evaluations)
        raise ManifestError(
            Problem(
                f"it has no `models`, only evaluations by code of its own ({modules or 'none'}), "
                "which no manifest can say",
                file=context.file,
            )
        )
    pairs = [(model, launcher) for model in models for launcher in model.each("launchers")]
    if not pairs:
        raise ManifestError(Problem("no model has a launcher", file=context.file))
    chosen = pairs
    if context.model_name is not None:
        chosen = [pair for pair in chosen if pair[0].text("name") == context.model_name]
    if context.launcher is not None:
        chosen = [pair for pair in chosen if _is_launcher(pair[1], context.launcher)]
    if not chosen:
        raise UsageError(
            f"{context.file} has no such model and launcher\nknown: {', '.join(_spell(pair) for pair in pairs)}"
        )
    if context.model is not None and context.launcher is None:
        fitting = [pair for pair in chosen if _framework(pair[1]) == context.model.framework]
        if not fitting:
            draft.notes.append(
                f"no launcher of {context.file} is for {context.model.framework}: "
                "the steps may lack what another framework does inside"
            )
        chosen = fitting or chosen
    if len(pairs) > 1:
        others = ", ".join(_spell(pair) for pair in pairs if pair is not chosen[0])
        draft.notes.append(
            one_line(
                f"{_spell(chosen[0])} of {context.file} was chosen (--model-name, --launcher); also there: {others}"
            )
        )
    return chosen[0]


def _spell(pair: tuple[Fields, Fields]) -> str:
    return one_line(f"{pair[0].text('name') or '?'} with {pair[1].text('framework') or '?'}")


def _is_launcher(launcher: Fields, wanted: str) -> bool:
    return wanted in (launcher.text("framework"), _framework(launcher))


def _framework(launcher: Fields) -> str:
    text = launcher.text("framework") or ""
    return FRAMEWORKS.get(text, text)


def _read_launcher(draft: Draft, launcher: Fields) -> None:
    framework = name_from(_framework(launcher))
    draft.learn("framework.name", framework, "the launcher's framework")
    draft.learn("launcher.framework", framework, "the launcher's framework")
    for key, name in (("model", "source.graph_path"), ("weights", "source.weights_path")):
        text = launcher.text(key)
        if text and not re.search(r"[\x00-\x1f:]", text):
            draft.learn(name, text, "the launcher's file; where it lies is unspecified", guess=True)
    launcher.ignore("device", "batch", "caffe_model", "caffe_weights", "tags")
    adapter = launcher.any("adapter")
    inner = launcher.fields("adapter") if isinstance(adapter, dict) else None
    kind = (inner.text("type") if inner is not None else launcher.text("adapter")) or ""
    _read_adapter(draft, kind, inner)
    more: set[str] = set()
    for index, each in enumerate(launcher.each("inputs")):
        if index == 0 and (each.text("type") or "INPUT").upper() == "INPUT":
            draft.learn("inputs.layer_name", each.text("name"), "the launcher's input")
            layout = (each.text("layout") or "").upper()
            if layout in ("NCHW", "NHWC"):
                draft.learn("inputs.layout", layout, "the launcher's input")
        more |= set(each.rest()) | ({"name"} if index else set())
    if more:
        draft.keep(SECTION, "launcher.inputs", launcher.any("inputs"), f"{', '.join(sorted(more))} cannot be said")
    for key, value in launcher.rest().items():
        draft.keep(SECTION, f"launcher.{key}", value)


def _read_adapter(draft: Draft, kind: str, inner: Fields | None) -> None:
    lower = kind.lower()
    task = (
        "classification"
        if lower == "classification"
        else "keypoint_detection"
        if _KEYPOINTS.search(lower)
        else "semantic_segmentation"
        if _SEGMENTERS.search(lower) and "mask_rcnn" not in lower
        else "instance_segmentation"
        if "mask_rcnn" in lower or "yolact" in lower or "maskrcnn" in lower
        else "object_detection"
        if _DETECTORS.search(lower)
        else None
    )
    draft.learn("task", task, one_line(f"the adapter {kind}"))
    if inner is None:
        if kind and task is None:
            draft.keep(SECTION, "adapter", kind)
        return
    outputs = []
    for key, meaning in _OUTPUT_KEYS.items():
        name = inner.any(key)
        if isinstance(name, str) and name:
            outputs.append(DraftOutput(Fact(meaning, f"the adapter's {key}"), name))
        elif name is not None:
            draft.keep(SECTION, f"adapter.{key}", name)
    draft.outputs = outputs
    rest = {key: value for key, value in inner.rest().items() if key != "type"}
    if rest or task is None:
        draft.keep(
            SECTION, "adapter", {"type": kind, **rest}, "how outputs become answers is not in a manifest's steps"
        )


def _with_definition(dataset: Fields, fields: Fields) -> Fields:
    """A dataset may be defined once and named in several models; what the model says counts."""
    name = dataset.text("name")
    for key in ("dataset_definitions", "datasets"):
        for definition in fields.each(key) if isinstance(fields.data.get(key), list) else ():
            if name is not None and definition.data.get("name") == name:
                both = {**definition.data, **{k: v for k, v in dataset.data.items() if v is not None}}
                return Fields(both, dataset.file, dataset.where)
    return dataset


def _read_dataset(draft: Draft, dataset: Fields, context: Context) -> None:
    name = dataset.text("name")
    image = find_image(context.model) if context.model is not None else None
    size = (image[1].height, image[1].width) if image is not None else None
    known = (size[0], size[1]) if size is not None and size[0] and size[1] else None
    reader = StepReader(draft, context.file, known)
    reader.reader(dataset)
    steps = dataset.each("preprocessing")
    if reader.is_image:
        reader.preprocess(steps)
        draft.steps, draft.last_remarks = reader.steps, reader.waiting
        # Written for another framework, the steps may lack what conversion puts inside a model.
        draft.steps_are_whole = context.model is None or context.model.framework == draft.get("framework.name")
        if "preprocessing" not in dataset:
            draft.notes.append("accuracy-check.yml has no preprocessing: images go in as they are")
    elif steps:
        draft.keep(SECTION, "preprocessing", [dict(step.data) for step in steps], "it is not about images")
    metrics = dataset.each("metrics")
    for metric in metrics:
        _read_metric(draft, metric, name, context.file)
    kinds = [metric.text("type") or "" for metric in metrics]
    task = next((_TASKS_OF_METRICS[kind] for kind in kinds if kind in _TASKS_OF_METRICS), None)
    draft.learn("task", task, f"the metric {kinds[0] if kinds else ''}", guess=True)
    if name == "imagenet_1001_classes":
        draft.learn("outputs.label_offset", 1, "the dataset imagenet_1001_classes has a background in front")
    conversion = dataset.any("annotation_conversion")
    if isinstance(conversion, dict):
        draft.attributes.setdefault(SECTION, {})["annotation_conversion"] = plain(conversion)
        _background(draft, conversion)
    dataset.ignore(
        "data_source",
        "annotation",
        "dataset_meta",
        "segmentation_masks_source",
        "subsample_size",
        "additional_data_source",
    )
    for key in ("postprocessing",):
        if (value := dataset.any(key)) is not None:
            draft.keep(SECTION, key, value, "what happens to answers behind the model is not in a manifest's steps")
    for key, value in dataset.rest().items():
        draft.keep(SECTION, f"dataset.{key}", value)


def _background(draft: Draft, conversion: Mapping[str, Any]) -> None:
    if conversion.get("has_background") is True and draft.get("task") == "classification":
        draft.learn("outputs.label_offset", 1, "has_background in annotation_conversion")


def _read_metric(draft: Draft, metric: Fields, dataset: str | None, file: str) -> None:
    kind = metric.text("type") or "?"
    title = metric.text("name") or kind
    name = _metric_name(kind, metric)
    reference = metric.any("reference")
    rest = {key: value for key, value in metric.data.items() if key not in _METRIC_FIELDS}
    if rest:
        draft.keep(
            SECTION, f"metrics.{len(draft.claims)}.{name or kind}", rest, "the metric's settings; a claim has none"
        )
    if reference is None:
        return
    values = list(reference.items()) if isinstance(reference, Mapping) else [("", reference)]
    for key, value in values:
        key = "" if key == "mean" else key  # over the classes: the number that the metric is known by
        label = name_from(f"{name}.{key}" if key else name or "")
        percent = _percent(value)
        if label is None or percent is None or not _is_share(kind) or _SPREAD.search(key):
            why = "is no share, and claims are in percent" if percent is not None else "is no number"
            draft.keep(SECTION, f"reference.{title}{'.' + str(key) if key else ''}", value, why)
            continue
        spelled = getattr(value, "text", value)
        draft.claims.append(
            {
                "metric": label,
                "value": percent,
                **({"dataset": _IMAGENET.get(dataset, dataset)} if dataset else {}),
                "source": one_line(f"{file}: {title} reference {spelled}{f' on {dataset}' if dataset else ''}"),
            }
        )


def _metric_name(kind: str, metric: Fields) -> str | None:
    if kind == "accuracy":
        return f"top{metric.whole('top_k') or 1}"
    return name_from(kind)


def _is_share(kind: str) -> bool:
    return bool(_SHARES.search(kind)) and not _NO_SHARE.search(kind)


def _percent(value: Any) -> str | None:
    """Newer files have fractions, older ones percents; the digits are kept."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = Decimal(str(getattr(value, "text", value)).strip().removesuffix("%"))
    except InvalidOperation:
        return None
    if not number.is_finite() or not 0 <= number <= 100:
        return None
    if number <= 1:
        number = number.scaleb(2)
    text = f"{number:f}"
    return text if re.fullmatch(r"\d{1,6}(\.\d{1,10})?", text) else f"{number:.10f}".rstrip("0").rstrip(".")
