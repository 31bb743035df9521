"""From a call to a handler and back: see who asks, read it, ask, write the answer; or say what went wrong."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from functools import partial
from typing import Any

import grpc
from fastapi import FastAPI, Request
from starlette.concurrency import run_in_threadpool

from mlmodelscope.server import log
from mlmodelscope.server.rest.body import check
from mlmodelscope.server.rpc import health
from mlmodelscope.server.rpc.asked import Asked
from mlmodelscope.server.rpc.caller import Threshold, as_request
from mlmodelscope.server.rpc.calls import CALLS
from mlmodelscope.server.rpc.convert import fill, plain
from mlmodelscope.server.rpc.messages import Method, methods
from mlmodelscope.server.rpc.status import Status, status_of
from mlmodelscope.server.rpc.streams import STREAMS

_LOG = logging.getLogger("mlmodelscope.server")


def make_handlers(app: FastAPI) -> list[Any]:
    """What grpc needs: for every service that is described, a handler for each of its methods."""
    desk = app.state.desk
    bridge = _Bridge(app, Threshold(desk.config.requests_per_minute))
    services: dict[str, dict[str, Any]] = {}
    for method in methods():
        make = bridge.many if method.streams else bridge.one
        services.setdefault(method.service, {})[method.name] = make(method)
    return [grpc.method_handlers_generic_handler(name, known) for name, known in services.items()]


class _Bridge:
    def __init__(self, app: FastAPI, threshold: Threshold) -> None:
        self._app, self._desk, self._threshold = app, app.state.desk, threshold
        self._health = health.Health(self._desk, {method.service for method in methods()})

    def one(self, method: Method) -> Any:
        """A method with one answer."""

        async def answer(message: bytes, context: Any) -> bytes | None:
            call = _Call(method, as_request(self._app, method.path, context))
            try:
                ask = await self._admit(call, CALLS, self._health.check)
                found = await run_in_threadpool(ask, call.read(message))
                written = call.write(found)
            except Exception as error:
                wrong = status_of(error)
            else:
                call.tell(grpc.StatusCode.OK)
                return written
            await call.refuse(context, wrong)
            return None

        return grpc.unary_unary_rpc_method_handler(answer)

    def many(self, method: Method) -> Any:
        """A method with a stream of answers."""

        async def answers(message: bytes, context: Any) -> AsyncIterator[bytes]:
            call = _Call(method, as_request(self._app, method.path, context))
            try:
                ask = await self._admit(call, STREAMS, self._health.watch)
                async with aclosing(ask(call.read(message))) as found:
                    async for each in found:
                        yield call.write(each)
            except Exception as error:
                wrong = status_of(error)
            else:
                call.tell(grpc.StatusCode.OK)
                return
            await call.refuse(context, wrong)

        return grpc.unary_stream_rpc_method_handler(answers)

    async def _admit(self, call: _Call, known: Any, open_to_all: Callable[[Asked], Any]) -> Callable[[Asked], Any]:
        """What answers the call, for whoever makes it."""
        self._threshold.count(call.request)
        if call.method.service == health.SERVICE:
            return open_to_all
        return partial(known[call.method.name], self._desk, await self._threshold.enter(call.request))


class _Call:
    """One call, from its first byte to its line in the log."""

    def __init__(self, method: Method, request: Request) -> None:
        self.method, self.request, self._started = method, request, time.perf_counter()
        log.question.set(secrets.token_hex(8))

    def read(self, message: bytes) -> Asked:
        asked: Asked = plain(self.method.asked.FromString(message))
        check(asked)
        return asked

    def write(self, found: Any) -> bytes:
        return bytes(fill(self.method.answered, found).SerializeToString())

    async def refuse(self, context: Any, status: Status) -> None:
        self.tell(status.code)
        await context.abort(status.code, status.message, status.trailing)

    def tell(self, code: Any) -> None:
        took_s = time.perf_counter() - self._started
        self.request.app.state.metrics.count("gRPC", self.method.path, code.value[0], took_s)
        facts = {
            "path": self.method.path,
            "status": code.name,
            "duration_s": round(took_s, 6),
            "client": self.request.client.host if self.request.client else None,
            "owner": getattr(self.request.state, "owner", None),
        }
        _LOG.info("%s %s %.1f ms", self.method.path, code.name, 1000 * took_s, extra=facts)
