"""One manifest file as a row of a list."""

from __future__ import annotations

from pathlib import Path

from mlmodelscope.catalog.manifest_rows import ManifestClaim, ManifestRow
from mlmodelscope.errors import ManifestError, UsageError
from mlmodelscope.manifest import schema
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.manifest.splits import claimed_on
from mlmodelscope.plan.claim import claim_of
from mlmodelscope.plan.claim_key import key_of


def rows_of(path: Path) -> list[ManifestRow]:
    """A row for a model, none for a manifest of another kind, and for a broken file why it is left out."""
    try:
        manifest = load_manifest(path)
    except ManifestError as error:
        return [ManifestRow(problem=str(error.problems[0]))]
    return [row_of(manifest)] if isinstance(manifest, ModelManifest) else []


def row_of(manifest: ModelManifest) -> ManifestRow:
    framework = f"{manifest.framework.name} {manifest.framework.version}" if manifest.framework else ""
    claims = tuple(f"{claim.metric} {claim.value}{_sign(claim.unit)}" for claim in manifest.claims)
    facts = manifest.name, manifest.version, manifest.task, framework, manifest.license or "", claims
    published = tuple(_published(manifest, each) for each in manifest.claims)
    return ManifestRow(*facts, published=published, digest=manifest.digest)


def _published(manifest: ModelManifest, claim: schema.Claim) -> ManifestClaim:
    try:
        counted = claim_of(claim, manifest.task)
        symbol, number, shown = counted.symbol, counted.value, counted.published
    except UsageError:  # nobody's metric, or a unit that it does not have
        symbol, number, shown = _sign(claim.unit or "number").strip(), None, ""
    return ManifestClaim(
        key=key_of(manifest.reference, claim),
        metric=claim.metric,
        value=claim.value,
        unit=symbol,
        dataset=claimed_on(claim) or "",
        conditions=claim.conditions or "",
        source=claim.source or "",
        number=number,
        shown=shown,
    )


def _sign(unit: str | None) -> str:
    return {None: " %", "percent": " %", "dB": " dB"}.get(unit, "")
