"""Files of people's own over gRPC: the same pieces as over HTTP, each one a call."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool

from mlmodelscope.errors import UsageError
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.server.desk import Desk
from mlmodelscope.server.handle import artifacts
from mlmodelscope.server.rest import cursor
from mlmodelscope.server.rpc.asked import Asked, Call, limit_of, said
from mlmodelscope.server.rpc.pieces import PIECE, Stream

_LARGEST = 2**53


def announce_artifact(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    size = _whole(asked, "size")
    return artifacts.announce(desk, person, said(asked, "sha256"), size, asked.get("name", ""))[0]


def send_artifact(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    with artifacts.receiving(desk, person, said(asked, "digest"), _whole(asked, "offset")) as receiver:
        receiver.write(asked.get("data", b""))
        return artifacts.finish_piece(desk, person, receiver)


def list_artifacts(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    limit = limit_of(asked, 50)
    found = artifacts.find(desk, person, limit, cursor.read(asked.get("after")), asked.get("owner"))
    last = found[-1] if len(found) == limit else None
    return {"items": found, "next": cursor.write(last["created_at"], last["digest"]) if last else None}


def delete_artifact(desk: Desk, person: Person, asked: Asked) -> Mapping[str, Any]:
    artifacts.delete(desk, person, said(asked, "digest"))
    return {}


async def get_artifact(desk: Desk, person: Person, asked: Asked) -> AsyncIterator[Mapping[str, Any]]:
    found = await run_in_threadpool(artifacts.get, desk, person, said(asked, "digest"))
    with found.path.open("rb", buffering=0) as file:
        file.seek(_whole(asked, "offset"))
        while data := await run_in_threadpool(file.read, PIECE):
            yield {"data": data}


def _whole(asked: Asked, name: str) -> int:
    found: int = asked.get(name, 0)
    if not 0 <= found <= _LARGEST:
        raise UsageError(f"`{name}` is {found}, it must be from 0 to {_LARGEST}")
    return found


ARTIFACT_CALLS: dict[str, Call] = {
    "AnnounceArtifact": announce_artifact,
    "SendArtifact": send_artifact,
    "ListArtifacts": list_artifacts,
    "DeleteArtifact": delete_artifact,
}
ARTIFACT_STREAMS: dict[str, Stream] = {"GetArtifact": get_artifact}
