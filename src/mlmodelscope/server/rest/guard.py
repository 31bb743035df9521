"""Around every question: who may knock at all, how often and how loudly; what is counted, what goes with each answer.

It is the outermost layer, so that refusals and accidents have the same headers and the same log line as answers.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time
from typing import Any

from fastapi import Request
from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mlmodelscope.server import log_lines
from mlmodelscope.server.desk import Desk
from mlmodelscope.server.metrics import Metrics
from mlmodelscope.server.rest.door import Limiter, address_of, is_known_host, is_stranger, visitor_key
from mlmodelscope.server.rest.problem import problem
from mlmodelscope.server.rest.protocol import LONGEST_HEAD

_LOG = logging.getLogger("mlmodelscope.server")
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
_STRICT = {"Strict-Transport-Security": "max-age=31536000"}
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_PER_ADDRESS = 10
"""Tokens are cheap to invent: one address may ask so many times what one token may."""
_SLOWEST = 1024
"""Bytes a second that a body must come with, when the first patience is used up."""
_PREDICTION = re.compile(r"/api/v1/predictions(/[^/]+/answer)?")
_MARGIN = 1 << 20
ARTIFACTS = "/api/v1/artifacts/"
UPLOADS = ("/record", "/part", "/bundles", "/manifests/init")


class Guard:
    def __init__(self, app: ASGIApp, desk: Desk, metrics: Metrics) -> None:
        self._app, self._config, self._metrics = app, desk.config, metrics
        self._limiter = Limiter(desk.config.requests_per_minute)
        self._addresses = Limiter(desk.config.requests_per_minute * _PER_ADDRESS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        asked = request.headers.get("x-request-id", "")
        identity = asked if _ID.fullmatch(asked) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = identity
        mark = log_lines.question.set(identity)
        said = _Said(send, identity, is_encrypted=request.scope["scheme"] == "https")
        heard = _Heard(receive, said, self._config.body_s)
        started = time.perf_counter()
        try:
            refusal = self._refusal(request)
            if refusal is not None:
                said.is_last = _has_body(request)  # which nobody reads
                await refusal(scope, receive, said)
            else:
                await self._app(scope, heard, said)
        except Exception:
            _LOG.exception("an error of our own")
            if not said.status:
                await problem(500, "Surprise", "an error of our own; the log has more")(scope, receive, said)
        finally:
            self._tell(request, said.status or 499, time.perf_counter() - started)
            log_lines.question.reset(mark)

    def _refusal(self, request: Request) -> Response | None:
        config = self._config
        if _head_bytes(request) > LONGEST_HEAD:
            return problem(431, "TooLarge", f"a head of more than {LONGEST_HEAD} bytes")
        if len(request.headers.getlist("host")) > 1:  # RFC 9112, 3.2: who stands in front may believe the other one
            return problem(400, "Error", "more than one header Host")
        if not is_known_host(request, config):
            return problem(400, "UnknownHost", "this server is not called that", hint="`hosts` in its configuration")
        if "\0" in request.scope["path"] or b"%00" in request.scope["query_string"]:
            return problem(400, "Error", "the address holds the character NUL")
        wait = self._limiter.wait_s(visitor_key(request)) or self._addresses.wait_s(address_of(request))
        if wait:
            return problem(429, "TooMany", "too many questions", {"Retry-After": str(int(wait) + 1)})
        length, path = request.headers.get("content-length", "0"), request.scope["path"]
        is_artifact = request.method == "PATCH" and path.startswith(ARTIFACTS)
        is_upload = is_artifact or path.endswith(UPLOADS)
        largest = (
            config.largest_artifact if is_artifact else config.largest_upload if is_upload else config.largest_body
        )
        if _PREDICTION.fullmatch(path):  # base64 takes four bytes for three
            largest = max(largest, config.largest_input * 4 // 3 + _MARGIN)
        # A body that does not say how long it is could go on for ever; only uploads are counted on the way.
        endless = "transfer-encoding" in request.headers and not is_upload
        if not length.isdecimal() or len(length) > 18 or int(length) > largest or endless:
            return problem(413, "TooLarge", f"more than {largest} bytes, or of unknown length")
        if is_stranger(request, config):  # before anything that they sent is read
            return problem(401, "Error", "a token is needed: `Authorization: Bearer …`", {"WWW-Authenticate": "Bearer"})
        return None

    def _tell(self, request: Request, status: int, took_s: float) -> None:
        route = getattr(request.scope.get("route"), "path", None) or "other"
        method = request.method if request.method in _METHODS else "other"
        self._metrics.count(method, route, status, took_s)
        facts: dict[str, Any] = {
            "method": method,
            "path": request.scope["path"][:300],
            "route": route,
            "status": status,
            "duration_s": round(took_s, 6),
            "client": request.client.host if request.client else None,
            "owner": getattr(request.state, "owner", None),
        }
        level = logging.WARNING if status >= 500 else logging.INFO
        _LOG.log(level, "%s %s %d %.1f ms", method, facts["path"], status, 1000 * took_s, extra=facts)


def _head_bytes(request: Request) -> int:
    """The request line and the headers, as they were sent."""
    line = len(request.method) + len(request.scope.get("raw_path") or b"") + len(request.scope["query_string"])
    return line + sum(len(name) + len(value) + 4 for name, value in request.headers.raw)


def _has_body(request: Request) -> bool:
    return "transfer-encoding" in request.headers or request.headers.get("content-length", "0") != "0"


_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


class _Said:
    """What is sent, with our headers on it."""

    def __init__(self, send: Send, identity: str, *, is_encrypted: bool) -> None:
        self._send, self._identity = send, identity
        self._added = {**_HEADERS, **(_STRICT if is_encrypted else {})}
        self.status = 0
        self.is_last = False
        """Whether the connection is closed behind it."""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in self._added.items():
                headers.setdefault(name, value)
            headers["X-Request-Id"] = self._identity
            if self.is_last:
                headers["Connection"] = "close"
        await self._send(message)


class _Heard:
    """A body as it comes; who sends it drop by drop is taken for gone."""

    def __init__(self, receive: Receive, said: _Said, patience_s: float) -> None:
        self._receive, self._said, self._patience_s = receive, said, patience_s
        self._started, self._bytes, self._whole = time.monotonic(), 0, False

    async def __call__(self) -> Message:
        if self._whole:
            return await self._receive()
        left_s = self._started + self._patience_s + self._bytes / _SLOWEST - time.monotonic()
        try:
            async with asyncio.timeout(max(left_s, 0.001)):
                message = await self._receive()
        except TimeoutError:
            self._whole, self._said.is_last = True, True
            return {"type": "http.disconnect"}
        self._bytes += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        return message
