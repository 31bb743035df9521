"""Real processes on real sockets: a server, agents beside it, and a small catalogue that both know."""

from __future__ import annotations

import contextlib
import http.client
import inspect
import io
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from budget import tries
from small_world import DATASET, MODEL

pytest.importorskip("fastapi", reason="the server's packages are not installed")

import httpx

from mlmodelscope import Options, evaluate
from mlmodelscope.__main__ import main
from mlmodelscope.cli.server_choice import remote, text_of
from mlmodelscope.client.client import Client
from mlmodelscope.ledger.tokens import Tokens
from mlmodelscope.record.database import open_database
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.server.config import Config
from mlmodelscope.settings import Settings

from .inside import Hosted

LEASE_S = 10
"""For which an agent is believed to be there. A busy machine may keep it waiting for seconds."""
BRIEF_S = 4
"""The same where a test waits until an agent is found to be gone."""
PATIENCE_S = 300.0
"""How long something may take before it hangs: a busy machine is slow, and nothing waits longer than it must."""
LOST_SOON = {"lease_s": BRIEF_S}
"""For a server whose agents are killed: it gives them up soon."""
# Requests of the tests have as much time; httpx itself would give up after five seconds.
_patience = inspect.signature(httpx.get).parameters["timeout"].default
for _part in ("connect", "read", "write", "pool"):
    setattr(_patience, _part, PATIENCE_S)

KILLS = tries(1, 5)
"""Random moments at which each process is killed; 20 of them take half an hour."""


