"""From a call to a handler and back: see who asks, read it, ask, write the answer; or say what went wrong."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from functools import partial
from inspect import iscoroutinefunction
from typing import Any

import grpc
from fastapi import FastAPI, HTTPException, Request
from starlette.concurrency import run_in_threadpool

from mlmodelscope.server import log_lines
from mlmodelscope.server.rest.body import check
from mlmodelscope.server.rpc import health, otlp
from mlmodelscope.server.rpc.artifact_calls import ARTIFACT_CALLS, ARTIFACT_STREAMS
from mlmodelscope.server.rpc.asked import Asked
from mlmodelscope.server.rpc.caller import CALLER, Threshold, as_request
from mlmodelscope.server.rpc.calls import CALLS
from mlmodelscope.server.rpc.convert import fill, plain
from mlmodelscope.server.rpc.messages import Method, methods
from mlmodelscope.server.rpc.prediction_calls import LARGE, TALKS
from mlmodelscope.server.rpc.status import Status, status_of
from mlmodelscope.server.rpc.streams import STREAMS
from mlmodelscope.server.rpc.trace_calls import TRACE_CALLS, TRACE_STREAMS
from mlmodelscope.trace.caller import parse_traceparent

_LOG = logging.getLogger("mlmodelscope.server")
_ALL_CALLS = {**CALLS, **ARTIFACT_CALLS, **TRACE_CALLS}
_ALL_STREAMS = {**STREAMS, **ARTIFACT_STREAMS, **TRACE_STREAMS}


def make_handlers(app: FastAPI) -> list[Any]:
    """What grpc needs: for every service that is described, a handler for each of its methods."""
    desk = app.state.desk
    bridge = _Bridge(app, Threshold(desk.config.requests_per_minute))
    services: dict[str, dict[str, Any]] = {}
    for method in methods():
        make = bridge.talk if method.is_fed else bridge.many if method.streams else bridge.one
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
                ask = await self._admit(call, _ALL_CALLS, self._health.check)
                asked = call.read(message)
                found = await (ask(asked) if iscoroutinefunction(ask) else run_in_threadpool(ask, asked))
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
                ask = await self._admit(call, _ALL_STREAMS, self._health.watch)
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

    def talk(self, method: Method) -> Any:
        """A method with a stream of questions and a stream of answers."""

        async def answers(messages: AsyncIterator[bytes], context: Any) -> AsyncIterator[bytes]:
            call = _Call(method, as_request(self._app, method.path, context))

            async def questions() -> AsyncIterator[Asked]:
                number = 0
                async for message in messages:
                    if number:  # the first is counted as the call
                        self._threshold.count(call.request)
                    number += 1
                    yield call.read(message)

            try:
                ask = await self._admit(call, TALKS, self._health.watch)
                async with aclosing(ask(questions())) as found:
                    async for each in found:
                        yield call.write(each)
            except Exception as error:
                wrong = status_of(error)
            else:
                call.tell(grpc.StatusCode.OK)
                return
            await call.refuse(context, wrong)

        return grpc.stream_stream_rpc_method_handler(answers)

    async def _admit(self, call: _Call, known: Any, open_to_all: Callable[[Asked], Any]) -> Callable[[Any], Any]:
        """What answers the call, for whoever makes it."""
        self._threshold.count(call.request)
        if call.method.service == health.SERVICE:
            return open_to_all
        return partial(known[call.method.name], self._desk, await self._threshold.enter(call.request))


class _Call:
    """One call, from its first byte to its line in the log."""

    def __init__(self, method: Method, request: Request) -> None:
        self.method, self.request, self._started = method, request, time.perf_counter()
        log_lines.question.set(secrets.token_hex(8))
        CALLER.set(parse_traceparent(request.headers.get("traceparent")))

    def read(self, message: bytes) -> Asked:
        largest = self.request.app.state.desk.config.largest_body
        if len(message) > largest and self.method.name not in LARGE:
            raise HTTPException(413, f"more than {largest} bytes")
        asked: Asked = plain(self.method.asked.FromString(message))
        if self.method.service != otlp.SERVICE:  # whose spans are looked at one by one
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
