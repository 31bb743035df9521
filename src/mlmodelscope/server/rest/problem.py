"""Errors as `application/problem+json` (RFC 9457): a type, a title, a status, and what to do about it."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from mlmodelscope.errors import (
    ChecksumError,
    InputError,
    LimitError,
    ManifestError,
    MLModelScopeError,
    PlanError,
    StoreError,
    TrustError,
    UsageError,
    VersionError,
)
from mlmodelscope.ledger.agent_owners import NotOwner
from mlmodelscope.ledger.change import Gone
from mlmodelscope.ledger.manifests import NameTaken, Taken
from mlmodelscope.provision.upload import NoRoom, NotBegun, OtherPlace, TooLong
from mlmodelscope.record.bundle import Clash
from mlmodelscope.server import log_lines
from mlmodelscope.server.desk import Refused
from mlmodelscope.server.gallery import NoPicture, NoPictures
from mlmodelscope.server.handle.model_files import NoNetwork
from mlmodelscope.server.handle.predictions import PredictionFailed
from mlmodelscope.server.handle.requests import NoAgent, spell

_STATUS: tuple[tuple[type[MLModelScopeError], int], ...] = (
    (Gone, 410),
    (NotOwner, 403),
    (NameTaken, 403),
    (NoRoom, 507),
    (TooLong, 413),
    (NotBegun, 404),
    (NoPictures, 404),
    (NoPicture, 404),
    (NoNetwork, 404),
    (OtherPlace, 409),
    (ChecksumError, 422),
    (Taken, 409),
    (Clash, 409),
    (NoAgent, 409),
    (ManifestError, 422),
    (InputError, 422),
    (LimitError, 422),
    (VersionError, 422),
    (PlanError, 409),
    (TrustError, 403),
    (StoreError, 503),
)
_ALWAYS = (400, 401, 403, 408, 413, 422, 429, 503)
STATUSES = {
    400: "The question is not one that can be read.",
    401: "A token is needed, or this one is not known.",
    403: "The token may not do this.",
    404: "It was not found.",
    405: "This is not done here.",
    408: "The rest of the question did not come.",
    409: "It contradicts what is there.",
    410: "It is another one's by now, or has ended.",
    413: "It is too large.",
    415: "It is not written in a way that is read here.",
    416: "It has no such bytes.",
    422: "What was sent is not right; the problems say where.",
    429: "Too many questions; the header Retry-After says when to ask again.",
    503: "The database is unavailable, or no agent is online that could answer.",
    504: "The answer did not come in time.",
    507: "There is no room for it.",
}


def fails(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What may go wrong with a route, for its description: these, and what may with every one."""
    return {status: {"description": STATUSES[status]} for status in sorted({*_ALWAYS, *statuses})}


def add_problems(app: FastAPI) -> None:
    app.add_exception_handler(MLModelScopeError, _ours)
    app.add_exception_handler(Refused, _ours)
    app.add_exception_handler(RequestValidationError, _ours)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(ClientDisconnect, _slow)


def problem(status: int, title: str, detail: str, headers: dict[str, str] | None = None, **more: Any) -> JSONResponse:
    body = document(status, title, detail, **more)
    return JSONResponse(body, status, headers, media_type="application/problem+json")


def document(status: int, title: str, detail: str, **more: Any) -> dict[str, Any]:
    """What every transport says of a problem."""
    body = {"type": f"urn:mlmodelscope:{title}", "title": title, "status": status, "detail": detail, **more}
    asked = log_lines.question.get()
    return {**body, "request_id": asked} if asked else body


def problem_of(error: Exception) -> dict[str, Any] | None:
    """An error that we foresaw, as a problem; None for a surprise."""
    if isinstance(error, Refused):
        return document(403, "Refused", str(error), scope=error.scope)
    if isinstance(error, RequestValidationError):
        problems = [
            {"path": ".".join(str(part) for part in each["loc"]), "message": each["msg"]} for each in error.errors()
        ]
        return document(422, "Invalid", "the question is not as it should be", problems=problems)
    if not isinstance(error, MLModelScopeError):
        return None
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 400)
    if isinstance(error, UsageError) and type(error) is UsageError and error.message.startswith("there is no "):
        status = 404
    more: dict[str, Any] = {"hint": error.hint} if error.hint else {}
    if isinstance(error, ManifestError):
        more["problems"] = [vars(each) for each in error.problems]
    if isinstance(error, NoAgent):
        more["resolution"] = spell(error.resolution)
    if isinstance(error, PredictionFailed):
        return document(error.status, error.kind, error.message, **more)
    return document(status, type(error).__name__, error.message, **more)


def _ours(request: Request, error: Exception) -> JSONResponse:
    found = problem_of(error)
    assert found is not None
    if isinstance(error, StoreError):
        request.app.state.metrics.database_failed()
    return JSONResponse(found, found["status"], media_type="application/problem+json")


def _slow(request: Request, error: Exception) -> JSONResponse:
    return problem(408, "TooSlow", STATUSES[408])


def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, ClientDisconnect):  # FastAPI hides it
        return _slow(request, error)
    return problem(error.status_code, "Error", str(error.detail), dict(error.headers or {}))
