"""Traces over gRPC: looked at by our own methods, sent by OpenTelemetry's."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.server.desk import Desk
from mlmodelscope.server.handle import traces
from mlmodelscope.server.rest import cursor
from mlmodelscope.server.rpc import otlp
from mlmodelscope.server.rpc.asked import Asked, Call, choice, limit_of, said
from mlmodelscope.server.rpc.pieces import Stream, pieces
from mlmodelscope.trace.span import LEVELS
from mlmodelscope.trace.window import Window


def list_traces(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    limit = limit_of(asked, 50)
    wanted = {name: asked.get(name) for name in ("service", "model", "record", "owner")}
    times = (asked.get("since"), asked.get("until"))
    found = traces.find(desk, person, limit, cursor.read(asked.get("after")), *times, **wanted)
    last = found[-1] if len(found) == limit else None
    return {"items": found, "next": cursor.write(last["created_at"], last["id"]) if last else None}


def get_trace(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    return traces.get(desk, person, said(asked, "id"))


def list_spans(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    level = choice(asked, "level", LEVELS[1:])
    numbers = [_within(asked, name, 0, 2**62) for name in ("from_ns", "least_ns", "start")]
    bins = _within(asked, "bins", 1, 10_000) if "bins" in asked else None
    to_ns = _within(asked, "to_ns", 0, 2**62) if "to_ns" in asked else None
    window = Window(numbers[0], to_ns, level, asked.get("name"), numbers[1], bins)
    limit = limit_of(asked, 1000, 10_000)
    found, total = traces.spans(desk, person, said(asked, "id"), window, numbers[2], limit)
    return {"items": found, "total": total}


def delete_trace(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    traces.delete(desk, person, said(asked, "id"))
    return {}


async def export_trace(desk: Desk, person: Person, asked: Asked) -> AsyncIterator[Mapping[str, Any]]:
    form = choice(asked, "format", tuple(traces.FORMS)) or "perfetto"
    text = await run_in_threadpool(traces.export, desk, person, said(asked, "id"), form)
    for piece in pieces(text.encode()):
        yield piece


def _within(asked: Asked, name: str, low: int, high: int) -> int:
    found: int = asked.get(name, 0)
    if not low <= found <= high:
        raise UsageError(f"`{name}` is {found}, it must be from {low} to {high}")
    return found


TRACE_CALLS: dict[str, Call] = {
    "ListTraces": list_traces,
    "GetTrace": get_trace,
    "ListSpans": list_spans,
    "DeleteTrace": delete_trace,
    "Export": otlp.export,
}
TRACE_STREAMS: dict[str, Stream] = {"ExportTrace": export_trace}
