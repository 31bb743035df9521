"""The protocol over REST, as an ASGI application: JSON, and tensors as binary data behind the JSON."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor
from typing import Any
from urllib.parse import unquote

from mlmodelscope.inference.door import Caller, Door
from mlmodelscope.inference.models import Models
from mlmodelscope.inference.refusal import Refusal, refusal_of
from mlmodelscope.inference.rest_tensors import read_question, write_answer
from mlmodelscope.worker.process import Buffer

_LOG = logging.getLogger("mlmodelscope.inference")
LARGEST = 128 << 20
"""Bytes that a question may have."""
_LARGEST_WORDS = 1 << 20
_LARGEST_JSON = 32 << 20  # takes many times of it in memory
_MORE_WITHIN_S = 60.0
_SMALL = 1 << 16  # up to here a copy is cheaper than another system call
_AT_ONCE = 16
"""Questions whose bodies are being read."""
PUBLIC = ("v2/health/live", "v2/health/ready")

Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Answered = tuple[int, dict[str, str], list[Buffer]]


class RestApp:
    """What a web server calls; `threads` do whatever takes long."""

    def __init__(self, models: Models, door: Door, threads: Executor) -> None:
        self._models, self._door, self._threads = models, door, threads
        self._reading = asyncio.Semaphore(_AT_ONCE)

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        try:
            status, more, content = await self._answer(scope, headers, receive)
        except Exception as error:
            refusal = refusal_of(error)
            if refusal is None:
                _LOG.exception("a question failed")
                refusal = Refusal(500, "something went wrong here; the log says more")
            status, more, content = _words({"error": refusal.message}, refusal.status)
            if refusal.status == 401:
                more["www-authenticate"] = "Bearer"
            if refusal.status in (401, 403, 413):
                more["connection"] = "close"  # its body was not read to the end
        more["content-length"] = str(sum(len(each) for each in content))
        head = [(name.encode(), value.encode()) for name, value in more.items()]
        await send({"type": "http.response.start", "status": status, "headers": head})
        if sum(len(each) for each in content) <= _SMALL:
            content = [b"".join(content)]
        for each in content[:-1]:
            await send({"type": "http.response.body", "body": each, "more_body": True})
        await send({"type": "http.response.body", "body": content[-1]})

    async def _answer(self, scope: Mapping[str, Any], headers: Mapping[str, str], receive: Receive) -> Answered:
        path, method = scope["path"].strip("/"), scope["method"]
        client = scope.get("client")
        if path not in PUBLIC:
            may = await self._enter(Caller(path, client[0] if client else None, headers))
        parts = [unquote(each) for each in _raw_path(scope).strip("/").split("/")]
        if parts[:1] != ["v2"]:
            raise Refusal(404, "there is nothing here; the protocol's paths begin with /v2")
        if path in PUBLIC:
            _only(method, "GET", "HEAD")
            good = path.endswith("live") or self._models.is_ready
            return _words({"live" if path.endswith("live") else "ready": good}, 200 if good else 503)
        if parts == ["v2"]:
            _only(method, "GET", "HEAD")
            return _words(self._models.server())
        if parts[1] == "models" and len(parts) > 2:
            return await self._model(parts[2:], method, headers, receive, may)
        if parts[1] == "repository":
            return await self._repository(parts[2:], method, headers, receive, may)
        raise Refusal(404, f"there is no v2/{'/'.join(parts[1:])[:200]}")

    async def _enter(self, caller: Caller) -> frozenset[str]:
        known = self._door.quick(caller)
        found: frozenset[str] = known if known is not None else await self._in_thread(self._door.enter, caller)
        return found

    async def _model(
        self, parts: list[str], method: str, headers: Mapping[str, str], receive: Receive, may: frozenset[str]
    ) -> Answered:
        name, version, parts = parts[0], "", parts[1:]
        if parts[:1] == ["versions"] and len(parts) > 1:
            version, parts = parts[1], parts[2:]
        if parts == ["infer"]:
            _only(method, "POST")
            _demand(may, "run")
            return await self._infer(name, version, headers, receive)
        _demand(may, "read")
        _only(method, "GET", "HEAD")
        if parts == ["ready"]:
            served = await self._in_thread(self._models.find, name, version)
            return _words({"name": served.manifest.name, "ready": True})
        if not parts:
            return _words((await self._in_thread(self._models.find, name, version)).describe())
        raise Refusal(404, f"a model has no `{'/'.join(parts)[:200]}`")

    async def _infer(self, name: str, version: str, headers: Mapping[str, str], receive: Receive) -> Answered:
        if headers.get("content-encoding", "identity") != "identity":
            raise Refusal(415, "compressed questions are not read here")
        cut = headers.get("inference-header-content-length")
        async with self._reading:
            body = await _read(headers, receive, LARGEST if cut is not None else _LARGEST_JSON)

            def answer() -> Answered:
                question = read_question(name, version, body, cut)
                words, content = write_answer(self._models.infer(question), question)
                if not content:
                    return 200, {"content-type": "application/json"}, [words]
                more = {"content-type": "application/octet-stream", "inference-header-content-length": str(len(words))}
                return 200, more, [words, *content]

            found: Answered = await self._in_thread(answer)
            return found

    async def _repository(
        self, parts: list[str], method: str, headers: Mapping[str, str], receive: Receive, may: frozenset[str]
    ) -> Answered:
        if parts == ["index"]:
            _demand(may, "read")
            _only(method, "GET", "POST")
            said = _object(await _read(headers, receive, _LARGEST_WORDS))
            return _words(await self._in_thread(self._models.index, said.get("ready") is True))
        if len(parts) == 3 and parts[0] == "models" and parts[2] in ("load", "unload"):
            _only(method, "POST")
            _demand(may, "run")
            said = _object(await _read(headers, receive, _LARGEST_WORDS))
            if said.get("parameters") and parts[2] == "load":
                raise Refusal(400, "models are loaded as the catalogue has them; no files or settings are taken")
            await self._in_thread(self._models.load if parts[2] == "load" else self._models.unload, parts[1])
            return _words({})
        raise Refusal(404, f"a repository has no `{'/'.join(parts)[:200]}`")

    async def _in_thread(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)


def _raw_path(scope: Mapping[str, Any]) -> str:
    """As it came: a name may have a slash in it, written as %2F."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    return raw.decode("latin-1").partition("?")[0]


