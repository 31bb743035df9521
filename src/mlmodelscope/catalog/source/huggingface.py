"""Hugging Face: model cards and configurations of a local snapshot, or of any folder with one folder for each model."""

from __future__ import annotations

import json
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

_CARD = "README.md"
_SNAPSHOT = re.compile(r"models--(?P<owner>[\w.-]+)--(?P<name>[\w.-]+)/snapshots/(?P<commit>[0-9a-f]{40})$")
_WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "onnx/model.onnx", "model.onnx")
_MOST_CLAIMS = 500


def _recognize(files: Files) -> bool:
    return any(_header(files.read(name)) is not None for name in _cards(files)[:50])


def _cards(files: Files) -> list[str]:
    return [name for name in files.matching(f"*{_CARD}") if name.rpartition("/")[2] == _CARD]


@source_form("huggingface", _recognize)
def read(reading: Reading) -> Iterator[Entry]:
    """model cards with a header, of a snapshot of the Hugging Face hub."""
    for card in _cards(reading.files):
        try:
            header = _header(reading.files.read(card))
            if header is None:
                reading.leave_out("a card without a header", card)
                continue
            data = parse_source(header, card)
        except ManifestError:
            reading.leave_out("a card whose header cannot be read", card)
            continue
        entry = _entry(reading, data, card)
        if entry is None:
            reading.leave_out("a card without a model's name", card)
            continue
        yield entry


def _header(raw: bytes) -> bytes | None:
    """The YAML between two lines of dashes; blank lines before it keep the lines' numbers."""
    text = raw.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    if not text.startswith(b"---\n"):
        return None
    end = text.find(b"\n---", 4)
    return b"\n" + text[4:end] if end > 0 else None


def _entry(reading: Reading, data: SourceMap, card: str) -> Entry | None:
    folder = card.rpartition("/")[0]
    snapshot = _SNAPSHOT.search(folder)
    spelled = f"{snapshot['owner']}--{snapshot['name']}" if snapshot is not None else folder.replace("/", "--")
    name = name_from(spelled or _text(data.get("model_name")) or reading.files.place.resolve().name)
    if name is None:
        return None
    config = _json(reading, f"{folder}/config.json" if folder else "config.json")
    place = _address(snapshot, data)
    builder, architecture = _builder(config)
    claims = tuple(_claims(reading, data, card))[:_MOST_CLAIMS]
    tags = _text(data.get("pipeline_tag"))
    return Entry(
        name,
        task_word(tags) if tags else next(iter(_tasks(data)), "general"),
        architecture=architecture,
        builder=builder,
        framework="onnxruntime" if not builder and _has(reading, folder, ".onnx") else "pytorch",
        description=_text(data.get("library_name")),
        weights_license=_text(data.get("license_name") if data.get("license") == "other" else data.get("license")),
        weights=_weights(reading, folder, place),
        importer="timm" if builder == "timm" else "",
        config={"pretrained_cfg": config["pretrained_cfg"]} if builder == "timm" else {},
        graph=f"{place}config.json" if builder == "transformers" and place else "",
        claims=claims,
        references=(place.partition("/resolve/")[0],) if place else (),
        place=f"{card}:1",
    )


def _address(snapshot: re.Match[str] | None, data: SourceMap) -> str:
    """Where the files of a snapshot are, at its commit."""
    if snapshot is None:
        return ""
    return f"https://huggingface.co/{snapshot['owner']}/{snapshot['name']}/resolve/{snapshot['commit']}/"


def _builder(config: Mapping[str, Any]) -> tuple[str, str]:
    """The library that makes the model: timm by its own name, transformers by the class."""
    own = config.get("pretrained_cfg")
    architecture = config.get("architecture")
    if isinstance(own, dict) and isinstance(architecture, str) and re.fullmatch(r"[a-z0-9_]{1,100}", architecture):
        tag = own.get("tag")
        is_tag = isinstance(tag, str) and re.fullmatch(r"[a-z0-9_]{1,100}", tag)
        return "timm", f"{architecture}.{tag}" if is_tag else architecture
    classes = config.get("architectures")
    first = classes[0] if isinstance(classes, list) and classes else None
    if isinstance(first, str) and re.fullmatch(r"[A-Z][A-Za-z0-9]{0,99}", first):
        return "transformers", first
    return "", ""


