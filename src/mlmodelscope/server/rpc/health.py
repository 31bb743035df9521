"""Whether the server is well (grpc.health.v1). Anybody may ask: it says nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

from fastapi import HTTPException

from mlmodelscope.errors import MLModelScopeError, UsageError
from mlmodelscope.server.desk import Desk

SERVICE = "grpc.health.v1.Health"
_TICK_S = 0.5
_MOST_WATCHERS = 100
"""Watching needs no token: strangers must not be able to keep us busy."""


class Health:
    def __init__(self, desk: Desk, services: set[str]) -> None:
        self._desk, self._known, self._watchers = desk, services | {""}, 0

    def check(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        name = asked.get("service", "")
        if name not in self._known:
            raise UsageError(f"there is no service `{name[:100]}`")
        try:
            self._desk.queue.answers()
        except MLModelScopeError:
            return {"status": "NOT_SERVING"}
        return {"status": "NOT_SERVING" if self._desk.stopping else "SERVING"}

    async def watch(self, asked: Mapping[str, Any]) -> AsyncIterator[Mapping[str, Any]]:
        if self._watchers >= _MOST_WATCHERS:
            raise HTTPException(429, "too many are watching")
        known = asked.get("service", "") in self._known
        self._watchers += 1
        try:
            yield {"status": "SERVING" if known else "SERVICE_UNKNOWN"}
            while not self._desk.stopping:
                await asyncio.sleep(_TICK_S)
            yield {"status": "NOT_SERVING" if known else "SERVICE_UNKNOWN"}
        finally:
            self._watchers -= 1
