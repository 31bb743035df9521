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
from mlmodelscope.record.record import Record

_RETRIES = 3


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
        self.url = address(url)
        self._http = httpx.Client(
            base_url=self.url, headers=headers(token or os.environ.get("MLMODELSCOPE_TOKEN")), timeout=TIMEOUT
        )

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

    def evaluate(self, model: str, dataset: str | None = None, **more: Any) -> Record:
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

    def upload(self, path: str, source: Path) -> Any:
        """Send a file, piece by piece, and wait until it was looked at."""
        with source.open("rb") as file:
            pieces = iter(lambda: file.read(1 << 20), b"")
            headers = {"Content-Type": "application/zip"}
            return self._send("POST", path, content=pieces, headers=headers, timeout=httpx.Timeout(60, read=600))

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
        try:
            response = self._http.request(method, path, **more)
        except httpx.TransportError as error:
            raise unreachable(self.url, error) from None
        raise_problem(response)
        return response.json() if response.content else None


def connect(url: str, token: str | None = None) -> Client:
    """A server, which must answer."""
    client = Client(url, token)
    try:
        client.get("/health")
    except MLModelScopeError:
        client.close()
        raise
    return client
