"""Published numbers beside what a record measured."""

from __future__ import annotations

from typing import Any

from mlmodelscope.claim.status import standing_of, standings
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.plan.claim_key import key_of
from mlmodelscope.record.checks import read_checks
from mlmodelscope.report.claims import compare_claims, unmeasured_claims, written_of
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.handle.claims import UNCHECKED, last_verdicts, status_of
from mlmodelscope.task.measure import UNITS


def find(desk: Desk, person: Person, name: str) -> list[dict[str, Any]]:
    """Published numbers beside what this record measured, and the last verdict of a replication on each."""
    demand(person, "read")
    record = desk.store.get(name)
    model = record.plan.model.reference
    told, checked = last_verdicts(desk), standings(read_checks(desk.store.database))
    found = []
    for each in compare_claims(record):
        claim = each.claim
        last = told.get((model, claim.metric, claim.value, claim.dataset))
        verdict = status_of(standing_of(key_of(model, claim), checked), last)
        found.append(
            {
                "metric": each.metric,
                "published": each.published,
                "dataset": claim.dataset,
                "source": each.source,
                "unit": each.unit,
                "measured": each.measured.model_dump(),
                "same_dataset": each.same_dataset,
                "tag": each.tag,
                "sentence": each.sentence,
                "verdict": verdict["verdict"] if verdict["verdict"] != UNCHECKED else None,
                "replication": verdict["replication"],
            }
        )
    for other in unmeasured_claims(record):
        claim = other.claim
        nothing = {"measured": None, "same_dataset": False, "verdict": None, "replication": None}
        facts = {
            "metric": claim.metric,
            "published": claim.value,
            "unit": UNITS[written_of(claim)[1]].symbol,
            "dataset": claim.dataset,
            "source": claim.source,
        }
        found.append({**nothing, **facts, "tag": "not measured", "sentence": f"Not measured: {other.reason}."})
    return found