def _words(said: Any, status: int = 200) -> Answered:
    return status, {"content-type": "application/json"}, [json.dumps(said, ensure_ascii=False).encode()]


def _only(method: str, *known: str) -> None:
    if method not in known:
        raise Refusal(405, f"this is asked with {' or '.join(known)}")


def _demand(may: frozenset[str], scope: str) -> None:
    if scope not in may:
        raise Refusal(403, f"this needs the scope `{scope}`")


def _object(body: bytes) -> dict[str, Any]:
    try:
        said = json.loads(body) if body.strip() else {}
    except (ValueError, RecursionError):
        raise Refusal(400, "this is no JSON") from None
    if not isinstance(said, dict):
        raise Refusal(400, "an object is expected")
    return said


async def _read(headers: Mapping[str, str], receive: Receive, most: int) -> bytes:
    told = headers.get("content-length", "")
    if told.isdecimal() and int(told) > most:
        raise Refusal(413, f"a question has {most} bytes at most")
    pieces, length = [], 0
    while True:
        try:
            async with asyncio.timeout(_MORE_WITHIN_S):
                message = await receive()
        except TimeoutError:
            raise Refusal(408, "the rest of the question did not come") from None
        if message["type"] == "http.disconnect":
            raise Refusal(400, "the question broke off")
        piece = message.get("body", b"")
        length += len(piece)
        if length > most:
            raise Refusal(413, f"a question has {most} bytes at most")
        pieces.append(piece)
        if not message.get("more_body"):
            return b"".join(pieces)
