"""A call as the door of the REST interface sees it: gRPC is HTTP, and who may come in is decided in one place."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any
from urllib.parse import unquote

from fastapi import FastAPI, HTTPException, Request
from starlette.concurrency import run_in_threadpool

from mlmodelscope.ledger.tokens import Person
from mlmodelscope.server.rest.door import BEARER, Limiter, address_of, person_of, visitor_key
from mlmodelscope.trace.caller import Caller

CALLER: ContextVar[Caller | None] = ContextVar("caller", default=None)
"""The trace that a call says it is part of, in its metadata `traceparent`."""
_PER_ADDRESS = 10
"""Tokens are cheap to invent: one address may ask so many times what one token may."""


class Threshold:
    """Counts who comes, and then sees who it is."""

    def __init__(self, per_minute: int) -> None:
        self._people, self._addresses = Limiter(per_minute), Limiter(per_minute * _PER_ADDRESS)

    def count(self, request: Request) -> None:
        wait = self._people.wait_s(visitor_key(request)) or self._addresses.wait_s(address_of(request))
        if wait:
            raise HTTPException(429, "too many questions", {"Retry-After": str(int(wait) + 1)})

    async def enter(self, request: Request) -> Person:
        return await run_in_threadpool(person_of, request, await BEARER(request))


def as_request(app: FastAPI, path: str, context: Any) -> Request:
    # Whoever sends an `origin` is a page in a browser, and none of ours speaks gRPC: without `host` it is never local.
    headers = [
        (key.lower().encode("latin-1"), value if isinstance(value, bytes) else value.encode("latin-1", "replace"))
        for key, value in context.invocation_metadata() or ()
        if key.lower() != "host"
    ]
    scope = {"type": "http", "app": app, "method": "POST", "path": path, "query_string": b"", "scheme": "grpc"}
    return Request({**scope, "headers": headers, "client": _client(context.peer()), "state": {}})


def _client(peer: str) -> tuple[str, int] | None:
    """`ipv4:127.0.0.1:5000` or `ipv6:%5B::1%5D:5000`; a socket of another kind is nobody's address."""
    kind, _, place = unquote(peer).partition(":")
    host, _, port = place.rpartition(":")
    return (host.strip("[]"), int(port)) if kind in ("ipv4", "ipv6") and port.isdecimal() else None
