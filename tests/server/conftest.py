"""Real processes on real sockets: a server, agents beside it, and a small catalogue that both know."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the server's packages are not installed")

import httpx

from mlmodelscope.client.client import Client
from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.settings import Settings

PATIENCE_S = 300.0
"""How long something may take before it hangs: a busy machine is slow, and nothing waits longer than it must."""
LOST_SOON = {"lease_s": 2}
"""For a server whose agents are killed: it gives them up soon."""
# Requests of the tests have as much time; httpx itself would give up after five seconds.
_patience = inspect.signature(httpx.get).parameters["timeout"].default
for _part in ("connect", "read", "write", "pool"):
    setattr(_patience, _part, PATIENCE_S)

KILLS = int(os.environ.get("MLMODELSCOPE_KILLS", "1"))
"""Random moments at which each process is killed; 20 of them take half an hour."""
MODEL = """\
name: toy
version: 1.0.0
task: classification
framework: {name: fake}
inputs:
  - type: image
    processing:
      decode: {color_layout: RGB}
      resize: {dimensions: [8, 8]}
      mean: 127.5
      rescale: 127.5
      layout: NCHW
outputs:
  - type: logits
    processing: {softmax: }
source: {graph_path: toy.json}
"""
DATASET = """\
name: pictures
version: 1.0.0
task: classification
format: folder
sources: [{url: pictures}]
"""


class World:
    """A catalogue, and processes that are gone when the test is."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._processes: list[subprocess.Popen[bytes]] = []
        self._newest: dict[str, subprocess.Popen[bytes]] = {}
        self._clients: list[Client] = []
        self._write_catalogue()

    def _write_catalogue(self, count: int = 60) -> None:
        from PIL import Image

        folder = self.place / "manifests"
        for index in range(count):
            place = folder / "pictures" / f"class{index % 3}"
            place.mkdir(parents=True, exist_ok=True)
            color = (index * 37 % 256, index * 59 % 256, index * 83 % 256)
            Image.new("RGB", (10 + index % 5, 10), color).save(place / f"{index:04d}.png")
        (folder / "toy.yml").write_text(MODEL)
        (folder / "pictures.yml").write_text(DATASET)
        self.write_model()

    def write_model(self, **fake: Any) -> None:
        model = {"shape": [None, 3, 8, 8], "classes": 10, **fake}
        (self.place / "manifests" / "toy.json").write_text(json.dumps(model))

    def environment(self, home: str) -> dict[str, str]:
        return {
            **os.environ,
            "MLMODELSCOPE_HOME": str(self.place / home),
            "MLMODELSCOPE_CACHE": str(self.place / "cache"),
            "MLMODELSCOPE_MANIFESTS": str(self.place / "manifests"),
        }

    def run(self, *arguments: str, home: str = "server") -> str:
        command = [sys.executable, "-m", "mlmodelscope", *arguments]
        done = subprocess.run(command, env=self.environment(home), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def start(self, *arguments: str, home: str) -> subprocess.Popen[bytes]:
        log = (self.place / f"{home}.log").open("ab")
        process = subprocess.Popen(
            [sys.executable, "-m", "mlmodelscope", *arguments], env=self.environment(home), stdout=log, stderr=log
        )
        log.close()
        self._processes.append(process)
        self._newest[home] = process
        return process

    def process_of(self, home: str) -> subprocess.Popen[bytes]:
        """The one that was started last with this home."""
        return self._newest[home]

    def serve(self, *arguments: str, **config: Any) -> subprocess.Popen[bytes]:
        """Agents may be late for a while, as on a busy machine; tests that lose one pass `LOST_SOON`."""
        file = self.place / "server.yml"
        file.write_text(json.dumps({"port": self.port, "lease_s": 10, **config}))
        process = self.start("serve", "--config", str(file), *arguments, home="server")
        self.until(lambda: self._is_ready(process), "the server is ready")
        return process

    def _is_ready(self, process: subprocess.Popen[bytes]) -> bool:
        assert process.poll() is None, self.log("server")
        try:
            with Client(self.url) as client:
                client.get("/ready")
            return True
        except MLModelScopeError:
            return False

    def agent(self, name: str, *arguments: str, token: str) -> subprocess.Popen[bytes]:
        flags = ["--server", self.url, "--token", token, "--name", name]
        return self.start("agent", *flags, *arguments, home=name)

    def client(self, token: str | None = None) -> Client:
        """One that knows an agent; closed when the test is over."""
        client = Client(self.url, token)
        self._clients.append(client)
        self.until(client.agents, "an agent has joined")
        return client

    def adopt(self, folder: Path, home: str = "server") -> Record:
        """A record that was made elsewhere, with its files: a `record.json` and what lies beside it."""
        record = Record.model_validate_json((folder / "record.json").read_text())
        store = Store(Settings(home=self.place / home, cache=self.place / "cache", offline=True))
        place = store.files.place(record.id)
        place.mkdir(parents=True, exist_ok=True)
        for file in folder.iterdir():
            if file.name != "record.json":
                shutil.copyfile(file, place / file.name)
        store.add(record)
        store.close()
        return record

    def until(self, condition: Any, what: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < end, f"waited in vain until {what}\n{self.logs()}"
            time.sleep(0.05)

    def log(self, home: str) -> str:
        path = self.place / f"{home}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def logs(self) -> str:
        return "\n".join(f"--- {path.stem}\n{path.read_text(errors='replace')}" for path in self.place.glob("*.log"))

    def close(self) -> None:
        for client in self._clients:
            client.close()
        for process in self._processes:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self._processes:
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    found = World(tmp_path)
    yield found
    found.close()


@pytest.fixture(scope="module")
def lasting_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One server for many tests, which leave it as it was."""
    found = World(tmp_path_factory.mktemp("world"))
    found.serve()
    yield found
    found.close()
