"""A manifest file or text becomes a frozen manifest, or an error that says where and why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mlmodelscope.errors import ManifestError
from mlmodelscope.manifest.explain import explain
from mlmodelscope.manifest.listing import rearrange
from mlmodelscope.manifest.reference import resolve_references
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.manifest.source import SourceList, SourceMap, parse_source, read_source


def load_manifest(source: str | Path | Mapping[str, Any]) -> ModelManifest | DatasetManifest:
    """Read a manifest from a file, or check one given as a mapping."""
    if isinstance(source, Mapping):
        return read_manifest(_with_places(source), "<mapping>", Path.cwd())
    path = Path(source)
    return read_manifest(read_source(path), str(path), path.absolute().parent)


def parse_manifest(text: str | bytes, file: str = "<text>") -> ModelManifest | DatasetManifest:
    """Check a manifest given as text."""
    return read_manifest(parse_source(text, file), file, Path.cwd())


def read_manifest(data: SourceMap, file: str, folder: Path) -> ModelManifest | DatasetManifest:
    schema: type[ModelManifest] | type[DatasetManifest] = DatasetManifest if _is_dataset(data) else ModelManifest
    if "license" in data and "licence" not in data:  # both spellings are welcome, one is kept
        data.put("licence", data.pop("license"), data.places.pop("license"))
    problems = rearrange(data) if schema is ModelManifest else []
    resolve_references(data, folder)
    try:
        manifest = schema.model_validate(data)
    except ValidationError as error:
        problems += explain(error, schema, data)
    if problems:
        raise ManifestError(*(replace(problem, file=file) for problem in problems))
    return manifest


def _is_dataset(data: SourceMap) -> bool:
    return "sources" in data or ("format" in data and "inputs" not in data)


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
        items.extend(_with_places(item) for item in value)
        items.places = [(0, 0)] * len(items)
        items.place = (0, 0)
        return items
    return value
