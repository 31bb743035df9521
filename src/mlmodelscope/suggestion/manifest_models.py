"""Models of manifests, those that come with the package and the user's own, with their claims."""

from __future__ import annotations

from mlmodelscope.catalog.manifest_rows import ManifestRow, manifest_rows
from mlmodelscope.manifest.folders import catalog_files
from mlmodelscope.settings import Settings
from mlmodelscope.suggestion.evidence import Evidence, Known
from mlmodelscope.suggestion.wish import Wish


def manifest_models(settings: Settings, wish: Wish) -> list[Known]:
    """All of the task, whether they claim anything or not: records may tell what they reach.

    A file that cannot be read is passed over: `models` and `check` tell what is wrong with it.
    """
    rows = manifest_rows(settings, list(catalog_files("models")))
    return [_known(row) for row in rows if not row.problem and wish.task in (None, row.task)]


def _known(row: ManifestRow) -> Known:
    known = Known(
        reference=row.name,
        name=row.name,
        task=row.task,
        license=row.license or None,
        license_source="its manifest" if row.license else "not told by its manifest",
        parameters=None,
        size_bytes=None,
        gflops=None,
        is_runnable=True,
        digest=row.digest,
    )
    for each in row.published:
        if each.number is None or not each.dataset:
            continue
        source = f"manifest of {row.name}" + (f", {each.source}" if each.source else "")
        evidence = Evidence(each.number, each.shown, "claimed", source, each.conditions)
        known.numbers.setdefault((each.dataset, each.metric), []).append(evidence)
    return known
