"""A manifest file or text becomes a frozen manifest, or an error that says where and why not."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mlmodelscope.errors import ManifestError, Problem
from mlmodelscope.manifest.dialect import (
    Dialect,
    Notes,
    includes_files,
    looks_like_log,
    recognise_dialect,
    recognise_kind,
)
from mlmodelscope.manifest.explain import explain
from mlmodelscope.manifest.included import with_included
from mlmodelscope.manifest.listing import rearrange
from mlmodelscope.manifest.reference import with_absolute_paths
from mlmodelscope.manifest.schema import KINDS
from mlmodelscope.manifest.schema.part import Manifest, content_digest
from mlmodelscope.manifest.source import (
    FUNCTION_TAG,
    SourceList,
    SourceMap,
    decode_source,
    parse_source,
    read_bytes,
)


@dataclass(frozen=True)
class Document:
    """A manifest as it was read: the current format, and what was decided on the way there."""

    file: str
    folder: Path
    text: str
    kind: str
    dialect: Dialect | None
    data: SourceMap
    """The current format as an author would write it, before any default is filled in."""
    notes: Notes = field(default_factory=Notes)
    looks_like_log: bool = False
    """Whether a file that names no kind has a reference log's keys and was taken for something else."""

    def manifest(self) -> Manifest:
        """Check it against the schema; ManifestError holds every problem. Uses the data up."""
        try:
            return _validate(self.data, self.kind, self.file, self.folder)
        except ManifestError as error:
            if not self.looks_like_log:
                raise
            words = "this looks like a reference log, and a log says so itself"
            raise ManifestError(
                Problem(words, file=self.file, line=1, column=1, hint="add `kind: log`"), *error.problems
            ) from None


def open_document(path: str | Path) -> Document:
    """Read a manifest file of any kind and dialect."""
    path = Path(path)
    return parse_document(read_bytes(path), str(path), path.absolute().parent)


def parse_document(raw: str | bytes, file: str = "<text>", folder: Path | None = None) -> Document:
    """Read a manifest of any kind and dialect, given as text."""
    text = decode_source(raw, file)
    data = _parsed(text, file)
    if includes_files(data):
        data = with_included(data, folder, file)
    return _document(data, file, folder or Path.cwd(), text)


def _parsed(text: str, file: str) -> SourceMap:
    """The text as data; names of functions are let through in the one form that has them, which refuses each."""
    try:
        return parse_source(text, file)
    except ManifestError:
        if FUNCTION_TAG not in text:
            raise
        data = parse_source(text, file, functions=True)
        if not includes_files(data):
            raise
        return data


def load_manifest(source: str | Path | Mapping[str, Any]) -> Manifest:
    """Read a manifest from a file, or check one given as a mapping."""
    if isinstance(source, Mapping):
        return _document(_with_places(source), "<mapping>", Path.cwd()).manifest()
    return open_document(source).manifest()


def parse_manifest(text: str | bytes, file: str = "<text>") -> Manifest:
    """Check a manifest given as text."""
    return parse_document(text, file).manifest()


def _document(data: SourceMap, file: str, folder: Path, text: str = "") -> Document:
    is_log = "kind" not in data and looks_like_log(data)
    kind = _kind(data, file)
    dialect = recognise_dialect(kind, data)
    notes = Notes()
    for each in data.repeated:
        notes.add("repeated", f"the key `{each.key[:60]}` stands twice (first in line {each.first[0]})", each.second)
    if dialect is not None:
        try:
            data = dialect.convert(data, notes)
        except ManifestError as error:
            raise ManifestError(*(replace(problem, file=file) for problem in error.problems)) from None
    return Document(file, folder, text, kind, dialect, data, notes, is_log)


def _kind(data: SourceMap, file: str) -> str:
    if "kind" not in data:
        return recognise_kind(data)
    place = data.places["kind"]
    kind = data.pop("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise ManifestError(
            Problem(f"`{kind}` is not a kind of manifest", "kind", file, place[0], place[1], known=tuple(KINDS))
        )
    return kind


def _validate(data: SourceMap, kind: str, file: str, folder: Path) -> Manifest:
    schema = KINDS[kind]
    if "licence" in data and "license" not in data:  # both spellings are accepted, one is kept
        data.move("licence", data, "license")
    problems = rearrange(data, kind)
    try:
        manifest = schema.model_validate(data)
    except ValidationError as error:
        problems += explain(error, schema, data)
    if problems:
        raise ManifestError(*(replace(problem, file=file) for problem in problems))
    digest = content_digest(manifest)
    found: Manifest = with_absolute_paths(manifest, folder)
    found._digest = digest
    found._file = sys.intern(file)
    return found


def _with_places(value: Any) -> Any:
    """A mapping built by a program, in the form that a file would have."""
    if isinstance(value, Mapping):
        result = SourceMap()
        for key, item in value.items():
            result.put(str(key), _with_places(item), (0, 0))
        result.place = (0, 0)
        return result
    if isinstance(value, (list, tuple)):
        items = SourceList()
        for item in value:
            items.put(_with_places(item), (0, 0))
        items.place = (0, 0)
        return items
    return value
