"""What pitfalls would cost, over gRPC."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlmodelscope.ledger.tokens import Person
from mlmodelscope.server.desk import Desk
from mlmodelscope.server.handle import evaluations, sensitivities
from mlmodelscope.server.rest import cursor
from mlmodelscope.server.rest.sensitivity_answers import SensitivityRequest
from mlmodelscope.server.rpc.asked import LONGEST_KEY, Asked, Call, choice, limit_of, request_of, said

_STATES = ("waiting", "running", "finished", "failed", "cancelled")


def ask_for_sensitivity(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    key = said(asked, "idempotency_key", LONGEST_KEY) if "idempotency_key" in asked else None
    identity = sensitivities.ask(desk, person, request_of(asked, SensitivityRequest), key)
    return {"id": identity, "evaluations": evaluations.of_request(desk, person, identity)}


def list_sensitivities(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    wanted = {"state": choice(asked, "state", _STATES), "model": asked.get("model"), "dataset": asked.get("dataset")}
    limit = limit_of(asked, 50)
    found = sensitivities.find(desk, person, limit, cursor.read(asked.get("after")), **wanted)
    last = found[-1] if len(found) == limit else None
    return {"items": found, "next": cursor.write(last["created_at"], last["id"]) if last else None}


def get_sensitivity(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    found = sensitivities.get(desk, person, said(asked, "id"))
    return {**found, "found": found["found"].model_dump(mode="json") if found["found"] else None}


SENSITIVITY_CALLS: dict[str, Call] = {
    "AskForSensitivity": ask_for_sensitivity,
    "ListSensitivities": list_sensitivities,
    "GetSensitivity": get_sensitivity,
}
