"""Predictions that wait for an agent, or for its answer: in memory, because they live seconds and leave nothing behind.

Everything here happens in the server's loop. An agent that fits takes a prediction, tells how it goes, and answers; one
that cannot after all gives it back, and one that is gone loses it to another, once.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mlmodelscope.ledger.agent_owners import SERVER, NotOwner
from mlmodelscope.ledger.change import Gone
from mlmodelscope.ledger.prediction import Ending, Posed
from mlmodelscope.ledger.request import Failure
from mlmodelscope.server.bell import Bell

MOST = 200
"""Predictions at the same time."""
MOST_BYTES = 512 << 20
"""Of all their inputs together."""
_REMEMBERED = 1000
_ATTEMPTS = 2
"""An input that ends its agent must not end them all."""


@dataclass
class Waiting:
    """One prediction, from the question to the answer."""

    posed: Posed
    content: bytes | None
    agents: Sequence[str]
    """Those that fit."""
    key: str
    """The same for questions to the same model."""
    happened: asyncio.Queue[Mapping[str, Any] | Ending] = field(default_factory=asyncio.Queue)
    agent: str | None = None
    owner: str = SERVER
    """Whose agent it is that has taken it."""
    incarnation: str = ""
    attempts: int = 0


class Full(Exception):
    """There are too many already."""


async def _never() -> bool:
    return False


class Board:
    def __init__(self) -> None:
        self._bell = Bell()
        self._waiting: OrderedDict[str, Waiting] = OrderedDict()
        self._open_at: OrderedDict[str, str] = OrderedDict()
        """Who answered last for a model, and may still have it open."""
        self._is_closed = False

    def put(self, work: Posed, content: bytes | None, agents: Sequence[str], key: str) -> Waiting:
        size = sum(len(each.content or b"") for each in self._waiting.values())
        if len(self._waiting) >= MOST or size + len(content or b"") > MOST_BYTES:
            raise Full
        waiting = Waiting(work, content, tuple(agents), key)
        self._waiting[work.id] = waiting
        favourite = self._open_at.get(key, "")
        if favourite in waiting.agents and self._bell.is_waiting(favourite):
            self._bell.ring([favourite])
        else:
            self.ring(waiting)
        return waiting

    def ring(self, waiting: Waiting) -> None:
        """Wake all that could take it."""
        if waiting.agent is None:
            self._bell.ring(waiting.agents)

    def remove(self, waiting: Waiting) -> None:
        """Nobody waits for it any more."""
        self._waiting.pop(waiting.posed.id, None)

    async def take(
        self,
        agent: str,
        incarnation: str,
        seconds: float,
        is_gone: Callable[[], Awaitable[bool]] = _never,
        owner: str = SERVER,
    ) -> Waiting | None:
        """The next one for this agent; None where there is none for so long, or nobody is there to be told."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        for each in list(self._waiting.values()):
            if each.agent == agent and each.incarnation != incarnation:
                self.lose(each)  # it has begun anew and knows nothing of it
        while not self._is_closed:
            found = self._next(agent)
            if found is not None:
                if await is_gone():
                    return None
                if found.agent is None and found.posed.id in self._waiting:
                    self._assign(found, agent, incarnation, owner)
                    return found
                continue
            left_s = end - loop.time()
            if left_s <= 0 or not await self._bell.wait(agent, left_s):
                return None
        return None

    def _next(self, agent: str) -> Waiting | None:
        return next((each for each in self._waiting.values() if each.agent is None and agent in each.agents), None)

    def _assign(self, waiting: Waiting, agent: str, incarnation: str, owner: str) -> None:
        waiting.agent, waiting.incarnation, waiting.owner = agent, incarnation, owner
        waiting.attempts += 1
        waiting.happened.put_nowait({"kind": "taken", "agent": agent})

    def tell(self, agent: str, identity: str, event: Mapping[str, Any], owner: str = SERVER) -> None:
        self._held(agent, identity, owner).happened.put_nowait(event)

    def answer(self, agent: str, identity: str, ending: Ending, owner: str = SERVER) -> None:
        waiting = self._held(agent, identity, owner)
        self.remove(waiting)
        if ending.answered is not None:
            self._open_at.pop(waiting.key, None)
            self._open_at[waiting.key] = agent
            while len(self._open_at) > _REMEMBERED:
                self._open_at.popitem(last=False)
        waiting.happened.put_nowait(ending)

    def give_back(self, agent: str, identity: str, owner: str = SERVER) -> None:
        """It cannot now: a timed evaluation has begun there. Whoever else fits may."""
        waiting = self._held(agent, identity, owner)
        waiting.agent, waiting.attempts = None, waiting.attempts - 1
        self.ring(waiting)

    def lose(self, waiting: Waiting) -> None:
        """Its agent is gone; another may try."""
        if waiting.attempts >= _ATTEMPTS:
            message = f"{waiting.attempts} agents were gone before they had an answer, the last was {waiting.agent}"
            self.remove(waiting)
            waiting.happened.put_nowait(Ending(failure=Failure(kind="Died", message=message)))
            return
        waiting.agents = [each for each in waiting.agents if each != waiting.agent] or waiting.agents
        waiting.agent = None
        self.ring(waiting)

    def _held(self, agent: str, identity: str, owner: str) -> Waiting:
        waiting = self._waiting.get(identity)
        if waiting is None or waiting.agent != agent:
            raise Gone(f"nobody waits for the prediction {identity[:100]} from {agent[:100]} any more")
        if waiting.owner != owner:
            raise NotOwner(agent)
        return waiting

    def close(self) -> None:
        """From any thread: whoever waits for something must not wait any longer."""
        self._is_closed = True
        self._bell.ring()


def new_identity() -> str:
    return secrets.token_hex(12)
