"""Claims, and the replications that check them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Query, Response

from mlmodelscope.replicate.kind import Change, Kind
from mlmodelscope.server.handle import checks, claims, evaluations, replications
from mlmodelscope.server.rest import cursor, evaluation_answers
from mlmodelscope.server.rest import replication_answers as own
from mlmodelscope.server.rest.body import CheckedRoute
from mlmodelscope.server.rest.door import Someone, TheDesk
from mlmodelscope.server.rest.problem import fails

router = APIRouter(prefix="/api/v1", tags=["replications"], route_class=CheckedRoute, responses=fails())
Limit = Annotated[int, Query(ge=1, le=1000)]
Identity = Annotated[str, Query(max_length=100)]
Name = Annotated[str, Path(min_length=1, max_length=100)]
ClaimStatus = Kind | Literal["unchecked"]
_FORMS = {"html": "text/html", "md": "text/markdown", "junit": "application/xml"}
# What others wrote is shown: it may run its own script and load nothing.
_SANDBOX = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'unsafe-inline'"
)


@router.get("/claims", response_model=own.ClaimList)
def list_claims(
    desk: TheDesk,
    person: Someone,
    model: Identity | None = None,
    verdict: Kind | Literal["not checked"] | None = None,
) -> dict[str, Any]:
    """Published numbers of the newest version of every model, with the last verdict on each."""
    return {"items": claims.find(desk, person, model, verdict)}


@router.get("/published-claims", response_model=own.PublishedPage)
def list_published_claims(
    desk: TheDesk,
    person: Someone,
    q: Annotated[str | None, Query(max_length=200, description="Words that must occur.")] = None,
    source: Identity | None = None,
    model: Annotated[str | None, Query(max_length=300, description="`NAME`, `NAME@VERSION` or `SOURCE:NAME`.")] = None,
    metric: Identity | None = None,
    dataset: Annotated[str | None, Query(max_length=200)] = None,
    status: ClaimStatus | None = None,
    start: Annotated[int, Query(ge=0, le=10**9)] = 0,
    limit: Limit = 50,
) -> dict[str, Any]:
    """Published numbers of manifests and of sources, with what all checks of each come to."""
    filters = {"q": q, "source": source, "metric": metric, "dataset": dataset, "status": status}
    wanted = checks.wanted(**filters, model=model, limit=limit, offset=start)
    return checks.spelled_page(checks.find(desk, person, wanted), start)


@router.get("/published-claims/{key}/checks", response_model=own.CheckList)
def list_checks(desk: TheDesk, person: Someone, key: Name) -> dict[str, Any]:
    """Every check of a claim, the newest first: by whom, when, on which stack and machine."""
    return {"items": checks.of_claim(desk, person, key)}


@router.post("/replications", status_code=202, response_model=evaluation_answers.Accepted, responses=fails(404, 409))
def ask_for_replication(
    desk: TheDesk,
    person: Someone,
    request: own.ReplicationRequest,
    idempotency_key: Annotated[str | None, Header(max_length=200)] = None,
) -> dict[str, Any]:
    """Have a claim checked; where it does not hold, the cause is sought. The same as a request of kind `replicate`."""
    identity = replications.ask(desk, person, request, idempotency_key)
    return {"id": identity, "evaluations": evaluations.of_request(desk, person, identity)}


@router.get("/replications", response_model=own.ReplicationPage)
def list_replications(
    desk: TheDesk,
    person: Someone,
    state: evaluation_answers.EvaluationState | None = None,
    model: Identity | None = None,
    dataset: Identity | None = None,
    limit: Limit = 50,
    after: Annotated[str | None, Query(max_length=200, description="`next` of the page before.")] = None,
) -> dict[str, Any]:
    """Newest first."""
    found = replications.find(desk, person, limit, cursor.read(after), state=state, model=model, dataset=dataset)
    last = found[-1] if len(found) == limit else None
    return {"items": found, "next": cursor.write(last["created_at"], last["id"]) if last else None}


@router.get("/replications/{identity}", response_model=own.Replication, responses=fails(404))
def get_replication(desk: TheDesk, person: Someone, identity: Name) -> dict[str, Any]:
    """The verdict, the cause, all variants that were tried; while it runs, what was tried and dropped so far."""
    return replications.get(desk, person, identity)


@router.get("/replications/{identity}/samples", response_model=own.FlipPage, responses=fails(404))
def get_flipped_samples(
    desk: TheDesk,
    person: Someone,
    identity: Name,
    kind: Annotated[
        Change | Literal["right now", "wrong now"] | None,
        Query(description="`right now` and `wrong now` are former names of `fixed` and `broken`."),
    ] = None,
    start: Annotated[int, Query(ge=0, le=10**12)] = 0,
    limit: Limit = 100,
) -> dict[str, Any]:
    """Samples whose answer the cause changes, the most telling first; some with pictures, by their names."""
    found, total = replications.samples(desk, person, identity, kind=kind, start=start, limit=limit)
    return {"items": found, "total": total}


@router.get(
    "/replications/{identity}/pictures/{name}",
    response_class=Response,
    responses={
        200: {
            "content": {"image/png": {"schema": {"type": "string", "format": "binary"}}},
            "description": "What the model sees of a sample.",
        },
        **fails(404),
    },
)
def get_evidence_picture(desk: TheDesk, person: Someone, identity: Name, name: Name) -> Response:
    headers = {"Cache-Control": "private, max-age=31536000, immutable"}
    return Response(replications.picture(desk, person, identity, name), media_type="image/png", headers=headers)


@router.get(
    "/replications/{identity}/report",
    response_class=Response,
    responses={
        200: {"content": {kind: {"schema": {"type": "string"}} for kind in _FORMS.values()}, "description": "It."},
        **fails(404),
    },
)
def get_replication_report(
    desk: TheDesk, person: Someone, identity: Name, form: Literal["html", "md", "junit"] = "html"
) -> Response:
    """The page with the evidence, a summary, or a JUnit file."""
    headers = {"Content-Security-Policy": _SANDBOX} if form == "html" else {}
    text = replications.report(desk, person, identity, form)
    return Response(text, media_type=_FORMS[form], headers=headers)
