"""A gRPC server beside the other one, in the same process and the same loop."""

from __future__ import annotations

import logging
import os
from importlib import import_module
from typing import Any

from fastapi import FastAPI

from mlmodelscope.errors import UsageError
from mlmodelscope.extras import install_extra
from mlmodelscope.server.config import Config

_LOG = logging.getLogger("mlmodelscope.server")
_GRACE_S = 5.0
"""Streams of events end by themselves when the server stops; who fetches a file then has so long."""
_STREAMS = 200
"""Calls at the same time on one connection."""
_MARGIN = 1 << 16
"""What a message has beside an input."""
_ALIVE_EVERY_MS = 60_000


def check_packages() -> None:
    # Otherwise gRPC writes a line to our log whenever the agent starts a process. It is read when grpc is imported.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    for name in ("grpc", "google.protobuf"):
        try:
            import_module(name)
        except ModuleNotFoundError:
            raise UsageError(
                f"`rpc_port` is set, and the package {name} is missing", hint=install_extra("server")
            ) from None


class RpcServer:
    def __init__(self, app: FastAPI) -> None:
        import grpc.aio

        from mlmodelscope.server.rpc.handlers import make_handlers

        config: Config = app.state.desk.config
        self._server: Any = grpc.aio.server(
            handlers=make_handlers(app),
            options=[
                ("grpc.so_reuseport", 0),  # a second server at the same port is a mistake
                ("grpc.max_receive_message_length", max(config.largest_body, config.largest_input + _MARGIN)),
                ("grpc.max_concurrent_streams", _STREAMS),
                ("grpc.keepalive_time_ms", _ALIVE_EVERY_MS),  # who listens to events and is gone is noticed
            ],
        )
        self.port = self._listen(config)

    def _listen(self, config: Config) -> int:
        host = f"[{config.host}]" if ":" in config.host else config.host
        address = f"{host}:{config.rpc_port}"
        try:
            if config.tls_certificate is None or config.tls_key is None:
                return int(self._server.add_insecure_port(address))
            import grpc

            files = (config.tls_key.read_bytes(), config.tls_certificate.read_bytes())
            return int(self._server.add_secure_port(address, grpc.ssl_server_credentials([files])))
        except (RuntimeError, OSError) as error:
            raise UsageError(f"gRPC cannot listen at {address}: {error}") from None

    async def start(self) -> None:
        await self._server.start()
        _LOG.info("gRPC at port %d", self.port)

    async def stop(self) -> None:
        await self._server.stop(_GRACE_S)