def _weights(reading: Reading, folder: str, place: str) -> tuple[WeightsFact, ...]:
    prefix = f"{folder}/" if folder else ""
    names = set(reading.files.names)
    listed = [each for each in _WEIGHTS if prefix + each in names]
    root = place or f"{(reading.files.place / folder).resolve().as_uri()}/"
    return tuple(WeightsFact(root + each) for each in listed if not each.endswith(".index.json"))


def _has(reading: Reading, folder: str, suffix: str) -> bool:
    return any(name.startswith(folder) and name.endswith(suffix) for name in reading.files.names)


def _json(reading: Reading, name: str) -> dict[str, Any]:
    if name not in reading.files.names:
        return {}
    try:
        data = json.loads(reading.files.read(name))
    except (ManifestError, ValueError, RecursionError):
        reading.leave_out("a configuration that cannot be read", name)
        return {}
    return data if isinstance(data, dict) else {}


def _results(data: SourceMap) -> Iterator[SourceMap]:
    index = data.get("model-index")
    for model in index if isinstance(index, list) else ():
        results = model.get("results") if isinstance(model, SourceMap) else None
        for result in results if isinstance(results, list) else ():
            if isinstance(result, SourceMap):
                yield result


def _tasks(data: SourceMap) -> Iterator[str]:
    for result in _results(data):
        yield task_word(_text(_part(result, "task").get("type")))


def _claims(reading: Reading, data: SourceMap, card: str) -> Iterator[ClaimFact]:
    siblings: dict[str, list[str]] = defaultdict(list)
    for result in _results(data):
        for metric in _metrics(result):
            if (text := number_text(metric.get("value"))) is not None:
                siblings[_text(metric.get("type"))].append(text)
    for result in _results(data):
        task, about = _part(result, "task"), _part(result, "dataset")
        for metric in _metrics(result):
            place = f"{card}:{metric.place[0]}"
            text, written = number_text(metric.get("value")), _text(metric.get("type"))
            if text is None or not written:
                reading.leave_out("a metric without a number", place)
                continue
            yield _claim(_text(task.get("type")), about, metric, text, siblings[written], place)


def _claim(
    task: str, about: Mapping[str, Any], metric: SourceMap, text: str, siblings: Sequence[str], place: str
) -> ClaimFact:
    written = _text(metric.get("type"))
    word, dataset = metric_word(written, task.replace("-", " ")), _text(about.get("type")) or _text(about.get("name"))
    on = dataset_word(dataset)
    told = tell_unit(text, siblings, word, str(metric.get("value")).strip().endswith("%"))
    subset = _text(about.get("config"))
    return ClaimFact(
        word.name,
        text,
        told.unit,
        told.because,
        place,
        on.name,
        split=name_from(_text(about.get("split"))) or "",
        conditions=", ".join(filter(None, (subset, metric_condition(written)))),
        metric_as_written=written if written != word.name else "",
        dataset_as_written=dataset if dataset != on.name else "",
        is_measurable=word.is_known,
        is_known_dataset=on.is_known,
    )


def _metrics(result: SourceMap) -> list[SourceMap]:
    metrics = result.get("metrics")
    return [each for each in metrics if isinstance(each, SourceMap)] if isinstance(metrics, list) else []


def _part(result: SourceMap, key: str) -> Mapping[str, Any]:
    part = result.get(key)
    return part if isinstance(part, Mapping) else {}


def _text(value: Any) -> str:
    if value is None or isinstance(value, (Mapping, list, bool)):
        return ""
    return " ".join(clean(str(getattr(value, "text", value))).split())[:200]
