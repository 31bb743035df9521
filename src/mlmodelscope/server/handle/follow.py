"""What happens to an evaluation, as it happens: the same for every transport that can stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from mlmodelscope.ledger.tokens import Person
from mlmodelscope.server.desk import Desk
from mlmodelscope.server.handle import evaluations

_TICK_S = 0.5
_ALIVE_EVERY = 30
"""Ticks without an event after which it is said that nothing is wrong."""


class Stopping(Exception):
    """The server stops before the evaluation has ended; whoever listens asks again."""


async def follow(desk: Desk, person: Person, identity: str, after: int) -> AsyncGenerator[dict[str, Any] | None]:
    """Every event behind number `after`, until it has ended; None now and then, where there is nothing to say."""
    seen, quiet = after, 0
    while True:
        ended = await asyncio.to_thread(evaluations.has_ended, desk, identity)
        told = await asyncio.to_thread(evaluations.events, desk, person, identity, seen)
        for event in told:
            seen = event["number"]
            yield event
        if ended and not told:
            return
        if desk.stopping:
            raise Stopping
        quiet = 0 if told else quiet + 1
        if quiet % _ALIVE_EVERY == _ALIVE_EVERY - 1:
            yield None
        await asyncio.sleep(_TICK_S if not ended else 0)
