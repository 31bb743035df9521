"""The loop of an agent: take an evaluation, run it in a process of its own, tell how it goes, hand the record over."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import threading
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from mlmodelscope.cluster.child import LAST, Child
from mlmodelscope.cluster.concurrency import note_concurrency, words_of
from mlmodelscope.cluster.description import AgentDescription
from mlmodelscope.cluster.link import Link
from mlmodelscope.cluster.predictions import Predictions
from mlmodelscope.errors import MLModelScopeError, UsageError
from mlmodelscope.ledger.change import Gone
from mlmodelscope.ledger.queue import Assigned
from mlmodelscope.ledger.request import TIMED, Failure
from mlmodelscope.manifest.catalog import name_in
from mlmodelscope.manifest.reference import named_artifacts
from mlmodelscope.provision.cache import Cache
from mlmodelscope.provision.stack.makeable import LASTS_S, Makeable
from mlmodelscope.settings import Settings

_LOG = logging.getLogger("mlmodelscope.agent")
_TELL_EVERY_S = 1.0
_ASK_AGAIN_S = 600.0
"""Before package indexes that did not answer are asked again."""


@dataclass
class _Running:
    assigned: Assigned
    task: asyncio.Task[None] | None = None
    child: Child | None = None
    fetching: asyncio.Task[None] | None = None
    """Files that its manifests name by digest, on their way from the server."""
    cancelled: bool = False
    gone: bool = False
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    beside: int = 0
    """Most others that ran here at the same time."""
    told: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    telling: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while events are on their way, so that the end is not reported before them."""


