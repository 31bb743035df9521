"""What the papers' Listing 1 allows beyond the plain schema, brought into the plain schema.

- `processing` is a mapping whose order counts; a list of one-key mappings says the same and allows repetition;
- `features_url` may stand inside an output's `processing`, `container` inside `framework`;
- environment variables may stand directly in `framework` or `container`, as they do in print;
- a single input or output needs no list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mlmodelscope.errors import PluginError, Problem
from mlmodelscope.manifest.schema.model import needed_keys
from mlmodelscope.manifest.schema.task import ASKED
from mlmodelscope.manifest.source import SourceList, SourceMap, SourceText, place_of, spell_path
from mlmodelscope.manifest.suggest import nearest
from mlmodelscope.plugins.registry import Registry
from mlmodelscope.plugins.steps import ANSWER_STEPS, AUGMENTATIONS, OUTPUT_STEPS, STEPS
from mlmodelscope_worker.parameters import Declaration, File, ParameterError

_ENVIRONMENT_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]+")
_FUNCTIONS = ("preprocess", "run", "postprocess", "init", "load", "unload")
OUTPUT_FIELDS = ("features_url", "features_checksum", "label_offset")

DataPath = tuple[str | int, ...]


class Problems(list[Problem]):
    """What cannot be read, each with its place in the data as it was before anything was rearranged."""

    def __init__(self, manifest: SourceMap) -> None:
        super().__init__()
        self._manifest = manifest

    def note(self, path: DataPath, problem: Problem) -> None:
        line, column = place_of(self._manifest, path)
        self.append(replace(problem, path=spell_path(path), line=line, column=column))


def rearrange(manifest: SourceMap, kind: str) -> list[Problem]:
    """Bring a manifest's data into the schema's form, in place; what cannot be read is returned."""
    problems = Problems(manifest)
    for stage in _FUNCTIONS:
        _spell_out_function(manifest, stage)
    if kind == "model":
        _lift_environment(manifest)
        _name_what_is_missing(manifest, problems)
        for layers, known in (("inputs", STEPS), ("outputs", OUTPUT_STEPS)):
            _read_layers(manifest, layers, known, problems)
        _read_training(manifest, problems)
        if "answer" in manifest:
            manifest["answer"] = _read_steps(manifest["answer"], ("answer",), ANSWER_STEPS, problems)
        _refuse_missing_files(manifest, problems)
        _refuse_decoder(manifest, problems)
        _check_asked(manifest, problems)
    elif kind == "dataset":
        _check_question(manifest, problems)
    elif kind == "software":
        _spell_out_container(manifest)
        _read_variables(manifest, "env")
    return problems


def _spell_out_function(manifest: SourceMap, stage: str) -> None:
    """Code as bare text, with the line that it starts in."""
    written = manifest.get(stage)
    if isinstance(written, str):
        function = SourceMap()
        function.place = manifest.places[stage]
        function.put("code", written, function.place)
        manifest[stage] = written = function
    if isinstance(written, SourceMap) and isinstance(written.get("code"), SourceText) and "line" not in written:
        written.put("line", written["code"].line, written.place)


def _name_what_is_missing(manifest: SourceMap, problems: Problems) -> None:
    """Without code of its own a model needs these; said here, so that it is said beside whatever else is wrong."""
    if "run" in manifest or "training" in manifest:
        return
    framework = manifest.get("framework")
    name = str(framework.get("name")) if isinstance(framework, dict) else ""
    for key in needed_keys(name, str(manifest.get("task"))):
        if manifest.get(key) is None or manifest[key] == []:
            manifest.pop(key, None)
            manifest.places.pop(key, None)
            problems.note((), Problem(f"the key `{key}` is missing"))


def _spell_out_container(manifest: SourceMap) -> None:
    """One image for every architecture and device, as DLSpec writes it."""
    image = manifest.get("container")
    if isinstance(image, str):
        both, architectures = SourceMap(), SourceMap()
        for device in ("cpu", "gpu"):
            both.put(device, image, manifest.places["container"])
        architectures.put("any", both, manifest.places["container"])
        manifest["container"] = architectures


def _read_layers(manifest: SourceMap, kind: str, known: Registry[Declaration], problems: Problems) -> None:
    _wrap_single(manifest, kind)
    layers = manifest.get(kind)
    for index, layer in enumerate(layers if isinstance(layers, list) else ()):
        if isinstance(layer, SourceMap) and "processing" in layer:
            if kind == "outputs" and isinstance(layer["processing"], SourceMap):
                for field in OUTPUT_FIELDS:
                    if field in layer["processing"]:
                        layer["processing"].move(field, layer)
            path = (kind, index, "processing")
            layer["processing"] = _read_steps(layer["processing"], path, known, problems)


def _read_training(manifest: SourceMap, problems: Problems) -> None:
    training = manifest.get("training")
    if not isinstance(training, SourceMap):
        return
    if isinstance(training.get("code"), SourceText) and "line" not in training:
        training.put("line", training["code"].line, training.place)
    for key, known in (("processing", STEPS), ("augmentation", AUGMENTATIONS)):
        if training.get(key) is not None:
            training[key] = _read_steps(training[key], ("training", key), known, problems)


def _refuse_missing_files(manifest: SourceMap, problems: Problems) -> None:
    """A step that names a file must find it among the manifest's own."""
    files = manifest.get("files")
    known = tuple(files) if isinstance(files, dict) else ()
    for kind, registry in (("inputs", STEPS), ("outputs", OUTPUT_STEPS)):
        layers = manifest.get(kind)
        for index, layer in enumerate(layers if isinstance(layers, list) else ()):
            steps = layer.get("processing") if isinstance(layer, dict) else None
            _refuse_unknown_names(steps, registry, (kind, index, "processing"), known, problems)
    _refuse_unknown_names(manifest.get("answer"), ANSWER_STEPS, ("answer",), known, problems)
    training = manifest.get("training")
    if isinstance(training, dict):
        _refuse_unknown_names(training.get("processing"), STEPS, ("training", "processing"), known, problems)


