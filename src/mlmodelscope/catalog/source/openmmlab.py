"""OpenMMLab: `metafile.yml` beside the configurations of mmpretrain, mmdetection, mmsegmentation and their like."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mlmodelscope.author.request import name_from
from mlmodelscope.catalog.entry import ClaimFact, Entry, WeightsFact
from mlmodelscope.catalog.files import Files
from mlmodelscope.catalog.source.form import Reading, source_form
from mlmodelscope.catalog.unit import number_text, tell_unit
from mlmodelscope.catalog.words import dataset_word, metric_condition, metric_word, task_word
from mlmodelscope.errors import ManifestError
from mlmodelscope.manifest.source import SourceMap, parse_source
from mlmodelscope.model_file.limit import clean

_CODE_LICENSE = "Apache-2.0"
_PATTERNS = ("*metafile.yml", "*metafile.yaml")
_DIGEST = re.compile(r"[-_]([0-9a-f]{8})\.(?:pth|pt)$")
# Tasks of the same model, the one that says most first.
_RICHEST = ("instance_segmentation", "object_detection", "semantic_segmentation", "keypoint_detection")


def _recognize(files: Files) -> bool:
    return bool(files.matching(*_PATTERNS))


@source_form("openmmlab", _recognize)
def read(reading: Reading) -> Iterator[Entry]:
    """OpenMMLab's metafile.yml."""
    for file in reading.files.matching(*_PATTERNS):
        try:
            data = _parsed(reading.files.read(file), file)
        except ManifestError:
            reading.leave_out("a metafile that cannot be read", file)
            continue
        yield from _of_file(reading, data, file)


def _parsed(raw: bytes, file: str) -> SourceMap:
    """Some metafiles are a list of models alone."""
    if raw.lstrip().startswith(b"- "):
        raw = b"Models:\n" + raw
    return parse_source(raw, file)


def _of_file(reading: Reading, data: SourceMap, file: str) -> Iterator[Entry]:
    models = data.get("Models")
    found = [each for each in models if isinstance(each, SourceMap)] if isinstance(models, list) else []
    if not found and not data.get("Collections"):
        reading.leave_out("a metafile without models", file)
    siblings: dict[str, list[str]] = defaultdict(list)
    for model in found:
        for _, _, metric, value in _numbers(model):
            if (text := number_text(value)) is not None:
                siblings[metric].append(text)
    for model in found:
        line = model.place[0]
        name = name_from(_text(model.get("Name")))
        if name is None:
            reading.leave_out("a model without a name", f"{file}:{line}")
            continue
        yield _entry(reading, model, _collection(data, model), siblings, name, f"{file}:{line}")


def _collection(data: Mapping[str, Any], model: Mapping[str, Any]) -> Mapping[str, Any]:
    listed = data.get("Collections")
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, Mapping) and each.get("Name") == model.get("In Collection"):
            return each
    return {}


def _entry(
    reading: Reading,
    model: SourceMap,
    collection: Mapping[str, Any],
    siblings: Mapping[str, Sequence[str]],
    name: str,
    place: str,
) -> Entry:
    about = model.get("Metadata")
    about = about if isinstance(about, Mapping) else {}
    claims = tuple(_claims(reading, model, siblings, place))
    tasks = {task_word(_text(each.get("Task"))) for each in _results(model)} - {"general"}
    task = next((each for each in _RICHEST if each in tasks), next(iter(sorted(tasks)), "general"))
    config = _text(model.get("Config"))
    flops, parameters = _count(about.get("FLOPs")), _count(about.get("Parameters"))
    license_of_code = _text(collection.get("License"))
    return Entry(
        name,
        task,
        architecture=config or _text(model.get("In Collection")),
        builder="openmmlab" if config else "",
        framework="pytorch",
        description=_text(model.get("In Collection")),
        parameters=round(parameters) if parameters is not None else None,
        gflops=round(flops / 1e9, 4) if flops is not None else None,
        code_license=_CODE_LICENSE if "apache" in license_of_code.lower() or not license_of_code else license_of_code,
        weights=_weights(model.get("Weights")),
        claims=claims,
        references=tuple(_references(model, collection)),
        place=place,
    )


def _count(value: Any) -> float | None:
    """A number of parameters or operations, where it can be one."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and 0 < value < 1e18 else None


def _weights(url: Any) -> tuple[WeightsFact, ...]:
    text = _text(url, 1000)
    if not re.match(r"https?://[^\s]{4,1000}$", text):
        return ()
    start = _DIGEST.search(text)
    return (WeightsFact(text, sha256_start=start[1] if start else ""),)


def _references(model: Mapping[str, Any], collection: Mapping[str, Any]) -> Iterator[str]:
    for each in (model, collection):
        paper = each.get("Paper")
        for one in paper if isinstance(paper, list) else [paper]:
            address = _text(one.get("URL") if isinstance(one, Mapping) else one, 300)
            if address.startswith(("https://", "http://")):
                yield address
                return


def _results(model: Mapping[str, Any]) -> list[SourceMap]:
    """One mapping or a list of them."""
    results = model.get("Results")
    listed = results if isinstance(results, list) else [results]
    return [each for each in listed if isinstance(each, SourceMap)]


def _numbers(model: Mapping[str, Any]) -> Iterator[tuple[SourceMap, int, str, Any]]:
    """(result, line, metric, value)"""
    for result in _results(model):
        metrics = result.get("Metrics")
        for one in metrics if isinstance(metrics, list) else [metrics]:
            if isinstance(one, SourceMap):
                for metric, value in one.items():
                    yield result, one.places[metric][0], metric, value


def _claims(
    reading: Reading, model: SourceMap, siblings: Mapping[str, Sequence[str]], place: str
) -> Iterator[ClaimFact]:
    file = place.rpartition(":")[0]
    for result, line, metric, value in _numbers(model):
        text = number_text(value)
        if text is None:
            reading.leave_out("a metric without a number", f"{file}:{line}")
            continue
        task, dataset = _text(result.get("Task")), _text(result.get("Dataset"))
        word, on = metric_word(metric, task), dataset_word(dataset)
        condition = metric_condition(metric)
        told = tell_unit(text, siblings[metric], word, str(value).strip().endswith("%"))
        # A comment that the table's author pasted in the place of a dataset names none.
        known = "" if dataset.startswith("#") else on.name
        yield ClaimFact(
            word.name,
            text,
            told.unit,
            told.because,
            f"{file}:{line}",
            known,
            conditions=condition,
            fits=not condition,  # `ms+flip` is several sizes and mirrored pictures
            metric_as_written=metric[:100] if metric != word.name else "",
            dataset_as_written=dataset if dataset != known else "",
            is_measurable=word.is_known,
            is_known_dataset=on.is_known,
        )


def _text(value: Any, most: int = 300) -> str:
    if value is None or isinstance(value, (Mapping, list, bool)):
        return ""
    return " ".join(clean(str(getattr(value, "text", value))).split())[:most]
