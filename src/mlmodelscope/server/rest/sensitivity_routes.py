"""What each pitfall would cost a model: the table of `mlmodelscope sensitivity`, made by an agent and kept."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query

from mlmodelscope.server.handle import evaluations, sensitivities
from mlmodelscope.server.rest import cursor, evaluation_answers
from mlmodelscope.server.rest import sensitivity_answers as own
from mlmodelscope.server.rest.body import CheckedRoute
from mlmodelscope.server.rest.door import Someone, TheDesk
from mlmodelscope.server.rest.problem import fails

router = APIRouter(prefix="/api/v1", tags=["replications"], route_class=CheckedRoute, responses=fails())
Limit = Annotated[int, Query(ge=1, le=1000)]
Identity = Annotated[str, Query(max_length=100)]
Name = Annotated[str, Path(min_length=1, max_length=100)]


@router.post("/sensitivities", status_code=202, response_model=evaluation_answers.Accepted, responses=fails(404, 409))
def ask_for_sensitivity(
    desk: TheDesk,
    person: Someone,
    request: own.SensitivityRequest,
    idempotency_key: Annotated[str | None, Header(max_length=200)] = None,
) -> dict[str, Any]:
    """Have measured what each pitfall would cost a model. The same as a request of kind `sensitivity`."""
    identity = sensitivities.ask(desk, person, request, idempotency_key)
    return {"id": identity, "evaluations": evaluations.of_request(desk, person, identity)}


@router.get("/sensitivities", response_model=evaluation_answers.EvaluationPage)
def list_sensitivities(
    desk: TheDesk,
    person: Someone,
    state: evaluation_answers.EvaluationState | None = None,
    model: Identity | None = None,
    dataset: Identity | None = None,
    limit: Limit = 50,
    after: Annotated[str | None, Query(max_length=200, description="`next` of the page before.")] = None,
) -> dict[str, Any]:
    """Newest first."""
    found = sensitivities.find(desk, person, limit, cursor.read(after), state=state, model=model, dataset=dataset)
    last = found[-1] if len(found) == limit else None
    return {"items": found, "next": cursor.write(last["created_at"], last["id"]) if last else None}


@router.get("/sensitivities/{identity}", response_model=own.SensitivityOf, responses=fails(404))
def get_sensitivity(desk: TheDesk, person: Someone, identity: Name) -> dict[str, Any]:
    """What each pitfall would cost, the costliest first."""
    return sensitivities.get(desk, person, identity)
