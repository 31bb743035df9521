"""Readers beside running evaluations: how long an answer takes, and whether one is wrong."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from statistics import median
from typing import Any

from real_server import Line, Server

READERS, RUNNING = 200, 20
MODEL = """\
name: toy
version: 1.0.0
task: classification
framework: {name: fake}
inputs:
  - type: image
    processing: {decode: {color_layout: RGB}, resize: {dimensions: [8, 8]}, layout: NCHW}
outputs: [{type: logits}]
source: {graph_path: toy.json}
"""
DATASET = "name: pictures\nversion: 1.0.0\ntask: classification\nformat: folder\nsources: [{url: pictures}]\n"


def write_catalogue(place: Path, sleep_s: float, pictures: int) -> None:
    from PIL import Image

    folder = place / "manifests"
    for index in range(pictures):
        where = folder / "pictures" / f"class{index % 3}"
        where.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (10, 10), (index % 256, index * 7 % 256, index * 31 % 256)).save(where / f"{index:04d}.png")
    (folder / "toy.yml").write_text(MODEL)
    (folder / "pictures.yml").write_text(DATASET)
    (folder / "toy.json").write_text(json.dumps({"shape": [None, 3, 8, 8], "classes": 10, "sleep_s": sleep_s}))


class Readers:
    """Each asks one question after the other, on a connection that it keeps, until the time is up."""

    def __init__(self, server: Server, paths: list[str], seconds: float) -> None:
        self._server, self._paths = server, paths
        self._weigh_every_s = min(1.0, seconds / 10)
        self._end = time.perf_counter() + seconds
        self.times: list[float] = []
        self.wrong: list[str] = []
        self.memory = [server.memory_bytes]

    async def run(self) -> None:
        await asyncio.gather(self._weigh(), *(self._read(number) for number in range(READERS)))
        self.times.sort()

    async def _read(self, turn: int) -> None:
        line = await Line.open(self._server)
        while (asked := time.perf_counter()) < self._end:
            try:
                status, answer = await asyncio.wait_for(line.ask("GET", self._paths[turn % len(self._paths)]), 60)
            except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
                self.wrong.append(type(error).__name__)
                line.close()
                line = await Line.open(self._server)
                continue
            self.times.append(time.perf_counter() - asked)
            if status != 200:
                self.wrong.append(f"{status} {answer[:100]!r}")
            turn += 1
        line.close()

    async def _weigh(self) -> None:
        while time.perf_counter() < self._end:
            await asyncio.sleep(self._weigh_every_s)
            self.memory.append(self._server.memory_bytes)


async def read_under_load(server: Server, seconds: float) -> dict[str, Any]:
    """200 readers beside 20 evaluations."""
    running, known = await _start_evaluations(server)
    paths = ["/evaluations?limit=20", f"/evaluations/{known}", "/agents", "/whoami", "/records?limit=20"]
    cpu_s, started = server.cpu_s, time.perf_counter()
    readers = Readers(server, paths, seconds)
    await readers.run()
    wall_s, cpu_s = time.perf_counter() - started, server.cpu_s - cpu_s
    _, page = await server.ask("GET", "/evaluations?limit=1000")
    wrong = readers.wrong + [each["error"]["message"] for each in page["items"] if each["state"] == "failed"]
    times, memory = readers.times, readers.memory
    return {
        "readers": READERS,
        "running_at_start": running,
        "running_at_end": sum(each["state"] == "running" for each in page["items"]),
        "reads": len(times),
        "reads_per_s": len(times) / wall_s,
        "errors": len(wrong),
        "first_error": wrong[0] if wrong else None,
        "p50_s": times[len(times) // 2],
        "p99_s": times[int(len(times) * 0.99)],
        "cpu_share": cpu_s / wall_s,
        "memory_first_bytes": median(memory[1 : max(2, len(memory) // 4)]),
        "memory_last_bytes": median(memory[-max(1, len(memory) // 4) :]),
    }


async def _start_evaluations(server: Server) -> tuple[int, str]:
    """(how many run, the id of one), as soon as all of them have made some progress."""
    for _ in range(100):
        _, agents = await server.ask("GET", "/agents")
        if agents["items"]:
            break
        await asyncio.sleep(0.2)
    quick = {"timed_runs": 1, "warm_up_runs": 1, "timed_budget_s": 0.01}
    for number in range(RUNNING):
        body = {"model": "toy", "dataset": "pictures", "options": {**quick, "seed": number}, "again": True}
        status, answer = await server.ask("POST", "/requests", body)
        assert status == 202, answer
    for _ in range(600):
        _, page = await server.ask("GET", "/evaluations?state=running")
        if len(page["items"]) >= RUNNING and all(each["progress"] for each in page["items"]):
            break
        await asyncio.sleep(0.2)
    return len(page["items"]), page["items"][0]["id"]
