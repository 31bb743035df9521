"""The list of all records, and what people write about one of them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Path, Query

from mlmodelscope.record.record_list import Chosen
from mlmodelscope.record.remarks import LONGEST_NOTE, LONGEST_TAG
from mlmodelscope.server.handle import records, remarks
from mlmodelscope.server.rest import record_answers as own
from mlmodelscope.server.rest.body import CheckedRoute
from mlmodelscope.server.rest.door import Someone, TheDesk
from mlmodelscope.server.rest.problem import fails

router = APIRouter(prefix="/api/v1", tags=["records"], route_class=CheckedRoute, responses=fails())
Identity = Annotated[str | None, Query(max_length=100)]
Text = Annotated[str | None, Query(max_length=300)]
Name = Annotated[str, Path(min_length=1, max_length=100)]
# fmt: off
Sort = Literal[
    "created", "model", "dataset", "result", "samples", "failed",
    "latency", "throughput", "duration", "stack", "machine",
]
# fmt: on
_FURTHEST = 1_000_000


@router.get("/records", response_model=own.RecordList)
def list_records(
    desk: TheDesk,
    person: Someone,
    q: Annotated[str | None, Query(max_length=200, description="Words that must occur.")] = None,
    model: Identity = None,
    dataset: Identity = None,
    status: Literal["running", "finished"] | None = None,
    kind: Annotated[
        str | None, Query(max_length=20, description="evaluation, training, profile, bench, or a scenario.")
    ] = None,
    task: Identity = None,
    stack: Text = None,
    machine: Text = None,
    tag: Annotated[str | None, Query(max_length=LONGEST_TAG)] = None,
    owner: Identity = None,
    pinned: bool | None = None,
    intermediate: Annotated[
        bool | None, Query(description="Whether another command, such as replicate, needed it on its way.")
    ] = None,
    since: datetime | None = None,
    until: datetime | None = None,
    sort: Annotated[Sort, Query(description="`result` sorts within each metric.")] = "created",
    descending: bool = True,
    start: Annotated[int, Query(ge=0, le=_FURTHEST)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> dict[str, Any]:
    """A page of all records, also those that the command line made; the newest first by default."""
    chosen = Chosen(
        q=q,
        model=model,
        dataset=dataset,
        status=status,
        kind=kind,
        task=task,
        stack=stack,
        machine=machine,
        tag=tag,
        owner=owner,
        pinned=pinned,
        intermediate=intermediate,
        since=since,
        until=until,
        sort=sort,
        descending=descending,
        start=start,
        limit=limit,
    )
    return records.find(desk, person, chosen)


@router.get("/record-choices", response_model=own.RecordChoices)
def list_record_choices(desk: TheDesk, person: Someone) -> dict[str, list[str]]:
    """What the list of records can be filtered by."""
    return records.choices(desk, person)


@router.get("/records/{name}/remarks", response_model=own.Remarks, responses=fails(404))
def get_remarks(desk: TheDesk, person: Someone, name: Name) -> dict[str, Any]:
    """Tags and notes of a record, and who pinned it."""
    return remarks.get(desk, person, name)


@router.post("/records/{name}/tags", response_model=own.Remarks, responses=fails(404))
def add_tag(
    desk: TheDesk,
    person: Someone,
    name: Name,
    tag: Annotated[str, Body(embed=True, min_length=1, max_length=LONGEST_TAG, examples=["paper"])],
) -> dict[str, Any]:
    """Tag a record; the same tag again changes nothing."""
    return remarks.add_tag(desk, person, name, tag)


@router.delete("/records/{name}/tags/{tag}", response_model=own.Remarks, responses=fails(404))
def remove_tag(
    desk: TheDesk, person: Someone, name: Name, tag: Annotated[str, Path(min_length=1, max_length=LONGEST_TAG)]
) -> dict[str, Any]:
    """By whoever added it, or an admin."""
    return remarks.remove_tag(desk, person, name, tag)


@router.post("/records/{name}/notes", response_model=own.Remarks, responses=fails(404))
def add_note(
    desk: TheDesk,
    person: Someone,
    name: Name,
    text: Annotated[str, Body(embed=True, min_length=1, max_length=LONGEST_NOTE, examples=["as published"])],
) -> dict[str, Any]:
    """Write a note about a record."""
    return remarks.add_note(desk, person, name, text)


@router.delete("/records/{name}/notes/{note}", response_model=own.Remarks, responses=fails(404))
def remove_note(
    desk: TheDesk, person: Someone, name: Name, note: Annotated[str, Path(min_length=1, max_length=100)]
) -> dict[str, Any]:
    """By whoever wrote it, or an admin."""
    return remarks.remove_note(desk, person, name, note)
