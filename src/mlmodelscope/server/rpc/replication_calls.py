"""Claims and replications over gRPC."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal, cast

from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.replicate.kind import CHANGES, FORMER_CHANGES, WORST_FIRST
from mlmodelscope.server.desk import Desk
from mlmodelscope.server.handle import claims, evaluations, replications
from mlmodelscope.server.rest import cursor
from mlmodelscope.server.rest.replication_answers import ReplicationRequest
from mlmodelscope.server.rpc.asked import LONGEST_KEY, Asked, Call, choice, limit_of, request_of, said
from mlmodelscope.server.rpc.pieces import Stream, pieces

_STATES = ("waiting", "running", "finished", "failed", "cancelled")
_VERDICTS = (*WORST_FIRST, "not checked")
_KINDS = (*CHANGES, *FORMER_CHANGES)


def list_claims(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    return {"items": _plain(claims.find(desk, person, asked.get("model"), choice(asked, "verdict", _VERDICTS)))}


def ask_for_replication(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    key = said(asked, "idempotency_key", LONGEST_KEY) if "idempotency_key" in asked else None
    identity = replications.ask(desk, person, request_of(asked, ReplicationRequest), key)
    return {"id": identity, "evaluations": evaluations.of_request(desk, person, identity)}


def list_replications(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    wanted = {"state": choice(asked, "state", _STATES), "model": asked.get("model"), "dataset": asked.get("dataset")}
    limit = limit_of(asked, 50)
    found = replications.find(desk, person, limit, cursor.read(asked.get("after")), **wanted)
    last = found[-1] if len(found) == limit else None
    return {"items": _plain(found), "next": cursor.write(last["created_at"], last["id"]) if last else None}


def get_replication(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    (found,) = _plain([replications.get(desk, person, said(asked, "id"))])
    return found


def get_flipped_samples(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    kind, start = choice(asked, "kind", _KINDS), asked.get("start", 0)
    if not 0 <= start <= 10**12:
        raise UsageError(f"`start` is {start}, it must be from 0 to {10**12}")
    limit = limit_of(asked, 100)
    found, total = replications.samples(desk, person, said(asked, "id"), kind=kind, start=start, limit=limit)
    return {"items": found, "total": total}


async def get_evidence_picture(desk: Desk, person: Person, asked: Asked) -> AsyncIterator[Mapping[str, Any]]:
    identity, name = said(asked, "id"), said(asked, "name")
    for piece in pieces(await run_in_threadpool(replications.picture, desk, person, identity, name)):
        yield piece


async def get_replication_report(desk: Desk, person: Person, asked: Asked) -> AsyncIterator[Mapping[str, Any]]:
    form = cast(Literal["html", "md", "junit"], choice(asked, "form", ("html", "md", "junit")) or "html")
    text = await run_in_threadpool(replications.report, desk, person, said(asked, "id"), form)
    for piece in pieces(text.encode()):
        yield piece


def _plain(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Parts that have a schema of their own, as dictionaries."""
    return [{key: _dumped(each) for key, each in one.items()} for one in found]


def _dumped(value: Any) -> Any:
    if isinstance(value, list):
        return [_dumped(each) for each in value]
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else value


REPLICATION_CALLS: dict[str, Call] = {
    "ListClaims": list_claims,
    "AskForReplication": ask_for_replication,
    "ListReplications": list_replications,
    "GetReplication": get_replication,
    "GetFlippedSamples": get_flipped_samples,
}
REPLICATION_STREAMS: dict[str, Stream] = {
    "GetEvidencePicture": get_evidence_picture,
    "GetReplicationReport": get_replication_report,
}
