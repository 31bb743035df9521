"""The server as a process: it listens, and when it is asked to stop it gives everything back first."""

from __future__ import annotations

import contextlib
import errno
import socket
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

from mlmodelscope.errors import UsageError
from mlmodelscope.server import log_lines
from mlmodelscope.server.config import Config
from mlmodelscope.server.desk import Desk
from mlmodelscope.settings import Settings

if TYPE_CHECKING:
    import uvicorn

_GRACE_S = 20


def serve(settings: Settings, config: Config, announce: Callable[[], None] = lambda: None) -> None:
    """Serve until it is asked to stop; `announce` is called once nothing stands in the way."""
    for option in ("port", "rpc_port", "inference_port", "inference_rpc_port"):
        _refuse_used(config.host, getattr(config, option), option)
    log_lines.set_up(config)
    _allow_files()
    desk = Desk(settings, config)
    if not config.is_local and not desk.tokens.any():
        desk.close()
        raise UsageError(
            f"{config.host} can be reached from other machines, and there is no token yet",
            hint="mlmodelscope token make --owner you --scope admin",
        )
    if config.executor == "ray":
        from mlmodelscope.server.ray_nodes import check_cluster

        check_cluster(config.ray_address, config.ray_authentication)
    if (config.tls_certificate is None) != (config.tls_key is None):
        raise UsageError("`tls_certificate` and `tls_key` go together")
    announce()
    make_server(desk).run()


def _refuse_used(host: str, port: int | None, option: str) -> None:
    """Before anything is said or started: the error of a server that cannot listen comes late and without words."""
    if not port:
        return
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.setsockopt(
            socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
        )  # as the server will: one that has just ended is gone
        try:
            trial.bind((host, port))
        except OSError as error:
            flag = f"--{option.replace('_', '-')}"
            used = error.errno == errno.EADDRINUSE
            reason = "another program is using it" if used else error.strerror
            raise UsageError(
                f"cannot listen on port {port} of {host}: {reason}", hint=f"choose another one: {flag} NUMBER"
            ) from None


def make_server(desk: Desk) -> uvicorn.Server:
    """A server that does not listen yet."""
    import uvicorn

    from mlmodelscope.server.rest.app import make_app
    from mlmodelscope.server.rest.protocol import patient_protocol

    config = desk.config

    class Server(uvicorn.Server):
        def handle_exit(self, number: int, frame: FrameType | None) -> None:
            desk.stopping = True
            desk.bell.ring()
            desk.board.close()
            desk.confined.close()
            super().handle_exit(number, frame)

    setup = uvicorn.Config(
        make_app(desk),
        host=config.host,
        port=config.port,
        ssl_certfile=config.tls_certificate,
        ssl_keyfile=config.tls_key,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        http=patient_protocol(config),
        ws="none",
        timeout_keep_alive=config.keep_alive_s,
        limit_concurrency=config.connections,
        timeout_graceful_shutdown=_GRACE_S,
    )
    return Server(setup)


def _allow_files() -> None:
    """Every connection is a file, and many systems allow 1,024 of them unless they are asked for more."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 65_536) if hard > 0 else 65_536), hard))
