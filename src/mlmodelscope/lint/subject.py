"""What a rule sees of one file: its text, what was written, the current format with places, and the manifest."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from mlmodelscope.errors import ManifestError, Problem
from mlmodelscope.lint.finding import Edit, Finding, Severity
from mlmodelscope.manifest.load import Document, parse_document
from mlmodelscope.manifest.reference import parse_reference
from mlmodelscope.manifest.schema import DatasetManifest, HardwareManifest, ModelManifest, SoftwareManifest
from mlmodelscope.manifest.schema.part import Manifest
from mlmodelscope.manifest.source import (
    Place,
    SourceList,
    SourceMap,
    Span,
    decode_source,
    parse_source,
    spell_path,
)
from mlmodelscope.model_file.model_file import ModelFile, ModelFileError

DataPath = tuple[str | int, ...]

# As YAML counts lines, so that a place is found again in the text.
_BREAK = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
NOWHERE = Path("/nonexistent")
"""The folder of a stranger's text: no file of this machine is looked at for it."""
_INSIDE_PROCESSING = ("features_url", "features_checksum", "label_offset")


class Subject:
    """One file under examination. Whatever is wrong with it becomes problems, never an exception."""

    def __init__(self, raw: bytes | str, file: str, folder: Path | None = None) -> None:
        self.file = file
        self.folder = folder or Path.cwd()
        self.text = ""
        self.document: Document | None = None
        self.manifest: Manifest | None = None
        self.unreadable: tuple[Problem, ...] = ()
        self.problems: tuple[Problem, ...] = ()
        try:
            self.text = decode_source(raw, file)
            self.written = parse_source(self.text, file, functions=True)
        except ManifestError as error:
            self.unreadable = error.problems
            self.written = SourceMap()
            return
        try:
            self.document = parse_document(self.text, file, self.folder)
            self.manifest = self.document.manifest()
        except ManifestError as error:
            self.problems = error.problems

    @property
    def kind(self) -> str:
        return self.document.kind if self.document else ""

    @property
    def dialect(self) -> str | None:
        return self.document.dialect.name if self.document and self.document.dialect else None

    @property
    def model(self) -> ModelManifest:
        assert isinstance(self.manifest, ModelManifest)
        return self.manifest

    @property
    def dataset(self) -> DatasetManifest:
        assert isinstance(self.manifest, DatasetManifest)
        return self.manifest

    @property
    def software(self) -> SoftwareManifest:
        assert isinstance(self.manifest, SoftwareManifest)
        return self.manifest

    @property
    def hardware(self) -> HardwareManifest:
        assert isinstance(self.manifest, HardwareManifest)
        return self.manifest

    @cached_property
    def form(self) -> SourceMap:
        """The current format with its places; the document's own was used up when it was validated."""
        try:
            return parse_document(self.text, self.file, self.folder).data
        except ManifestError:
            return self.written

    @cached_property
    def model_file(self) -> ModelFile | None:
        """What the model's file says of itself, where it is available and can be read."""
        return self._model_file[0]

    @property
    def model_file_fault(self) -> str | None:
        return self._model_file[1]

    @cached_property
    def _model_file(self) -> tuple[ModelFile | None, str | None]:
        path = self.local(self.model.source.graph_path) if self.model.source else None
        if path is None or not is_there(path):
            return None, None
        try:
            seen = path.stat()
        except OSError as error:
            return None, error.strerror
        return _describe(path, seen.st_mtime_ns, seen.st_size)

    def local(self, reference: str | None) -> Path | None:
        """The path of a file that is on this machine rather than somewhere in the network."""
        if self.folder == NOWHERE:
            return None
        try:
            parsed = parse_reference(reference) if reference else None
            return Path(parsed.location) if parsed and parsed.is_local and not parsed.member else None
        except ValueError:
            return None

    def locate(self, path: DataPath) -> tuple[Place, Span | None]:
        """Line and column of a path in the current format, and its span if the author wrote just that value."""
        data: Any = self.form
        place: Place = data.place
        span: Span | None = None
        for number, part in enumerate(path):
            step = _step(data, part, steps=number > 0 and path[number - 1] == "processing")
            if step is None:
                return place, None
            data, place, span = step
        return place, span

    def finding(
        self,
        path: DataPath,
        message: str,
        hint: str | None = None,
        fix: tuple[Edit, ...] = (),
        severity: Severity | None = None,
    ) -> Finding:
        """At a path of the current format."""
        return self.finding_at(self.locate(path)[0], message, spell_path(path), hint, fix, severity)

    def finding_at(
        self,
        place: Place,
        message: str,
        path: str = "",
        hint: str | None = None,
        fix: tuple[Edit, ...] = (),
        severity: Severity | None = None,
    ) -> Finding:
        return Finding(message, self.file, *place, path, hint, fix=fix, severity=severity)

    def edit_key(self, place: Place, old: str, new: str) -> tuple[Edit, ...]:
        """Rename the key that stands at a place; nothing where another text stands there."""
        start = self.offset(place)
        for quote in ("", '"', "'"):
            if self.text.startswith(f"{quote}{old}{quote}", start) and old.isascii():
                return (Edit(start, start + len(old) + 2 * len(quote), f"{quote}{new}{quote}"),)
        return ()

    def offset(self, place: Place) -> int:
        """Where a line and column are in the text."""
        line = min(max(place[0], 1), len(self._lines))
        return self._lines[line - 1] + max(place[1], 1) - 1

    @cached_property
    def _lines(self) -> list[int]:
        return [0, *(match.end() for match in _BREAK.finditer(self.text))]

    @cached_property
    def entries(self) -> list[tuple[SourceMap, str, DataPath]]:
        """Every key that was written, with the mapping that holds it."""
        found: list[tuple[SourceMap, str, DataPath]] = []
        pending: list[tuple[Any, DataPath]] = [(self.written, ())]
        while pending:
            data, path = pending.pop()
            if isinstance(data, SourceMap):
                found += [(data, key, (*path, key)) for key in data]
                pending += [(data[key], (*path, key)) for key in reversed(list(data))]
            elif isinstance(data, SourceList):
                pending += [(item, (*path, index)) for index, item in reversed(list(enumerate(data)))]
        return found


