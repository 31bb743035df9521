"""The models of this machine's agent, served by the Open Inference Protocol to whoever the server would let in."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator

from fastapi import FastAPI, HTTPException, Request
from fastapi.security import HTTPAuthorizationCredentials

from mlmodelscope.cluster.agent import Agent
from mlmodelscope.errors import MLModelScopeError, UsageError
from mlmodelscope.inference.door import Caller
from mlmodelscope.inference.listening import Listening
from mlmodelscope.inference.models import Models
from mlmodelscope.inference.refusal import Refusal
from mlmodelscope.inference.server import InferenceServer
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.server.config import Config
from mlmodelscope.server.desk import Desk
from mlmodelscope.server.rest.door import Limiter, address_of, is_known_host, person_of
from mlmodelscope.server.rest.protocol import patient_protocol

_LOG = logging.getLogger("mlmodelscope.server")
BUSY = "this machine's agent is timing something, and answers nothing meanwhile"
_WRONG_PER_MINUTE = 60
"""Tokens that nobody has, from one address; whoever has one is asked for the model's time, not for ours."""


class DeskDoor:
    """The server's own door: its tokens, and programs of this machine."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._wrong = Limiter(_WRONG_PER_MINUTE)

    def enter(self, caller: Caller) -> frozenset[str]:
        return _scopes(self._person(self._app.state.desk, caller))

    def quick(self, caller: Caller) -> frozenset[str] | None:
        """Who was here a moment ago, and who shows no token: the database need not be asked."""
        desk: Desk = self._app.state.desk
        person = desk.tokens.recent(caller.token) if caller.token else self._person(desk, caller)
        return _scopes(person) if person is not None else None

    def _person(self, desk: Desk, caller: Caller) -> Person:
        request = _request(self._app, caller)
        if "host" in caller.headers and not is_known_host(request, desk.config):
            raise Refusal(400, "this is not the name of this server")
        shown = HTTPAuthorizationCredentials(scheme="Bearer", credentials=caller.token) if caller.token else None
        try:
            return person_of(request, shown)
        except HTTPException as error:
            if self._wrong.wait_s(address_of(request)):
                raise Refusal(429, "too many questions without a token") from None
            raise Refusal(error.status_code, str(error.detail)) from None


def _scopes(person: Person) -> frozenset[str]:
    return frozenset(scope for scope in ("read", "run") if person.may(scope))


def _request(app: FastAPI, caller: Caller) -> Request:
    headers = [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in caller.headers.items()]
    scope = {"type": "http", "app": app, "method": "POST", "path": f"/{caller.path}", "query_string": b""}
    client = (caller.host, 0) if caller.host else None
    return Request({**scope, "scheme": "http", "headers": headers, "client": client, "state": {}})


def listening_of(config: Config) -> Listening:
    return Listening(
        config.host, config.inference_port, config.inference_rpc_port, config.tls_certificate, config.tls_key
    )


def check_inference(config: Config) -> None:
    if listening_of(config).is_wanted and config.executor != "local":
        raise UsageError(
            f"models are served by this machine's agent, and with `executor: {config.executor}` it has none",
            hint="mlmodelscope agent --inference-port, on the machine that has the models",
        )


@contextlib.asynccontextmanager
async def serving_models(app: FastAPI, agent: Agent) -> AsyncIterator[None]:
    """Models are served as long as the block lasts, where the settings name a port for it."""
    desk: Desk = app.state.desk
    listening = listening_of(desk.config)
    if not listening.is_wanted:
        yield
        return
    try:
        models = Models(desk.settings, desk.config.inference_models, busy=lambda: BUSY if agent.is_timing else None)
        server = InferenceServer(models, DeskDoor(app), listening, patient_protocol(desk.config))
        await server.start()
    except MLModelScopeError as error:
        _LOG.error("no models are served: %s", error.message)  # evaluations need not suffer
        yield
        return
    try:
        yield
    finally:
        await server.stop()
