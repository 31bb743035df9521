"""Speaking to a server: its problems become our errors, and what may pass is tried again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn
from urllib.parse import urlsplit

import httpx

from mlmodelscope.errors import (
    ArtifactError,
    ChecksumError,
    InputError,
    ManifestError,
    MLModelScopeError,
    PlanError,
    Problem,
    StoreError,
    TrustError,
    UsageError,
    WorkerError,
)
from mlmodelscope.ledger.change import Gone
from mlmodelscope.provision.upload import NoRoom, NotBegun, OtherPlace, TooLong
from mlmodelscope_worker import __version__

TIMEOUT = httpx.Timeout(60, connect=10)
_KINDS: dict[str, type[MLModelScopeError]] = {"PlanError": PlanError, "NoAgent": PlanError, "TrustError": TrustError}
_KINDS |= {"InputError": InputError, "WorkerError": WorkerError, "ArtifactError": ArtifactError}
_KINDS |= {each.__name__: each for each in (NoRoom, NotBegun, OtherPlace, TooLong, ChecksumError)}
_KINDS["UnknownSigner"] = TrustError


class ServerError(MLModelScopeError):
    """The server cannot be reached, or has failed; it may be better the next time."""


class Unauthorised(UsageError):
    """The server wants a token, or another one."""


def headers(token: str | None) -> dict[str, str]:
    found = {"User-Agent": f"mlmodelscope/{__version__}"}
    return {**found, "Authorization": f"Bearer {token}"} if token else found


def address(url: str) -> str:
    parts = urlsplit(url if "//" in url else f"http://{url}")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"`{url}` is not the address of a server, such as https://host:8642")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}/api/v1"


def unreachable(url: str, error: httpx.TransportError) -> ServerError:
    reason = str(error) or type(error).__name__
    return ServerError(f"the server {url} cannot be reached: {reason}", hint="is it running there? mlmodelscope serve")


def raise_problem(response: httpx.Response) -> None:
    """Nothing where all is well, else the server's problem as an error of ours."""
    if response.is_success or response.status_code == 304:
        return
    try:
        body: Mapping[str, Any] = response.json()
    except ValueError:
        body = {}
    raise_document(response.status_code, body)


def raise_document(status: int, body: Mapping[str, Any]) -> NoReturn:
    """The same for a problem that did not come as an answer of its own."""
    title, detail = str(body.get("title", "")), str(body.get("detail", "")) or f"status {status}"
    hint = body.get("hint")
    if status == 410:
        raise Gone(detail)
    if status == 401:
        raise Unauthorised(f"the server says: {detail}", hint="set MLMODELSCOPE_TOKEN, or give --token")
    if title == NoRoom.__name__:
        raise NoRoom(f"the server says: {detail}", hint=hint)
    if status in (429, 502, 503, 504) or status >= 500:
        raise ServerError(f"the server says: {detail}", hint=hint)
    if title == "ManifestError" and body.get("problems"):
        raise ManifestError(*(Problem(**{**each, "known": tuple(each["known"])}) for each in body["problems"]))
    if title == "Invalid":
        lines = [f"{each['path']}: {each['message']}" for each in body.get("problems", [])]
        raise UsageError("\n".join([detail, *lines]))
    if title == "StoreError":
        raise StoreError(detail, hint=hint)
    raise _KINDS.get(title, UsageError)(detail, hint=hint)
