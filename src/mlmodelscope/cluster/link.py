"""An agent's way to the ledger: by calling it, or over HTTP (in `client`)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from mlmodelscope.cluster.description import AgentDescription
from mlmodelscope.ledger.agents import Agents
from mlmodelscope.ledger.queue import Assigned, Queue
from mlmodelscope.ledger.request import Failure


@dataclass(frozen=True)
class Beat:
    """The answer to a heartbeat."""

    gone: Sequence[str]
    cancel: Sequence[str]
    draining: bool


class Link(Protocol):
    async def join(self, description: AgentDescription, incarnation: str) -> float:
        """For how many seconds it is believed to be there without a heartbeat."""
        ...

    async def leave(self) -> None: ...

    async def beat(self, held: Mapping[str, int]) -> Beat: ...

    async def take(self, most: int, alone: bool) -> list[Assigned]: ...

    async def tell(self, evaluation: str, attempt: int, told: Sequence[tuple[str, Mapping[str, Any]]]) -> None: ...

    async def finish(self, evaluation: str, attempt: int, done: Mapping[str, Any]) -> None:
        """It is done; `done` names the record, or the file with the answers of a part."""
        ...

    async def fail(self, evaluation: str, attempt: int, failure: Failure, again: bool) -> None: ...

    async def cancelled(self, evaluation: str, attempt: int) -> None: ...

    async def give_back(self, evaluation: str, attempt: int) -> None: ...


class DirectLink:
    """To a ledger in this process, whose records are kept in the same store."""

    def __init__(
        self,
        queue: Queue,
        agents: Agents,
        lease_s: float,
        keep: Callable[[str, int, Path], None],
        joined: Callable[[AgentDescription], None] = lambda description: None,
    ) -> None:
        self._queue, self._agents, self._lease_s = queue, agents, lease_s
        self._keep, self._joined = keep, joined
        self._id = self._incarnation = ""

    async def join(self, description: AgentDescription, incarnation: str) -> float:
        self._id, self._incarnation = description.id, incarnation
        text = description.model_dump_json()
        if await asyncio.to_thread(self._agents.join, description.id, incarnation, text, self._lease_s):
            await asyncio.to_thread(self._queue.release, description.id)
        await asyncio.to_thread(self._joined, description)
        return self._lease_s

    async def leave(self) -> None:
        if await asyncio.to_thread(self._agents.leave, self._id, self._incarnation):
            await asyncio.to_thread(self._queue.release, self._id)

    async def beat(self, held: Mapping[str, int]) -> Beat:
        draining = await asyncio.to_thread(self._agents.beat, self._id, self._incarnation, self._lease_s)
        gone, cancel = await asyncio.to_thread(self._queue.keep, self._id, held, self._lease_s)
        return Beat(gone, cancel, draining)

    async def take(self, most: int, alone: bool) -> list[Assigned]:
        return await asyncio.to_thread(self._queue.take, self._id, most, self._lease_s, alone=alone)

    async def tell(self, evaluation: str, attempt: int, told: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        await asyncio.to_thread(self._queue.tell, evaluation, attempt, told)

    async def finish(self, evaluation: str, attempt: int, done: Mapping[str, Any]) -> None:
        if "shard" in done:
            await asyncio.to_thread(self._keep, evaluation, attempt, Path(done["shard"]))
        else:
            await asyncio.to_thread(self._queue.finish, evaluation, attempt, done["record"])

    async def fail(self, evaluation: str, attempt: int, failure: Failure, again: bool) -> None:
        await asyncio.to_thread(self._queue.fail, evaluation, attempt, failure, again=again)

    async def cancelled(self, evaluation: str, attempt: int) -> None:
        await asyncio.to_thread(self._queue.cancelled, evaluation, attempt)

    async def give_back(self, evaluation: str, attempt: int) -> None:
        await asyncio.to_thread(self._queue.give_back, evaluation, attempt)
