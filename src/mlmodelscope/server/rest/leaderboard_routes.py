"""Leaderboards by dataset."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from mlmodelscope.server.handle import leaderboards
from mlmodelscope.server.rest import leaderboard_answers as own
from mlmodelscope.server.rest.body import CheckedRoute
from mlmodelscope.server.rest.door import Someone, TheDesk
from mlmodelscope.server.rest.problem import fails

router = APIRouter(prefix="/api/v1", tags=["records"], route_class=CheckedRoute, responses=fails())


@router.get("/leaderboards", response_model=own.BoardList)
def list_leaderboards(desk: TheDesk, person: Someone) -> dict[str, Any]:
    """Which datasets have results: a table for each metric and each set of samples."""
    return {"items": leaderboards.find(desk, person)}


@router.get("/leaderboards/{dataset}", response_model=own.Leaderboard, responses=fails(404))
def get_leaderboard(
    desk: TheDesk,
    person: Someone,
    dataset: Annotated[str, Path(min_length=1, max_length=100)],
    board: Annotated[str | None, Query(max_length=40, description="The `id` of one of its tables.")] = None,
    q: Annotated[str | None, Query(max_length=200, description="Words that must occur in a row.")] = None,
    start: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> dict[str, Any]:
    """Results on a dataset, best first, with intervals and published numbers; of the first table by default."""
    return leaderboards.of_dataset(desk, person, dataset, board=board, q=q, start=start, limit=limit)
