"""An agent's way to the ledger: by calling it, or over HTTP (in `client`)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from mlmodelscope.cluster.description import AgentDescription
from mlmodelscope.errors import StoreError
from mlmodelscope.ledger.agent_owners import SERVER
from mlmodelscope.ledger.agents import Agents
from mlmodelscope.ledger.prediction import Ending, Posed
from mlmodelscope.ledger.queue import Assigned, Queue
from mlmodelscope.ledger.request import Failure
from mlmodelscope.provision.cache import Cache
from mlmodelscope.provision.progress import Progress

_LOG = logging.getLogger("mlmodelscope.agent")
_LONGEST_PAUSE_S = 30.0
_WAIT_S = 60.0


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

    async def fetch(self, digest: str, cache: Cache, progress: Progress) -> None:
        """Have an uploaded file of the server in this machine's cache."""
        ...

    async def tell(self, evaluation: str, attempt: int, told: Sequence[tuple[str, Mapping[str, Any]]]) -> None: ...

    async def finish(self, evaluation: str, attempt: int, done: Mapping[str, Any]) -> None:
        """It is done; `done` names the record, or the file with the answers of a part."""
        ...

    async def fail(self, evaluation: str, attempt: int, failure: Failure, again: bool) -> None: ...

    async def cancelled(self, evaluation: str, attempt: int) -> None: ...

    async def give_back(self, evaluation: str, attempt: int) -> None: ...

    async def take_prediction(self) -> tuple[Posed, bytes | None] | None:
        """The next one and what came with it, after a while; None where there is none."""
        ...

    async def tell_prediction(self, identity: str, event: Mapping[str, Any]) -> None: ...

    async def answer_prediction(self, identity: str, ending: Ending) -> None: ...

    async def return_prediction(self, identity: str) -> None: ...


class Waiting(Protocol):
    @property
    def posed(self) -> Posed: ...

    @property
    def content(self) -> bytes | None: ...


class Board(Protocol):
    """Where predictions wait."""

    async def take(self, agent: str, incarnation: str, seconds: float) -> Waiting | None: ...

    def tell(self, agent: str, identity: str, event: Mapping[str, Any]) -> None: ...

    def answer(self, agent: str, identity: str, ending: Ending) -> None: ...

    def give_back(self, agent: str, identity: str) -> None: ...


class DirectLink:
    """To a ledger in this process, whose records are kept in the same store."""

    def __init__(
        self,
        queue: Queue,
        agents: Agents,
        lease_s: float,
        keep: Callable[[str, int, Path], None],
        board: Board,
        joined: Callable[[AgentDescription], None] = lambda description: None,
        ending: Callable[[str, str], None] = lambda evaluation, record: None,
    ) -> None:
        """`ending` is told of each evaluation and its record before the queue says that it is done."""
        self._queue, self._agents, self._lease_s = queue, agents, lease_s
        self._keep, self._board, self._joined, self._ending = keep, board, joined, ending
        self._id = self._incarnation = ""

    async def join(self, description: AgentDescription, incarnation: str) -> float:
        self._id, self._incarnation = description.id, incarnation
        text = description.model_dump_json()
        if await asyncio.to_thread(self._agents.join, description.id, incarnation, text, self._lease_s, SERVER):
            await asyncio.to_thread(self._queue.release, description.id)
        await asyncio.to_thread(self._joined, description)
        return self._lease_s

    async def leave(self) -> None:
        if await asyncio.to_thread(self._agents.leave, self._id, self._incarnation, SERVER):
            await asyncio.to_thread(self._agents.owners.release, self._id)  # an agent with a token may follow it
            await asyncio.to_thread(self._queue.release, self._id)

    async def beat(self, held: Mapping[str, int]) -> Beat:
        draining = await asyncio.to_thread(self._agents.beat, self._id, self._incarnation, self._lease_s, SERVER)
        gone, cancel = await asyncio.to_thread(self._queue.keep, self._id, held, self._lease_s)
        return Beat(gone, cancel, draining)

    async def take(self, most: int, alone: bool) -> list[Assigned]:
        return await asyncio.to_thread(self._queue.take, self._id, most, self._lease_s, alone=alone)

    async def fetch(self, digest: str, cache: Cache, progress: Progress) -> None:
        """It lies in the same home, where it is looked for."""

    async def tell(self, evaluation: str, attempt: int, told: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        await asyncio.to_thread(self._queue.tell, evaluation, attempt, told)

    async def finish(self, evaluation: str, attempt: int, done: Mapping[str, Any]) -> None:
        if "shard" in done:
            await _surely(lambda: self._keep(evaluation, attempt, Path(done["shard"])))
        else:
            await _surely(lambda: self._ending(evaluation, done["record"]))
            await _surely(lambda: self._queue.finish(evaluation, attempt, done["record"]))

    async def fail(self, evaluation: str, attempt: int, failure: Failure, again: bool) -> None:
        await _surely(lambda: self._queue.fail(evaluation, attempt, failure, again=again))

    async def cancelled(self, evaluation: str, attempt: int) -> None:
        await _surely(lambda: self._queue.cancelled(evaluation, attempt))

    async def give_back(self, evaluation: str, attempt: int) -> None:
        await asyncio.to_thread(self._queue.give_back, evaluation, attempt)

    async def take_prediction(self) -> tuple[Posed, bytes | None] | None:
        found = await self._board.take(self._id, self._incarnation, _WAIT_S)
        return (found.posed, found.content) if found is not None else None

    async def tell_prediction(self, identity: str, event: Mapping[str, Any]) -> None:
        self._board.tell(self._id, identity, event)

    async def answer_prediction(self, identity: str, ending: Ending) -> None:
        self._board.answer(self._id, identity, ending)

    async def return_prediction(self, identity: str) -> None:
        self._board.give_back(self._id, identity)


async def _surely(say: Callable[[], None]) -> None:
    """Until it is written: a database that was restarted comes back, and the work is done already."""
    pause = 0.5
    while True:
        try:
            return await asyncio.to_thread(say)
        except StoreError as error:
            _LOG.warning("%s; trying again in %.1f s", error.message, pause)
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_S)
