"""What people and programs ask for."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Header, Path, Query, Response
from fastapi.responses import FileResponse, StreamingResponse

from mlmodelscope.ledger.request import Request as Asked
from mlmodelscope.record.record import Record
from mlmodelscope.server.handle import agents, evaluations, manifests, people, records, requests, reuse, samples
from mlmodelscope.server.handle.follow import Stopping, follow
from mlmodelscope.server.rest import (
    agent_answers,
    cursor,
    evaluation_answers,
    manifest_answers,
    people_answers,
)
from mlmodelscope.server.rest.body import CheckedRoute
from mlmodelscope.server.rest.door import Someone, TheDesk
from mlmodelscope.server.rest.problem import fails

router = APIRouter(prefix="/api/v1", route_class=CheckedRoute, responses=fails())
Limit = Annotated[int, Query(ge=1, le=1000)]
Identity = Annotated[str, Query(max_length=100)]
Name = Annotated[str, Path(min_length=1, max_length=100)]
_EVENT = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "Its number, for `Last-Event-ID`."},
        "event": {"type": "string", "examples": ["progress"]},
        "data": {"type": "string", "description": "JSON with number, at, kind, and what belongs to the kind."},
    },
}
_PARQUET = "application/vnd.apache.parquet"
_REPORTS = {"html": "text/html", "md": "text/markdown", "json": "application/json", "csv": "text/csv"}


@router.get("/whoami", tags=["people"], response_model=people_answers.Somebody)
def who_am_i(person: Someone) -> dict[str, Any]:
    """Who the token is, and what it may do."""
    return {"owner": person.owner, "scopes": sorted(person.scopes)}


@router.get("/manifests/{kind}", tags=["manifests"], response_model=manifest_answers.ManifestList)
def list_manifests(
    desk: TheDesk,
    person: Someone,
    kind: manifest_answers.ManifestKind,
    q: Annotated[str | None, Query(max_length=200)] = None,
) -> dict[str, Any]:
    """Manifests of a kind; `q` are words that must occur."""
    return {"items": manifests.find(desk, person, kind, q)}


@router.get(
    "/manifests/{kind}/{name}/{version}",
    tags=["manifests"],
    response_model=manifest_answers.Manifest,
    responses=fails(404),
)
def get_manifest(
    desk: TheDesk, person: Someone, kind: manifest_answers.ManifestKind, name: Name, version: Name
) -> dict[str, Any]:
    return manifests.get(desk, person, kind, name, version)


@router.post(
    "/manifests",
    tags=["manifests"],
    status_code=201,
    response_model=manifest_answers.Manifest,
    responses={200: {"model": manifest_answers.Manifest, "description": "It was there already."}, **fails(409)},
)
def put_manifest(
    desk: TheDesk, person: Someone, response: Response, text: Annotated[str, Body(embed=True, max_length=1_000_000)]
) -> dict[str, Any]:
    """Put a manifest here. A version never changes: the same again is fine, another one is refused."""
    found, new = manifests.put(desk, person, text)
    response.status_code = 201 if new else 200
    return found


@router.delete("/manifests/{kind}/{name}/{version}", tags=["manifests"], status_code=204, responses=fails(404))
def delete_manifest(
    desk: TheDesk, person: Someone, kind: manifest_answers.ManifestKind, name: Name, version: Name
) -> None:
    manifests.delete(desk, person, kind, name, version)


@router.post(
    "/requests/resolve", tags=["requests"], response_model=evaluation_answers.Resolution, responses=fails(404, 409)
)
def resolve_request(desk: TheDesk, person: Someone, request: Asked) -> dict[str, Any]:
    """Which agents fit a request, or what stands in the way, and which records answer it already; nothing runs."""
    return reuse.resolve_request(desk, person, request)


@router.post(
    "/requests",
    tags=["requests"],
    status_code=202,
    response_model=evaluation_answers.Accepted,
    responses=fails(404, 409),
)
def ask_for_work(
    desk: TheDesk,
    person: Someone,
    request: Asked,
    idempotency_key: Annotated[str | None, Header(max_length=200)] = None,
) -> dict[str, Any]:
    """Ask for work. With the header `Idempotency-Key` the same question again has the same answer."""
    identity = requests.ask(desk, person, request, idempotency_key)
    return {
        "id": identity,
        "evaluations": evaluations.of_request(desk, person, identity),
        "earlier": reuse.known(desk, person, request),
    }


@router.get("/evaluations", tags=["evaluations"], response_model=evaluation_answers.EvaluationPage)
def list_evaluations(
    desk: TheDesk,
    person: Someone,
    state: evaluation_answers.EvaluationState | None = None,
    model: Identity | None = None,
    dataset: Identity | None = None,
    agent: Identity | None = None,
    owner: Identity | None = None,
    request: Identity | None = None,
    q: Annotated[str | None, Query(max_length=200, description="Words that must occur.")] = None,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: Limit = 50,
    after: Annotated[str | None, Query(max_length=200, description="`next` of the page before.")] = None,
) -> dict[str, Any]:
    """Newest first."""
    wanted = {"state": state, "model": model, "dataset": dataset, "agent": agent, "owner": owner, "request": request}
    found = evaluations.find(desk, person, limit, cursor.read(after), q=q, since=since, until=until, **wanted)
    last = found[-1] if len(found) == limit else None
    return {"items": found, "next": cursor.write(last["created_at"], last["id"]) if last else None}


@router.get(
    "/evaluations/{identity}", tags=["evaluations"], response_model=evaluation_answers.Evaluation, responses=fails(404)
)
def get_evaluation(desk: TheDesk, person: Someone, identity: Name) -> dict[str, Any]:
    return evaluations.get(desk, person, identity)


@router.post(
    "/evaluations/{identity}/cancel",
    tags=["evaluations"],
    response_model=evaluation_answers.Evaluation,
    responses=fails(404),
)
def cancel_evaluation(desk: TheDesk, person: Someone, identity: Name) -> dict[str, Any]:
    return evaluations.cancel(desk, person, identity)


@router.delete("/evaluations/{identity}", tags=["evaluations"], status_code=204, responses=fails(404))
def delete_evaluation(desk: TheDesk, person: Someone, identity: Name) -> None:
    """Forget one that has ended, by whoever requested it or an admin; its record stays."""
    evaluations.delete(desk, person, identity)


@router.get(
    "/evaluations/{identity}/events",
    tags=["evaluations"],
    response_class=StreamingResponse,
    responses={
        200: {
            "content": {"text/event-stream": {"schema": _EVENT}},
            "description": "Server-sent events until it has ended.",
        },
        **fails(404),
    },
)
async def follow_evaluation(
    desk: TheDesk,
    person: Someone,
    identity: Name,
    last_event_id: Annotated[int, Header(ge=0, le=2**62)] = 0,
) -> StreamingResponse:
    """What happens to it, from the beginning or from where `Last-Event-ID` says, until it has ended."""
    await asyncio.to_thread(evaluations.get, desk, person, identity)

    async def stream() -> AsyncIterator[str]:
        with contextlib.suppress(Stopping):
            async for event in follow(desk, person, identity, last_event_id):
                if event is None:
                    yield ": still there\n\n"
                else:
                    document = json.dumps(event, default=str)
                    yield f"id: {event['number']}\nevent: {event['kind']}\ndata: {document}\n\n"

    return StreamingResponse(stream(), media_type="text/event-stream", headers={"Cache-Control": "no-store"})


@router.get(
    "/records/{name}",
    tags=["records"],
    response_model=Record,
    responses={304: {"description": "It is as it was."}, **fails(404)},
)
def get_record(
    desk: TheDesk,
    person: Someone,
    name: Name,
    response: Response,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Any:
    """A record by its id, the beginning of it, or `latest`."""
    record = records.get(desk, person, name)
    if record.status == "finished":  # it never changes again
        tag = f'"{record.id}"'
        if if_none_match == tag:
            return Response(status_code=304)
        response.headers["ETag"] = tag
        response.headers["Cache-Control"] = "private, no-cache"
    return record


@router.get(
    "/records/{name}/report",
    tags=["records"],
    response_class=Response,
    responses={
        200: {
            "content": {
                kind: {"schema": {"type": "object" if form == "json" else "string"}} for form, kind in _REPORTS.items()
            }
            | {_PARQUET: {"schema": {"type": "string", "format": "binary"}}},
            "description": "It; `parquet` is the table of samples.",
        },
        **fails(404),
    },
)
def get_report(
    desk: TheDesk, person: Someone, name: Name, form: Literal["html", "md", "json", "csv", "parquet"] = "html"
) -> Response:
    if form == "parquet":
        return FileResponse(samples.table(desk, person, name), media_type=_PARQUET)
    # A report shows what others wrote: it may run its own script and load nothing.
    headers = (
        {
            "Content-Security-Policy": "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; "
            "img-src data:; script-src 'unsafe-inline'"
        }
        if form == "html"
        else {}
    )
    return Response(records.report(desk, person, name, form), media_type=_REPORTS[form], headers=headers)


@router.get(
    "/records/{name}/log",
    tags=["records"],
    response_class=Response,
    responses={
        200: {"content": {"application/yaml": {"schema": {"type": "object"}}}, "description": "The reference log."},
        **fails(404),
    },
)
def get_log(desk: TheDesk, person: Someone, name: Name) -> Response:
    return Response(records.log(desk, person, name), media_type="application/yaml")


@router.delete("/records/{name}", tags=["records"], status_code=204, responses=fails(404))
def delete_record(desk: TheDesk, person: Someone, name: Name) -> None:
    records.delete(desk, person, name)


@router.get("/agents", tags=["agents"], response_model=agent_answers.AgentList)
def list_agents(desk: TheDesk, person: Someone) -> dict[str, Any]:
    return {"items": agents.find(desk, person)}


@router.get("/agents/{identity}", tags=["agents"], response_model=agent_answers.Agent, responses=fails(404))
def get_agent(desk: TheDesk, person: Someone, identity: Name) -> dict[str, Any]:
    return agents.get(desk, person, identity)


@router.post("/agents/{identity}/drain", tags=["agents"], response_model=agent_answers.Agent, responses=fails(404))
def drain_agent(
    desk: TheDesk, person: Someone, identity: Name, draining: Annotated[bool, Body(embed=True)] = True
) -> dict[str, Any]:
    """Let it finish what it has and take nothing more, or let it take again."""
    return agents.drain(desk, person, identity, draining)


@router.get("/tokens", tags=["people"], response_model=people_answers.TokenList)
def list_tokens(desk: TheDesk, person: Someone) -> dict[str, Any]:
    """One's own tokens; for admins those of everybody."""
    return {"items": people.tokens(desk, person)}


