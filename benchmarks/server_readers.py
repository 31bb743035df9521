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


async def read_under_load(server: Server, seconds: float) -> dict[str, Any]:
    """200 readers, each with one question after the other, beside 20 evaluations."""
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
    counts: dict[str, int] = {}
    for _ in range(600):
        _, page = await server.ask("GET", "/evaluations?state=running")
        counts["running"] = len(page["items"])
        if counts["running"] >= RUNNING and all(each["progress"] for each in page["items"]):
            break
        await asyncio.sleep(0.2)
    _, page = await server.ask("GET", "/evaluations")
    known = page["items"][0]["id"]
    paths = ["/evaluations?limit=20", f"/evaluations/{known}", "/agents", "/whoami", "/records?limit=20"]
    times: list[float] = []
    wrong: list[str] = []
    memory = [server.memory_bytes]
    end, cpu_s, started = time.perf_counter() + seconds, server.cpu_s, time.perf_counter()

    async def read(number: int) -> None:
        line = await Line.open(server)
        turn = number
        while time.perf_counter() < end:
            asked = time.perf_counter()
            try:
                status, answer = await asyncio.wait_for(line.ask("GET", paths[turn % len(paths)]), 60)
            except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
                wrong.append(type(error).__name__)
                line.close()
                line = await Line.open(server)
                continue
            times.append(time.perf_counter() - asked)
            if status != 200:
                wrong.append(f"{status} {answer[:100]!r}")
            turn += 1
        line.close()

    async def weigh() -> None:
        while time.perf_counter() < end:
            await asyncio.sleep(min(1.0, seconds / 10))
            memory.append(server.memory_bytes)

    await asyncio.gather(weigh(), *(read(number) for number in range(READERS)))
    wall_s, cpu_s = time.perf_counter() - started, server.cpu_s - cpu_s
    _, page = await server.ask("GET", "/evaluations?limit=1000")
    states = [each["state"] for each in page["items"]]
    wrong += [each["error"]["message"] for each in page["items"] if each["state"] == "failed"]
    times.sort()
    return {
        "readers": READERS,
        "running_at_start": counts["running"],
        "running_at_end": states.count("running"),
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
