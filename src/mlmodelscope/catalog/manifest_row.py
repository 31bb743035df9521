"""One manifest file as a row of a list."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from mlmodelscope.catalog.manifest_rows import ManifestNumber, ManifestRow
from mlmodelscope.errors import ManifestError, UsageError
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.plan.claim import claim_of, is_measurable


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
    row = ManifestRow(manifest.name, manifest.version, manifest.task, framework, manifest.licence or "", claims)
    return [replace(row, numbers=tuple(_numbers(manifest)), digest=manifest.digest)]


def _numbers(manifest: ModelManifest) -> Iterator[ManifestNumber]:
    for published in manifest.claims:
        if published.dataset is None or not is_measurable(published):
            continue
        with contextlib.suppress(UsageError):  # a unit that the metric does not have: `check` tells
            claim = claim_of(published, manifest.task)
            about = (claim.dataset or "", claim.conditions or "", claim.source or "")
            yield ManifestNumber(claim.metric, claim.value, claim.published, *about)


def _sign(unit: str | None) -> str:
    return {None: " %", "percent": " %", "dB": " dB"}.get(unit, "")
