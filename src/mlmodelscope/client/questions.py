"""Everything that a server is asked, said once: the client that waits and the one that does not both send these."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote

import httpx

from mlmodelscope.client.http import raise_problem
from mlmodelscope.errors import WorkerError
from mlmodelscope.record.record import Record

Found = TypeVar("Found", covariant=True)
ENDED = ("finished", "failed", "cancelled")
RETRIES = 3
"""How often a stream of events that breaks is taken up again."""


@dataclass(frozen=True)
class Question(Generic[Found]):
    """What is sent, and what is made of the answer."""

    method: str
    path: str
    read: Callable[[Any], Found]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def sent(self) -> dict[str, Any]:
        """As httpx takes it, beside method and path."""
        wanted = {key: value for key, value in self.parameters.items() if value is not None}
        more: dict[str, Any] = {"params": wanted, "headers": dict(self.headers)}
        return more if self.body is None else {**more, "json": dict(self.body)}

    def answered(self, response: httpx.Response) -> Found:
        raise_problem(response)
        return self.read(response.json() if response.content else None)


def get(path: str, parameters: Mapping[str, Any] | None = None) -> Question[Any]:
    return Question("GET", path, _whole, parameters or {})


def post(path: str, body: Mapping[str, Any] | None = None, more: Mapping[str, str] | None = None) -> Question[Any]:
    return Question("POST", path, _whole, body=body or {}, headers=more or {})


def delete(path: str) -> Question[None]:
    return Question("DELETE", path, lambda answer: None)


def ask(request: Mapping[str, Any], key: str | None = None) -> Question[dict[str, Any]]:
    return post("/requests", request, {"Idempotency-Key": key} if key else None)


def evaluation(identity: str) -> Question[dict[str, Any]]:
    return get(f"/evaluations/{_part(identity)}")


def evaluations(after: str | None, wanted: Mapping[str, Any]) -> Question[dict[str, Any]]:
    return get("/evaluations", {**wanted, "after": after})


def cancel(identity: str) -> Question[dict[str, Any]]:
    return post(f"/evaluations/{_part(identity)}/cancel")


def resolve(request: Mapping[str, Any]) -> Question[dict[str, Any]]:
    """Which agents fit, what stands in the way, and which records answer it already."""
    return post("/requests/resolve", request)


def record(name: str) -> Question[Record]:
    return Question("GET", f"/records/{_part(name)}", Record.model_validate)


def records(**wanted: str | int | None) -> Question[list[dict[str, Any]]]:
    return Question("GET", "/records", _items, wanted)


def samples(record: str, **wanted: str | int | float | None) -> Question[dict[str, Any]]:
    """What the model said of each sample, a page of it: `only`, `q`, `above`, `below`, `sort`, `start`, `limit` …"""
    return get(f"/records/{_part(record)}/samples", wanted)


def agents() -> Question[list[dict[str, Any]]]:
    return Question("GET", "/agents", _items)


def manifests(kind: str, q: str | None = None) -> Question[list[dict[str, Any]]]:
    return Question("GET", f"/manifests/{_part(kind)}", _items, {"q": q})


def manifest(kind: str, name: str, version: str | None = None) -> Question[dict[str, Any]]:
    """One version in full; without a version all that there are."""
    return get(f"/manifests/{_part(kind)}/{_part(name)}" + (f"/{_part(version)}" if version else ""))


def put_manifest(text: str) -> Question[dict[str, Any]]:
    return post("/manifests", {"text": text})


def check(text: str, *, fix: bool = False, verbose: bool = False) -> Question[dict[str, Any]]:
    return post("/manifests/check", {"text": text, "fix": fix, "verbose": verbose})


def convert(text: str, *, explain: bool = False) -> Question[dict[str, Any]]:
    return post("/manifests/convert", {"text": text, "explain": explain})


def models(**wanted: Any) -> Question[dict[str, Any]]:
    """A page of the catalogue: `q`, `sort`, `start`, `limit`, and what it is narrowed to: `task`, `architecture`, …"""
    return get("/models", wanted)


def datasets(**wanted: Any) -> Question[dict[str, Any]]:
    return get("/datasets", wanted)


def frameworks(name: str | None = None, version: str | None = None) -> Question[list[dict[str, Any]]]:
    return Question("GET", "/frameworks", _items, {"name": name, "version": version})


def stacks(q: str | None = None) -> Question[list[dict[str, Any]]]:
    return Question("GET", "/stacks", _items, {"q": q})


def machines() -> Question[list[dict[str, Any]]]:
    return Question("GET", "/machines", _items)


def metrics(task: str | None = None) -> Question[list[dict[str, Any]]]:
    """What records keep and claims are about; of a task, its most important first."""
    return Question("GET", "/metrics", _items, {"task": task})


def claims(model: str | None = None, verdict: str | None = None) -> Question[list[dict[str, Any]]]:
    return Question("GET", "/claims", _items, {"model": model, "verdict": verdict})


def replication(identity: str) -> Question[dict[str, Any]]:
    """The verdict, what was tried, and what was found."""
    return get(f"/replications/{_part(identity)}")


def record_of(facts: Mapping[str, Any]) -> str:
    """What came of an evaluation that has ended; an error where nothing did."""
    if facts["state"] == "finished" and facts["record"]:
        return str(facts["record"])
    error = facts.get("error") or {"message": f"evaluation {facts['id']} is {facts['state']}"}
    raise WorkerError(error["message"], hint=error.get("hint"))


def _part(text: str) -> str:
    """A name as a part of an address, whatever it holds."""
    return quote(text, safe="@")


def _whole(answer: Any) -> Any:
    return answer


def _items(answer: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answer["items"]
    return found