@router.post("/tokens", tags=["people"], status_code=201, response_model=people_answers.NewToken)
def make_token(
    desk: TheDesk,
    person: Someone,
    name: Annotated[str, Body(max_length=100, examples=["laboratory"])],
    scopes: Annotated[list[people_answers.Scope], Body(min_length=1, max_length=10, examples=[["agent", "read"]])],
    owner: Annotated[
        str | None, Body(min_length=1, max_length=100, examples=["lab"], description="Whose; by default one's own.")
    ] = None,
    days: Annotated[
        float | None, Body(gt=0, le=3650, description="Until it expires; never where it is left out.")
    ] = None,
) -> dict[str, str]:
    """The token is in the answer, this once. Without `admin`, it is one's own and may no more than one's own token."""
    return people.make_token(desk, person, name=name, owner=owner, scopes=list(scopes), days=days)


@router.delete("/tokens/{identity}", tags=["people"], status_code=204, responses=fails(404))
def revoke_token(desk: TheDesk, person: Someone, identity: Name) -> None:
    people.revoke_token(desk, person, identity)


@router.get("/audit", tags=["people"], response_model=people_answers.AuditPage)
def read_audit(
    desk: TheDesk, person: Someone, limit: Limit = 100, before: Annotated[int | None, Query(ge=0, le=2**62)] = None
) -> dict[str, Any]:
    """Who did what, newest first."""
    return {"items": people.audit(desk, person, limit, before)}
