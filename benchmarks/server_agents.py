"""Agents with nothing to do: what their heartbeats cost, and whether one of them is lost."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from real_server import LEASE_S, Line, Server

AGENTS = 1000
BEAT_EVERY_S = LEASE_S / 3


class Crowd:
    """Many agents in one process. Each beats from the moment it has joined, as a real one does."""

    def __init__(self, server: Server, description: dict[str, Any]) -> None:
        self._server, self._description = server, description
        self._lines: list[Line] = []
        self._tasks: list[asyncio.Task[None]] = []
        self.names: list[str] = []
        self.wrong: list[str] = []
        self.beats = 0
        self.longest_s = 0.0
        """From one heartbeat's answer to the next one's: over a lease, the agent is rightly taken for gone."""

    async def join(self, name: str) -> None:
        line = await self._open()
        about = {"description": {**self._description, "id": name}, "incarnation": "1"}
        status, answer = await line.ask("POST", "/agents", about)
        assert status == 200, answer
        self.names.append(name)
        self._tasks.append(asyncio.create_task(self._beat(line, name)))

    async def wait_for_work(self) -> None:
        """Each asks for work, too, and waits for an answer: not all of them at the same moment."""
        for name in self.names:
            self._tasks.append(asyncio.create_task(self._take(await self._open(), name)))
            await asyncio.sleep(BEAT_EVERY_S / len(self.names))

    async def cost(self, seconds: float) -> tuple[float, float]:
        """(heartbeats a second, cores that the server takes)."""
        cpu_s, started, before = self._server.cpu_s, time.perf_counter(), self.beats
        await asyncio.sleep(seconds)
        wall_s = time.perf_counter() - started
        return (self.beats - before) / wall_s, (self._server.cpu_s - cpu_s) / wall_s

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for line in self._lines:
            line.close()

    async def _open(self) -> Line:
        self._lines.append(await Line.open(self._server))
        return self._lines[-1]

    async def _beat(self, line: Line, name: str) -> None:
        heard = time.perf_counter()
        while True:
            await asyncio.sleep(BEAT_EVERY_S)
            self._note(*await line.ask("POST", f"/agents/{name}/beat", {"incarnation": "1", "held": {}}))
            self.longest_s, heard = max(self.longest_s, time.perf_counter() - heard), time.perf_counter()
            self.beats += 1

    async def _take(self, line: Line, name: str) -> None:
        while True:
            body = {"incarnation": "1", "most": 1, "alone": True, "wait_s": 20}
            self._note(*await line.ask("POST", f"/agents/{name}/take", body))
            await asyncio.sleep(1)

    def _note(self, status: int, answer: bytes) -> None:
        if status != 200:
            self.wrong.append(f"{status} {answer[:100]!r}")


async def beat_hearts(server: Server, seconds: float, description: dict[str, Any]) -> dict[str, Any]:
    """1,000 agents: a heartbeat every third of a lease, then a question that waits for work as well."""
    crowd = Crowd(server, description)
    for number in range(AGENTS):
        await crowd.join(f"agent-{number:04d}")
    per_s, share = await crowd.cost(max(seconds, BEAT_EVERY_S))
    await crowd.wait_for_work()
    _, share_with_waits = await crowd.cost(max(seconds, BEAT_EVERY_S))
    _, listed = await server.ask("GET", "/agents")
    there = sum(each["state"] == "there" for each in listed["items"] if each["id"] in set(crowd.names))
    await crowd.close()
    return {
        "agents": AGENTS,
        "there_at_end": there,
        "beats_per_s": per_s,
        "longest_s": crowd.longest_s,
        "errors": len(crowd.wrong),
        "first_error": crowd.wrong[0] if crowd.wrong else None,
        "cpu_share": share,
        "cpu_share_with_waits": share_with_waits,
    }
