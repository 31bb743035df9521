"""Published numbers beside what a record measured."""

from __future__ import annotations

from typing import Any

from mlmodelscope.ledger.tokens import Person
from mlmodelscope.report.claims import compare_claims, unmeasured_claims, written_of
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.handle.claims import last_verdicts
from mlmodelscope.task.measure import UNITS


def find(desk: Desk, person: Person, name: str) -> list[dict[str, Any]]:
    """Published numbers beside what this record measured, and the last verdict of a replication on each."""
    demand(person, "read")
    record = desk.store.get(name)
    told = last_verdicts(desk)
    found = []
    for each in compare_claims(record):
        claim = each.claim
        verdict = told.get((record.plan.model.reference, claim.metric, claim.value, claim.dataset))
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
                "verdict": verdict["verdict"] if verdict else None,
                "replication": verdict["replication"] if verdict else None,
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
