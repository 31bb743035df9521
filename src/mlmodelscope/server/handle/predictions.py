"""Asking a model: an agent that fits is found, it answers within seconds, and nothing is written down."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from mlmodelscope.cluster.resolve import resolve
from mlmodelscope.errors import InputError, MLModelScopeError, UsageError
from mlmodelscope.ledger.moment import now
from mlmodelscope.ledger.prediction import LONGEST_S, Answered, Ending, Input, Posed, PredictionRequest
from mlmodelscope.ledger.request import Failure, Request, Work
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.server.board import Full, Waiting, new_identity
from mlmodelscope.server.desk import Desk, demand
from mlmodelscope.server.handle.agents import quick_beat
from mlmodelscope.server.handle.prediction_trace import join
from mlmodelscope.server.handle.requests import NoAgent, alive, prepare
from mlmodelscope.trace.caller import Caller

_LOOK_EVERY_S = 1.0
_STATUS = {
    "InputError": 422,
    "ManifestError": 422,
    "VersionError": 422,
    "UsageError": 422,
    "TrustError": 403,
    "TooLate": 504,
    "Died": 503,
    "Surprise": 503,
    "Busy": 503,
    "Stopping": 503,
    "Crowded": 429,
}
"""What else goes wrong at an agent (a stack, a file of the model, its worker) is no fault of the question."""


class PredictionFailed(MLModelScopeError):
    """There is no answer; `kind` and `status` say why."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message, hint=failure.hint)
        self.kind, self.status = failure.kind, _STATUS.get(failure.kind, 409)


@dataclass(frozen=True)
class Question:
    """A model that may be asked, by whom; the same for many inputs."""

    person: Person
    work: Work
    agents: tuple[str, ...]
    key: str
    timeout_s: float
    write: dict[str, Any] | None = None


def pose(desk: Desk, person: Person, asked: PredictionRequest) -> Question:
    """Find the manifests and the agents that fit; everything that can be refused at once is."""
    demand(person, "run")
    if asked.trust:  # nothing else is left behind of code that runs
        demand(person, "trust")
        desk.audit.note(person.owner, "predict with trust", _called(asked))
    key = (person, asked.model_dump_json(exclude={"input"}))
    found: Question = desk.posed.get(key, lambda: _pose(desk, person, asked))
    return found


def _called(asked: PredictionRequest) -> str:
    return asked.model if isinstance(asked.model, str) else "a manifest of their own"


def _pose(desk: Desk, person: Person, asked: PredictionRequest) -> Question:
    request = Request(
        model=asked.model, software=asked.software, options=asked.options, where=asked.where, trust=asked.trust
    )
    prepared = prepare(desk, person, request, with_dataset=False)
    resolution = resolve(prepared.needs, alive(desk))
    if not resolution.matching:
        raise NoAgent(resolution)
    key = hashlib.sha256(prepared.work.model_dump_json().encode()).hexdigest()
    return Question(person, prepared.work, resolution.matching, key, asked.timeout_s, asked.write)


def limits(desk: Desk, person: Person) -> dict[str, Any]:
    demand(person, "read")
    trusts = any(each.trusts for each in alive(desk))
    return {"largest_input": desk.config.largest_input, "longest_s": LONGEST_S, "trusts": trusts}


@dataclass(frozen=True)
class Sent:
    """What a model is asked about, as it came with the question."""

    content: bytes | None = None
    """None where it must be fetched."""
    url: str | None = None
    parts: dict[str, dict[str, Any]] | None = None
    """Of a sample, where it is a text or a row."""


def sent_of(desk: Desk, given: Input) -> Sent:
    """All that can be refused of an input at once is."""
    try:
        content = given.content()
        sent = Sent(None if content is None else check_size(desk, content), given.url, given.parts())
    except (ValueError, UsageError) as error:
        raise InputError(str(error)) from None
    return sent


def check_size(desk: Desk, content: bytes) -> bytes:
    largest = desk.config.largest_input
    if len(content) > largest:
        message = f"the input has {len(content)} bytes, {largest} are the most"
        raise InputError(message, hint="`largest_input` in the server's configuration")
    if not content:
        raise InputError("the input is empty")
    return content


async def happening(
    desk: Desk, question: Question, sent: Sent, caller: Caller | None = None
) -> AsyncGenerator[dict[str, Any]]:
    """What happens to it; where the caller's trace keeps spans, those of the answer join it."""
    began_ns = time.time_ns()

    async def keep(found: Mapping[str, Any]) -> None:
        if caller is not None and caller.is_sampled:
            await asyncio.to_thread(join, desk, question.person, caller, began_ns, time.time_ns(), found)

    try:
        async with aclosing(_happening(desk, question, sent)) as events:
            async for event in events:
                if event["kind"] == "answer":
                    await keep(event)
                yield event
    except MLModelScopeError as error:
        await keep({"error": error.message})
        raise


