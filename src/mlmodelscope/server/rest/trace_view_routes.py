"""Traces as a page shows them: it asks for what it has room for."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query

from mlmodelscope.server.handle import trace_views
from mlmodelscope.server.rest import trace_view_answers as own
from mlmodelscope.server.rest.body import CheckedRoute
from mlmodelscope.server.rest.door import Someone, TheDesk
from mlmodelscope.server.rest.problem import fails
from mlmodelscope.trace.window import Window

router = APIRouter(prefix="/api/v1/traces", tags=["traces"], route_class=CheckedRoute, responses=fails())
Identity = Annotated[str, Path(min_length=1, max_length=100, description="32 hexadecimal digits.")]
Moment = Annotated[int, Query(ge=0, le=2**62, description="Nanoseconds since the trace began.")]
Level = Literal["application", "model", "framework", "library", "hardware"]


@router.get("/{identity}/timeline", response_model=own.Timeline, responses=fails(404))
def get_timeline(
    desk: TheDesk,
    person: Someone,
    identity: Identity,
    from_ns: Moment = 0,
    to_ns: Moment | None = None,
    level: Annotated[Level | None, Query(description="Spans of this level and those above it.")] = None,
    name: Annotated[str | None, Query(max_length=200, description="What their names contain.")] = None,
    bins: Annotated[int, Query(ge=1, le=2000, description="Shorter spans are grouped.")] = 500,
) -> dict[str, Any]:
    """Rows that never cover one another, and in them what a page of so many dots can show."""
    return trace_views.timeline(desk, person, identity, Window(from_ns, to_ns, level, name), bins)


@router.get("/{identity}/spans/{span}", response_model=own.SpanDetails, responses=fails(404))
def get_span(
    desk: TheDesk, person: Someone, identity: Identity, span: Annotated[str, Path(min_length=1, max_length=100)]
) -> dict[str, Any]:
    return trace_views.span(desk, person, identity, span)


@router.get("/{identity}/flames", response_model=own.Flames, responses=fails(404))
def get_flames(
    desk: TheDesk,
    person: Someone,
    identity: Identity,
    least: Annotated[float, Query(ge=0, le=1, description="Smallest share of the time that is shown.")] = 0.001,
) -> dict[str, Any]:
    """A flame graph: spans of the same name below the same ones, added up."""
    return trace_views.flames(desk, person, identity, least)


@router.get("/{identity}/names", response_model=own.NameList, responses=fails(404))
def list_names(
    desk: TheDesk,
    person: Someone,
    identity: Identity,
    level: Level,
    from_ns: Moment = 0,
    to_ns: Moment | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> dict[str, Any]:
    """Spans of a level that begin in the window, by name; what takes most time first."""
    return trace_views.names(desk, person, identity, Window(from_ns, to_ns), level, limit)


@router.get("/{identity}/analyses", response_model=own.TraceAnalyses, responses=fails(404))
def list_analyses(
    desk: TheDesk,
    person: Someone,
    identity: Identity,
    only: Annotated[str | None, Query(max_length=100, description="Such as `A2,A6`; all by default.")] = None,
) -> dict[str, Any]:
    """What `mlmodelscope analyze` makes of it, and for the rest what is missing and which command gives it."""
    return trace_views.analyses(desk, person, identity, only)
