"""A model or a dataset in a screen: what people look for first; `--yaml` has the manifest."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlmodelscope.report import words

if TYPE_CHECKING:
    from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest, Step
    from mlmodelscope.manifest.schema.part import Manifest
    from mlmodelscope.provision.artifact import ArtifactStore
    from mlmodelscope.settings import Settings

Row = tuple[str, str]
_MOST_REFERENCES = 8
_MOST_CLAIMS = 12
_SIZED = ("dimensions", "short_side", "max_dimension", "length", "rate")
"""Parameters of a step that tell what the model gets; `show` has all of them."""


def model_rows(
    model: ModelManifest, shown: str, settings: Settings, claims: Sequence[str], *, is_here: bool
) -> Iterator[Row]:
    """`shown` is what it was asked for by; `claims` are spelled already. `is_here`: on this machine, not a server."""
    artifacts = _artifacts(settings) if is_here else None
    yield from _heading(model)
    yield "task", model.task + (", training" if model.job_type == "training" else "")
    for place, each in enumerate(model.inputs):
        kind = _tensor(each.type, each.layer_name, each.element_type, each.shape, each.processing)
        yield "" if place else "takes", kind
    for place, output in enumerate(model.outputs):
        kind = _tensor(output.type, output.layer_name, output.element_type, output.shape, output.processing)
        names = f"; class names: {_file(output.features_url)}" if output.features_url else ""
        yield "" if place else "gives", kind + names
    if model.functions:
        yield "code", f"its own: {', '.join(model.functions)}"
    yield from _files(model, artifacts)
    if model.framework is not None:
        version = "any version" if model.framework.version == "*" else model.framework.version
        yield "framework", f"{model.framework.name} {version}"
    if is_here and model.job_type != "training":
        yield "runs here", _stack(model, settings)
    yield from _given("trained on", model.training_dataset.name if model.training_dataset else None)
    yield from _given("usual dataset", model.dataset)
    yield from _given("license", model.license)
    yield from _given("author", model.author)
    for place, claim in enumerate(claims[:_MOST_CLAIMS]):
        yield "" if place else "claims", claim
    if len(claims) > _MOST_CLAIMS:
        yield "", f"and {len(claims) - _MOST_CLAIMS} more: mlmodelscope claims show {shown}"
    yield from _ending(model, is_here)


def dataset_rows(dataset: DatasetManifest, settings: Settings, where: str, *, is_here: bool) -> Iterator[Row]:
    """`where` says whether its files are connected, cached or not."""
    yield from _heading(dataset)
    yield "task", dataset.task
    kind = f"{dataset.format}{', ' + _shape(dataset.shape) if dataset.shape else ''}"
    yield "samples", f"{words.count(dataset.size)}, format {kind}" if dataset.size else f"unspecified, format {kind}"
    splits = [dataset.split] if dataset.split else list(dataset.splits)
    yield from _given("splits" if len(splits) > 1 else "split", ", ".join(splits))
    yield from _given("classes", _classes(dataset, _artifacts(settings) if is_here else None))
    for place, source in enumerate(dataset.sources):
        yield "" if place else "files", _file(source.url)
    yield from _given("on this machine", where)
    if dataset.connect is not None:
        yield "obtain it from", dataset.connect.page
    yield from _given("license", dataset.license)
    yield from _ending(dataset, is_here)


def _heading(manifest: Manifest) -> Iterator[Row]:
    yield manifest.name, manifest.version
    yield from _given("about", " ".join((manifest.description or "").split()))


def _ending(manifest: Manifest, is_here: bool) -> Iterator[Row]:
    for place, each in enumerate(manifest.references[:_MOST_REFERENCES]):
        yield "" if place else "references", each
    if len(manifest.references) > _MOST_REFERENCES:
        yield "", f"and {len(manifest.references) - _MOST_REFERENCES} more"
    yield from _given("manifest", _shown_path(manifest.file) if is_here else manifest.file)


def _given(name: str, text: str | None) -> Iterator[Row]:
    if text:
        yield name, text


def _tensor(kind: str, layer: Any, element: str, shape: Sequence[int] | None, steps: Sequence[Step]) -> str:
    known = [f"`{layer}`" if layer not in (None, kind) else "", element, _shape(shape) if shape else ""]
    told = f"{kind} ({', '.join(each for each in known if each)})"
    return f"{told}: {' → '.join(map(_step, steps))}" if steps else told


def _step(step: Step) -> str:
    sizes = [step.parameters.get(name) for name in _SIZED]
    told = next((each for each in sizes if each is not None), None)
    if told is None:
        return step.name
    return f"{step.name} {_shape(told) if isinstance(told, (list, tuple)) else told}"


def _shape(shape: Sequence[int]) -> str:
    return "×".join("?" if each == -1 else str(each) for each in shape)


def _files(model: ModelManifest, artifacts: ArtifactStore | None) -> Iterator[Row]:
    source = model.source
    if source is not None:
        if source.architecture:
            yield "architecture", source.architecture + (f" of {source.builder}" if source.builder else "")
        for name, url, checksum in (
            ("graph" if source.weights_path else "file", source.graph_path, source.graph_checksum),
            ("weights", source.weights_path, source.weights_checksum),
        ):
            if url:
                yield name, f"{_file(url)}, {_size(url, checksum, artifacts)}" if artifacts else _file(url)
    if model.remote is not None:
        yield "server", "its samples go to a server that the manifest names"
    for name, file in model.files.items():
        yield f"file {name}", _file(file.url)


def _size(url: str, checksum: str | None, artifacts: ArtifactStore) -> str:
    from mlmodelscope.errors import MLModelScopeError

    with contextlib.suppress(MLModelScopeError, OSError):
        if artifacts.is_at_hand(url, checksum):
            path = artifacts.fetch(url, checksum).path
            files = [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
            return words.size(sum(each.stat().st_size for each in files))
    return "fetched when used"


def _classes(dataset: DatasetManifest, artifacts: ArtifactStore | None) -> str | None:
    from mlmodelscope.dataset.classes import read_classes
    from mlmodelscope.errors import MLModelScopeError

    if dataset.classes_url is None:
        return None
    if artifacts is not None:
        with contextlib.suppress(MLModelScopeError):
            names = read_classes(artifacts.fetch(dataset.classes_url, dataset.classes_checksum).path)
            few = ", ".join(each[:24] for each in names[:4])
            return f"{words.count(len(names))}: {few}{', …' if len(names) > 4 else ''}"
    return _file(dataset.classes_url)


def _stack(model: ModelManifest, settings: Settings) -> str:
    from mlmodelscope.errors import MLModelScopeError
    from mlmodelscope.manifest.catalog import find_manifest
    from mlmodelscope.manifest.schema import SoftwareManifest
    from mlmodelscope.provision.stack.choose import missing_stack

    try:
        named = find_manifest(SoftwareManifest, model.software) if model.software else None
        why = missing_stack(model, named, settings)
    except MLModelScopeError as error:
        why = error.message.splitlines()[0]
    return "yes" if why is None else f"not yet: {why}"


def _artifacts(settings: Settings) -> ArtifactStore:
    from dataclasses import replace

    from mlmodelscope.provision.artifact import ArtifactStore

    return ArtifactStore(replace(settings, offline=True))


def _file(reference: str) -> str:
    """Its name and where it is from, without what only a program needs."""
    from mlmodelscope.manifest.reference import parse_reference

    try:
        parsed = parse_reference(reference)
    except ValueError:
        return reference
    if parsed.is_local and not parsed.member:
        return _shown_path(parsed.location)
    if parsed.scheme in ("pypi", "npm"):
        return f"{parsed.name or parsed.member} of {parsed.location} {parsed.version}"
    return parsed.name if parsed.scheme == "artifact" else parsed.shown


def _shown_path(text: str) -> str:
    """As short as it can be typed from here."""
    path, home = Path(text), Path.home()
    if not path.is_absolute():
        return text
    near = os.path.relpath(path)
    if not near.startswith(os.pardir):
        return near
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else text
