"""DLSpec's manifests as the paper defines them: hyphenated stages, lists of one-key mappings, `model` for the files."""

from __future__ import annotations

from typing import Any

from mlmodelscope.manifest.dialect import v1, v1_claims, v1_input, v2
from mlmodelscope.manifest.dialect.notes import Notes
from mlmodelscope.manifest.dialect.source_files import ARCHIVE, read_model_block
from mlmodelscope.manifest.dialect.words import (
    attributes_of,
    drop_empty,
    keep_unknown,
    keep_unknown_inside,
    listed,
    mend_keys,
    mend_value,
    name_from_id,
    rename,
    take,
)
from mlmodelscope.manifest.framework_names import predictor_name
from mlmodelscope.manifest.schema.hardware import Cpu, Gpu, HardwareManifest
from mlmodelscope.manifest.schema.part import Manifest, text_as_written
from mlmodelscope.manifest.source import SourceList, SourceMap
from mlmodelscope.plugins.predictors import PREDICTORS

_STAGES = {
    "pre-process": "preprocess",
    "post-process": "postprocess",
    "pre_process": "preprocess",
    "post_process": "postprocess",
}
_MODEL = (
    *v1.TOP_LEVEL,
    "job_type",
    "system_requirements",
    "setup",
    "preprocess",
    "run",
    "postprocess",
    "hyperparameters",
    "dataset",
    "software",
    "hardware",
)
_COMMON = ("id", "name", "version", "author", "licence", "license", "description", "references", "attributes")


def recognise_model(data: SourceMap) -> bool:
    return any(key in data for key in _STAGES) or ("model" in data and ("run" in data or "job_type" in data))


def convert_model(data: SourceMap, notes: Notes) -> SourceMap:
    for old, new in _STAGES.items():
        rename(data, old, new)
    mend_keys(data, (*_MODEL, "model", "input", "output"), notes)
    _name_from_id(data, notes)
    _convert_task(data, notes)
    rename(data, "input", "inputs")
    rename(data, "output", "outputs")
    for kind, words in (("inputs", v1_input.INPUT_TYPES), ("outputs", v2.OUTPUT_TYPES)):
        for layer in listed(data, kind):
            if isinstance(layer, SourceMap):
                v2.convert_layer(layer, words, notes)
    requirements = listed(data, "system_requirements")
    for index, word in enumerate(requirements):
        if isinstance(word, str):
            requirements[index] = word.lower()
    keep_unknown_inside(data, "framework", v1.FRAMEWORK, notes)
    read_model_block(data, notes)
    v1_claims.convert_claims(data, notes)
    keep_unknown(data, _MODEL, attributes_of(data), notes)
    for key in ("attributes", "licence", "license", "description", "references"):
        drop_empty(data, key)
    return data


def _convert_task(data: SourceMap, notes: Notes) -> None:
    place = data.places.get("task", data.place)
    seen = data.get("task")
    if seen is None:
        take(data, "task")
        notes.imply(data, "task", "general", place, "is taken where nothing is written")
        return
    word = str(seen).strip().lower().replace(" ", "_").replace("-", "_")
    task = v2.TASKS.get(word) or _TASKS.get(word)
    if task is None:
        from mlmodelscope.manifest.schema.task import is_task

        task = word if is_task(word) else None
    if task is None:
        data.move("task", attributes_of(data))
        notes.imply(data, "task", "general", place, f"is taken for `{seen}`, which is no task that we know")
    elif task != seen:
        data["task"] = task
        data.reasons["task"] = f"is our word for `{seen}`"


_TASKS = {
    "detection": "object_detection",
    "image_segmentation": "semantic_segmentation",
    "segmentation": "semantic_segmentation",
    "machine_translation": "translation",
    "speech_to_text": "speech_recognition",
}


# What a manifest may ask of the processor or the GPU, and of the machine.
_PROCESSOR = tuple(dict.fromkeys((*Cpu.model_fields, *Gpu.model_fields)))
_HARDWARE = tuple(name for name in HardwareManifest.model_fields if name not in Manifest.model_fields)


def recognise_hardware(data: SourceMap) -> bool:
    return any(isinstance(data.get(key), list) for key in ("cpu", "gpu")) or "name" not in data or "version" not in data


def convert_hardware(data: SourceMap, notes: Notes) -> SourceMap:
    for key in ("cpu", "gpu"):
        _merge(data, key)
        part = data.get(key)
        if isinstance(part, SourceMap):
            mend_keys(part, _PROCESSOR, notes)
            rename(part, "driver", "driver_version")
            rename(part, "count", "ncpu" if key == "cpu" else "ngpu")
            rename(part, "name", "model")
        elif part is True or part == "":
            data[key] = SourceMap()
    if isinstance(data.get("interconnect"), list):
        data["interconnect"] = " ".join(str(item) for item in data["interconnect"])
    known = (*_COMMON, *_HARDWARE)
    mend_keys(data, known, notes)
    _name_from_id(data, notes)
    if any(key not in known for key in data):
        keep_unknown(data, known, attributes_of(data), notes)
    return data