def _check_question(manifest: SourceMap, problems: Problems) -> None:
    """What a dataset shows and asks a language model: the parameters of the steps that do it."""
    task = manifest.get("task")
    asked = ASKED.get(task) if isinstance(task, str) else None
    files = manifest.get("files")
    known = tuple(files) if isinstance(files, dict) else ()
    for key, name in (("prompt", "prompt"), ("ask", asked)):
        written = manifest.get(key)
        if written is None or (written == {} and name is None):  # nothing is asked, as in what a program writes
            continue
        if name is None:
            tasks = ", ".join(ASKED)
            problems.note(
                (key,), Problem(f"only datasets of the tasks {tasks} ask language models", known=tuple(ASKED))
            )
            continue
        step = _resolved(STEPS[name], key, written, (key,), problems)
        if step is not None:
            _refuse_unknown_names([{"name": name, "parameters": step}], STEPS, (key,), known, problems)


def _check_asked(manifest: SourceMap, problems: Problems) -> None:
    """How a language model writes: the parameters of the step that does it."""
    if manifest.get("ask") is not None:
        _resolved(STEPS["write"], "ask", manifest["ask"], ("ask",), problems)


def _resolved(
    declaration: Declaration, name: str, written: Any, path: DataPath, problems: Problems
) -> dict[str, Any] | None:
    """A step's parameters, every one explicit; None, and a problem, where they cannot be that."""
    try:
        found: dict[str, Any] = declaration.resolve(_plain(written))
        return found
    except ParameterError as error:
        where = (*path, error.parameter) if error.parameter else path
        hint = error.hint or (nearest(str(error.seen), error.known) if error.seen is not None else None)
        problems.note(where, Problem(f"step `{name}`: {error.message}", known=error.known, hint=hint))
        return None


def _refuse_decoder(manifest: SourceMap, problems: Problems) -> None:
    """A decoder is one of the manifest's own files, and makes the answers alone."""
    asked, files = manifest.get("generate"), manifest.get("files")
    if not isinstance(asked, dict):
        return
    name, known = asked.get("graph"), tuple(files) if isinstance(files, dict) else ()
    if isinstance(name, str) and name not in known:
        hint = nearest(name, known) or f"add it: `files: {{{name}: {{url: …}}}}`"
        words = f"the decoder is `{name}`, which is not one of the manifest's `files`"
        problems.note(("generate", "graph"), Problem(words, known=known, hint=hint))
    for stage in ("setup", "preprocess", "run", "postprocess"):
        if manifest.get(stage) is not None:
            words = f"`generate` and the function `{stage}`: one of them makes the answers"
            problems.note(("generate",), Problem(words, hint=f"leave out `generate` or `{stage}`"))
            return


