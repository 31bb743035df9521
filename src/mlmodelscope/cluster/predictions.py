"""Predictions at an agent: asked for one at a time, answered in threads, never beside a timed evaluation."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

from mlmodelscope.cluster.answering import Answering, Job
from mlmodelscope.cluster.description import AgentDescription
from mlmodelscope.cluster.link import Link
from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.ledger.change import Gone
from mlmodelscope.ledger.prediction import Answered, Ending, Posed
from mlmodelscope.ledger.request import Failure
from mlmodelscope.manifest.reference import named_artifacts
from mlmodelscope.provision.cache import Cache
from mlmodelscope.settings import Settings

_LOG = logging.getLogger("mlmodelscope.agent")
_AT_ONCE = 4
_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 10.0
_SWEEP_EVERY_S = 30.0
_LONGEST_PIECE = 4000
"""Characters of a text that are told at once."""
_PATIENCE_S = 600.0
"""What nobody waits for any more may go on so long: the next one who asks may need what it fetches and opens."""


class Predictions:
    """Takes them from the server as long as `may_take` says so."""

    def __init__(
        self, link: Link, settings: Settings, description: AgentDescription, may_take: Callable[[], bool]
    ) -> None:
        self._link, self._may_take, self._trusts = link, may_take, description.trusts
        self._answering, self._cache = Answering(settings, description.remote), Cache(settings.cache)
        self._jobs: dict[str, Job] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()

    @property
    def are_running(self) -> bool:
        return bool(self._jobs)

    def wake(self) -> None:
        """Something has ended: what must not be taken a moment ago may be now."""
        self._changed.set()

    async def run(self) -> None:
        """Until it is cancelled."""
        pause = _PAUSE_S
        sweeping = asyncio.create_task(self._sweep())
        try:
            while True:
                if not self._may_take() or len(self._jobs) >= _AT_ONCE:
                    self._changed.clear()
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._changed.wait(), 1)
                    continue
                try:
                    found = await self._link.take_prediction()
                    pause = _PAUSE_S
                except MLModelScopeError as error:
                    _LOG.debug("cannot ask for predictions: %s", error.message)
                    await asyncio.sleep(pause)
                    pause = min(2 * pause, _LONGEST_PAUSE_S)
                    continue
                if found is None:
                    await asyncio.sleep(_PAUSE_S)
                elif self._may_take():
                    self._begin(*found)
                else:  # a timed evaluation has begun meanwhile
                    with contextlib.suppress(MLModelScopeError):
                        await self._link.return_prediction(found[0].id)
        finally:
            sweeping.cancel()
            await self._end()

    async def quiet(self) -> None:
        """Until nothing runs and no model is open: what is measured next must be alone."""
        while self._jobs:
            for job in self._jobs.values():
                if job.posed.id not in self._awaited():
                    job.give_up(at_once=True)
            self._changed.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), 0.2)
        await asyncio.to_thread(self._answering.close_idle)

    def _awaited(self) -> set[str]:
        return {task.get_name() for task in self._tasks}

    def _begin(self, posed: Posed, content: bytes | None) -> None:
        loop = asyncio.get_running_loop()
        told: asyncio.Queue[Mapping[str, Any] | None] = asyncio.Queue()
        posed = posed.model_copy(update={"work": posed.work.trusted_by(self._trusts)})
        job = Job(posed, content, lambda event: _soon(loop, told.put_nowait, event))
        self._jobs[posed.id] = job
        task = asyncio.create_task(self._predict(job, told), name=posed.id)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _predict(self, job: Job, told: asyncio.Queue[Mapping[str, Any] | None]) -> None:
        posed = job.posed
        telling = asyncio.create_task(self._tell(job, told))
        try:
            answered = await asyncio.wait_for(self._answer(job), posed.timeout_s)
            ending = Ending(answered=answered)
        except TimeoutError:
            asyncio.get_running_loop().call_later(_PATIENCE_S, lambda: job.give_up(at_once=True))
            await asyncio.to_thread(job.give_up, at_once=False)
            message = f"there was no answer within {posed.timeout_s:g} s"
            ending = Ending(failure=Failure(kind="TooLate", message=message))
        except MLModelScopeError as error:
            failure = Failure(kind=type(error).__name__, message=error.message[:4000], hint=error.hint)
            ending = Ending(failure=failure)
        except Exception as error:
            _LOG.exception("a prediction failed")
            message = f"an error of our own: {type(error).__name__}: {error}"
            ending = Ending(failure=Failure(kind="Surprise", message=message[:4000]))
        told.put_nowait(None)
        await telling
        try:
            await self._link.answer_prediction(posed.id, ending)
        except Gone:
            pass
        except MLModelScopeError as error:
            _LOG.warning("the answer to a prediction is lost: %s", error.message)
            with contextlib.suppress(MLModelScopeError):  # too large, for example: that can still be said
                failure = Failure(kind="WorkerError", message=f"the answer could not be sent: {error.message}"[:4000])
                await self._link.answer_prediction(posed.id, Ending(failure=failure))

    async def _answer(self, job: Job) -> Answered:
        """Have the uploaded files that its manifests name, then ask; what is asked in a thread goes on there."""
        try:
            for digest in named_artifacts(job.posed.work.model, job.posed.work.software):
                await self._link.fetch(digest, self._cache, job.downloading)
        except BaseException:
            self._over(job)
            raise
        return await asyncio.shield(self._in_thread(job))

    def _over(self, job: Job) -> None:
        self._jobs.pop(job.posed.id, None)
        self._changed.set()

    async def _tell(self, job: Job, told: asyncio.Queue[Mapping[str, Any] | None]) -> None:
        is_over = False
        while not is_over:
            events: list[Mapping[str, Any]] = []
            for each in [await told.get(), *_waiting(told)]:
                is_over = is_over or each is None
                _add(events, each)
            for event in events:
                try:
                    await self._link.tell_prediction(job.posed.id, event)
                except Gone:
                    await asyncio.to_thread(job.hang_up)
                except MLModelScopeError as error:
                    _LOG.debug("cannot tell how a prediction goes: %s", error.message)

    def _in_thread(self, job: Job) -> asyncio.Future[Answered]:
        """A thread that does not keep the process alive: a download may hang for minutes."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Answered] = loop.create_future()

        def settle(answered: Answered | None, error: BaseException | None) -> None:
            self._over(job)
            if future.cancelled():
                return
            if error is None and answered is not None:
                future.set_result(answered)
            else:
                future.set_exception(error or RuntimeError("there is no answer"))
                future.exception()  # it may be that nobody waits for it any more

        def work() -> None:
            try:
                answered = self._answering.answer(job)
            except BaseException as error:
                _soon(loop, settle, None, error)
            else:
                _soon(loop, settle, answered, None)

        threading.Thread(target=work, name=f"prediction-{job.posed.id}", daemon=True).start()
        return future

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP_EVERY_S)
            await asyncio.to_thread(self._answering.sweep)

    async def _end(self) -> None:
        for task in self._tasks:
            task.cancel()
        for job in list(self._jobs.values()):
            await asyncio.to_thread(job.give_up, at_once=True)
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.to_thread(self._answering.close)


def _waiting(told: asyncio.Queue[Mapping[str, Any] | None]) -> list[Mapping[str, Any] | None]:
    """What else is there by now."""
    return [told.get_nowait() for _ in range(told.qsize())]


def _add(events: list[Mapping[str, Any]], event: Mapping[str, Any] | None) -> None:
    """Pieces of a text that came while the one before was on its way go together."""
    if event is None:
        return
    last = events[-1] if events else {}
    if event["kind"] == last.get("kind") == "piece" and len(last["text"]) + len(event["text"]) <= _LONGEST_PIECE:
        events[-1] = {"kind": "piece", "text": last["text"] + event["text"]}
    else:
        events.append(event)


def _soon(loop: asyncio.AbstractEventLoop, function: Callable[..., None], *arguments: Any) -> None:
    with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
        loop.call_soon_threadsafe(function, *arguments)
