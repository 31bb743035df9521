"""Folders of our own manifests: of a repository, of an archive, or those that another server has."""

from __future__ import annotations

from collections.abc import Iterator

from mlmodelscope.catalog.entry import ClaimFact, Entry, Unit
from mlmodelscope.catalog.files import Files
from mlmodelscope.catalog.source.form import Reading, source_form
from mlmodelscope.catalog.words import metric_word
from mlmodelscope.errors import ManifestError, Problem
from mlmodelscope.manifest.load import parse_manifest
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.manifest.schema.model import Claim

_PATTERNS = ("*.yml", "*.yaml")
_MOST = 20_000


def _recognize(files: Files) -> bool:
    """Any file that is a model manifest; a few tell."""
    for name in files.matching(*_PATTERNS)[:50]:
        try:
            if isinstance(_parsed(files.read(name), name), ModelManifest):
                return True
        except ManifestError:
            continue
    return False


@source_form("manifests", _recognize)
def read(reading: Reading) -> Iterator[Entry]:
    """a folder of model manifests."""
    for name in reading.files.matching(*_PATTERNS)[:_MOST]:
        try:
            raw = reading.files.read(name)
            manifest = _parsed(raw, name)
        except ManifestError:
            reading.leave_out("a file that is no valid manifest", name)
            continue
        if not isinstance(manifest, ModelManifest):
            reading.leave_out("a manifest of another kind", name)
            continue
        yield Entry(
            manifest.name,
            manifest.task,
            architecture=str(manifest.attributes.get("architecture") or "")[:200],
            framework=manifest.framework.name if manifest.framework is not None else "",
            description=(manifest.description or "")[:200],
            weights_license=manifest.license or "",
            claims=tuple(_claim(claim, name) for claim in manifest.claims),
            references=manifest.references,
            place=name,
            manifest=raw.decode("utf-8-sig"),
        )


def _parsed(raw: bytes, name: str) -> object:
    try:
        return parse_manifest(raw.decode("utf-8-sig"), name)
    except UnicodeDecodeError:
        raise ManifestError(Problem("it is not text in UTF-8", file=name)) from None


def _claim(claim: Claim, name: str) -> ClaimFact:
    word = metric_word(claim.metric)
    unit: Unit = claim.unit or ("percent" if word.unit == "percent" else "dB" if word.unit == "dB" else "number")
    because = "the manifest's unit" if claim.unit is not None else f"{claim.metric} is published like this"
    return ClaimFact(
        word.name if word.is_known else claim.metric,
        claim.value,
        unit,
        because,
        name,
        claim.dataset or "",
        claim.split or "",
        claim.conditions or "",
        metric_as_written=claim.metric if word.is_known and word.name != claim.metric else "",
        is_measurable=word.is_known,
    )
