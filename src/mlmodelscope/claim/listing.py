"""Published numbers of manifests and sources with their statuses, searched: from indexes alone, nothing is parsed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from mlmodelscope.catalog.index import open_index
from mlmodelscope.catalog.manifest_rows import ManifestRow, manifest_rows
from mlmodelscope.catalog.search import MOST, ClaimRow, Query
from mlmodelscope.catalog.search import claims as search_claims
from mlmodelscope.claim.status import NOT_CHECKED, UNCHECKED, Standing, standing_of, standings
from mlmodelscope.manifest.folders import catalog_files
from mlmodelscope.record.checks import Check, checks_at
from mlmodelscope.settings import Settings
from mlmodelscope.task.measure import find_measure

_SYMBOLS = {"percent": "%", "dB": "dB"}


@dataclass(frozen=True)
class Wanted:
    """Every filter that is given must hold."""

    text: str = ""
    source: str | None = None
    metric: str | None = None
    dataset: str | None = None
    status: str | None = None
    model: str | None = None
    """One model: a manifest's name, `name@version`, or `SOURCE:NAME`."""
    limit: int = 50
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Published:
    """A published number, and where it stands."""

    model: str
    """`name@version` of a manifest, or `SOURCE:NAME`; every verb takes it."""
    metric: str
    value: str
    symbol: str
    """What stands behind the number."""
    dataset: str
    """With its split, where the claim names one."""
    conditions: str
    place: str
    """Where it was published: a file and line of the source, or what the manifest names."""
    key: str
    fits: bool
    """Whether it was measured with the steps that the manifest has."""
    is_measurable: bool
    standing: Standing = NOT_CHECKED

    @property
    def published(self) -> str:
        return f"{self.value} {self.symbol}".rstrip()

    @property
    def claim(self) -> str:
        return f"{self.metric} {self.published}"

    def measured(self, check: Check) -> str:
        """What a check measured, as the claim would be published."""
        found = find_measure(check.metric) if self.symbol else None
        factor = 100.0 if self.symbol == "%" else found.unit.factor if found is not None else 1.0
        digits = max(2 if self.symbol else 4, len(self.value.partition(".")[2]))
        return f"{factor * check.measured:.{digits}f} {self.symbol}".rstrip()


@dataclass(frozen=True)
class Page:
    rows: tuple[Published, ...]
    total: int
    problems: tuple[str, ...] = ()
    """Manifest files that cannot be read."""


def list_claims(
    settings: Settings,
    wanted: Wanted,
    known: dict[str, Standing] | None = None,
    manifests: Sequence[ManifestRow] | None = None,
) -> Page:
    """Those of manifests first, then those of sources; statuses and manifests are this machine's, unless given."""
    if known is None:
        known = standings(checks_at(settings))
    own, problems = _of_manifests(settings, wanted, known, manifests)
    limit = MOST if wanted.limit <= 0 else min(wanted.limit, MOST)
    first = own[wanted.offset : wanted.offset + limit]
    rest = replace(wanted, limit=limit - len(first), offset=max(0, wanted.offset - len(own)))
    described, count = _of_sources(settings, rest, known)
    return Page((*first, *described[: limit - len(first)]), len(own) + count, problems)


def _of_manifests(
    settings: Settings, wanted: Wanted, known: dict[str, Standing], rows: Sequence[ManifestRow] | None
) -> tuple[list[Published], tuple[str, ...]]:
    if wanted.source is not None or (wanted.model is not None and ":" in wanted.model):
        return [], ()
    if rows is None:
        rows = manifest_rows(settings, list(catalog_files("models")))
    words = wanted.text.lower().split()
    found: dict[str, Published] = {}
    for row in rows:
        if wanted.model is not None and wanted.model not in (row.name, row.reference):
            continue
        for each in _published(row, known):
            seen = " ".join((row.name, row.task, row.framework, each.metric, each.dataset, each.conditions)).lower()
            if all(word in seen for word in words) and _fits(each, wanted):
                found.setdefault(each.key, each)  # a manifest in two folders: the user's own comes first
    return list(found.values()), tuple(row.problem for row in rows if row.problem)


def _published(row: ManifestRow, known: dict[str, Standing]) -> list[Published]:
    return [
        Published(
            model=row.reference,
            metric=each.metric,
            value=each.value,
            symbol=each.unit,
            dataset=each.dataset,
            conditions=each.conditions,
            place=each.source,
            key=each.key,
            fits=True,
            is_measurable=each.is_measurable,
            standing=standing_of(each.key, known),
        )
        for each in row.published
    ]


def _fits(each: Published, wanted: Wanted) -> bool:
    if wanted.status is not None and each.standing.status != wanted.status:
        return False
    if wanted.dataset is not None and dataset_name(each.dataset) != dataset_name(wanted.dataset):
        return False
    return wanted.metric is None or _plain(each.metric) == _plain(wanted.metric)


def _plain(metric: str) -> str:
    found = find_measure(metric)
    return found.name if found is not None else metric.lower()


def dataset_name(reference: str) -> str:
    """Without version and split."""
    return reference.partition("@")[0].partition(":")[0].strip().lower()


def _of_sources(settings: Settings, wanted: Wanted, known: dict[str, Standing]) -> tuple[tuple[Published, ...], int]:
    if wanted.model is not None and ":" not in wanted.model:
        return (), 0
    keep = None
    if wanted.status is not None:
        status = wanted.status

        def keep(key: str) -> bool:
            found = known.get(key)
            return (found.status if found is not None else UNCHECKED) == status

    query = Query(
        text=wanted.text,
        source=wanted.source,
        metric=wanted.metric,
        dataset=dataset_name(wanted.dataset) if wanted.dataset is not None else None,
        reference=wanted.model,
        limit=max(1, wanted.limit),
        offset=wanted.offset,
    )
    with closing(open_index(settings)) as index:
        rows, total = search_claims(index, query, keep)
    return tuple(_described(row, known) for row in rows), total


def _described(row: ClaimRow, known: dict[str, Standing]) -> Published:
    return Published(
        model=row.reference,
        metric=row.metric,
        value=row.value,
        symbol=_SYMBOLS.get(row.unit, ""),
        dataset=f"{row.dataset}:{row.split}" if row.dataset and row.split else row.dataset,
        conditions=row.conditions,
        place=row.place,
        key=row.key,
        fits=row.fits,
        is_measurable=row.is_measurable,
        standing=standing_of(row.key, known),
    )
