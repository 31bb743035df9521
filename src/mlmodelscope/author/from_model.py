"""A model file becomes a draft: its own words are facts, what they suggest are guesses."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from mlmodelscope.author.draft import Draft, DraftStep, one_line
from mlmodelscope.author.fields import numbers_of
from mlmodelscope.author.processing import normalize_steps, proven_steps
from mlmodelscope.author.request import name_from
from mlmodelscope.author.tensors import ImageShape, guess_task, image_shape, read_outputs
from mlmodelscope.errors import ArtifactError, UsageError
from mlmodelscope.manifest.reference import parse_reference
from mlmodelscope.model_file.describe import weights_beside
from mlmodelscope.model_file.model_file import ModelFile, TensorInfo

_BLOCK = 1 << 20
_IN_TWO_FILES = ("caffe", "caffe2", "ncnn", "mxnet")
_PLAIN_NAMES = re.compile(
    r"(saved_?)?model|graph|frozen(_inference)?_graph|export(ed)?|weights|net(work)?", re.IGNORECASE
)


def draft_from_model(model: ModelFile, path: Path, output: Path | None, task: str | None = None) -> Draft:
    draft = Draft()
    if model.framework != "unknown":
        draft.learn("framework.name", model.framework, f"the file is {model.format}")
    graph, weights = files_of_model(model, path)
    for role, each in (("graph", graph), ("weights", weights)):
        if each is None:
            continue
        draft.learn(f"source.{role}_path", relative_reference(each, output), "the file that was given")
        if each.is_file():
            draft.learn(f"source.{role}_checksum", f"sha256:{file_digest(each)}", "computed from the file")
        else:
            draft.notes.append("the checksum of a folder is left out; it is computed when the model is planned")
    _read_words(draft, model, path)
    image_input = find_image(model)
    image = image_input[1] if image_input else None
    guess = guess_task(model, image)
    draft.learn("task", guess.value, guess.because, guess.guess)
    draft.inputs = list(model.inputs)
    draft.outputs = read_outputs(model, task or guess.value)
    draft.labels = model.labels
    if image is not None:
        draft.steps = _processing(model, image)
    draft.notes += [one_line(f"the file: {note}") for note in model.notes]
    return draft


def graph_of(path: Path) -> Path:
    """The network that lies beside a caffemodel: it says what goes in, and Caffe wants both."""
    network = path.with_suffix(".prototxt")
    return network if path.suffix.lower() == ".caffemodel" and network.is_file() else path


def files_of_model(model: ModelFile, path: Path) -> tuple[Path | None, Path | None]:
    """(graph, weights) where the format keeps them apart; a manifest names both."""
    if is_without_graph(model):
        return None, path
    return path, weights_beside(path) if model.format in _IN_TWO_FILES else None


def is_without_graph(model: ModelFile) -> bool:
    """Whether the file has weights, and nothing that its framework could run alone."""
    return not model.inputs and not model.outputs or (model.format == "caffe" and model.version == "caffemodel")


def find_image(model: ModelFile) -> tuple[int, ImageShape] | None:
    """Which input takes the image, and how."""
    return find_image_in(list(model.inputs), model.framework)


def find_image_in(inputs: list[TensorInfo], framework: str) -> tuple[int, ImageShape] | None:
    found = [(index, shape) for index, tensor in enumerate(inputs) if (shape := image_shape(tensor, framework))]
    # One whose shape is known is preferred to one that only has the name.
    return next((pair for pair in found if pair[1].channels is not None), found[0] if found else None)


def _read_words(draft: Draft, model: ModelFile, path: Path) -> None:
    words = model.metadata
    given = name_from(words.get("name", ""))
    draft.learn("name", given, "the file calls itself so", guess=True)
    stem = path.stem if not _PLAIN_NAMES.fullmatch(path.stem) else path.absolute().parent.name
    draft.learn("name", name_from(stem) or name_from(path.name) or "model", "the file's name", guess=True)
    for key, name in (("description", "description"), ("author", "author"), ("license", "license")):
        text = words.get(key, "").strip()
        draft.learn(name, text[:2000] or None, "the file says so")
    if words.get("doc", "").strip():
        draft.learn("description", words["doc"].strip()[:2000], "the file says so")
    made = {key: value for key, value in (("format", model.format), ("version", model.version)) if value}
    draft.attributes["model_file"] = made | ({"producer": one_line(model.producer)} if model.producer else {})


def _processing(model: ModelFile, image: ImageShape) -> list[DraftStep]:
    steps = proven_steps(image, model.producer)
    words = model.metadata
    color = {"RGB": "RGB", "BGR": "BGR", "GRAYSCALE": "GRAY"}.get(words.get("input.color_space", ""))
    if color and (color == "GRAY") == (image.channels == 1):
        value = {**steps[0].value, "color_layout": color}
        steps[0] = DraftStep("decode", value, f"{color} is the file's word; the library is most common", guess=True)
    mean, std = (numbers_of(words.get(f"input.{key}", "")) for key in ("mean", "std"))
    if (
        (mean or std)
        and all(len(values or ()) in (0, 1, image.channels) for values in (mean, std))
        and 0 not in (std or ())
    ):
        steps += normalize_steps(None, mean, std, "the file's metadata")
    return steps


def relative_reference(path: Path, output: Path | None) -> str:
    """How a manifest at `output` names a file."""
    start = output.absolute().parent if output is not None else Path.cwd()
    text = os.path.relpath(path.absolute(), start).replace(os.sep, "/")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", text):
        text = f"./{text}"  # a colon would make a scheme of it
    try:
        text.encode()
        parse_reference(text)
    except ValueError:
        raise UsageError(f"a manifest cannot name {ascii(str(path))}", hint="give the file another name") from None
    return text


def file_digest(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb", buffering=0) as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise ArtifactError(f"cannot read {path}: {error.strerror or error}") from None
    return digest.hexdigest()
