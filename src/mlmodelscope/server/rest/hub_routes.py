"""Records from and for other servers, who signed them, and which of them stay."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path as Place
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Request
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from mlmodelscope.server.desk import demand
from mlmodelscope.server.handle import hub
from mlmodelscope.server.rest import hub_answers
from mlmodelscope.server.rest.agent_routes import received
from mlmodelscope.server.rest.body import CheckedRoute
from mlmodelscope.server.rest.door import Someone, TheDesk
from mlmodelscope.server.rest.problem import fails

router = APIRouter(prefix="/api/v1", tags=["records"], route_class=CheckedRoute, responses=fails())
Name = Annotated[str, Path(min_length=1, max_length=100)]
_ZIP = {
    "requestBody": {
        "required": True,
        "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.get("/keys", response_model=hub_answers.KeyList)
def list_keys(desk: TheDesk, person: Someone) -> Any:
    """The server's own key, and the keys whose records may be pushed here."""
    return hub.keys(desk, person)


@router.post("/bundles", response_model=hub_answers.Taken, responses=fails(409), openapi_extra=_ZIP)
async def push_bundle(desk: TheDesk, person: Someone, request: Request) -> Any:
    """Hand a record in, as `mlmodelscope push` does: a signed bundle. One that is here already stays as it is."""
    demand(person, "run")
    async with received(desk, request) as bundle:
        return await asyncio.to_thread(hub.take, desk, person, bundle)


@router.get(
    "/records/{name}/bundle",
    response_class=FileResponse,
    responses={
        200: {
            "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
            "description": "A zip file.",
        },
        **fails(404),
    },
)
def get_bundle(desk: TheDesk, person: Someone, name: Name) -> FileResponse:
    """The record with all its files and manifests, signed, as one zip file."""
    place = Place(tempfile.mkdtemp())
    try:
        record = hub.bundle(desk, person, name, place / "bundle.zip")
    except BaseException:
        _remove(place)
        raise
    return FileResponse(
        place / "bundle.zip",
        media_type="application/zip",
        filename=f"{record.id}.zip",
        background=BackgroundTask(_remove, place),
    )


def _remove(place: Place) -> None:
    shutil.rmtree(place, ignore_errors=True)


@router.get("/records/{name}/origin", response_model=hub_answers.Origin, responses=fails(404))
def get_origin(desk: TheDesk, person: Someone, name: Name) -> Any:
    """Where a record came from, and who signed it."""
    return hub.origin(desk, person, name)


@router.post("/records/{name}/pin", response_model=hub_answers.Pinned, responses=fails(404))
def pin_record(desk: TheDesk, person: Someone, name: Name, pinned: Annotated[bool, Body(embed=True)] = True) -> Any:
    """Have a record stay, whatever the policy of retention says; `pinned: false` ends that."""
    return hub.pin(desk, person, name, pinned)
