"""An agent's way to a ledger on another machine: it connects outwards, and is patient with what must arrive."""

from __future__ import annotations

import asyncio
import base64
import logging
import tempfile
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from mlmodelscope.client.fetch import fetch_artifact
from mlmodelscope.client.http import TIMEOUT, ServerError, address, headers, raise_problem, unreachable
from mlmodelscope.cluster.description import AgentDescription
from mlmodelscope.cluster.link import Beat
from mlmodelscope.ledger.prediction import Ending, Posed
from mlmodelscope.ledger.queue import Assigned
from mlmodelscope.ledger.request import Failure, Work
from mlmodelscope.provision.cache import Cache
from mlmodelscope.provision.progress import Progress
from mlmodelscope.record.store import Store

_LOG = logging.getLogger("mlmodelscope.agent")
_LONGEST_PAUSE_S = 30.0
_WAIT_S = 20.0
_PREDICTION_WAIT_S = 45.0
"""Seldom enough that a thousand agents with nothing to do are no load, and shorter than proxies' patience."""
_BLOCK = 1 << 20


class HttpLink:
    def __init__(self, url: str, token: str | None, store: Store) -> None:
        self._url, self._store = address(url), store
        self._token = token
        self._client = httpx.AsyncClient(base_url=self._url, headers=headers(token), timeout=TIMEOUT)
        self._id = self._incarnation = ""

    async def close(self) -> None:
        await self._client.aclose()

    async def join(self, description: AgentDescription, incarnation: str) -> float:
        self._id, self._incarnation = description.id, incarnation
        body = {"description": description.model_dump(mode="json"), "incarnation": incarnation}
        return float((await self._ask("POST", "/agents", json=body))["lease_s"])

    async def leave(self) -> None:
        await self._ask("DELETE", f"/agents/{self._id}", params={"incarnation": self._incarnation})

    async def beat(self, held: Mapping[str, int]) -> Beat:
        body = {"incarnation": self._incarnation, "held": dict(held)}
        return Beat(**await self._ask("POST", f"/agents/{self._id}/beat", json=body))

    async def take(self, most: int, alone: bool) -> list[Assigned]:
        body = {"incarnation": self._incarnation, "most": most, "alone": alone, "wait_s": _WAIT_S if alone else 0}
        found = await self._ask("POST", f"/agents/{self._id}/take", json=body)
        return [
            Assigned(each["id"], each["attempt"], Work.model_validate(each["work"]), each["timeout_s"])
            for each in found["evaluations"]
        ]

    async def fetch(self, digest: str, cache: Cache, progress: Progress) -> None:
        stop = threading.Event()
        try:
            await asyncio.to_thread(fetch_artifact, self._url, self._token, digest, cache, progress, stop)
        except asyncio.CancelledError:
            stop.set()  # a thread is not cancelled by itself
            raise

    async def tell(self, evaluation: str, attempt: int, told: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        events = [{"kind": kind, "document": dict(document)} for kind, document in told]
        await self._ask("POST", f"/evaluations/{evaluation}/events", json={"attempt": attempt, "events": events})

    async def finish(self, evaluation: str, attempt: int, done: Mapping[str, Any]) -> None:
        if "shard" in done:
            path = f"/evaluations/{evaluation}/part"
            await self._surely("PUT", path, bundle=Path(done["shard"]), attempt=attempt)
            return
        with tempfile.TemporaryDirectory() as place:
            bundle = Path(place) / "bundle.zip"
            await asyncio.to_thread(lambda: self._store.export(self._store.get(done["record"]), bundle))
            await self._surely("PUT", f"/evaluations/{evaluation}/record", bundle=bundle, attempt=attempt)

    async def fail(self, evaluation: str, attempt: int, failure: Failure, again: bool) -> None:
        body = {"attempt": attempt, "failure": failure.model_dump(), "again": again}
        await self._surely("POST", f"/evaluations/{evaluation}/failure", json=body)

    async def cancelled(self, evaluation: str, attempt: int) -> None:
        await self._surely("POST", f"/evaluations/{evaluation}/cancelled", json={"attempt": attempt})

    async def give_back(self, evaluation: str, attempt: int) -> None:
        await self._ask("POST", f"/evaluations/{evaluation}/return", json={"attempt": attempt})

    async def take_prediction(self) -> tuple[Posed, bytes | None] | None:
        body = {"incarnation": self._incarnation, "wait_s": _PREDICTION_WAIT_S}
        found = (await self._ask("POST", f"/agents/{self._id}/predictions/take", json=body))["prediction"]
        if found is None:
            return None
        content = found.pop("content")
        return Posed.model_validate(found), base64.b64decode(content) if content is not None else None

    async def tell_prediction(self, identity: str, event: Mapping[str, Any]) -> None:
        await self._ask("POST", f"/predictions/{identity}/events", json={"agent": self._id, "event": dict(event)})

    async def answer_prediction(self, identity: str, ending: Ending) -> None:
        body = {"agent": self._id, "ending": ending.model_dump(mode="json")}
        await self._ask("POST", f"/predictions/{identity}/answer", json=body)

    async def return_prediction(self, identity: str) -> None:
        await self._ask("POST", f"/predictions/{identity}/return", json={"agent": self._id})

    async def _ask(self, method: str, path: str, **more: Any) -> Any:
        try:
            response = await self._client.request(method, path, **more)
        except httpx.TransportError as error:
            raise unreachable(self._url, error) from None
        raise_problem(response)
        return response.json() if response.content else None

    async def _surely(
        self, method: str, path: str, *, bundle: Path | None = None, attempt: int = 0, json: Any = None
    ) -> None:
        """Until it has arrived: a server that is being restarted comes back, and the work is done already."""
        pause = 0.5
        while True:
            try:
                if bundle is None:
                    await self._ask(method, path, json=json)
                else:
                    await self._ask(method, path, content=_blocks(bundle), headers={"X-Attempt": str(attempt)})
                return
            except ServerError as error:
                _LOG.warning("%s; trying again in %.1f s", error.message, pause)
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)


async def _blocks(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while block := await asyncio.to_thread(file.read, _BLOCK):
            yield block
