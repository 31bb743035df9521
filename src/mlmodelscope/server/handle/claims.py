"""Published numbers of all models, with the last verdict on each."""

from __future__ import annotations

from typing import Any

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.ledger.verdicts import Verdicts
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.replicate.claim import claim_of
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.handle.replications import read_verdict

Told = dict[tuple[str, str, str, str | None], dict[str, Any]]
"""The last verdict by model, metric, value and dataset."""
UNCHECKED = "not checked"


def find(desk: Desk, person: Person, model: str | None = None, verdict: str | None = None) -> list[dict[str, Any]]:
    """Claims of the newest version of every model."""
    demand(person, "read")
    told = last_verdicts(desk)
    found = []
    for name, versions in sorted(desk.catalogue.by_name("model").items()):
        manifest = versions[0].manifest
        assert isinstance(manifest, ModelManifest)
        if model is None or name == model:
            facts = {"model": manifest.name, "version": manifest.version, "task": manifest.task}
            found += [{**facts, **each} for each in claims_of(manifest, told)]
    return [each for each in found if verdict is None or each["verdict"] == verdict]


def last_verdicts(desk: Desk) -> Told:
    found: Told = {}
    for evaluation, document in Verdicts(desk.store.database).newest():
        finding = read_verdict(document)
        if finding is not None:
            claim = finding.claim
            key = (finding.model, claim.metric, claim.value, claim.dataset)
            about = {"replication": evaluation, "record": finding.record, "measured": finding.measured}
            causes = [each.words for each in finding.explained_by]
            found.setdefault(key, {"verdict": finding.verdict, "explained_by": causes, **about})
    return found


def claims_of(manifest: ModelManifest, told: Told) -> list[dict[str, Any]]:
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
            metric: str | None = claim_of(each).metric
        except UsageError:
            metric = None  # nothing that can be measured here
        known = told.get((manifest.reference, metric or each.metric, each.value, each.dataset), nothing)
        facts = {"metric": each.metric, "value": each.value, "dataset": each.dataset, "source": each.source}
        found.append({**facts, "checkable": metric is not None, **known})
    return found
