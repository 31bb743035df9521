"""An entry as a manifest that `check` accepts: preprocessing in our steps, claims with their units, files.

Nothing is made up: what a source does not tell is a comment in the manifest, not a value.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from mlmodelscope.author.draft import Draft, DraftOutput, DraftStep, Fact, one_line
from mlmodelscope.author.importer import IMPORTERS, Context
from mlmodelscope.author.lay_out import checked_text, lay_out
from mlmodelscope.author.processing import normalize_steps, resize_step
from mlmodelscope.author.request import name_from
from mlmodelscope.catalog.draft_outputs import with_outputs
from mlmodelscope.catalog.entry import ClaimFact, Entry
from mlmodelscope.catalog.facts import Source
from mlmodelscope.errors import UsageError
from mlmodelscope.manifest.reference import parse_reference
from mlmodelscope.manifest.schema.task import task_names
from mlmodelscope.manifest.splits import parted
from mlmodelscope.model_file.model_file import TensorInfo
from mlmodelscope.plan.claim_key import claim_key
from mlmodelscope_worker.builder.libraries import LIBRARIES

BUILDERS = tuple(LIBRARIES)
"""Libraries that make a model out of an architecture's name and weights."""
_FILES_RUN = ("onnxruntime", "tensorflow")
"""Frameworks whose files, as sources publish them, run here as they are."""
_ELEMENT_TYPES = {"float": "float32", "double": "float64"}
MOST_CLAIMS = 200


def manifest_text(entry: Entry, source: Source) -> str:
    """The manifest, valid whatever the source has written."""
    if entry.manifest:
        return entry.manifest
    draft = _preprocessed(entry)
    _add_facts(draft, entry, source)
    _add_files(draft, entry, source)
    _add_tensors(draft, entry)
    listed = [(each.fits, _claim(each, source)) for each in entry.claims[:MOST_CLAIMS]]
    draft.claims = [claim for fits, claim in listed if fits]
    others = [claim for fits, claim in listed if not fits]
    if others:
        draft.attributes["catalog"]["claims_with_other_steps"] = others
        draft.notes.append(f"{len(others)} published numbers need other steps; they stand under `attributes`")
    page = lay_out(draft)
    return checked_text(page, f"{source.label}:{entry.name}")


def is_runnable(entry: Entry) -> bool:
    """Whether its weights are published for a library or a framework that runs here."""
    if entry.manifest:
        return True
    return bool(entry.weights) and (entry.builder in BUILDERS or (not entry.builder and entry.framework in _FILES_RUN))


def _preprocessed(entry: Entry) -> Draft:
    """What the library's own configuration says about pixels, read by the importer that `init` has for it."""
    known = IMPORTERS.get(entry.importer)
    if known is not None and entry.config:
        draft = known.read(entry.config, Context(file="its configuration"))
        draft.facts.pop("task", None)
        draft.notes, draft.references = [], []
        return draft
    draft = Draft()
    if "keras" in entry.config:
        draft.steps, draft.steps_are_whole = _keras_steps(entry.config["keras"]), True
    return draft


def _keras_steps(config: dict[str, Any]) -> list[DraftStep]:
    """`preprocess_input` of Keras: its words are caffe, tf, torch; with none the network itself scales pixels."""
    mode, side = str(config.get("mode")), int(config.get("size") or 224)
    steps = [
        DraftStep(
            "decode",
            {"library": "pillow", "color_layout": "BGR" if mode == "caffe" else "RGB"},
            f"Keras loads pictures with Pillow; preprocess_input is of the kind {mode}",
        ),
        resize_step(
            {"dimensions": [side, side]},
            "bilinear",
            "pillow",
            "the side is the default input's; Keras does not say how its numbers were measured",
            guess=True,
        ),
    ]
    if mode == "caffe":
        return [*steps, *normalize_steps(None, [103.939, 116.779, 123.68], None, "preprocess_input")]
    if mode == "tf":
        return [*steps, DraftStep("mean", 127.5, "preprocess_input"), DraftStep("rescale", 127.5, "preprocess_input")]
    if mode == "torch":
        return [*steps, *normalize_steps(255, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225], "preprocess_input")]
    return steps


def _add_facts(draft: Draft, entry: Entry, source: Source) -> None:
    draft.facts["name"] = Fact(name_from(entry.name) or "model", "")
    draft.facts["version"] = Fact("1.0.0", "of this manifest, not of the model", guess=True)
    draft.facts["task"] = Fact(entry.task if entry.task in task_names() else "general", "")
    if entry.description:
        draft.facts["description"] = Fact(one_line(entry.description), "")
    # The model's license is that of its weights; that of the code is noted beside it.
    draft.facts.pop("license", None)
    if entry.weights_license:
        draft.facts["license"] = Fact(one_line(entry.weights_license), "")
    if entry.framework:
        draft.facts["framework.name"] = Fact(entry.framework, "")
    about = {
        "source": f"{source.label} {source.version}",
        "origin": source.origin,
        "place": entry.place,
        "architecture": entry.architecture,
        "code_license": entry.code_license,
        "weights_license": entry.weights_license or "unknown",
        "parameters": entry.parameters,
        "gflops": entry.gflops,
        "weights": [
            {"url": each.url, "sha256_start": each.sha256_start} for each in entry.weights if each.sha256_start
        ],
    }
    own = {key: value for key, value in about.items() if value not in (None, "", [])}
    kept = {key: value for key, value in draft.attributes.items() if key not in ("timm", "torchvision")}
    draft.attributes = {"catalog": own, **kept}
    draft.references = [each for each in entry.references if _is_reference(each)]


