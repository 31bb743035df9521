"""Published numbers of all models, with the last verdict on each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from mlmodelscope.claim.status import Standing, standing_of, standings
from mlmodelscope.connection.kept import connect_command
from mlmodelscope.connection.resolve import NotConnected, whole_of, with_folder
from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.ledger.verdicts import Verdicts
from mlmodelscope.manifest.schema import Claim, DatasetManifest, ModelManifest
from mlmodelscope.manifest.trust import code_of
from mlmodelscope.plan.claim import claim_of
from mlmodelscope.plan.claim_key import key_of
from mlmodelscope.record.checks import read_checks
from mlmodelscope.replicate.finding import Measured
from mlmodelscope.report.claims import written_of
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.handle.replications import read_verdict

Told = dict[tuple[str, str, str, str | None], dict[str, Any]]
"""The last verdict by model, metric, value and dataset."""
UNCHECKED = "not checked"


def find(desk: Desk, person: Person, model: str | None = None, verdict: str | None = None) -> list[dict[str, Any]]:
    """Claims of the newest version of every model."""
    demand(person, "read")
    told, known = last_verdicts(desk), known_datasets(desk)
    checked = standings(read_checks(desk.store.database))
    found = []
    for name, versions in sorted(desk.catalogue.by_name("model").items()):
        manifest = versions[0].manifest
        assert isinstance(manifest, ModelManifest)
        if model is None or name == model:
            facts = {"model": manifest.name, "version": manifest.version, "task": manifest.task}
            found += [{**facts, **each} for each in claims_of(manifest, told, checked, known)]
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


def known_datasets(desk: Desk) -> dict[str, str | None]:
    """The datasets that manifests here describe, each with what keeps it from being used."""
    found: dict[str, str | None] = {}
    for name, versions in desk.catalogue.by_name("dataset").items():
        manifest = versions[0].manifest
        assert isinstance(manifest, DatasetManifest)
        try:
            with_folder(manifest, desk.offline)
            found[name] = None
        except NotConnected:
            whole = whole_of(manifest)
            found[name] = f"needs the data of {whole}: {connect_command(whole)}"
    return found


def claims_of(
    manifest: ModelManifest, told: Told, checked: Mapping[str, Standing], datasets: Mapping[str, str | None]
) -> list[dict[str, Any]]:
    """Each with its status, and what stands in the way of checking it; `datasets` are those known here."""
    found = []
    for each in manifest.claims:
        try:
            metric: str | None = claim_of(each, manifest.task).metric
        except UsageError:
            metric = None  # nothing that can be measured here
        title, unit = written_of(each)
        last = told.get((manifest.reference, metric or each.metric, each.value, each.dataset))
        known = status_of(standing_of(key_of(manifest.reference, each), checked), last)
        facts: dict[str, Any] = {"metric": each.metric, "title": title, "value": each.value, "unit": unit}
        facts |= {"dataset": each.dataset, "source": each.source}
        obstacle = _obstacle(manifest, each, datasets) if metric is not None else None
        found.append({**facts, "checkable": metric is not None, "obstacle": obstacle, **known})
    return found


def status_of(standing: Standing, last: dict[str, Any] | None) -> dict[str, Any]:
    """What all checks come to; `last` is what the newest replication said, also of claims that no check is about."""
    check = standing.check
    if check is None:
        nothing: dict[str, Any] = {"explained_by": [], "replication": None, "record": None, "measured": None}
        return {"checked": None, **(last or {"verdict": UNCHECKED, **nothing})}
    found = last
    if found is None or found["replication"] != check.replication:
        measured = Measured(value=check.measured, low=check.low, high=check.high)
        about = {"replication": check.replication, "record": check.record, "measured": measured}
        found = {"explained_by": [check.cause] if check.cause else [], **about}
    return {**found, "verdict": standing.status, "checked": asdict(check)}


def _obstacle(manifest: ModelManifest, claim: Claim, datasets: Mapping[str, str | None]) -> str | None:
    name = (claim.dataset or manifest.dataset or "").partition("@")[0]
    if not name:
        return "names no dataset"
    if name not in datasets:
        return f"needs a dataset manifest of {name}"
    return datasets[name] or _trust_needed(manifest)


def _trust_needed(manifest: ModelManifest) -> str | None:
    return "needs trust: the manifest carries code" if code_of(manifest) else None