def _refuse_unknown_names(
    steps: Any, registry: Registry[Declaration], path: DataPath, known: tuple[str, ...], problems: Problems
) -> None:
    for step in steps if isinstance(steps, list) else ():
        for parameter, name in named_files(registry, step["name"], step["parameters"]).items():
            if name not in known:
                hint = nearest(name, known) or f"add it: `files: {{{name}: {{url: …}}}}`"
                words = f"step `{step['name']}`: `{parameter}` is `{name}`, which is not one of the manifest's `files`"
                problems.note(path, Problem(words, known=known, hint=hint))


def named_files(registry: Registry[Declaration], step: str, parameters: Mapping[str, Any]) -> dict[str, str]:
    """The parameters of a step that name a file, with that name."""
    kinds = registry[step].kinds
    return {
        name: value for name, value in parameters.items() if isinstance(kinds.get(name), File) and value is not None
    }


def _lift_environment(manifest: SourceMap) -> None:
    framework = manifest.get("framework")
    if isinstance(framework, SourceMap):
        for key in ("container", "envvars"):
            if key in framework and key not in manifest:
                framework.move(key, manifest)
    variables = _read_variables(manifest, "envvars")
    container = manifest.get("container")
    images = list(container.values()) if isinstance(container, SourceMap) else []
    for holder in (framework, container, *images):
        if not isinstance(holder, SourceMap):
            continue
        for key in [key for key in holder if _ENVIRONMENT_VARIABLE.fullmatch(key)]:
            if not isinstance(variables, SourceMap):
                variables = SourceMap()
                manifest.put("envvars", variables, holder.places[key])
            holder.move(key, variables)
    _read_variables(manifest, "envvars")


def _read_variables(manifest: SourceMap, key: str) -> Any:
    """Environment variables as one mapping of texts; later manifests write a list of one-key mappings."""
    variables = manifest.get(key)
    if isinstance(variables, SourceList):
        merged = SourceMap()
        merged.place = variables.place
        for item in variables:
            if isinstance(item, SourceMap):
                for name in list(item):
                    item.move(name, merged)
        manifest[key] = variables = merged
    if isinstance(variables, SourceMap):
        for name, value in variables.items():
            if isinstance(value, (int, float)):
                variables[name] = getattr(value, "text", str(value).lower())
    return variables


def _wrap_single(manifest: SourceMap, kind: str) -> None:
    layer = manifest.get(kind)
    if isinstance(layer, SourceMap):
        wrapped = SourceList()
        wrapped.place = layer.place
        wrapped.places.append(layer.place)
        wrapped.append(layer)
        manifest[kind] = wrapped


def _read_steps(written: Any, path: DataPath, known: Registry[Declaration], problems: Problems) -> Any:
    """Steps as written become steps with every parameter explicit."""
    if written is None:
        return []
    steps = []
    for at, name, value in _pairs(written, path, problems):
        try:
            declaration = known.find(name)
        except PluginError as error:
            problems.note(at, Problem(error.message, hint=error.hint))
            continue
        if declaration is None:
            problem = Problem(f"unknown step `{name}`", known=tuple(known), hint=nearest(name, known))
            problems.note(at, problem)
            continue
        parameters = _resolved(declaration, name, value, at, problems)
        if parameters is not None:
            steps.append({"name": name, "parameters": parameters})
    return steps


def _pairs(written: Any, path: DataPath, problems: Problems) -> list[tuple[DataPath, str, Any]]:
    if isinstance(written, dict):
        return [((*path, name), name, value) for name, value in written.items()]
    if isinstance(written, list):
        pairs = []
        for index, item in enumerate(written):
            at = (*path, index)
            if isinstance(item, str):
                pairs.append((at, item, None))
            elif isinstance(item, dict) and len(item) == 1:
                ((name, value),) = item.items()
                pairs.append(((*at, name), name, value))
            else:
                problems.note(at, Problem("expected one step, such as `resize: {dimensions: [3, 224, 224]}`"))
        return pairs
    problems.note(path, Problem("expected steps: a mapping whose order counts, or a list"))
    return []


def _plain(value: Any) -> Any:
    """Parameters without their places: they go into plans and records."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return int(value)
    return float(value) if isinstance(value, float) else value
