"""Traces: OTLP in, and what came of it out."""

from __future__ import annotations

import asyncio
import tempfile
import zlib
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, HTTPException, Path, Query, Request, Response

from mlmodelscope.errors import UsageError
from mlmodelscope.server.desk import demand
from mlmodelscope.server.handle import traces
from mlmodelscope.server.rest import cursor
from mlmodelscope.server.rest.body import CheckedRoute
from mlmodelscope.server.rest.door import Someone, TheDesk
from mlmodelscope.server.rest.problem import fails
from mlmodelscope.server.rest.trace_answers import ExportTraceServiceResponse, SpanPage, TraceDetails, TracePage
from mlmodelscope.server.rpc.confined_otlp import message_of
from mlmodelscope.server.rpc.otlp import protobuf_answer
from mlmodelscope.trace.window import Window

router = APIRouter(prefix="/api/v1", tags=["traces"], route_class=CheckedRoute, responses=fails())
Identity = Annotated[str, Path(min_length=1, max_length=100, description="32 hexadecimal digits.")]
Text = Annotated[str | None, Query(max_length=200)]
_PROTOBUF = "application/x-protobuf"
_BINARY = {"schema": {"type": "string", "format": "binary"}}
_MESSAGE = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"type": "object"}}, _PROTOBUF: _BINARY},
    }
}
_TYPES = {
    "perfetto": "application/json",
    "speedscope": "application/json",
    "otlp": "application/json",
    "csv": "text/csv",
    "html": "text/html",
    "folded": "text/plain",
}
# A page that shows what others wrote: it may run its own script and load nothing.
_SANDBOX = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'unsafe-inline'"
)


@router.post(
    "/otlp/v1/traces",
    response_model=ExportTraceServiceResponse,
    openapi_extra=_MESSAGE,
    responses={200: {"content": {_PROTOBUF: _BINARY}, "description": "Taken."}, **fails(415, 507)},
)
async def take_spans(
    desk: TheDesk,
    person: Someone,
    request: Request,
    content_encoding: Annotated[str, Header(max_length=100)] = "identity",
) -> Response:
    """OTLP over HTTP, as any OpenTelemetry SDK sends it: protocol buffers or JSON, packed with gzip or not."""
    demand(person, "run")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in (_PROTOBUF, "application/json"):
        raise HTTPException(415, f"`{kind[:60]}` is not read here: {_PROTOBUF} and application/json are")
    body = _unpacked(await request.body(), content_encoding.strip().lower(), desk.config.largest_body)

    def take() -> Response:
        with tempfile.NamedTemporaryFile(dir=desk.store.home) as file:
            file.write(body)
            file.flush()
            message = message_of(file.name, kind != _PROTOBUF, desk.confined)
        traces.take(desk, person, message)
        if kind == _PROTOBUF:
            return Response(protobuf_answer(message.rejected, message.reason), media_type=_PROTOBUF)
        said = {"rejectedSpans": str(message.rejected), "errorMessage": message.reason}
        answer = ExportTraceServiceResponse.model_validate({"partialSuccess": said} if message.rejected else {})
        return Response(answer.model_dump_json(exclude_none=True), media_type="application/json")

    return await asyncio.to_thread(take)


def _unpacked(body: bytes, encoding: str, largest: int) -> bytes:
    """Counted while it is unpacked: a few bytes may hold gigabytes."""
    if encoding in ("", "identity"):
        return body
    if encoding != "gzip":
        raise HTTPException(415, f"`{encoding[:60]}` is not unpacked here: gzip is")
    unpacker = zlib.decompressobj(wbits=31)
    try:
        found = unpacker.decompress(body, largest + 1)
    except zlib.error as error:
        raise UsageError(f"this is not gzip: {error}") from None
    if len(found) > largest:
        raise HTTPException(413, f"more than {largest} bytes when it is unpacked")
    if not unpacker.eof:
        raise UsageError("this is not gzip: it is cut off")
    return found


@router.get("/traces", response_model=TracePage)
def list_traces(
    desk: TheDesk,
    person: Someone,
    service: Text = None,
    model: Text = None,
    record: Text = None,
    owner: Text = None,
    since: Annotated[datetime | None, Query(description="Those that began then or later.")] = None,
    until: Annotated[datetime | None, Query(description="Those that began before.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    after: Annotated[str | None, Query(max_length=200, description="`next` of the page before.")] = None,
) -> dict[str, Any]:
    """Newest first: those that came over OTLP, and those of records."""
    wanted = {"service": service, "model": model, "record": record, "owner": owner}
    found = traces.find(desk, person, limit, cursor.read(after), since, until, **wanted)
    last = found[-1] if len(found) == limit else None
    return {"items": found, "next": cursor.write(last["created_at"], last["id"]) if last else None}


@router.get("/traces/{identity}", response_model=TraceDetails, responses=fails(404))
def get_trace(desk: TheDesk, person: Someone, identity: Identity) -> dict[str, Any]:
    return traces.get(desk, person, identity)


@router.get("/traces/{identity}/spans", response_model=SpanPage, responses=fails(404))
def list_spans(
    desk: TheDesk,
    person: Someone,
    identity: Identity,
    from_ns: Annotated[int, Query(ge=0, le=2**62, description="Spans that end then or later.")] = 0,
    to_ns: Annotated[int | None, Query(ge=0, le=2**62, description="Spans that start then or before.")] = None,
    level: Annotated[
        Literal["application", "model", "framework", "library", "hardware"] | None,
        Query(description="Spans of this level and those above it."),
    ] = None,
    name: Annotated[str | None, Query(max_length=200, description="What their names contain.")] = None,
    least_ns: Annotated[int, Query(ge=0, le=2**62, description="Spans that took so long at least.")] = 0,
    bins: Annotated[
        int | None,
        Query(ge=1, le=10_000, description="Number of pieces to divide the window into; shorter spans are grouped."),
    ] = None,
    start: Annotated[int, Query(ge=0, le=10**9)] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
) -> dict[str, Any]:
    """Spans in the order of their starts. With `bins` a page can show any trace: it asks for what it has room for."""
    window = Window(from_ns, to_ns, level, name, least_ns, bins)
    found, total = traces.spans(desk, person, identity, window, start, limit)
    return {"items": found, "total": total}


@router.get(
    "/traces/{identity}/export",
    response_class=Response,
    responses={
        200: {
            "content": {
                "application/json": {"schema": {"type": "object", "title": "Trace"}},
                **{kind: {"schema": {"type": "string"}} for kind in ("text/csv", "text/html", "text/plain")},
            },
            "description": "It, as a file.",
        },
        **fails(404),
    },
)
def export_trace(
    desk: TheDesk,
    person: Someone,
    identity: Identity,
    format: Literal["perfetto", "speedscope", "csv", "html", "otlp", "folded"] = "perfetto",
) -> Response:
    headers = {"Content-Security-Policy": _SANDBOX} if format == "html" else {}
    return Response(traces.export(desk, person, identity, format), media_type=_TYPES[format], headers=headers)


@router.delete("/traces/{identity}", status_code=204, responses=fails(404))
def delete_trace(desk: TheDesk, person: Someone, identity: Identity) -> None:
    """One that came over OTLP, by whoever sent it, or an admin."""
    traces.delete(desk, person, identity)
