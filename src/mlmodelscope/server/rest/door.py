"""Who is asking, and whether they may come in at all."""

from __future__ import annotations

import hashlib
import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from mlmodelscope.ledger.tokens import Person
from mlmodelscope.server.config import Config, is_loopback
from mlmodelscope.server.desk import Desk

BEARER = HTTPBearer(auto_error=False, description="A token, from `mlmodelscope token make`.")
LOCAL = Person("local", frozenset({"read", "run"}), is_local=True)
VISITOR = Person("visitor", frozenset({"read"}))
_KEPT = 10_000
_CHALLENGE = {"WWW-Authenticate": "Bearer"}
PUBLIC = ("/api/v1/health", "/api/v1/ready", "/api/v1/openapi.json")


async def desk_of(request: Request) -> Desk:
    found: Desk = request.app.state.desk
    return found


def person_of(request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)]) -> Person:
    """The owner of the token; on this machine the local user, who may read and run."""
    desk: Desk = request.app.state.desk
    person = _person(request, desk, credentials.credentials if credentials else None)
    request.state.owner = person.owner
    return person


async def somebody(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)]
) -> Person:
    """As `person_of`; who was here a moment ago need not wait for a thread that asks the database."""
    desk: Desk = request.app.state.desk
    known = desk.tokens.recent(credentials.credentials) if credentials else None
    if known is None:
        return await run_in_threadpool(person_of, request, credentials)
    request.state.owner = known.owner
    return known


def _person(request: Request, desk: Desk, secret: str | None) -> Person:
    if secret is not None:
        person = desk.person(secret)
        if person is None:
            raise HTTPException(401, "this token is not known, or has expired", _CHALLENGE)
        return person
    if _is_local(request, desk.config):
        return LOCAL
    if desk.config.visitors == "read":
        return VISITOR
    raise HTTPException(401, "a token is needed: `Authorization: Bearer …`", _CHALLENGE)


def is_stranger(request: Request, config: Config) -> bool:
    """Somebody who shows no token where one is needed; whether a token is worth anything is seen later."""
    path = request.scope["path"]
    if not path.startswith("/api/") or path in PUBLIC or config.visitors == "read":
        return False
    shown = request.headers.get("authorization", "").lower().startswith("bearer ")
    return not shown and not _is_local(request, config)


def address_of(request: Request) -> str:
    """Where a question comes from; with IPv6 everybody has a whole network, which counts as one."""
    host = request.client.host if request.client else "?"
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    return str(ipaddress.ip_network((address, 64), strict=False)) if address.version == 6 else host


def visitor_key(request: Request) -> str:
    """Whose questions are counted together: a token's, else an address's. A hash, since a header may be long."""
    shown = request.headers.get("authorization")
    return hashlib.sha256(shown.encode("latin-1", "replace")).hexdigest() if shown else address_of(request)


def _is_local(request: Request, config: Config) -> bool:
    """A program on this machine that speaks to this machine; a page of somebody else's in a browser is not."""
    if config.require_token or not config.is_local or request.client is None:
        return False
    if not is_loopback(request.client.host) or "forwarded" in request.headers or "x-forwarded-for" in request.headers:
        return False
    origin = request.headers.get("origin")
    return origin is None or origin == f"{request.url.scheme}://{request.headers.get('host')}"


def is_known_host(request: Request, config: Config) -> bool:
    """Whether it is addressed by a name that is its own: a stranger's name that leads here is a trick."""
    host = request.headers.get("host", "").rpartition("@")[2]
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    name = name.strip("[]").lower()
    return name in config.hosts or name == config.host or (is_loopback(name)) or not config.is_local


class Limiter:
    """So many questions a minute from one token or address; a bucket that fills again all the time."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._size, self._clock = per_minute, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, key: str) -> float:
        """0 where it may go on, else how long to wait."""
        now = self._clock()
        left, seen = self._buckets.pop(key, (float(self._size), now))
        left = min(float(self._size), left + (now - seen) * self._size / 60)
        wait = 0.0 if left >= 1 else (1 - left) * 60 / self._size
        self._buckets[key] = (left - 1 if not wait else left, now)
        while len(self._buckets) > _KEPT:
            self._buckets.popitem(last=False)
        return wait


Someone = Annotated[Person, Depends(somebody)]
TheDesk = Annotated[Desk, Depends(desk_of)]