class Agent:
    """Does what the ledger has for it, as long as it is wanted."""

    def __init__(
        self,
        link: Link,
        description: AgentDescription,
        settings: Settings,
        *,
        idle_s: float = 1.0,
        makes: Callable[[Settings], Makeable] | None = None,
    ) -> None:
        """`makes` finds out which stacks can be made here; without it none are offered."""
        self._link, self._description, self._settings = link, description, settings
        self._makes = makes
        self.beat_s, self._idle_s = 1.0, idle_s
        self._incarnation = secrets.token_hex(8)
        self._running: dict[str, _Running] = {}
        self._draining = False
        self._changed = asyncio.Event()
        self._predictions = Predictions(link, settings, description, self._may_take_more)

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop` is set; what is under way then is given back, and its journal stays for whoever goes on."""
        await self._join(stop)
        beating = asyncio.create_task(self._beat(stop))
        predicting = asyncio.create_task(self._predictions.run())
        offering = asyncio.create_task(self._offer_made(stop))
        try:
            while not stop.is_set():
                await _first(self._take(), stop.wait())
                await _first(self._changed.wait(), stop.wait(), timeout=self._idle_s)
                self._changed.clear()
        finally:
            beating.cancel()
            predicting.cancel()
            offering.cancel()
            stopping = [self._stop(each) for each in self._running.values()]
            await asyncio.gather(beating, predicting, offering, *stopping, return_exceptions=True)
            with contextlib.suppress(Exception):
                await self._link.leave()

    @property
    def is_timing(self) -> bool:
        """Whether something runs beside which nothing else may."""
        return any(each.assigned.work.kind in TIMED for each in self._running.values())

    async def publish(self, description: AgentDescription, stop: asyncio.Event) -> None:
        """What it has is something else by now."""
        self._description = description
        await self._join(stop)
        self._changed.set()

    async def _offer_made(self, stop: asyncio.Event) -> None:
        """Package indexes take their time to answer: it has joined before, and tells then what it can make."""
        while self._makes is not None and self._description.remote is None:
            wait_s = LASTS_S
            try:
                makes = await _in_daemon(partial(self._makes, self._settings))
                if dict(makes) != self._description.makes:
                    await self.publish(self._description.model_copy(update={"makes": dict(makes)}), stop)
            except MLModelScopeError as error:
                _LOG.warning("no stacks can be made: %s", error.message)
                wait_s = _ASK_AGAIN_S
            except Exception:
                _LOG.exception("which stacks can be made is not known")
            await asyncio.sleep(wait_s)

    async def _join(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            try:
                self.beat_s = await self._link.join(self._description, self._incarnation) / 3
                _LOG.info("joined as %s", self._description.id)
                return
            except MLModelScopeError as error:
                _LOG.warning("cannot join: %s%s", error.message, f" ({error.hint})" if error.hint else "")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), self.beat_s)

    async def _beat(self, stop: asyncio.Event) -> None:
        while True:
            await asyncio.sleep(self.beat_s)
            held = {each.assigned.id: each.assigned.attempt for each in self._running.values() if not each.gone}
            try:
                beat = await self._link.beat(held)
            except Gone:
                await self._join(stop)
                continue
            except MLModelScopeError as error:
                _LOG.warning("no heartbeat: %s", error.message)  # what runs goes on meanwhile
                continue
            self._draining = beat.draining
            for identity in (*beat.gone, *beat.cancel):
                if identity in self._running:
                    self._end_early(self._running[identity], identity in beat.gone)

    def _end_early(self, running: _Running, is_gone: bool) -> None:
        if running.child is None and running.fetching is None:
            return
        running.gone, running.cancelled = running.gone or is_gone, True
        reason = "it is another one's" if running.gone else "it was cancelled"
        _LOG.info("ending %s: %s", running.assigned.id, reason)
        if running.child is not None:
            asyncio.ensure_future(running.child.end())
        elif running.fetching is not None:
            running.fetching.cancel()

    async def _take(self) -> None:
        free = self._description.slots - len(self._running)
        if free < 1 or not self._may_take_more():
            return
        try:
            taken = await self._link.take(free, not self._running and not self._predictions.are_running)
        except MLModelScopeError as error:
            _LOG.warning("cannot ask for work: %s", error.message)
            return
        for assigned in taken:
            running = _Running(assigned)
            self._running[assigned.id] = running
            running.task = asyncio.create_task(self._evaluate(running))
        for each in self._running.values():
            each.beside = max(each.beside, len(self._running) - 1)

    def _may_take_more(self) -> bool:
        """Beside a timed evaluation nothing else runs, and a device that is away does nothing."""
        return not (self._draining or self._description.away or self.is_timing)

    async def _evaluate(self, running: _Running) -> None:
        assigned = running.assigned
        _LOG.info("evaluation %s, attempt %d: %s", assigned.id, assigned.attempt, assigned.work.kind)
        teller = asyncio.create_task(self._tell(running))
        try:
            if assigned.work.kind in TIMED:
                await self._predictions.quiet()
            await self._run(running, teller)
        finally:
            teller.cancel()
            if running.child is not None:
                await running.child.end()
            self._running.pop(assigned.id, None)
            self._changed.set()
            self._predictions.wake()

    async def _run(self, running: _Running, teller: asyncio.Task[None]) -> None:
        assigned = running.assigned
        ending = await self._fetch(running)
        if ending is not None:
            await self._end(running, ending, teller)
            return
        work = assigned.work.trusted_by(self._description.trusts)
        running.child = await Child.start(work, self._settings, self._description.remote)
        try:
            async with asyncio.timeout(assigned.timeout_s):
                await self._end(running, await _last_event(running, running.child), teller)
        except TimeoutError:
            failure = Failure(kind="Timeout", message=f"it took longer than {assigned.timeout_s} s")
            await running.child.end()
            await self._surely(self._link.fail(assigned.id, assigned.attempt, failure, again=False))

    async def _fetch(self, running: _Running) -> Mapping[str, Any] | None:
        """Have the uploaded files that it needs; where that fails, how it ends."""
        work, cache = running.assigned.work, Cache(self._settings.cache)
        named = named_artifacts(work.model, work.dataset, work.software)

        def tell(name: str, done: int, total: int | None) -> None:
            running.told.append(("downloading", {"name": name, "done": done, "of": total}))

        async def fetch() -> None:
            for digest in named:
                await self._link.fetch(digest, cache, tell)

        running.fetching = asyncio.create_task(fetch())
        try:
            await running.fetching
        except asyncio.CancelledError:
            if not running.cancelled:  # it is the agent that ends
                raise
            return {"kind": "died"}
        except MLModelScopeError as error:
            reason = {"error": type(error).__name__, "message": error.message, "hint": error.hint}
            return {"kind": "failed", **reason, "again": not isinstance(error, UsageError)}
        finally:
            running.fetching.cancel()
            running.fetching = None
        return None

    async def _end(self, running: _Running, last: Mapping[str, Any], teller: asyncio.Task[None]) -> None:
        teller.cancel()
        assigned = running.assigned
        if running.gone:
            return
        if running.beside:
            running.told.append(("note", {"text": words_of(running.beside)}))
        await self._flush(running)
        if last["kind"] == "done" and running.beside and "record" in last:
            await asyncio.to_thread(
                note_concurrency, self._settings, last["record"], running.started_at, words_of(running.beside)
            )
        if last["kind"] == "done":
            ending: Coroutine[Any, Any, None] = self._link.finish(assigned.id, assigned.attempt, last)
        elif running.cancelled:
            ending = self._link.cancelled(assigned.id, assigned.attempt)
        elif last["kind"] == "failed":
            failure = Failure(kind=last["error"], message=last["message"], hint=last["hint"])
            ending = self._link.fail(assigned.id, assigned.attempt, failure, again=last["again"])
        else:
            failure = Failure(kind="Died", message=last.get("message", "its process ended"))
            ending = self._link.fail(assigned.id, assigned.attempt, failure, again=True)
        await self._surely(ending)
        _LOG.info("evaluation %s: %s", assigned.id, last["kind"])
        if last["kind"] == "done":
            await self._has(assigned.work.model)

    async def _has(self, model: str) -> None:
        """Its files are here from now on."""
        name = name_in(model)
        if name is not None and name not in self._description.models:
            models = tuple(sorted({*self._description.models, name}))
            self._description = self._description.model_copy(update={"models": models})
            with contextlib.suppress(MLModelScopeError):  # who joins again says it then
                await self._link.join(self._description, self._incarnation)

    async def _surely(self, ending: Coroutine[Any, Any, None]) -> None:
        try:
            await ending
        except Gone as error:
            _LOG.info("%s", error.message)

    async def _tell(self, running: _Running) -> None:
        while True:
            await asyncio.sleep(_TELL_EVERY_S)
            await asyncio.shield(self._flush(running))  # cancelled halfway, its events would be lost

    async def _flush(self, running: _Running) -> None:
        async with running.telling:
            told, running.told = running.told, []
            if told:
                try:
                    await self._link.tell(running.assigned.id, running.assigned.attempt, told)
                except MLModelScopeError as error:
                    _LOG.warning("events of %s are lost: %s", running.assigned.id, error.message)

    async def _stop(self, running: _Running) -> None:
        """Give it back: its journal is where it is, and whoever takes it next goes on from there."""
        running.gone = True
        if running.child is not None:
            await running.child.end()
        if running.task is not None:
            running.task.cancel()
        with contextlib.suppress(MLModelScopeError):
            await self._link.give_back(running.assigned.id, running.assigned.attempt)


async def _in_daemon(work: Callable[[], Makeable]) -> Makeable:
    """In a thread that nobody waits for when the agent ends."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Makeable] = loop.create_future()

    def tell(found: Makeable | None, error: Exception | None) -> None:
        if not done.done():
            done.set_result(found or {}) if error is None else done.set_exception(error)

    def run() -> None:
        found, error = None, None
        try:
            found = work()
        except Exception as raised:
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop is closed by now
            loop.call_soon_threadsafe(tell, found, error)

    threading.Thread(target=run, daemon=True).start()
    return await done


async def _last_event(running: _Running, child: Child) -> Mapping[str, Any]:
    """How it ended; what it said before is told."""
    last: Mapping[str, Any] = {"kind": "died"}
    async for last in child.events():
        if last["kind"] in LAST:
            break
        running.told.append((last["kind"], {key: last[key] for key in last if key != "kind"}))
    return last


async def _first(*waiting: Coroutine[Any, Any, Any], timeout: float | None = None) -> None:
    """Until one of them is done; the others are given up."""
    tasks = [asyncio.ensure_future(each) for each in waiting]
    try:
        done, _ = await asyncio.wait(tasks, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        for each in done:
            each.result()
    finally:
        for each in tasks:
            each.cancel()