def _add_files(draft: Draft, entry: Entry, source: Source) -> None:
    place = next((each for each in entry.weights if _is_reference(each.url)), None)
    if entry.builder in BUILDERS and place is not None:
        architecture = entry.architecture if entry.builder != "torchvision" else entry.architecture.partition(".")[0]
        draft.facts["source.builder"] = Fact(entry.builder, "")
        draft.facts["source.architecture"] = Fact(architecture, "")
        if entry.graph:
            draft.facts["source.graph_path"] = Fact(entry.graph, "")
        draft.facts["source.weights_path"] = Fact(place.url, "")
        if place.sha256:
            draft.facts["source.weights_checksum"] = Fact(f"sha256:{place.sha256}", "")
        return
    if place is not None:
        moving = f"{source.origin}/raw/main/"
        draft.facts["source.graph_path"] = Fact(
            place.url.replace(moving, f"{source.origin}/raw/{commit_of(source)}/"), ""
        )
        if place.sha256:
            draft.facts["source.graph_checksum"] = Fact(f"sha256:{place.sha256}", "")
        if entry.builder:
            draft.notes.append(
                f"these are weights for {entry.builder}'s own code, and its configuration {entry.architecture}: "
                "export the model to ONNX to run it here"
            )
        return
    address = _configuration(entry, source)
    if address is None:
        raise UsageError(
            f"{source.label}:{entry.name} names no file: {source.label} has published neither weights nor a "
            "configuration of it",
            hint="mlmodelscope init MODEL writes a manifest for a model file of your own",
        )
    draft.facts["source.graph_path"] = Fact(address, "")
    draft.notes.append(f"{source.label} has published no weights of it: this is its configuration")


def _configuration(entry: Entry, source: Source) -> str | None:
    """The address of a repository's configuration, where that is all there is of a model."""
    if not entry.architecture or not source.origin.startswith("https://github.com/"):
        return None
    address = f"{source.origin}/raw/{commit_of(source)}/{entry.architecture}"
    return address if _is_reference(address) else None


def commit_of(source: Source) -> str:
    """The commit that the facts are of, for addresses that do not change."""
    return source.version if re.fullmatch(r"[0-9a-f]{7,40}", source.version) else "main"


def _is_reference(text: str) -> bool:
    try:
        parse_reference(text)
    except ValueError:
        return False
    return "://" in text and len(text) < 2000


def _add_tensors(draft: Draft, entry: Entry) -> None:
    draft.inputs = [_tensor(each) for each in entry.tensors.get("inputs", ())]
    outputs = [_tensor(each) for each in entry.tensors.get("outputs", ())]
    if outputs:
        kind = Fact("tensor", "the source has no word on its meaning", guess=True)
        draft.outputs = [DraftOutput(kind, each.name, each) for each in outputs]
    else:
        with_outputs(draft)
    if entry.task == "embedding" and not outputs:
        draft.outputs = [DraftOutput(Fact("embedding", "there is no classifier"))]
    if draft.steps is None and not draft.inputs and not entry.manifest:
        draft.notes.append("the source does not tell how inputs are prepared: steps are to be added")
    if entry.builder == "keras":
        draft.facts["inputs.layout"] = Fact("NHWC", "Keras's default")
        draft.outputs = [replace(each, type=Fact("probability", "its last layer is a softmax"), steps=()) for each in
                         draft.outputs]  # fmt: skip
    elif entry.builder in ("timm", "torchvision"):
        draft.facts["inputs.layout"] = Fact("NCHW", "")
        draft.facts["inputs.element_type"] = Fact("float32", "")


def _tensor(port: dict[str, Any]) -> TensorInfo:
    kind = str(port.get("type", "")).removeprefix("tensor(").removesuffix(")")
    shape = tuple(None if size == -1 else int(size) for size in port.get("shape", ()))
    return TensorInfo(str(port.get("name", "")), _ELEMENT_TYPES.get(kind, kind) or None, shape)


def conditions_of(fact: ClaimFact) -> str:
    """What a manifest says of a claim beside the number: the source's conditions, and its own words."""
    said = [fact.conditions] if fact.conditions else []
    if fact.metric_as_written:
        said.append(f"the source writes {fact.metric_as_written}")
    if fact.dataset_as_written:
        said.append(f"on {fact.dataset_as_written}")
    return one_line("; ".join(said))


def key_in(entry: Entry, fact: ClaimFact, source: Source) -> str:
    """The key that a claim of the entry has in the manifest that is made of it."""
    model = f"{source.label}:{entry.name}"
    dataset = f"{parted(fact.dataset)[0]}:{fact.split}" if fact.dataset and fact.split else fact.dataset
    if entry.manifest:
        return claim_key(model, fact.metric_as_written or fact.metric, fact.value, dataset, fact.conditions)
    return claim_key(model, fact.metric, fact.value, dataset, conditions_of(fact))


def _claim(fact: ClaimFact, source: Source) -> dict[str, Any]:
    claim: dict[str, Any] = {"metric": fact.metric, "value": fact.value, "unit": fact.unit}
    if fact.dataset:
        claim["dataset"] = fact.dataset
    if fact.split:
        claim["split"] = fact.split
    if conditions := conditions_of(fact):
        claim["conditions"] = conditions
    claim["source"] = one_line(f"{source.label} {source.version}, {fact.place}")
    return claim
