"""A server as an object, whose calls wait for the answer."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import httpx

from mlmodelscope.client import questions
from mlmodelscope.client.asking import ask_about
from mlmodelscope.client.http import TIMEOUT, ServerError, address, headers, raise_problem, unreachable
from mlmodelscope.client.questions import ENDED, RETRIES, Question, record_of
from mlmodelscope.model_input import Given as Asked
from mlmodelscope.model_input import ModelInput
from mlmodelscope.prediction import Prediction
from mlmodelscope.provision.progress import Progress, silent
from mlmodelscope.record.record import Record

_MOST_SPANS = 10_000
Choice = str | Mapping[str, str]
"""A manifest by its name, or `{"text": …}`."""
Given = ParamSpec("Given")
Found = TypeVar("Found")


def _asking(make: Callable[Given, Question[Found]]) -> Callable[Concatenate[Client, Given], Found]:
    """A method that asks a question."""

    @functools.wraps(make)
    def method(self: Client, /, *given: Given.args, **named: Given.kwargs) -> Found:
        return self.answer(make(*given, **named))

    return method


class Evaluation:
    """One evaluation on a server."""

    def __init__(self, client: Client, facts: Mapping[str, Any], earlier: Sequence[Mapping[str, Any]] = ()) -> None:
        self._client, self.facts = client, facts
        self.earlier = earlier
        """Records that answer the same already, where it was just asked for."""

    @property
    def id(self) -> str:
        return str(self.facts["id"])

    @property
    def state(self) -> str:
        return str(self.facts["state"])

    def refresh(self) -> Self:
        self.facts = self._client.answer(questions.evaluation(self.id))
        return self

    def cancel(self) -> None:
        self.facts = self._client.answer(questions.cancel(self.id))

    def events(self) -> Iterator[dict[str, Any]]:
        """What happens, as it happens; a connection that breaks is taken up where it broke."""
        seen, tries = 0, 0
        while True:
            try:
                for event in self._client.stream(f"/evaluations/{self.id}/events", {"Last-Event-ID": str(seen)}):
                    seen, tries = event["number"], 0
                    yield event
                return
            except ServerError:
                tries += 1
                if tries > RETRIES:
                    raise

    def wait(self) -> Self:
        """Until it has ended."""
        for _ in self.events():
            pass
        return self.refresh()

    def record(self) -> Record:
        """What came of it; an error where nothing did."""
        if self.state not in ENDED:
            self.wait()
        return self._client.record(record_of(self.facts))


class Client:
    """Everything that a server offers, as calls."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self.url, self.token = address(url), token or os.environ.get("MLMODELSCOPE_TOKEN")
        self._http = httpx.Client(base_url=self.url, headers=headers(self.token), timeout=TIMEOUT)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def ask(self, request: Mapping[str, Any], key: str | None = None) -> list[Evaluation]:
        """Ask for work; the evaluations that come of it, one for each agent."""
        answer = self.answer(questions.ask(request, key))
        return [Evaluation(self, each, answer.get("earlier", ())) for each in answer["evaluations"]]

    def evaluate(self, model: Choice, dataset: Choice | None = None, **more: Any) -> Record:
        """Evaluate there, wait, and get the record."""
        return self.ask({"kind": "evaluate", "model": model, "dataset": dataset, **more})[0].record()

    def predict(self, /, model: str, inputs: Sequence[ModelInput | Asked], **more: Any) -> list[Prediction]:
        """What a model there says of files, addresses, bytes, texts (`text_input`) or rows; see `client.asking`."""
        return ask_about(self, {"model": model, **more}, inputs)

    def evaluation(self, identity: str) -> Evaluation:
        return Evaluation(self, self.answer(questions.evaluation(identity)))

    def evaluations(self, **wanted: str | int | None) -> Iterator[Evaluation]:
        """All of them, newest first, page by page."""
        after = None
        while True:
            page = self.answer(questions.evaluations(after, wanted))
            for each in page["items"]:
                yield Evaluation(self, each)
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

    def upload(self, path: Path | str, progress: Progress = silent) -> str:
        """Send a file or folder there, unless it is there already; the reference by which manifests name it."""
        from mlmodelscope.client.upload import upload

        return upload(self, Path(path), progress)

    def announce(self, digest: str, size: int, name: str) -> dict[str, Any]:
        """How far the upload of a file is."""
        found: dict[str, Any] = self.post("/artifacts", {"sha256": digest, "size": size, "name": name})
        return found

    def send_piece(self, digest: str, offset: int, piece: Iterator[bytes]) -> dict[str, Any]:
        said = {"Upload-Offset": str(offset), "Content-Type": "application/octet-stream"}
        response = self._ask("PATCH", f"/artifacts/{digest}", content=piece, headers=said)
        found: dict[str, Any] = response.json()
        return found

    def artifacts(self, owner: str | None = None) -> Iterator[dict[str, Any]]:
        """Files that were uploaded, newest first."""
        yield from self._pages("/artifacts", {"owner": owner})

    def traces(self, /, **wanted: str | int | None) -> Iterator[dict[str, Any]]:
        """Traces that came over OTLP and those of records, newest first."""
        yield from self._pages("/traces", wanted)

    def trace(self, identity: str) -> dict[str, Any]:
        found: dict[str, Any] = self.get(f"/traces/{identity}")
        return found

    def spans(self, /, identity: str, **wanted: str | int | None) -> Iterator[dict[str, Any]]:
        """Spans of a trace in the order of their starts; `from_ns`, `to_ns`, `level`, `least_ns`, `bins` choose."""
        start = 0
        while True:
            page = self.get(f"/traces/{identity}/spans", {"limit": _MOST_SPANS, **wanted, "start": start})
            yield from page["items"]
            start += len(page["items"])
            if start >= page["total"] or not page["items"]:
                return

    def export_trace(self, identity: str, form: str = "perfetto") -> str:
        """A trace as a file: perfetto, speedscope, csv, html, otlp or folded."""
        return self._ask("GET", f"/traces/{identity}/export", params={"format": form}).text

    def _pages(self, path: str, wanted: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        after = None
        while True:
            page = self.get(path, {**wanted, "after": after})
            yield from page["items"]
            after = page["next"]
            if after is None:
                return

    def download(self, path: str, destination: Path) -> None:
        """A file, written when it is complete."""
        draft = destination.with_name(destination.name + ".draft")
        try:
            with self._http.stream("GET", path) as response:
                if not response.is_success:
                    response.read()
                    raise_problem(response)
                with draft.open("wb") as file:
                    for block in response.iter_bytes(1 << 20):
                        file.write(block)
            draft.replace(destination)
        except httpx.TransportError as error:
            raise unreachable(self.url, error) from None
        finally:
            draft.unlink(missing_ok=True)

    def send_file(self, path: str, source: Path) -> Any:
        """Send a file, piece by piece, and wait until it was looked at."""
        with source.open("rb") as file:
            pieces = iter(lambda: file.read(1 << 20), b"")
            headers = {"Content-Type": "application/zip"}
            patience = httpx.Timeout(60, read=600)
            return self._ask("POST", path, content=pieces, headers=headers, timeout=patience).json()

    def stream(
        self, path: str, more: Mapping[str, str], body: Mapping[str, Any] | None = None, quiet_s: float = 60
    ) -> Iterator[dict[str, Any]]:
        """Server-sent events, of a question that has a body or of none; `quiet_s` may pass without one."""
        asked: dict[str, Any] = {"headers": dict(more), "timeout": httpx.Timeout(60, read=quiet_s)}
        asked |= {"method": "GET"} if body is None else {"method": "POST", "json": dict(body)}
        try:
            with self._http.stream(url=path, **asked) as response:
                if not response.is_success:
                    response.read()
                    raise_problem(response)
                for line in response.iter_lines():
                    if line.startswith("data:"):
                        yield json.loads(line.removeprefix("data:"))
        except httpx.TransportError as error:
            raise unreachable(self.url, error) from None

    def answer(self, question: Question[Found]) -> Found:
        return question.answered(self._ask(question.method, question.path, **question.sent))

    def _ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        try:
            response = self._http.request(method, path, **more)
        except httpx.TransportError as error:
            raise unreachable(self.url, error) from None
        raise_problem(response)
        return response
