"""Retention on a schedule: once an hour, if the server's settings have a policy."""

from __future__ import annotations

import asyncio
import contextlib
import logging

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.server.desk import Desk
from mlmodelscope.upkeep.retention import collect

_LOG = logging.getLogger("mlmodelscope.server")


async def apply_retention(desk: Desk, stop: asyncio.Event) -> None:
    retention = desk.config.retention
    policy = retention.policy()
    while not stop.is_set() and not policy.is_empty:
        try:
            done = await asyncio.to_thread(collect, desk.store, desk.settings.cache, policy)
            if done:
                _LOG.info("retention took away %s", done)
                await asyncio.to_thread(desk.audit.note, "server", "retention", str(done))
        except MLModelScopeError as error:
            _LOG.error("retention: %s", error.message)
        except OSError as error:
            _LOG.error("retention: %s", error)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), retention.every_s)
