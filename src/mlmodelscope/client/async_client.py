"""A server as an object, whose calls are awaited."""

from __future__ import annotations

import asyncio
import functools
import json
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import httpx

from mlmodelscope.client import questions
from mlmodelscope.client.client import Client
from mlmodelscope.client.http import TIMEOUT, ServerError, address, headers, raise_problem, unreachable
from mlmodelscope.client.questions import ENDED, RETRIES, Question, record_of
from mlmodelscope.record.record import Record

Given = ParamSpec("Given")
Found = TypeVar("Found")
_PAGE = 1000


def _asking(
    make: Callable[Given, Question[Found]],
) -> Callable[Concatenate[AsyncClient, Given], Coroutine[Any, Any, Found]]:
    """A method that asks a question."""

    @functools.wraps(make)
    async def method(self: AsyncClient, /, *given: Given.args, **named: Given.kwargs) -> Found:
        return await self.answer(make(*given, **named))

    return method


def _in_thread(
    method: Callable[Concatenate[Client, Given], Found],
) -> Callable[Concatenate[AsyncClient, Given], Coroutine[Any, Any, Found]]:
    """A method that sends or reads files: the client that waits does it, in a thread of its own."""

    @functools.wraps(method)
    async def threaded(self: AsyncClient, /, *given: Given.args, **named: Given.kwargs) -> Found:
        return await asyncio.to_thread(method, self._waiting, *given, **named)

    return threaded


def _one_by_one(
    method: Callable[Concatenate[Client, Given], Iterator[Found]],
) -> Callable[Concatenate[AsyncClient, Given], AsyncIterator[Found]]:
    """A method with many answers, page by page."""

    @functools.wraps(method)
    async def threaded(self: AsyncClient, /, *given: Given.args, **named: Given.kwargs) -> AsyncIterator[Found]:
        found = method(self._waiting, *given, **named)
        while some := await asyncio.to_thread(lambda: list(islice(found, _PAGE))):
            for each in some:
                yield each

    return threaded


class AsyncEvaluation:
    """One evaluation on a server."""

    def __init__(
        self, client: AsyncClient, facts: Mapping[str, Any], earlier: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        self._client, self.facts, self.earlier = client, facts, earlier

    @property
    def id(self) -> str:
        return str(self.facts["id"])

    @property
    def state(self) -> str:
        return str(self.facts["state"])

    async def refresh(self) -> Self:
        self.facts = await self._client.answer(questions.evaluation(self.id))
        return self

    async def cancel(self) -> None:
        self.facts = await self._client.answer(questions.cancel(self.id))

    async def events(self) -> AsyncIterator[dict[str, Any]]:
        """What happens, as it happens; a connection that breaks is taken up where it broke."""
        seen, tries = 0, 0
        while True:
            try:
                async for event in self._client.stream(f"/evaluations/{self.id}/events", {"Last-Event-ID": str(seen)}):
                    seen, tries = event["number"], 0
                    yield event
                return
            except ServerError:
                tries += 1
                if tries > RETRIES:
                    raise

    async def wait(self) -> Self:
        """Until it has ended."""
        async for _ in self.events():
            pass
        return await self.refresh()

    async def record(self) -> Record:
        """What came of it; an error where nothing did."""
        if self.state not in ENDED:
            await self.wait()
        return await self._client.record(record_of(self.facts))


class AsyncClient:
    """Everything that a server offers, as calls that are awaited."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self.url = address(url)
        self._waiting = Client(url, token)
        self._http = httpx.AsyncClient(
            base_url=self.url, headers=headers(token or os.environ.get("MLMODELSCOPE_TOKEN")), timeout=TIMEOUT
        )

    async def close(self) -> None:
        self._waiting.close()
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        """The server must answer."""
        try:
            await self.get("/health")
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def ask(self, request: Mapping[str, Any], key: str | None = None) -> list[AsyncEvaluation]:
        """Ask for work; the evaluations that come of it, one for each agent."""
        answer = await self.answer(questions.ask(request, key))
        return [AsyncEvaluation(self, each, answer.get("earlier", ())) for each in answer["evaluations"]]

    async def evaluate(self, model: str, dataset: str | None = None, **more: Any) -> Record:
        """Evaluate there, wait, and get the record."""
        (asked, *_) = await self.ask({"kind": "evaluate", "model": model, "dataset": dataset, **more})
        return await asked.record()

    async def evaluation(self, identity: str) -> AsyncEvaluation:
        return AsyncEvaluation(self, await self.answer(questions.evaluation(identity)))

    async def evaluations(self, **wanted: str | int | None) -> AsyncIterator[AsyncEvaluation]:
        """All of them, newest first, page by page."""
        after = None
        while True:
            page = await self.answer(questions.evaluations(after, wanted))
            for each in page["items"]:
                yield AsyncEvaluation(self, each)
            after = page["next"]
            if after is None:
                return

    get, post, delete = _asking(questions.get), _asking(questions.post), _asking(questions.delete)
    resolve = _asking(questions.resolve)
    record, records, samples = _asking(questions.record), _asking(questions.records), _asking(questions.samples)
    agents, machines = _asking(questions.agents), _asking(questions.machines)
    manifests, manifest = _asking(questions.manifests), _asking(questions.manifest)
    put_manifest, check, convert = (
        _asking(questions.put_manifest),
        _asking(questions.check),
        _asking(questions.convert),
    )
    models, datasets = _asking(questions.models), _asking(questions.datasets)
    frameworks, stacks = _asking(questions.frameworks), _asking(questions.stacks)
    claims, replication = _asking(questions.claims), _asking(questions.replication)
    metrics = _asking(questions.metrics)
    predict, upload, send_file = _in_thread(Client.predict), _in_thread(Client.upload), _in_thread(Client.send_file)
    announce, send_piece = _in_thread(Client.announce), _in_thread(Client.send_piece)
    trace, export_trace = _in_thread(Client.trace), _in_thread(Client.export_trace)
    artifacts, traces, spans = (
        _one_by_one(Client.artifacts),
        _one_by_one(Client.traces),
        _one_by_one(Client.spans),
    )

    async def download(self, path: str, destination: Path) -> None:
        """A file, written when it is complete."""
        draft = destination.with_name(destination.name + ".draft")
        try:
            async with self._http.stream("GET", path) as response:
                if not response.is_success:
                    await response.aread()
                    raise_problem(response)
                with draft.open("wb") as file:
                    async for block in response.aiter_bytes(1 << 20):
                        file.write(block)
            draft.replace(destination)
        except httpx.TransportError as error:
            raise unreachable(self.url, error) from None
        finally:
            draft.unlink(missing_ok=True)

    async def stream(self, path: str, more: Mapping[str, str]) -> AsyncIterator[dict[str, Any]]:
        """Server-sent events."""
        try:
            async with self._http.stream("GET", path, headers=dict(more)) as response:
                if not response.is_success:
                    await response.aread()
                    raise_problem(response)
                async for line in response.aiter_lines():
                    if line.startswith("data:"):
                        yield json.loads(line.removeprefix("data:"))
        except httpx.TransportError as error:
            raise unreachable(self.url, error) from None

    async def answer(self, question: Question[Found]) -> Found:
        try:
            response = await self._http.request(question.method, question.path, **question.sent)
        except httpx.TransportError as error:
            raise unreachable(self.url, error) from None
        return question.answered(response)
