"""A Ray cluster as agents: one actor on each node, which is an ordinary agent of the server that started it.

Ray notices nodes that come and go, and starts an actor again that died. What runs there, and what becomes of it when a
node is lost, is decided by the ledger's leases as for any agent. Stacks are child processes of the actor: Ray and its
Python are never inside what is measured.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

from mlmodelscope.errors import UsageError
from mlmodelscope.extras import install_extra
from mlmodelscope.server import ray_token
from mlmodelscope.server.config import Config
from mlmodelscope.settings import Settings

_LOG = logging.getLogger("mlmodelscope.server")
_LOOK_EVERY_S = 2.0


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ModuleNotFoundError:
        raise UsageError("the package ray is missing", hint=install_extra("ray")) from None
    return ray


def check_cluster(address: str | None, authentication: str) -> None:
    """Refuse a cluster that does not answer, which Ray would go on trying for minutes, and one that anybody may use."""
    if authentication == "token":
        os.environ["RAY_AUTH_MODE"] = "token"  # Ray reads it once, when it is imported
    _ray()
    if authentication == "token":
        ray_token.find()
    found = address or os.environ.get("RAY_ADDRESS") or ""
    host, _, port = found.rpartition(":")
    if not host or not port.isdecimal():
        return  # a cluster on this machine, which Ray finds by itself
    try:
        socket.create_connection((host.strip("[]"), int(port)), 5).close()
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"no Ray cluster answers at {host}:{port}: {reason}", hint="ray start --head") from None
    if authentication == "token":
        ray_token.check(found)


async def keep_agents(server: str, token: str, settings: Settings, stop: asyncio.Event, config: Config) -> None:
    """An agent on every node, until `stop`."""
    ray = _ray()
    options = {"slots": config.slots, "trusts": config.trust}
    if not ray.is_initialized():
        address = config.ray_address or "auto"
        await asyncio.to_thread(
            ray.init, address=address, namespace="mlmodelscope", log_to_driver=False, logging_level="warning"
        )
    if config.ray_authentication == "token":
        await asyncio.to_thread(ray_token.check, ray.get_runtime_context().gcs_address)
    actors: dict[str, Any] = {}
    try:
        while not stop.is_set():
            alive = {node["NodeID"]: node for node in await asyncio.to_thread(ray.nodes) if node["Alive"]}
            for node in [each for each in actors if each not in alive]:
                _LOG.warning("the Ray node %s is gone", node[:8])
                del actors[node]
            for identity, node in alive.items():
                if identity not in actors:
                    actors[identity] = _start(ray, identity, node, server, token, settings, options)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _LOOK_EVERY_S)
    finally:
        for actor in actors.values():
            with contextlib.suppress(Exception):
                await asyncio.wait_for(asyncio.wrap_future(actor.stop.remote().future()), 10)
        await asyncio.to_thread(ray.shutdown)


def _start(
    ray: Any, identity: str, node: dict[str, Any], server: str, token: str, settings: Settings, options: dict[str, Any]
) -> Any:
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    name = f"ray-{node['NodeManagerHostname']}-{identity[:8]}"
    _LOG.info("an agent on the Ray node %s", name)
    labels = {"ray.node": identity, **{str(key): str(value) for key, value in (node.get("Labels") or {}).items()}}
    # It takes no processor of Ray's: how many evaluations run side by side is the agent's own business.
    actor = ray.remote(
        num_cpus=0,
        max_restarts=-1,
        max_concurrency=2,
        scheduling_strategy=NodeAffinitySchedulingStrategy(node_id=identity, soft=False),
    )(NodeAgent).remote(name, server, token, _plain(settings), {**options, "labels": labels})
    actor.run.remote()
    return actor


def _plain(settings: Settings) -> dict[str, Any]:
    """Nodes may keep their files elsewhere: what their own environment says comes first."""
    return {
        "home": str(settings.home),
        "cache": str(settings.cache),
        "mirrors": [str(each) for each in settings.mirrors],
        "stores": list(settings.stores),
        "packages": list(settings.packages),
    }


class NodeAgent:
    """The actor: an agent's loop inside Ray."""

    def __init__(self, name: str, server: str, token: str, settings: dict[str, Any], options: dict[str, Any]) -> None:
        self._name, self._server, self._token, self._options = name, server, token, options
        own = Settings.from_environment()
        home = own.home if os.environ.get("MLMODELSCOPE_HOME") else Path(settings["home"])
        cache = own.cache if os.environ.get("MLMODELSCOPE_CACHE") else Path(settings["cache"])
        mirrors = own.mirrors or tuple(Path(each) for each in settings["mirrors"])
        # Several nodes may share a disk: each keeps its records apart, and all of them what was fetched.
        place = home / "agents" / name
        stores, packages = own.stores or tuple(settings["stores"]), own.packages or tuple(settings["packages"])
        own = replace(own, stores=stores, packages=packages, database=None, blobs=None)
        self._settings = replace(own, home=place, cache=cache, mirrors=mirrors)
        self._stop = asyncio.Event()

    async def run(self) -> None:
        from mlmodelscope.client.http_link import HttpLink
        from mlmodelscope.cluster.agent import Agent
        from mlmodelscope.cluster.description import describe_agent
        from mlmodelscope.provision.stack.makeable import list_makeable
        from mlmodelscope.record.store import Store

        store = Store(self._settings)
        link = HttpLink(self._server, self._token, store)
        try:
            description = describe_agent(self._settings, name=self._name, **self._options)
            await Agent(link, description, self._settings, makes=list_makeable).run(self._stop)
        finally:
            await link.close()
            store.close()

    async def stop(self) -> None:
        self._stop.set()
