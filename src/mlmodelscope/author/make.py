"""From what the author has to a manifest: describe the model, read configurations, add what the author says."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlmodelscope.author.config_file import read_configs
from mlmodelscope.author.draft import Draft, DraftOutput, DraftStep, Fact, merged
from mlmodelscope.author.from_folder import add_language_model
from mlmodelscope.author.from_model import draft_from_model, file_digest, graph_of, relative_reference
from mlmodelscope.author.importer import import_configs
from mlmodelscope.author.lay_out import checked_text, lay_out
from mlmodelscope.author.processing import apply_flags
from mlmodelscope.author.request import Request
from mlmodelscope.author.tensors import class_count
from mlmodelscope.errors import ArtifactError, UsageError
from mlmodelscope.manifest.reference import parse_reference
from mlmodelscope.manifest.schema.task import LANGUAGE_MODEL, task_names
from mlmodelscope.manifest.source import MAX_BYTES
from mlmodelscope.model_file.describe import describe_model
from mlmodelscope.model_file.labels import labels_from_lines, labels_from_text
from mlmodelscope.model_file.limit import clean
from mlmodelscope.task.class_answer import CLASS_TASKS

_ASKED = ("name", "task", "resize", "color", "mean", "std", "labels", "license")

# Without a file the outputs are what the task answers with.
_OUTPUTS = {
    "classification": ("logits",),
    "text_classification": ("logits",),
    "audio_classification": ("logits",),
    "tabular_classification": ("probability",),
    "object_detection": ("boxes", "classes", "scores"),
    "semantic_segmentation": ("masks",),
    "instance_segmentation": ("boxes", "classes", "scores", "masks"),
    "keypoint_detection": ("keypoints",),
    "image_enhancement": ("image",),
    "image_generation": ("image",),
    "text_generation": ("text",),
}


@dataclass(frozen=True)
class Written:
    """A manifest that is not on the disk yet, and the file of names that it refers to."""

    draft: Draft
    text: str
    data: dict[str, Any]
    labels_path: Path | None = None
    labels_text: str = ""


def make_manifest(request: Request) -> Written:
    """Everything but the writing; ManifestError, UsageError or ArtifactError where it cannot be."""
    draft = make_draft(request.checked())
    labels_path, labels_text = _labels_file(draft, request)
    page = lay_out(draft, _placed(draft, request.output))
    draft.questions.sort(key=lambda question: _ASKED.index(question.key) if question.key in _ASKED else len(_ASKED))
    text = checked_text(page, str(request.output or "<manifest>"))
    return Written(draft, text, page.data, labels_path, labels_text)


def _placed(draft: Draft, output: Path | None) -> dict[str, dict[str, str]]:
    """The files of the steps as the manifest names them."""
    return {
        name: {"url": relative_reference(path, output), "checksum": f"sha256:{file_digest(path)}"}
        for name, path in draft.files.items()
    }


def make_draft(request: Request) -> Draft:
    path = graph_of(request.model) if request.model is not None else None
    model = describe_model(path, weights_alone=True) if path is not None else None
    config = import_configs(read_configs(request.configs), model, request.model_name, request.launcher)
    task = request.task or config.get("task")
    if model is not None and path is not None:
        draft = merged(draft_from_model(model, path, request.output, task), config)
    else:
        draft = config
        add_language_model(draft, request.configs, request.output)
    _add_flags(draft, request)
    _fill_in(draft)
    apply_flags(draft, request)
    _settle_labels(draft, request)
    _ask(draft, request)
    return draft


def _add_flags(draft: Draft, request: Request) -> None:
    said = {
        "name": request.name,
        "version": request.version,
        "task": request.task,
        "license": request.license,
        "description": request.description,
        "framework.version": request.framework_version,
        "dataset": request.dataset,
        "outputs.label_offset": request.label_offset,
    }
    for key, value in said.items():
        if value is not None:
            draft.facts[key] = Fact(value, "")
    draft.claims += [claim for claim in request.claim_values if claim not in draft.claims]


def _fill_in(draft: Draft) -> None:
    draft.learn("name", "model", "nothing names it", guess=True)
    draft.learn("version", "1.0.0", "of this manifest, not of the model", guess=True)
    draft.learn("task", "general", "nothing says what the model does", guess=True)
    if "source.graph_path" not in draft.facts and "source.builder" not in draft.facts:
        _name_weights(draft)
    if "source.graph_path" not in draft.facts and "source.builder" not in draft.facts:
        draft.learn("source.graph_path", "model.onnx", "no model file was given; put its name here", guess=True)
        draft.notes.append("no model file was given: `source.graph_path` is made up")
    if not draft.outputs and draft.get("task") != LANGUAGE_MODEL:
        kinds = _OUTPUTS.get(str(draft.get("task")), ("tensor",))
        why = "it is what this task answers with; no model file was given that would say it"
        draft.outputs = [
            DraftOutput(Fact(kind, why, guess=True), steps=(DraftStep("softmax", None),) if kind == "logits" else ())
            for kind in kinds
        ]


def _name_weights(draft: Draft) -> None:
    """Weights without a graph, and no library that would build one: they are the only file that there is."""
    weights, checksum = (draft.facts.pop(f"source.weights_{key}", None) for key in ("path", "checksum"))
    if weights is None:
        return
    draft.facts["source.graph_path"] = weights
    if checksum is not None:
        draft.facts["source.graph_checksum"] = checksum
    draft.notes.append(
        "`source.graph_path` names weights without a graph, which do not run alone: name the graph there and these as "
        "`weights_path`, or write the `builder` and `architecture` that they belong to"
    )


def _settle_labels(draft: Draft, request: Request) -> None:
    if request.labels is not None:
        draft.labels = ()
        _use_labels(draft, request.labels, request.output)
    elif draft.labels:
        draft.facts["labels.count"] = Fact(len(draft.labels), "")
    if draft.get("task") not in CLASS_TASKS or not draft.outputs or "outputs.label_offset" in draft.facts:
        return
    tensor = draft.outputs[0].tensor
    count = class_count(tensor) if tensor is not None else None
    first = draft.labels[0].strip().lower() if draft.labels else ""
    if count is not None and count == draft.get("classes.before_offset"):
        draft.learn("outputs.label_offset", draft.get("classes.offset"), draft.facts["classes.offset"].because)
    elif count is not None and first in ("background", "__background__", "dummy", "/", "none"):
        draft.learn("outputs.label_offset", 1, f"the first name is `{first}`", guess=True)
    elif count == 1001:
        draft.learn(
            "outputs.label_offset", 1, "1001 outputs are ImageNet's 1000 with a background in front", guess=True
        )


def _use_labels(draft: Draft, text: str, output: Path | None) -> None:
    path = Path(text)
    if not path.is_file():
        if ":" not in text:
            raise ArtifactError(f"cannot read {text}: there is no such file")
        try:
            parse_reference(text)
        except ValueError as error:
            raise UsageError(f"--labels: {error}") from None
        draft.facts["outputs.features_url"] = Fact(text, "")
        return
    draft.facts["outputs.features_url"] = Fact(relative_reference(path, output), "")
    draft.facts["outputs.features_checksum"] = Fact(f"sha256:{file_digest(path)}", "")
    if path.stat().st_size <= MAX_BYTES:
        words = path.read_bytes().decode(errors="replace")
        names = labels_from_text(words) if words.lstrip()[:1] in ("[", "{") else labels_from_lines(words)
        if names:
            draft.facts["labels.count"] = Fact(len(names), "")


def _labels_file(draft: Draft, request: Request) -> tuple[Path | None, str]:
    """Names that came with the model become a file beside the manifest."""
    if not draft.labels:
        return None, ""
    if request.output is None:
        draft.notes.append(
            f"{len(draft.labels)} names of classes were found; with --output they become a file beside it"
        )
        return None, ""
    path = request.output.with_name(f"{request.output.stem}.labels.txt")
    names = [" ".join(clean(name).split()) or f"class {index}" for index, name in enumerate(draft.labels)]
    draft.facts["outputs.features_url"] = Fact(relative_reference(path, request.output), "the names that came with it")
    return path, "\n".join(names) + "\n"


def _ask(draft: Draft, request: Request) -> None:
    """What is only supposed, in the order of importance."""
    facts = draft.facts
    later = draft.questions
    draft.questions = []
    if facts["name"].guess:
        draft.ask("name", "Name of the model", str(facts["name"].value))
    if facts["task"].guess:
        draft.ask("task", "What it does", str(facts["task"].value), task_names())
    decode = next((step for step in draft.steps or () if step.name == "decode"), None)
    if decode is not None and decode.guess and decode.value.get("color_layout") != "GRAY" and not request.color:
        draft.ask("color", "Order of the colours", str(decode.value.get("color_layout", "RGB")), ("RGB", "BGR"))
    for question in later:
        draft.ask(question.key, question.text, question.default, question.choices)
    if "license" not in facts:
        draft.ask("license", "License of the model's files (empty: not known)")


def write_files(written: Written, output: Path, force: bool) -> list[Path]:
    """Put the manifest, and its file of names, on the disk; nothing is overwritten unless `force`."""
    files = [(output, written.text)]
    if written.labels_path is not None:
        files.insert(0, (written.labels_path, written.labels_text))
    for path, _ in files:
        if path.is_dir():
            raise UsageError(f"{path} is a folder", hint="name the file that is to be written")
        if path.exists() and not force:
            raise UsageError(f"{path} exists already", hint="--force overwrites it")
    for path, text in files:
        _write(path, text)
    return [path for path, _ in files]


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    temporary = path.with_name(f".{path.name[:50]}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(text.encode())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise ArtifactError(f"cannot write {path}: {error.strerror or error}") from None
