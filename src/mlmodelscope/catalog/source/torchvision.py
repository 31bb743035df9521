"""torchvision: `Weights(url, transforms, meta)` of `torchvision/models/**.py` in its wheel."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from mlmodelscope.catalog.entry import ClaimFact, Entry, WeightsFact
from mlmodelscope.catalog.files import Files
from mlmodelscope.catalog.python_facts import Called, Module, Opaque, TooMuch, open_module
from mlmodelscope.catalog.source.form import Reading, source_form
from mlmodelscope.catalog.unit import number_text, tell_unit
from mlmodelscope.catalog.words import dataset_word, metric_word
from mlmodelscope.errors import ManifestError
from mlmodelscope.model_file.limit import clean

_CODE_LICENSE = "BSD-3-Clause"
_TASKS = {
    "ImageClassification": "classification",
    "ObjectDetection": "object_detection",
    "SemanticSegmentation": "semantic_segmentation",
    "VideoClassification": "general",
    "OpticalFlow": "general",
}
# Detectors whose metrics say that they do more than find boxes.
_TASKS_BY_METRIC = {"mask_map": "instance_segmentation", "kp_map": "keypoint_detection"}
_DATASETS = {"COCO-val2017": "coco-val2017", "COCO-val2017-VOC-labels": "coco-val2017-voc-labels"}


def _recognize(files: Files) -> bool:
    return bool(files.matching("*models/_meta.py")) and bool(files.matching("*models/resnet.py"))


@source_form("torchvision", _recognize)
def read(reading: Reading) -> Iterator[Entry]:
    """torchvision's wheel."""
    for file in reading.files.matching("*models/*.py"):
        try:
            raw = reading.files.read(file)
            if b"Weights(" in raw:
                yield from _of_module(reading, open_module(raw, file), file)
        except (ManifestError, TooMuch) as error:
            reading.leave_out(f"a file that cannot be read: {type(error).__name__}", file)


def _of_module(reading: Reading, module: Module, file: str) -> Iterator[Entry]:
    builders = _builders(module)
    for node in module.tree.body:
        if not isinstance(node, ast.ClassDef) or not node.name.endswith("Weights"):
            continue
        for each in node.body:
            if not isinstance(each, ast.Assign) or not isinstance(each.targets[0], ast.Name):
                continue
            if not isinstance(each.value, ast.Call):
                continue  # DEFAULT is another name of one of them
            place = f"{file}:{each.lineno}"
            made = module.value(each.value)
            if not isinstance(made, Called) or node.name not in builders:
                reading.leave_out("weights without a function that builds the model", place)
                continue
            yield _entry(reading, builders[node.name], node.name, each.targets[0].id, made.keywords, place)


def _builders(module: Module) -> dict[str, str]:
    """{class of weights: the architecture that takes them, by its name in the library's registry}."""
    found: dict[str, str] = {}
    for function in module.functions.values():
        name = _registered(function)
        if name is None:
            continue
        for argument in (*function.args.args, *function.args.kwonlyargs):
            if argument.arg == "weights" and argument.annotation is not None:
                for word in re.findall(r"\w*_(?:Quantized)?Weights\b", ast.unparse(argument.annotation)[:200]):
                    found.setdefault(word, name)
    return found


def _registered(function: ast.FunctionDef) -> str | None:
    """The name that `@register_model()` gives a function: its own, or the one that is passed."""
    calls = [each for each in function.decorator_list if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)]
    for call in calls:
        if ast.unparse(call.func) == "register_model":
            given = [each.value for each in call.keywords if each.arg == "name"] + call.args
            named = given[0].value if given and isinstance(given[0], ast.Constant) else None
            return named if isinstance(named, str) else function.name
    return None


def _entry(reading: Reading, architecture: str, group: str, member: str, given: Mapping[str, Any], place: str) -> Entry:
    url, meta = given.get("url"), given.get("meta")
    meta = meta if isinstance(meta, dict) else {}
    preset = _preset(given.get("transforms"))
    claims = tuple(_claims(reading, meta, place))
    task = _TASKS.get(preset.get("", ""), "general")
    metrics = str(meta.get("_metrics"))
    if task == "object_detection":
        task = next((each for key, each in _TASKS_BY_METRIC.items() if f"'{key}'" in metrics), task)
    size = preset.get("crop_size")
    params, operations = meta.get("num_params"), meta.get("_ops")
    recipe = meta.get("recipe")
    return Entry(
        f"{architecture}.{member.lower()}"[:100],
        task,
        architecture=architecture,
        builder="torchvision",
        framework="pytorch",
        description=_first_sentence(meta.get("_docs")),
        parameters=int(params) if isinstance(params, int) else None,
        gflops=float(operations) if isinstance(operations, float) else None,
        input_size=(3, int(size), int(size)) if isinstance(size, int) and 0 < size < 65536 else (),
        code_license=_CODE_LICENSE,
        weights_license=clean(str(meta.get("license") or ""))[:100],
        weights=_weights(url),
        importer="torchvision",
        config={"name": f"{group}.{member}", "transforms": preset, "meta": {}},
        claims=claims,
        references=(clean(recipe)[:300],) if isinstance(recipe, str) and recipe.startswith("https://") else (),
        place=place,
    )


def _preset(transforms: Any) -> dict[str, Any]:
    """`partial(ImageClassification, crop_size=224)` as the importer of `init` reads it."""
    if isinstance(transforms, Opaque):
        return {"": transforms.text}
    if not isinstance(transforms, Called):
        return {}
    name = next((each.text for each in transforms.arguments if isinstance(each, Opaque)), transforms.name)
    found: dict[str, Any] = {"": name.rpartition(".")[2]}
    for key, value in transforms.keywords.items():
        found[clean(key)[:50]] = _json(value)
    return found


def _json(value: Any) -> Any:
    if isinstance(value, (Opaque, Called)):
        return value.text if isinstance(value, Opaque) else value.name
    if isinstance(value, list):
        return [_json(each) for each in value[:20]]
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _weights(url: Any) -> tuple[WeightsFact, ...]:
    if not isinstance(url, str) or not re.match(r"https?://[^\s]{4,1000}$", url):
        return ()
    start = re.search(r"-([0-9a-f]{8})\.pth", url)
    return (WeightsFact(url, sha256_start=start[1] if start else ""),)


def _claims(reading: Reading, meta: Mapping[str, Any], place: str) -> Iterator[ClaimFact]:
    metrics = meta.get("_metrics")
    for dataset, values in metrics.items() if isinstance(metrics, dict) else ():
        for written, value in values.items() if isinstance(values, dict) else ():
            text = number_text(value)
            if text is None:
                reading.leave_out("a metric that is no number", place)
                continue
            word, on = metric_word(written), dataset_word(dataset)
            told = tell_unit(text, [text], word)
            known = _DATASETS.get(dataset, on.name)
            yield ClaimFact(
                word.name,
                text,
                "number" if written in ("epe", "f1") else told.unit,
                "torchvision's flow metrics are pixels and percent of pixels" if written == "epe" else told.because,
                place,
                known,
                metric_as_written=written if written != word.name else "",
                dataset_as_written=dataset if dataset != known else "",
                is_measurable=word.is_known,
                is_known_dataset=on.is_known or known != on.name,
            )


def _first_sentence(text: Any) -> str:
    line = " ".join(clean(text).split()) if isinstance(text, str) else ""
    return line.partition(". ")[0][:200]
