"""Methods with many answers: events as they happen, and files in pieces."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

from fastapi import HTTPException
from starlette.concurrency import run_in_threadpool

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.server.desk import Desk
from mlmodelscope.server.handle import evaluations, hub, records, samples
from mlmodelscope.server.handle.follow import Stopping, follow
from mlmodelscope.server.rpc.asked import Asked, choice, said
from mlmodelscope.server.rpc.pieces import PIECE, Stream, pieces
from mlmodelscope.server.rpc.replication_calls import REPLICATION_STREAMS

_FORMS = ("html", "md", "json", "csv", "parquet")


async def follow_evaluation(desk: Desk, person: Person, asked: Asked) -> AsyncIterator[Mapping[str, Any]]:
    identity, after = said(asked, "id"), asked.get("after", 0)
    if not 0 <= after <= 2**62:
        raise UsageError(f"`after` is {after}, it must be the number of an event")
    await run_in_threadpool(evaluations.get, desk, person, identity)
    try:
        async with aclosing(follow(desk, person, identity, after)) as happened:
            async for event in happened:
                if event is not None:
                    facts = {key: value for key, value in event.items() if key not in ("number", "at", "kind")}
                    yield {"number": event["number"], "at": event["at"], "kind": event["kind"], "facts": facts}
    except Stopping:
        raise HTTPException(503, "the server stops; ask again with `after` as the number of the last event") from None


async def get_report(desk: Desk, person: Person, asked: Asked) -> AsyncIterator[Mapping[str, Any]]:
    form = choice(asked, "form", _FORMS) or "html"
    if form == "parquet":
        table = await run_in_threadpool(samples.table, desk, person, said(asked, "name"))
        for piece in pieces(await run_in_threadpool(table.read_bytes)):
            yield piece
        return
    text = await run_in_threadpool(records.report, desk, person, said(asked, "name"), form)
    for piece in pieces(text.encode()):
        yield piece


async def get_log(desk: Desk, person: Person, asked: Asked) -> AsyncIterator[Mapping[str, Any]]:
    text = await run_in_threadpool(records.log, desk, person, said(asked, "name"))
    for piece in pieces(text.encode()):
        yield piece


async def get_bundle(desk: Desk, person: Person, asked: Asked) -> AsyncIterator[Mapping[str, Any]]:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "bundle.zip"
        await run_in_threadpool(hub.bundle, desk, person, said(asked, "name"), path)
        with path.open("rb") as file:
            while data := await run_in_threadpool(file.read, PIECE):
                yield {"data": data}


STREAMS: dict[str, Stream] = {
    "FollowEvaluation": follow_evaluation,
    "GetReport": get_report,
    "GetLog": get_log,
    "GetBundle": get_bundle,
    **REPLICATION_STREAMS,
}
