"""Published numbers of all models, with the last verdict on each."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.ledger.verdicts import Verdicts
from mlmodelscope.manifest.schema import Claim, ModelManifest
from mlmodelscope.manifest.trust import code_of
from mlmodelscope.plan.claim import claim_of
from mlmodelscope.report.claims import written_of
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.handle.replications import read_verdict

Told = dict[tuple[str, str, str, str | None], dict[str, Any]]
"""The last verdict by model, metric, value and dataset."""
UNCHECKED = "not checked"


def find(desk: Desk, person: Person, model: str | None = None, verdict: str | None = None) -> list[dict[str, Any]]:
    """Claims of the newest version of every model."""
    demand(person, "read")
    told, known = last_verdicts(desk), dataset_names(desk)
    found = []
    for name, versions in sorted(desk.catalogue.by_name("model").items()):
        manifest = versions[0].manifest
        assert isinstance(manifest, ModelManifest)
        if model is None or name == model:
            facts = {"model": manifest.name, "version": manifest.version, "task": manifest.task}
            found += [{**facts, **each} for each in claims_of(manifest, told, known)]
    return [each for each in found if verdict is None or each["verdict"] == verdict]


def last_verdicts(desk: Desk) -> Told:
    found: Told = {}
    for evaluation, document in Verdicts(desk.store.database).newest():
        finding = read_verdict(document)
        if finding is None:
            continue
        causes = [each.words for each in finding.explained_by]
        for each in finding.verdicts or (finding,):  # older findings are about one claim
            claim = each.claim
            is_explained = claim == finding.claim
            about = {"replication": evaluation, "record": finding.record, "measured": each.measured}
            said = {"verdict": each.verdict, "explained_by": causes if is_explained else [], **about}
            found.setdefault((finding.model, claim.metric, claim.value, claim.dataset), said)
    return found


def dataset_names(desk: Desk) -> Collection[str]:
    return desk.catalogue.by_name("dataset").keys()


def claims_of(manifest: ModelManifest, told: Told, datasets: Collection[str]) -> list[dict[str, Any]]:
    """Each with the last verdict on it, and what stands in the way of checking it; `datasets` are those known here."""
    found = []
    nothing: dict[str, Any] = {
        "verdict": UNCHECKED,
        "explained_by": [],
        "replication": None,
        "record": None,
        "measured": None,
    }
    for each in manifest.claims:
        try:
            metric: str | None = claim_of(each, manifest.task).metric
        except UsageError:
            metric = None  # nothing that can be measured here
        title, unit = written_of(each)
        known = told.get((manifest.reference, metric or each.metric, each.value, each.dataset), nothing)
        facts: dict[str, Any] = {"metric": each.metric, "title": title, "value": each.value, "unit": unit}
        facts |= {"dataset": each.dataset, "source": each.source}
        obstacle = _obstacle(manifest, each, datasets) if metric is not None else None
        found.append({**facts, "checkable": metric is not None, "obstacle": obstacle, **known})
    return found


def _obstacle(manifest: ModelManifest, claim: Claim, datasets: Collection[str]) -> str | None:
    name = (claim.dataset or manifest.dataset or "").partition("@")[0]
    if not name:
        return "names no dataset"
    if name not in datasets:
        return f"needs a dataset manifest of {name}"
    return "needs trust: the manifest carries code" if code_of(manifest) else None