@lru_cache(256)
def _describe(path: Path, mtime_ns: int, size: int) -> tuple[ModelFile | None, str | None]:
    """Of a file as it is at this moment: variants of a manifest share their model's file."""
    from mlmodelscope.model_file.describe import describe_model

    try:
        return describe_model(path), None
    except ModelFileError as error:
        return None, error.message.partition("\n")[0]


def is_there(path: Path) -> bool:
    """A name that no file can have is not there either."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _step(data: Any, part: str | int, steps: bool) -> tuple[Any, Place, Span | None] | None:
    """One part further down, as the author may have written it."""
    if isinstance(data, SourceList) and isinstance(part, int):
        if part >= len(data):
            return None
        item, place = data[part], data.places[part]
        span = data.spans[part] if len(data.spans) == len(data) else None
        if steps and isinstance(item, SourceMap) and len(item) == 1:
            return _in_map(item, next(iter(item)))
        return item, place, span
    if not isinstance(data, SourceMap):
        return None
    if isinstance(part, int):
        if not steps:  # a single input or output without a list
            return (data, data.place, None) if part == 0 else None
        names = [key for key in data if key not in _INSIDE_PROCESSING]
        return _in_map(data, names[part]) if part < len(names) else None
    if part in data:
        return _in_map(data, part)
    other = {"licence": "license", "license": "licence"}.get(part)
    if other in data:
        return _in_map(data, str(other))
    for holder, keys in (("framework", ("container", "envvars")), ("processing", _INSIDE_PROCESSING)):
        if part in keys and isinstance(data.get(holder), SourceMap) and part in data[holder]:
            return _in_map(data[holder], part)
    return None


def _in_map(data: SourceMap, key: str) -> tuple[Any, Place, Span | None]:
    return data[key], data.places.get(key, data.place), data.spans.get(key)
