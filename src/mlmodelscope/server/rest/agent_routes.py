"""What agents ask for: they come to the server, the server never goes to them."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Body, Header, HTTPException, Query, Request
from fastapi import Path as Place
from pydantic import BaseModel, Field

from mlmodelscope.cluster.description import AgentDescription
from mlmodelscope.ledger.queue import Assigned
from mlmodelscope.ledger.request import Failure
from mlmodelscope.server.desk import Desk
from mlmodelscope.server.handle import agents
from mlmodelscope.server.rest import agent_answers
from mlmodelscope.server.rest.body import CheckedRoute
from mlmodelscope.server.rest.door import Someone, TheDesk
from mlmodelscope.server.rest.problem import fails

router = APIRouter(prefix="/api/v1", tags=["for agents"], route_class=CheckedRoute, responses=fails(404, 410))
Name = Annotated[str, Place(min_length=1, max_length=100)]
Incarnation = Annotated[str, Body(min_length=1, max_length=40)]
Attempt = Annotated[int, Body(ge=1, le=1000)]
_LONGEST_WAIT_S = 25.0
ZIP = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class Told(BaseModel):
    kind: Annotated[str, Field(min_length=1, max_length=20)]
    document: dict[str, Any]


@router.post("/agents", response_model=agent_answers.Joined)
def join_agent(
    desk: TheDesk, person: Someone, description: AgentDescription, incarnation: Incarnation
) -> dict[str, float]:
    """An agent is there, and this is what it has; it is believed to be there for so long without a heartbeat."""
    agents.join(desk, person, description, incarnation)
    return {"lease_s": desk.config.lease_s}


@router.delete("/agents/{identity}", status_code=204)
def leave_agent(
    desk: TheDesk,
    person: Someone,
    identity: Name,
    incarnation: Annotated[str | None, Query(min_length=1, max_length=40)] = None,
) -> None:
    """An agent goes; its name stays its owner's. Without an incarnation: an admin frees the name."""
    agents.leave(desk, person, identity, incarnation)


@router.post("/agents/{identity}/beat", response_model=agent_answers.Beat)
async def beat_agent(
    desk: TheDesk,
    person: Someone,
    identity: Name,
    incarnation: Incarnation,
    held: Annotated[dict[str, int], Body(max_length=1000)],
) -> dict[str, Any]:
    """It is still there and runs these; which of them are not its own any more, and which it is to cancel."""
    found = agents.quick_beat(desk, person, identity, incarnation) if not held else None
    if found is None:
        found = await asyncio.to_thread(agents.beat, desk, person, identity, incarnation, held)
    return {"gone": list(found.gone), "cancel": list(found.cancel), "draining": found.draining}


@router.post("/agents/{identity}/take", response_model=agent_answers.Taken)
async def take_evaluations(
    desk: TheDesk,
    person: Someone,
    identity: Name,
    incarnation: Incarnation,
    most: Annotated[int, Body(ge=1, le=100)] = 1,
    alone: Annotated[bool, Body()] = True,
    wait_s: Annotated[float, Body(ge=0, le=_LONGEST_WAIT_S)] = 0,
) -> dict[str, Any]:
    """Evaluations for this agent; where there is none it waits for one, for a while."""
    loop = asyncio.get_running_loop()
    end = loop.time() + wait_s
    known = agents.quick_beat(desk, person, identity, incarnation)
    idle = known is not None and wait_s > 0 and not desk.bell.is_wanted(identity)
    if idle and not await desk.bell.wait(identity, wait_s):
        return {"evaluations": []}
    while True:
        taken = await asyncio.to_thread(agents.take, desk, person, identity, incarnation, most, alone)
        left_s = end - loop.time()
        if taken or left_s <= 0 or desk.stopping or not await desk.bell.wait(identity, left_s):
            return {"evaluations": [_spell(each) for each in taken]}


def _spell(assigned: Assigned) -> dict[str, Any]:
    work = assigned.work.model_dump(mode="json")
    return {"id": assigned.id, "attempt": assigned.attempt, "work": work, "timeout_s": assigned.timeout_s}


@router.post("/evaluations/{identity}/events", status_code=204)
def tell_events(
    desk: TheDesk,
    person: Someone,
    identity: Name,
    attempt: Attempt,
    events: Annotated[list[Told], Body(max_length=1000)],
) -> None:
    agents.tell(desk, person, identity, attempt, [(each.kind, each.document) for each in events])


@router.put("/evaluations/{identity}/record", response_model=agent_answers.Kept, openapi_extra=ZIP)
async def finish_evaluation(
    desk: TheDesk,
    person: Someone,
    identity: Name,
    request: Request,
    x_attempt: Annotated[int, Header(ge=1, le=1000)],
) -> dict[str, str]:
    """The record that came of it, as `records export` writes it."""
    await asyncio.to_thread(agents.demand_holder, desk, person, identity)
    async with received(desk, request) as bundle:
        return {"record": await asyncio.to_thread(agents.finish, desk, person, identity, x_attempt, bundle)}


@router.put("/evaluations/{identity}/part", status_code=204, openapi_extra=ZIP)
async def finish_part(
    desk: TheDesk,
    person: Someone,
    identity: Name,
    request: Request,
    x_attempt: Annotated[int, Header(ge=1, le=1000)],
) -> None:
    """The answers of a part of an evaluation."""
    await asyncio.to_thread(agents.demand_holder, desk, person, identity)
    async with received(desk, request) as packed:
        await asyncio.to_thread(agents.finish_part, desk, person, identity, x_attempt, packed)


@contextlib.asynccontextmanager
async def received(desk: Desk, request: Request) -> AsyncIterator[Path]:
    """What is sent, as a file; counted on the way, since it need not say how long it is."""
    with tempfile.TemporaryDirectory(dir=desk.store.home) as place:
        path, size = Path(place) / "received", 0
        with path.open("wb") as file:
            async for block in request.stream():
                size += len(block)
                if size > desk.config.largest_upload:
                    raise HTTPException(413, f"more than {desk.config.largest_upload} bytes")
                await asyncio.to_thread(file.write, block)
        yield path


@router.post("/evaluations/{identity}/failure", status_code=204)
def fail_evaluation(
    desk: TheDesk, person: Someone, identity: Name, attempt: Attempt, failure: Failure, again: Annotated[bool, Body()]
) -> None:
    agents.fail(desk, person, identity, attempt, failure, again)


@router.post("/evaluations/{identity}/cancelled", status_code=204)
def confirm_cancelled(
    desk: TheDesk, person: Someone, identity: Name, attempt: Annotated[int, Body(ge=1, le=1000, embed=True)]
) -> None:
    agents.cancelled(desk, person, identity, attempt)


@router.post("/evaluations/{identity}/return", status_code=204)
def return_evaluation(
    desk: TheDesk, person: Someone, identity: Name, attempt: Annotated[int, Body(ge=1, le=1000, embed=True)]
) -> None:
    agents.give_back(desk, person, identity, attempt)
