"""A server as an object: `mlmodelscope.connect(url)`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from mlmodelscope.client.http import TIMEOUT, ServerError, address, headers, raise_problem, unreachable
from mlmodelscope.errors import MLModelScopeError, WorkerError
from mlmodelscope.provision.download import Progress, silent
from mlmodelscope.record.record import Record

_RETRIES = 3
_MOST_SPANS = 10_000
Choice = str | Mapping[str, str]
"""A manifest by its name, or `{"text": …}`."""


class Evaluation:
    """One evaluation on a server."""

    def __init__(self, client: Client, facts: Mapping[str, Any]) -> None:
        self._client, self.facts = client, facts

    @property
    def id(self) -> str:
        return str(self.facts["id"])

    @property
    def state(self) -> str:
        return str(self.facts["state"])

    def refresh(self) -> Self:
        self.facts = self._client.get(f"/evaluations/{self.id}")
        return self

    def cancel(self) -> None:
        self.facts = self._client.post(f"/evaluations/{self.id}/cancel")

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
                if tries > _RETRIES:
                    raise

    def wait(self) -> Self:
        """Until it has ended."""
        for _ in self.events():
            pass
        return self.refresh()

    def record(self) -> Record:
        """What came of it; an error where nothing did."""
        if self.state not in ("finished", "failed", "cancelled"):
            self.wait()
        if self.state == "finished" and self.facts["record"]:
            return self._client.record(self.facts["record"])
        error = self.facts.get("error") or {"message": f"evaluation {self.id} is {self.state}"}
        raise WorkerError(error["message"], hint=error.get("hint"))


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
        answer = self.post("/requests", request, {"Idempotency-Key": key} if key else None)
        return [Evaluation(self, each) for each in answer["evaluations"]]

    def evaluate(self, model: Choice, dataset: Choice | None = None, **more: Any) -> Record:
        """Evaluate there, wait, and get the record."""
        return self.ask({"kind": "evaluate", "model": model, "dataset": dataset, **more})[0].record()

    def resolve(self, request: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = self.post("/requests/resolve", request)
        return found

    def evaluation(self, identity: str) -> Evaluation:
        return Evaluation(self, self.get(f"/evaluations/{identity}"))

    def evaluations(self, **wanted: str | int | None) -> Iterator[Evaluation]:
        """All of them, newest first, page by page."""
        after = None
        while True:
            page = self.get("/evaluations", {**wanted, "after": after})
            for each in page["items"]:
                yield Evaluation(self, each)
            after = page["next"]
            if after is None:
                return

    def record(self, name: str) -> Record:
        return Record.model_validate(self.get(f"/records/{name}"))

    def records(self, **wanted: str | int | None) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get("/records", wanted)["items"]
        return found

    def agents(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get("/agents")["items"]
        return found

    def manifests(self, kind: str, q: str | None = None) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get(f"/manifests/{kind}", {"q": q})["items"]
        return found

    def put_manifest(self, text: str) -> dict[str, Any]:
        found: dict[str, Any] = self.post("/manifests", {"text": text})
        return found

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
        found: dict[str, Any] = self._send("PATCH", f"/artifacts/{digest}", content=piece, headers=said)
        return found

    def artifacts(self, owner: str | None = None) -> Iterator[dict[str, Any]]:
        """Files that were uploaded, newest first."""
        yield from self._pages("/artifacts", {"owner": owner})

    def traces(self, **wanted: str | int | None) -> Iterator[dict[str, Any]]:
        """Traces that came over OTLP and those of records, newest first."""
        yield from self._pages("/traces", wanted)

    def trace(self, identity: str) -> dict[str, Any]:
        found: dict[str, Any] = self.get(f"/traces/{identity}")
        return found

    def spans(self, identity: str, **wanted: str | int | None) -> Iterator[dict[str, Any]]:
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

    def get(self, path: str, parameters: Mapping[str, Any] | None = None) -> Any:
        wanted = {key: value for key, value in (parameters or {}).items() if value is not None}
        return self._send("GET", path, params=wanted)

    def post(self, path: str, body: Mapping[str, Any] | None = None, more: Mapping[str, str] | None = None) -> Any:
        return self._send("POST", path, json=dict(body or {}), headers=dict(more or {}))

    def delete(self, path: str) -> None:
        self._send("DELETE", path)

    def stream(self, path: str, more: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        """Server-sent events."""
        try:
            with self._http.stream("GET", path, headers=dict(more), timeout=httpx.Timeout(60, read=60)) as response:
                if not response.is_success:
                    response.read()
                    raise_problem(response)
                for line in response.iter_lines():
                    if line.startswith("data:"):
                        yield json.loads(line.removeprefix("data:"))
        except httpx.TransportError as error:
            raise unreachable(self.url, error) from None

    def _send(self, method: str, path: str, **more: Any) -> Any:
        response = self._ask(method, path, **more)
        return response.json() if response.content else None

    def _ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        try:
            response = self._http.request(method, path, **more)
        except httpx.TransportError as error:
            raise unreachable(self.url, error) from None
        raise_problem(response)
        return response


def connect(url: str, token: str | None = None) -> Client:
    """A server, which must answer."""
    client = Client(url, token)
    try:
        client.get("/health")
    except MLModelScopeError:
        client.close()
        raise
    return client
