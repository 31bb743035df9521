"""What an agent reports of its work: all of it, and the end last."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from mlmodelscope.cluster import agent as module
from mlmodelscope.cluster.agent import Agent
from mlmodelscope.cluster.description import describe_agent
from mlmodelscope.cluster.link import Link
from mlmodelscope.settings import Settings


class SlowLink:
    """A connection on which events take until `arrive` is set."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.sent, self.arrive = asyncio.Event(), asyncio.Event()

    async def tell(self, evaluation: str, attempt: int, told: list[tuple[str, Any]]) -> None:
        self.sent.set()
        await self.arrive.wait()
        self.heard += [kind for kind, _ in told]

    async def fail(self, *what: Any, again: bool) -> None:
        self.heard.append("failed")


def test_events_on_their_way_arrive_before_the_end(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_TELL_EVERY_S", 0)

    async def story() -> list[str]:
        link = SlowLink()
        agent = Agent(cast(Link, link), describe_agent(settings), settings)
        running = module._Running(cast(Any, type("Assigned", (), {"id": "e1", "attempt": 1})()))
        running.told.append(("progress", {"done": 5, "of": 5}))
        teller = asyncio.create_task(agent._tell(running))
        await link.sent.wait()
        failure = {"kind": "failed", "error": "WorkerError", "message": "it died", "hint": None, "again": False}
        ending = asyncio.create_task(agent._end(running, failure, teller))
        await asyncio.sleep(0)  # the end begins while the events are still on their way
        link.arrive.set()
        await ending
        return link.heard

    assert asyncio.run(story()) == ["progress", "failed"]