class World:
    """A catalogue, and processes that are gone when the test is."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._processes: list[subprocess.Popen[bytes]] = []
        self._newest: dict[str, subprocess.Popen[bytes]] = {}
        self._clients: list[Client] = []
        self._hosted: Hosted | None = None
        self._write_catalogue()

    def _write_catalogue(self, count: int = 60) -> None:
        from PIL import Image

        folder = self.place / "manifests"
        for index in range(count):
            place = folder / "pictures" / f"class{index % 3}"
            place.mkdir(parents=True, exist_ok=True)
            color = (index * 37 % 256, index * 59 % 256, index * 83 % 256)
            Image.new("RGB", (10 + index % 5, 10), color).save(place / f"{index:04d}.png")
        (folder / "pictures.yml").write_text(DATASET)
        self.add_model("toy")

    def add_model(self, name: str, text: str = MODEL, **fake: Any) -> str:
        """A model of the catalogue, for those who do not want to meet other people's evaluations; its name."""
        text = text.replace("name: toy", f"name: {name}").replace("toy.json", f"{name}.json")
        (self.place / "manifests" / f"{name}.yml").write_text(text)
        self.write_model(name, **fake)
        return name

    def write_model(self, name: str = "toy", **fake: Any) -> None:
        model = {"shape": [None, 3, 8, 8], "classes": 10, **fake}
        draft = self.place / "manifests" / f"{name}.json.draft"
        draft.write_text(json.dumps(model))
        draft.replace(draft.with_suffix(""))  # at once: an agent may be about to read it

    def environment(self, home: str) -> dict[str, str]:
        return {
            **os.environ,
            "MLMODELSCOPE_HOME": str(self.place / home),
            "MLMODELSCOPE_CACHE": str(self.place / "cache"),
            "MLMODELSCOPE_MANIFESTS": str(self.place / "manifests"),
            "PIP_NO_INDEX": "1",  # agents would ask package indexes what they can make
        }

    def run(self, *arguments: str, home: str = "server") -> str:
        code, told, wrong = self.say(*arguments, home=home)
        assert code == 0, wrong
        return told.strip()

    def say(self, *words: str, home: str = "elsewhere") -> tuple[int, str, str]:
        """A command in this process: (exit code, what it printed, what it complained about)."""
        told, wrong = io.StringIO(), io.StringIO()
        remote.cache_clear()  # another test may have asked where nothing was to be asked
        text_of.cache_clear()
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.environment(home).items():
                patch.setenv(name, value)
            for name in ("MLMODELSCOPE_SERVER", "MLMODELSCOPE_TOKEN"):  # it keeps there what it was given
                patch.setenv(name, os.environ.get(name, ""))
            patch.setattr(sys, "argv", ["mlmodelscope", *words])
            with contextlib.redirect_stdout(told), contextlib.redirect_stderr(wrong), pytest.raises(SystemExit) as end:
                main()
            there = remote()
            if there is not None:
                there.close()
            remote.cache_clear()
            text_of.cache_clear()
        return int(end.value.code or 0), told.getvalue(), wrong.getvalue()

    def evaluate(
        self, model: str = "toy", dataset: str = "pictures", *, home: str = "server", **options: Any
    ) -> Record:
        """A record in the server's store that no agent has made."""
        manifests, settings = self.place / "manifests", self._settings(home)
        return evaluate(manifests / f"{model}.yml", manifests / f"{dataset}.yml", Options(**options), settings=settings)

    def _settings(self, home: str) -> Settings:
        return Settings.from_environment(self.environment(home))

    def token(self, *scopes: str, owner: str = "somebody", days: float | None = None) -> str:
        """Somebody's, as `token make` gives it out."""
        database = open_database(self._settings("server"))
        try:
            return Tokens(database).make("a test", owner, scopes, days)[1]
        finally:
            database.close()

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
        """A server in a process of its own, which can be stopped, killed and looked at."""
        file = self.place / "server.yml"
        file.write_text(json.dumps({"port": self.port, "lease_s": LEASE_S, **config}))
        process = self.start("serve", "--config", str(file), *arguments, home="server")
        self.until(lambda: self._is_ready(process), "the server is ready")
        return process

    def host(self, **config: Any) -> None:
        """The same server in this process; one at a time, since it knows its catalogue by the environment."""
        found = Config(**{"port": self.port, "lease_s": LEASE_S, **config})
        self._hosted = Hosted(self._settings("server"), found, self.environment("server"), self.place / "server.log")

    def stop_hosting(self) -> None:
        if self._hosted is not None:
            self._hosted.close()
            self._hosted = None

    def _is_ready(self, process: subprocess.Popen[bytes]) -> bool:
        assert process.poll() is None, self.log("server")
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            line.request("GET", "/api/v1/ready")
            return line.getresponse().status == 200
        except OSError:
            return False
        finally:
            line.close()

    @cached_property
    def http(self) -> httpx.Client:
        """Whoever asks the server without our own client. Making one takes longer than most questions."""
        return httpx.Client(base_url=f"{self.url}/api/v1", timeout=PATIENCE_S)

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
        store = Store(self._settings(home))
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
        if "http" in vars(self):
            self.http.close()
        self.stop_hosting()
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
    """A port that stays free until a server listens there, however long that takes and whatever runs beside it.

    It is none of those that the system gives to whoever connects to somebody; and as long as this process lives, its
    twin for datagrams is taken, so that no other test process finds it.
    """
    given = Path("/proc/sys/net/ipv4/ip_local_port_range")
    first = int(given.read_text().split()[0]) if given.exists() else 32_768
    while True:
        port = random.SystemRandom().randrange(max(1024, first - 12_000), max(2048, first))
        twin = socket.socket(type=socket.SOCK_DGRAM)
        try:
            twin.bind(("127.0.0.1", port))
            with socket.socket() as listener:
                listener.bind(("127.0.0.1", port))
        except OSError:
            twin.close()
            continue
        twin.detach()  # it is never closed
        return port


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    found = World(tmp_path)
    yield found
    found.close()


@pytest.fixture(scope="module")
def lasting_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One server for many tests, which leave it as it was."""
    found = World(tmp_path_factory.mktemp("world"))
    found.host()
    yield found
    found.close()
