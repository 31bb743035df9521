"""V1, the form of the original project's manifests: `inputs[].parameters`, `output.parameters`, `model`, `attributes`.

What the original agents did with it, and what a reader could not know, is made explicit: the fixed order decode →
resize → subtract the mean → divide by `scale` → layout → element type, without a crop whatever the manifest says;
mean and scale in R, G, B order even where the colour mode is BGR.
"""

from __future__ import annotations

import re

from mlmodelscope.manifest.dialect.conventions import settle_conventions
from mlmodelscope.manifest.dialect.notes import Notes
from mlmodelscope.manifest.dialect.source_files import read_model_block
from mlmodelscope.manifest.dialect.v1_claims import convert_claims
from mlmodelscope.manifest.dialect.v1_input import convert_inputs
from mlmodelscope.manifest.dialect.v1_output import convert_output
from mlmodelscope.manifest.dialect.words import (
    attributes_of,
    drop_empty,
    free_name,
    keep_unknown,
    keep_unknown_inside,
    mend_keys,
    rename,
)
from mlmodelscope.manifest.source import SourceMap

_WORD = re.compile(r"[A-Za-z0-9._+-]+")
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
    "answer",
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
_ATTRIBUTES = ("training_dataset", "top1", "Top1", "top5", "Top5", "kind", "manifest_author", "hidden", "mAP")


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
    nest_framework(data)
    framework = framework_word(data)
    convert_inputs(data, framework, notes)
    convert_output(data, notes)
    keep_unknown_inside(data, "framework", FRAMEWORK, notes)
    read_model_block(data, notes)
    convert_claims(data, notes)
    settle_conventions(data, framework, notes)
    keep_unknown(data, TOP_LEVEL, attributes, notes)
    for key in ("attributes", "licence", "license", "description", "references", "container"):
        drop_empty(data, key)
    return data


def nest_framework(data: SourceMap) -> None:
    """A word stands for the framework's name."""
    if isinstance(data.get("framework"), str):
        holder = SourceMap()
        holder.place = data.places["framework"]
        holder.put("name", data["framework"].strip(), holder.place)
        data["framework"] = holder


def framework_word(data: SourceMap) -> str:
    framework = data.get("framework")
    name = framework.get("name") if isinstance(framework, dict) else framework
    return str(name or "").lower().replace(" ", "")


def settle_name(data: SourceMap, notes: Notes) -> None:
    """A name is one word of letters, digits and few signs; what was written is kept as the title."""
    name = data.get("name")
    if not isinstance(name, str) or not name.strip():
        return
    word = "-".join(name.split())
    if not _WORD.fullmatch(word):  # brackets, commas and the like
        word = re.sub(r"[^A-Za-z0-9._+-]+", "-", word)
        word = re.sub(r"-{2,}", "-", word).strip("-._+") or name
    if word != name:
        data["name"] = word
        if name.strip() != data["name"]:
            attributes = attributes_of(data)
            title = free_name("title", attributes)
            attributes.put(title, name.strip(), data.places["name"], "the name as it was written")
            notes.add("implied", f"the name is `{data['name']}`: a name is one word", data.places["name"])
