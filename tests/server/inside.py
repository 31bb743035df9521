"""The server in this process: it starts in a tenth of the time that a process of its own takes.

For all that does not depend on whose process it is: what it answers to whom, and what becomes of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import threading
import time
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Self

import httpx
import pytest

from mlmodelscope.server.config import Config
from mlmodelscope.server.desk import Desk
from mlmodelscope.server.log_lines import Lines
from mlmodelscope.server.main import make_server
from mlmodelscope.server.rest.app import make_app
from mlmodelscope.settings import Settings


class Loop:
    """A loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def start(self, what: Coroutine[Any, Any, Any]) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(what, self._loop)

    def run(self, what: Coroutine[Any, Any, Any]) -> Any:
        return self.start(what).result(300)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Hosted:
    """A server at a socket, with all that `mlmodelscope serve` would start beside it."""

    def __init__(self, settings: Settings, config: Config, environment: Mapping[str, str], log: Path) -> None:
        self._undo = contextlib.ExitStack()
        patch = self._undo.enter_context(pytest.MonkeyPatch.context())
        for name, value in environment.items():
            if name.startswith("MLMODELSCOPE_"):
                patch.setenv(name, value)
        self._write_to(log)
        self._server = make_server(Desk(settings, config))
        self._loop = Loop()
        self._undo.callback(self._loop.close)
        self._running = self._loop.start(self._server.serve())
        while not self._server.started:
            assert not self._running.done(), f"it has ended: {self._running.exception()}\n{log.read_text()}"
            time.sleep(0.01)

    def _write_to(self, log: Path) -> None:
        """What it says, as in the log of a process; for as long as it runs."""
        handler, root = logging.FileHandler(log), logging.getLogger()
        handler.setFormatter(Lines("%(asctime)s %(message)s"))
        self._undo.callback(handler.close)
        root.addHandler(handler)
        self._undo.callback(root.removeHandler, handler)
        levels = {"": logging.INFO, "httpx": logging.WARNING, "uvicorn.access": logging.WARNING}
        for name, level in levels.items():
            logger = logging.getLogger(name)
            self._undo.callback(logger.setLevel, logger.level)
            logger.setLevel(level)

    def close(self) -> None:
        with self._undo:
            self._server.handle_exit(signal.SIGTERM, None)
            self._running.result(300)


class Inside:
    """Its application alone, asked without a socket; for as long as it is entered."""

    def __init__(self, place: Path, **config: Any) -> None:
        settings = Settings(home=place / "home", cache=place / "cache")
        self.desk = Desk(settings, Config(**{"executor": "none", **config}))
        self._app = make_app(self.desk, agent=False)

    def __enter__(self) -> Self:
        self._loop = Loop()
        self._life = self._app.router.lifespan_context(self._app)
        self._loop.run(self._life.__aenter__())
        # As from a program on this machine.
        transport = httpx.ASGITransport(self._app, client=("127.0.0.1", 40_000))
        self._client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8642")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.run(self._client.aclose())
        self._loop.run(self._life.__aexit__(None, None, None))
        self._loop.close()

    def token(self, *scopes: str, owner: str = "somebody", days: float | None = None) -> str:
        return self.desk.tokens.make("a test", owner, scopes, days)[1]

    def ask(self, method: str, path: str, token: str | None = None, **more: Any) -> httpx.Response:
        shown = {"Authorization": f"Bearer {token}"} if token else {}
        headers = {**shown, **more.pop("headers", {})}
        found: httpx.Response = self._loop.run(self._client.request(method, path, headers=headers, **more))
        return found

    def get(self, path: str, token: str | None = None, **more: Any) -> httpx.Response:
        return self.ask("GET", path, token, **more)
