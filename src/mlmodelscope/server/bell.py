"""Agents that wait for work are woken when there is some: a thousand that look for themselves would be a load."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterable


class Bell:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, list[tuple[asyncio.AbstractEventLoop, asyncio.Event]]] = {}
        self._wanted: frozenset[str] = frozenset()

    async def wait(self, agent: str, seconds: float) -> bool:
        """Until it rings for this agent; False where it did not."""
        own = (asyncio.get_running_loop(), asyncio.Event())
        with self._lock:
            self._waiting.setdefault(agent, []).append(own)
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await own[1].wait()
            return own[1].is_set()
        finally:
            with self._lock:
                self._waiting[agent].remove(own)
                if not self._waiting[agent]:
                    del self._waiting[agent]

    def is_waiting(self, agent: str) -> bool:
        """Whether it would hear the bell."""
        with self._lock:
            return agent in self._waiting

    def is_wanted(self, agent: str) -> bool:
        """Whether, as of a moment ago, something waits for it."""
        return agent in self._wanted

    def now_wanted(self, agents: Iterable[str]) -> None:
        """These have something to do, and no others."""
        self._wanted = frozenset(agents)
        self.ring(self._wanted)

    def ring(self, agents: Iterable[str] | None = None) -> None:
        """From any thread; without names it rings for everybody."""
        with self._lock:
            names = list(self._waiting) if agents is None else list(agents)
            self._wanted |= frozenset(names)
            found = [each for name in names for each in self._waiting.get(name, ())]
        for loop, event in found:
            with contextlib.suppress(RuntimeError):  # its loop has ended meanwhile
                loop.call_soon_threadsafe(event.set)
