"""The application: routes, guards around all of them, and what runs beside them as long as the server is up."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from typing import Annotated, Any

import anyio.to_thread
from fastapi import Depends, FastAPI, Request
from fastapi.responses import PlainTextResponse
from fastapi.security import HTTPAuthorizationCredentials

from mlmodelscope.cluster.agent import Agent
from mlmodelscope.cluster.description import describe_agent
from mlmodelscope.cluster.link import DirectLink
from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.provision.stack.makeable import list_makeable
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.handle import backlog, budgets, checks, shards
from mlmodelscope.server.inference import check_inference, serving_models
from mlmodelscope.server.metrics import CONTENT_TYPE, Metrics
from mlmodelscope.server.rest import (
    agent_routes,
    answers,
    artifact_routes,
    card_routes,
    catalogue_routes,
    comparison_routes,
    hub_routes,
    leaderboard_routes,
    prediction_routes,
    record_routes,
    replication_routes,
    routes,
    sample_routes,
    sensitivity_routes,
    trace_routes,
    trace_view_routes,
)
from mlmodelscope.server.rest.door import BEARER, TheDesk, person_of
from mlmodelscope.server.rest.guard import Guard
from mlmodelscope.server.rest.openapi import describe_problems, operation_name
from mlmodelscope.server.rest.pages import Pages
from mlmodelscope.server.rest.problem import add_problems, fails, problem
from mlmodelscope.server.rpc.server import RpcServer, check_packages
from mlmodelscope.server.scheduled_retention import apply_retention
from mlmodelscope_worker import __version__

_LOG = logging.getLogger("mlmodelscope.server")
_WAKE_EVERY_S = 1.0
_THREADS = 8


def make_app(desk: Desk, *, agent: bool = True) -> FastAPI:
    if desk.config.rpc_port is not None or desk.config.inference_rpc_port is not None:
        check_packages()
    check_inference(desk.config)
    app = FastAPI(
        title="MLModelScope",
        version=__version__,
        description="Check a shared model's claims: repeatable evaluation from text manifests, with statistics.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # its page would load scripts from elsewhere
        redoc_url=None,
        generate_unique_id_function=operation_name,
        separate_input_output_schemas=False,
        lifespan=lambda app: _lifespan(app, agent),
    )
    app.state.desk = desk
    app.include_router(routes.router)
    app.include_router(record_routes.router)
    app.include_router(sample_routes.router)
    app.include_router(agent_routes.router)
    app.include_router(prediction_routes.router)
    app.include_router(artifact_routes.router)
    app.include_router(trace_routes.router)
    app.include_router(trace_view_routes.router)
    app.include_router(comparison_routes.router)
    app.include_router(replication_routes.router)
    app.include_router(sensitivity_routes.router)
    app.include_router(catalogue_routes.router)
    app.include_router(card_routes.router)
    app.include_router(hub_routes.router)
    app.include_router(leaderboard_routes.router)
    app.state.metrics = Metrics(desk)
    _add_public(app)
    add_problems(app)
    describe_problems(app)
    app.add_middleware(Pages)
    app.add_middleware(Guard, desk=desk, metrics=app.state.metrics)
    return app


@contextlib.asynccontextmanager
async def _lifespan(app: FastAPI, with_agent: bool) -> AsyncIterator[None]:
    desk: Desk = app.state.desk
    rpc = await _start_rpc(app)
    stop = asyncio.Event()
    # Python runs one thread at a time: forty of them, which is the default, mostly take turns.
    anyio.to_thread.current_default_thread_limiter().total_tokens = _THREADS
    beside = [asyncio.create_task(_reap(desk, stop)), asyncio.create_task(_wake(desk, stop))]
    beside.append(asyncio.create_task(apply_retention(desk, stop)))
    if with_agent and desk.config.executor == "local":
        beside.append(asyncio.create_task(_own_agent(app, stop)))
    elif with_agent and desk.config.executor == "ray":
        beside.append(asyncio.create_task(_ray_agents(desk, stop)))
    app.state.ready = True
    try:
        yield
    finally:
        app.state.ready = False
        if rpc is not None:
            await rpc.stop()
        stop.set()
        await asyncio.gather(*beside, return_exceptions=True)
        desk.close()


async def _start_rpc(app: FastAPI) -> RpcServer | None:
    if app.state.desk.config.rpc_port is None:
        return None
    rpc = RpcServer(app)
    await rpc.start()
    return rpc


async def _own_agent(app: FastAPI, stop: asyncio.Event) -> None:
    desk: Desk = app.state.desk
    config = desk.config
    description = await asyncio.to_thread(
        describe_agent, desk.settings, labels=config.labels, slots=config.slots, trusts=config.trust
    )
    link = DirectLink(
        desk.queue,
        desk.agents,
        config.lease_s,
        lambda *part: shards.keep(desk, *part),
        desk.board,
        lambda joined: backlog.offer(desk, joined),
        lambda evaluation, record: checks.keep(desk, evaluation, record),
    )
    agent = Agent(link, description, desk.settings, makes=list_makeable)
    try:
        async with serving_models(app, agent):
            await agent.run(stop)
    except Exception:
        _LOG.exception("this machine's agent cannot work")
        raise


async def _ray_agents(desk: Desk, stop: asyncio.Event) -> None:
    """Agents on all nodes of a Ray cluster, with a token that is theirs as long as this server runs."""
    from mlmodelscope.server.ray_nodes import keep_agents

    config = desk.config
    scheme = "https" if config.tls_certificate else "http"
    host = f"[{config.host}]" if ":" in config.host else config.host
    identity, token = await asyncio.to_thread(desk.tokens.make, "Ray's agents", "ray", ["agent"])
    try:
        url = config.url or f"{scheme}://{host}:{config.port}"
        await keep_agents(url, token, desk.settings, stop, config)
    except Exception:
        _LOG.exception("Ray cannot be used")
        raise
    finally:
        await asyncio.to_thread(desk.tokens.revoke, identity)


async def _wake(desk: Desk, stop: asyncio.Event) -> None:
    """Write heartbeats down, and wake agents for what waits: from another server, or at the end of a pause."""
    while not stop.is_set():
        try:
            await asyncio.to_thread(desk.heartbeats.write)
            desk.bell.now_wanted(await asyncio.to_thread(desk.queue.wanted_agents))
        except MLModelScopeError as error:
            _LOG.error("%s", error.message)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), min(_WAKE_EVERY_S, desk.config.lease_s / 8))
    desk.bell.ring()


async def _reap(desk: Desk, stop: asyncio.Event) -> None:
    while not stop.is_set():
        try:
            for identity in await asyncio.to_thread(desk.queue.reap, desk.leases):
                _LOG.warning("evaluation %s: its agent is gone", identity)
            for request in await asyncio.to_thread(budgets.end_spent, desk):
                _LOG.warning("request %s: its budget is spent", request)
            await asyncio.to_thread(shards.advance_all, desk)
        except MLModelScopeError as error:
            _LOG.error("%s", error.message)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), desk.config.lease_s / 4)


def _add_public(app: FastAPI) -> None:
    public: dict[int | str, dict[str, Any]] = {status: fails()[status] for status in (400, 413, 429)}

    @app.get("/api/v1/health", tags=["server"], response_model=answers.Health, responses=public)
    def health() -> dict[str, str]:
        """Whether the process answers at all."""
        return {"status": "up", "version": __version__}

    @app.get(
        "/api/v1/ready",
        tags=["server"],
        response_model=answers.Ready,
        responses={**public, 503: {"description": "Not yet, or not any more."}},
    )
    def ready(request: Request) -> Any:
        """Whether it can do its work: the database answers, and it is not about to stop."""
        try:
            if getattr(request.app.state, "ready", False):
                request.app.state.desk.queue.answers()
                return {"status": "ready"}
            reason = "it is starting or stopping"
        except MLModelScopeError as error:
            reason = error.message
        return problem(503, "NotReady", reason)

    @app.get(
        "/metrics",
        tags=["server"],
        operation_id="get_metrics",
        response_class=PlainTextResponse,
        responses=fails(),
        dependencies=[Depends(_may_measure)],
    )
    def get_metrics(request: Request) -> PlainTextResponse:
        """Numbers for Prometheus."""
        return PlainTextResponse(request.app.state.metrics.text(), media_type=CONTENT_TYPE)


def _may_measure(
    request: Request, desk: TheDesk, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)]
) -> None:
    if desk.config.metrics == "token":
        demand(person_of(request, credentials), "read")
