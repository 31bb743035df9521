"""The protocol at two ports, in the loop of whoever starts it: an agent, or a server with an agent of its own."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from mlmodelscope.errors import MLModelScopeError, UsageError
from mlmodelscope.inference.door import Door
from mlmodelscope.inference.listening import Listening
from mlmodelscope.inference.models import Models
from mlmodelscope.inference.rest import RestApp

_LOG = logging.getLogger("mlmodelscope.inference")
_GRACE_S = 5
_THREADS = 8


class InferenceServer:
    """From `start` to `stop`; `protocol` is the web server's way to read a question's head, where not its own."""

    def __init__(self, models: Models, door: Door, listening: Listening, protocol: Any = "auto") -> None:
        self._models, self._door, self._listening, self._protocol = models, door, listening, protocol
        self._threads = ThreadPoolExecutor(_THREADS, "inference")
        self._web: Any = None
        self._running: list[asyncio.Task[Any]] = []
        self._rpc: Any = None
        self.port: int | None = None
        self.rpc_port: int | None = None

    async def start(self) -> None:
        """Listen, and load what was named meanwhile: `v2/health/ready` says when that is done."""
        try:
            if self._listening.port is not None:
                self.port = await self._start_rest(self._listening)
            if self._listening.rpc_port is not None:
                from mlmodelscope.inference.rpc import RpcServer

                self._rpc = RpcServer(self._models, self._door, self._listening)
                self.rpc_port = self._rpc.port
        except BaseException:
            await self.stop()
            raise
        self._running.append(asyncio.create_task(self._load()))

    async def _load(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._threads, self._models.load_named)
            _LOG.info("models are served%s%s", _at(" over REST", self.port), _at(" over gRPC", self.rpc_port))
        except MLModelScopeError as error:
            _LOG.error("a model cannot be served: %s", error.message)

    async def _start_rest(self, listening: Listening) -> int:
        import uvicorn

        class Server(uvicorn.Server):
            @contextlib.contextmanager
            def capture_signals(self) -> Iterator[None]:
                yield  # they are somebody else's here

        setup = uvicorn.Config(
            RestApp(self._models, self._door, self._threads),
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            http=self._protocol,
            ssl_certfile=listening.tls_certificate,
            ssl_keyfile=listening.tls_key,
            timeout_graceful_shutdown=_GRACE_S,
        )
        listener = _listen(listening.host, listening.port or 0)
        self._web = Server(setup)
        self._running.append(asyncio.create_task(self._web.serve(sockets=[listener])))
        return int(listener.getsockname()[1])

    async def stop(self) -> None:
        if self._web is not None:
            self._web.should_exit = True
        if self._rpc is not None:
            await asyncio.get_running_loop().run_in_executor(None, self._rpc.stop, _GRACE_S)
        await asyncio.gather(*self._running, return_exceptions=True)
        await asyncio.get_running_loop().run_in_executor(None, self._end)

    def _end(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._models.close()


def _listen(host: str, port: int) -> socket.socket:
    """A socket that says it is TCP's: asyncio turns Nagle's algorithm off only there, and answers would wait 40 ms."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise UsageError(f"models cannot be served at {host}:{port}: {error.strerror or error}") from None
    return listener


def _at(how: str, port: int | None) -> str:
    return f"{how} at port {port}" if port is not None else ""
