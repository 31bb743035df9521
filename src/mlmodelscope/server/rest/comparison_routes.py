"""Records side by side, and the summary over all of them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from mlmodelscope.server.handle import comparisons
from mlmodelscope.server.rest import comparison_answers as own
from mlmodelscope.server.rest.body import CheckedRoute
from mlmodelscope.server.rest.door import Someone, TheDesk
from mlmodelscope.server.rest.problem import fails

router = APIRouter(prefix="/api/v1", tags=["comparisons"], route_class=CheckedRoute, responses=fails())
Word = Annotated[str, Query(min_length=1, max_length=100)]


@router.get("/comparisons", response_model=own.Comparison, responses=fails(404))
def compare_records(
    desk: TheDesk,
    person: Someone,
    record: Annotated[
        list[Annotated[str, Query(min_length=1, max_length=100)]],
        Query(min_length=1, max_length=comparisons.MOST, description="Their ids, in the order to show them."),
    ],
) -> dict[str, Any]:
    """What `mlmodelscope compare` says of two, and `mlmodelscope overview` of any number of them."""
    return comparisons.compare(desk, person, record)


@router.get("/overview", response_model=own.Overview)
def get_overview(
    desk: TheDesk,
    person: Someone,
    model: Annotated[list[Word], Query(max_length=100, description="Of these models only.")] = [],  # noqa: B006
    everything: Annotated[
        bool, Query(alias="all", description="Also records that replications, sensitivities and studies made.")
    ] = False,
) -> dict[str, Any]:
    """For each dataset the accuracy, size and speed of each model, stack and machine; and what was not measured yet."""
    return comparisons.overview(desk, person, model, everything)
