"""One manifest file as a row of a list."""

from __future__ import annotations

from pathlib import Path

from mlmodelscope.catalog.manifest_rows import ManifestRow
from mlmodelscope.errors import ManifestError
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import ModelManifest


def rows_of(path: Path) -> list[ManifestRow]:
    """A row for a model, none for a manifest of another kind, and for a broken file why it is left out."""
    try:
        manifest = load_manifest(path)
    except ManifestError as error:
        return [ManifestRow(problem=str(error.problems[0]))]
    if not isinstance(manifest, ModelManifest):
        return []
    framework = f"{manifest.framework.name} {manifest.framework.version}" if manifest.framework else ""
    claims = tuple(f"{claim.metric} {claim.value}{_sign(claim.unit)}" for claim in manifest.claims)
    return [ManifestRow(manifest.name, manifest.version, manifest.task, framework, manifest.licence or "", claims)]


def _sign(unit: str | None) -> str:
    return {None: " %", "percent": " %", "dB": " dB"}.get(unit, "")