def recognise_software(data: SourceMap) -> bool:
    """Named after its framework; without a container by its list of variables, or by that name alone."""
    if "framework" in data or "stack" in data:
        return False
    return (
        any(key in data for key in ("container", "containers"))
        or isinstance(data.get("env"), list)
        or (is_named_after_framework(data))
    )


def is_named_after_framework(data: SourceMap) -> bool:
    """A manifest with nothing but a framework's name and version, and words about them."""
    name = data.get("name")
    known = {*_COMMON, "env", "envvars", "container", "containers"}
    return isinstance(name, str) and "version" in data and set(data) <= known and predictor_name(name) in PREDICTORS


def convert_software(data: SourceMap, notes: Notes) -> SourceMap:
    rename(data, "containers", "container")  # the CLOUD'20 paper's framework manifests
    rename(data, "envvars", "env")
    known = (*_COMMON, "framework", "container", "env", "stack")
    mend_keys(data, known, notes)
    name = data.get("name")  # before it is made one word
    _name_from_id(data, notes)
    if "framework" not in data:
        place = data.places.get("name", data.place)
        framework = SourceMap()
        framework.place = place
        framework.put("name", name if name is not None else data.get("name"), place)
        framework.put("version", data.get("version"), data.places.get("version", place))
        data.put("framework", framework, place, "a software manifest is named after its framework")
        notes.add("implied", "name and version are those of the framework", place)
        written = data.get("version")
        if isinstance(written, str) and not written[:1].isdecimal():  # a constraint says which frameworks will do
            at = data.places["version"]
            take(data, "version")
            notes.imply(data, "version", "1.0.0", at, "is the manifest's own; the constraint is the framework's")
    if any(key not in known for key in data):
        keep_unknown(data, known, attributes_of(data), notes)
    return data


def recognise_dataset(data: SourceMap) -> bool:
    sources = data.get("sources")
    if isinstance(sources, list) and any(
        isinstance(item, str) or (isinstance(item, dict) and "source" in item) for item in sources
    ):
        return True
    return "format" not in data


def convert_dataset(data: SourceMap, notes: Notes) -> SourceMap:
    sources = listed(data, "sources")
    for index, item in enumerate(sources):
        if isinstance(item, str):
            named = SourceMap()
            named.place = data["sources"].places[index]
            named.put("url", item, named.place)
            sources[index] = named
        elif isinstance(item, SourceMap):
            rename(item, "source", "url")
    if "format" not in data and "init" not in data:
        _open_archives(sources, notes)
    keep_unknown_inside(data, "sources", _SOURCE, notes)
    _name_from_id(data, notes)
    place = data.places.get("sources", data.place)
    carries = "init" in data
    if "format" not in data:
        kind = "functions" if carries else "files"
        reason = "its functions know the samples" if carries else "DLSpec's datasets are files that the functions read"
        notes.imply(data, "format", kind, place, reason)
    if "version" not in data and carries:
        notes.imply(data, "version", "1.0.0", data.place, "is taken: V2's dataset manifests carry none")
    known = (*_COMMON, *_DATASET)
    mend_keys(data, known, notes)
    if any(key not in known for key in data):
        keep_unknown(data, known, attributes_of(data), notes)
    mend_value(data, "task", {**v2.TASKS, **_TASKS}, notes)
    return data


def _open_archives(sources: list[Any], notes: Notes) -> None:
    """An archive among DLSpec's sources is a folder of samples, not a sample."""
    for item in sources:
        url = item.get("url") if isinstance(item, SourceMap) else None
        if isinstance(url, str) and "#" not in url and ARCHIVE.search(url.strip().partition("?")[0]):
            item["url"] = f"{url.strip()}#/"
            notes.add("implied", f"{url.strip()} is an archive: the files in it are the samples", item.places["url"])


_SOURCE = ("name", "url", "checksum", "labels_url", "labels_checksum")
_DATASET = (
    "task",
    "format",
    "sources",
    "include",
    "labels",
    "classes_url",
    "classes_checksum",
    "shape",
    "size",
    "init",
    "load",
    "unload",
)


def _name_from_id(data: SourceMap, notes: Notes) -> None:
    """Every manifest has a name and a version; where DLSpec gives an id only, that is the name."""
    v1.settle_name(data, notes)
    known_as = text_as_written(data.get("id"))
    if data.get("name") is None and isinstance(known_as, str):
        take(data, "name")
        notes.imply(data, "name", name_from_id(known_as), data.places["id"], "is taken from the id")
    if (
        data.get("version") is None
        and "name" in data
        and any(key in data for key in ("cpu", "gpu", "setup", "memory", "settings"))
    ):
        take(data, "version")
        notes.imply(data, "version", "1.0.0", data.place, "is taken: DLSpec's hardware manifests carry none")


def _merge(data: SourceMap, key: str) -> None:
    """A list of one-key mappings says the same as one mapping."""
    parts = data.get(key)
    if not isinstance(parts, SourceList) or not all(isinstance(part, SourceMap) for part in parts):
        return
    merged = SourceMap()
    merged.place = data.places[key]
    for part in parts:
        for name in list(part):
            if name in merged:
                return  # the same constraint twice: the schema will say that a mapping is expected
            part.move(name, merged)
    data[key] = merged
