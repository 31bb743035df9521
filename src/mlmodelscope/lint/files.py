"""Which files are meant: files, folders, globs; and whether a file found in a folder is a manifest at all."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from dataclasses import dataclass

from mlmodelscope.errors import ManifestError, Problem, UsageError
from mlmodelscope.lint.subject import Subject
from mlmodelscope.manifest.schema import KINDS
from mlmodelscope.manifest.source import SourceMap, parse_source

_SUFFIXES = (".yml", ".yaml")
_NOT_OURS = ("node_modules", "__pycache__", "site-packages")
_COMMON = ("name", "id", "version", "author", "licence", "license", "description", "references", "attributes")
_OLD_WORDS = [
    "input",
    "output",
    "model",
    "modality",
    "pre-process",
    "post-process",
    "pre_process",
    "post_process",
    "before_preprocess",
    "containers",
    "dataset_name",
    "graph_url",
    "weights_url",
    "trained_url",
    "features_url",
    "mean_image",
]
# Words that many other files have as well: one of them alone makes no manifest.
_EVERYBODYS = {
    "env",
    "setup",
    "run",
    "dataset",
    "hardware",
    "software",
    "memory",
    "options",
    "plan",
    "source",
    "format",
    "labels",
    "include",
    "load",
    "size",
    "shape",
    "container",
    "stack",
    "task",
    "classes",
    "samples",
    "environment",
    "outputs",
    "inputs",
    "sources",
    "columns",
    "header",
    "delimiter",
    "quoting",
    "split",
    "splits",
}
_WORDS = {key for schema in KINDS.values() for key in schema.model_fields if key not in _COMMON} | set(_OLD_WORDS)
# GitHub, Compose, Kubernetes, Ansible: they say so themselves.
_OTHERS = {"runs", "jobs", "services", "apiVersion", "hosts", "stages"}


@dataclass(frozen=True)
class Named:
    """A file to be checked."""

    name: str
    explicit: bool
    """Whether the user named this very file; one that was only found may be something else."""
    inside: str = ""
    """Where a file that was found lies in the folder that was searched."""


def find_files(paths: Iterable[str]) -> list[Named]:
    """Files in the order of the paths, each once; UsageError or ManifestError where a path leads nowhere."""
    found: dict[str, Named] = {}
    for path in paths:
        for each in _expand(path):
            known = found.get(each.name)
            if known is None or (each.explicit and not known.explicit):
                found[each.name] = each
    return list(found.values())


def _expand(path: str) -> list[Named]:
    if path == "-":
        return [Named("-", True)]
    try:
        if os.path.isdir(path):
            return _in_folder(path)
        if os.path.lexists(path) or not glob.has_magic(path):
            return [Named(path, True)]
    except ValueError:  # a zero byte: reading it will say what is wrong
        return [Named(path, True)]
    matches = sorted(glob.glob(os.path.expanduser(path), recursive=True))
    base = os.path.expanduser(path).split("/")
    above = "/".join(base[: next(place for place, part in enumerate(base) if glob.has_magic(part))])
    found = [_found(match, above or os.curdir) for match in matches if match.endswith(_SUFFIXES)]
    if not found:
        raise UsageError(f"no .yml or .yaml file matches `{path}`")
    return found


def _in_folder(path: str) -> list[Named]:
    names: list[str] = []
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _NOT_OURS)
        names += [os.path.normpath(os.path.join(folder, name)) for name in sorted(files) if name.endswith(_SUFFIXES)]
    if not names:
        raise ManifestError(Problem("there is no .yml or .yaml file in this folder", file=path))
    return [_found(name, path) for name in names]


def _found(name: str, folder: str) -> Named:
    return Named(os.path.normpath(name), False, os.path.relpath(name, folder))


def is_manifest(subject: Subject) -> bool:
    """Whether a file that was found in a folder means to be a manifest; one that cannot be read might."""
    return _might_be(subject.unreadable[0]) if subject.unreadable else _has_words(subject.written)


def is_manifest_text(raw: bytes | str, file: str) -> bool:
    """The same of a text that nothing else is asked about."""
    try:
        return _has_words(parse_source(raw, file, functions=True))
    except ManifestError as error:
        return _might_be(error.problems[0])


def _might_be(problem: Problem) -> bool:
    return not problem.message.startswith("a manifest is a mapping")


def _has_words(data: SourceMap) -> bool:
    words = _WORDS & set(data)
    if _OTHERS & set(data):
        return False
    if not {"name", "id"} & set(data):  # forgotten or misspelt, where the rest is plain
        return len(words) > 2
    if data.get("kind") in list(KINDS):  # whatever that is: a list cannot be looked up in a mapping
        return True
    return len(words) > 1 or bool(words - _EVERYBODYS)
