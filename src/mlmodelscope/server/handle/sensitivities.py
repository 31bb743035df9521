"""What each pitfall would cost a model: asked for, and looked at later."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import ValidationError

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.request import Request
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.ledger.verdicts import Verdicts
from mlmodelscope.replicate.sensed import Sensed
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.handle import evaluations, requests


def ask(desk: Desk, person: Person, request: Request, key: str | None) -> str:
    """A request of the kind `sensitivity`; its id."""
    if request.kind != "sensitivity":
        raise UsageError(f"what pitfalls cost is asked for, not {request.kind}")
    return requests.ask(desk, person, request, key)


def find(
    desk: Desk, person: Person, limit: int, before: tuple[datetime, str] | None, **wanted: str | None
) -> list[dict[str, Any]]:
    """Newest first, without what was found."""
    demand(person, "read")
    rows = desk.history.list(limit=limit, before=before, kind="sensitivity", **wanted)
    return [evaluations.spell(row) for row in rows]


def get(desk: Desk, person: Person, identity: str) -> dict[str, Any]:
    """All that is known of it, in the end with what was found."""
    demand(person, "read")
    row = desk.queue.get(identity)
    if row["kind"] != "sensitivity":
        raise UsageError(f"there is no sensitivity `{identity}`")
    told = Verdicts(desk.store.database).sensed([identity]).get(identity)
    return {**evaluations.spell(row), "found": _read(told) if row["state"] == "finished" and told else None}


def _read(told: dict[str, Any]) -> Sensed | None:
    """As an agent told it, where it can be understood."""
    try:
        return Sensed.model_validate(told)
    except ValidationError:
        return None
