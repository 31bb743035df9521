"""Files of people's own: sent in pieces that may be interrupted, fetched whole or in part."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import ExitStack
from typing import Annotated, Any

from fastapi import APIRouter, Body, Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.background import BackgroundTask

from mlmodelscope.server.handle import artifacts
from mlmodelscope.server.rest import cursor
from mlmodelscope.server.rest.artifact_answers import ArtifactPage, ArtifactUpload
from mlmodelscope.server.rest.body import CheckedRoute
from mlmodelscope.server.rest.door import Someone, TheDesk
from mlmodelscope.server.rest.problem import fails, problem

router = APIRouter(prefix="/api/v1", tags=["artifacts"], route_class=CheckedRoute, responses=fails())
Digest = Annotated[str, Path(pattern="^[0-9a-f]{64}$", description="The file's sha256.")]
_BLOCK = 1 << 20
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
_BINARY = {"schema": {"type": "string", "format": "binary"}}
_PIECE = {"requestBody": {"required": True, "content": {"application/octet-stream": _BINARY}}}
_FILE = {"content": {"application/octet-stream": _BINARY}}


@router.post(
    "/artifacts",
    status_code=201,
    response_model=ArtifactUpload,
    responses={200: {"model": ArtifactUpload, "description": "It is there already."}, **fails(507)},
)
def announce_artifact(
    desk: TheDesk,
    person: Someone,
    response: Response,
    sha256: Annotated[str, Body(pattern="^[0-9a-f]{64}$")],
    size: Annotated[int, Body(ge=0, le=2**53)],
    name: Annotated[str, Body(max_length=1000, examples=["net.onnx"])] = "",
) -> dict[str, Any]:
    """Say what will be sent. What is there already need not be; what was interrupted goes on at `offset`."""
    found, new = artifacts.announce(desk, person, sha256, size, name)
    response.status_code = 201 if new else 200
    return found


@router.patch(
    "/artifacts/{digest}", response_model=ArtifactUpload, openapi_extra=_PIECE, responses=fails(404, 409, 507)
)
async def send_artifact(
    desk: TheDesk,
    person: Someone,
    digest: Digest,
    request: Request,
    upload_offset: Annotated[int, Header(ge=0, le=2**53, description="Where this piece begins.")] = 0,
) -> dict[str, Any]:
    """Send a piece, or all of it; the last one is answered when the file is known to be what was announced.

    The file is at most a file: it is not unpacked, opened or run.
    """
    with ExitStack() as stack:
        receiver = await asyncio.to_thread(
            stack.enter_context, artifacts.receiving(desk, person, digest, upload_offset)
        )
        waiting = bytearray()
        async for block in request.stream():
            waiting += block
            if len(waiting) >= _BLOCK:  # handing over a few bytes costs as much as many
                await asyncio.to_thread(receiver.write, waiting)
                waiting = bytearray()
        await asyncio.to_thread(receiver.write, waiting)
        return await asyncio.to_thread(artifacts.finish_piece, desk, person, receiver)


@router.head(
    "/artifacts/{digest}",
    response_class=Response,
    responses={
        200: {
            **_FILE,
            "description": "How far it is, in the headers.",
            "headers": {name: {"schema": {"type": "integer"}} for name in ("Upload-Offset", "Upload-Length")},
        },
        **fails(404),
    },
)
def look_up_artifact(desk: TheDesk, person: Someone, digest: Digest) -> Response:
    """How far it is: `Upload-Offset` of `Upload-Length` bytes have arrived; with an `ETag` it is complete."""
    found = artifacts.progress(desk, person, digest)
    headers = {"Upload-Offset": str(found["offset"]), "Upload-Length": str(found["size"])}
    if found["complete"]:
        headers |= {"ETag": f'"{digest}"', "Content-Length": str(found["size"]), "Accept-Ranges": "bytes"}
    return Response(headers=headers, media_type="application/octet-stream")


@router.get(
    "/artifacts/{digest}",
    response_class=StreamingResponse,
    responses={
        200: {**_FILE, "description": "It."},
        206: {**_FILE, "description": "The part that was asked for."},
        304: {"description": "It is as it was."},
        **fails(404, 416),
    },
)
def get_artifact(
    desk: TheDesk,
    person: Someone,
    digest: Digest,
    range: Annotated[str | None, Header(description="One range of bytes, such as `bytes=1000-`.")] = None,
    if_none_match: Annotated[str | None, Header()] = None,
    if_range: Annotated[str | None, Header()] = None,
) -> Response:
    found = artifacts.get(desk, person, digest)
    tag = f'"{digest}"'
    headers = {"ETag": tag, "Cache-Control": "private, immutable, max-age=31536000", "Accept-Ranges": "bytes"}
    if if_none_match == tag:
        return Response(status_code=304, headers=headers)
    part = _part(range, found.size) if if_range in (None, tag) else None
    start, end = part or (0, found.size)
    if part is not None:
        if start >= end:
            return problem(416, "Range", f"it has {found.size} bytes", {"Content-Range": f"bytes */{found.size}"})
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{found.size}"
    headers |= {"Content-Length": str(end - start), "Content-Disposition": f'attachment; filename="{found.name}"'}
    # It is opened now: one that is deleted while it is fetched is fetched to its end.
    file = found.path.open("rb", buffering=0)
    file.seek(start)
    return StreamingResponse(
        _blocks(file, end - start),
        206 if part is not None else 200,
        headers,
        "application/octet-stream",
        BackgroundTask(file.close),
    )


async def _blocks(file: Any, left: int) -> AsyncIterator[bytes]:
    with file:
        while left and (block := await asyncio.to_thread(file.read, min(_BLOCK, left))):
            left -= len(block)
            yield block


def _part(asked: str | None, size: int) -> tuple[int, int] | None:
    """(first byte, the one behind the last); None for all of it, also where the range is not one that we know."""
    found = _RANGE.fullmatch((asked or "").replace(" ", ""))
    if found is None or found[0] == "bytes=-":
        return None
    if not found[1]:
        return max(0, size - int(found[2])), size
    start, end = int(found[1]), min(size, int(found[2]) + 1) if found[2] else size
    return None if found[2] and int(found[2]) < start else (start, end)


@router.get("/artifacts", response_model=ArtifactPage)
def list_artifacts(
    desk: TheDesk,
    person: Someone,
    owner: Annotated[str | None, Query(max_length=100)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    after: Annotated[str | None, Query(max_length=200, description="`next` of the page before.")] = None,
) -> dict[str, Any]:
    """Newest first."""
    found = artifacts.find(desk, person, limit, cursor.read(after), owner)
    last = found[-1] if len(found) == limit else None
    return {"items": found, "next": cursor.write(last["created_at"], last["digest"]) if last else None}


@router.delete("/artifacts/{digest}", status_code=204, responses=fails(404))
def delete_artifact(desk: TheDesk, person: Someone, digest: Digest) -> None:
    """By whoever sent it, or an admin."""
    artifacts.delete(desk, person, digest)