async def _happening(desk: Desk, question: Question, sent: Sent) -> AsyncGenerator[dict[str, Any]]:
    """What happens to it: who took it, what is downloaded, built and opened, and as the last event the answer."""
    person = question.person
    posed = Posed(
        id=new_identity(),
        work=question.work,
        url=sent.url,
        parts=sent.parts,
        write=question.write,
        public_input=not (person.is_local or person.may("admin")),
        most_bytes=desk.config.largest_input,
        timeout_s=question.timeout_s,
    )
    try:
        waiting = desk.board.put(posed, sent.content, question.agents, question.key)
    except Full:
        raise _failed("Crowded", "too many predictions are waiting", "ask again in a moment") from None
    loop = asyncio.get_running_loop()
    end = loop.time() + question.timeout_s
    agent = ""
    try:
        while True:
            try:
                async with asyncio.timeout(min(_LOOK_EVERY_S, max(end - loop.time(), 0))):
                    event = await waiting.happened.get()
            except TimeoutError:
                if loop.time() >= end:
                    raise _too_late(question, waiting) from None
                await _look(desk, waiting)
                continue
            if not isinstance(event, Ending):
                agent = str(event.get("agent", agent))
                yield dict(event)
                continue
            yield {"kind": "answer", **_spell(_answered(event), agent)}
            return
    finally:
        desk.board.remove(waiting)


async def ask(desk: Desk, question: Question, sent: Sent, caller: Caller | None = None) -> dict[str, Any]:
    """The answer alone."""
    async with aclosing(happening(desk, question, sent, caller)) as events:
        async for event in events:
            if event["kind"] == "answer":
                return {name: value for name, value in event.items() if name != "kind"}
    raise AssertionError("the last event is the answer")


async def _look(desk: Desk, waiting: Waiting) -> None:
    """Nothing has been heard for a while: is anybody there?"""
    if desk.stopping:
        raise _failed("Stopping", "the server stops", "ask again when it is back")
    rows = await asyncio.to_thread(desk.agents.list)
    there = {row["id"] for row in rows if row["lease_until"] > now()}
    if waiting.agent is not None and waiting.agent not in there:
        desk.board.lose(waiting)
    if waiting.agent is None:
        if not there.intersection(waiting.agents):
            raise _failed("Died", "every agent that fits is gone", "ask again when one is back")
        desk.board.ring(waiting)


def _answered(ending: Ending) -> Answered:
    if ending.answered is not None:
        return ending.answered
    failure = ending.failure or Failure(kind="Surprise", message="the agent said nothing")
    if failure.kind == "InputError":
        raise InputError(failure.message, hint=failure.hint)
    raise PredictionFailed(failure)


def _spell(answered: Answered, agent: str) -> dict[str, Any]:
    return {**answered.model_dump(mode="json"), "agent": agent}


def _too_late(question: Question, waiting: Waiting) -> PredictionFailed:
    within = f"within {question.timeout_s:g} s"
    if waiting.agent is not None:
        return _failed(
            "TooLate", f"{waiting.agent} had no answer {within}", "the first answer of a model takes longest; ask again"
        )
    some = f"{len(question.agents)} agent{'s fit' if len(question.agents) > 1 else ' fits'}"
    return _failed(
        "Busy", f"{some}, and none was free {within}", "nothing else runs beside a timed evaluation; ask again later"
    )


def _failed(kind: str, message: str, hint: str) -> PredictionFailed:
    return PredictionFailed(Failure(kind=kind, message=message, hint=hint))


# What agents ask for -------------------------------------------------------------------------------------------------


async def take(
    desk: Desk, person: Person, agent: str, incarnation: str, wait_s: float, is_gone: Callable[[], Awaitable[bool]]
) -> Waiting | None:
    """The next prediction for an agent, after a while."""
    known = quick_beat(desk, person, agent, incarnation)
    draining = (
        known.draining
        if known is not None
        else await asyncio.to_thread(desk.heartbeats.beat, agent, incarnation, person.owner)
    )
    return None if draining else await desk.board.take(agent, incarnation, wait_s, is_gone, person.owner)


def tell(desk: Desk, person: Person, agent: str, identity: str, event: Mapping[str, Any]) -> None:
    demand(person, "agent")
    desk.board.tell(agent, identity, event, person.owner)


def answer(desk: Desk, person: Person, agent: str, identity: str, ending: Ending) -> None:
    demand(person, "agent")
    desk.board.answer(agent, identity, ending, person.owner)


def give_back(desk: Desk, person: Person, agent: str, identity: str) -> None:
    demand(person, "agent")
    desk.board.give_back(agent, identity, person.owner)
