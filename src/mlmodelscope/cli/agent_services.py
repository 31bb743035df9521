"""What an agent can do besides evaluating: serve models to clients, or act as a proxy for a device."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mlmodelscope.errors import UsageError
from mlmodelscope.extras import install_extra

if TYPE_CHECKING:
    from mlmodelscope.cluster.agent import Agent
    from mlmodelscope.cluster.description import AgentDescription
    from mlmodelscope.cluster.device import Device, Seen
    from mlmodelscope.inference.listening import Listening
    from mlmodelscope.manifest.schema import HardwareManifest
    from mlmodelscope.settings import Settings


@contextlib.asynccontextmanager
async def serve_models(
    agent: Agent, settings: Settings, listening: Listening, names: Sequence[str], token: str | None
) -> AsyncIterator[None]:
    """Models are served as long as the block lasts, and nothing is answered while the agent times something."""
    from mlmodelscope.inference.door import LoneDoor
    from mlmodelscope.inference.models import Models
    from mlmodelscope.inference.server import InferenceServer

    try:
        from mlmodelscope.server.config import Config
        from mlmodelscope.server.rest.protocol import patient_protocol
    except ModuleNotFoundError as error:
        raise UsageError(f"the package {error.name} is missing", hint=install_extra("server")) from None
    door = LoneDoor(listening.host, token)
    models = Models(settings, names, busy=lambda: BUSY if agent.is_timing else None)
    server = InferenceServer(models, door, listening, patient_protocol(Config()))
    await server.start()
    try:
        yield
    finally:
        await server.stop()


BUSY = "this agent is timing something, and answers nothing meanwhile"


@dataclass(frozen=True)
class Speaker:
    """An agent's words for a device."""

    device: Device
    first: Seen
    hardware: HardwareManifest | None
    models: Sequence[str]

    def describe(self, own: AgentDescription, seen: Seen | None = None) -> AgentDescription:
        from mlmodelscope.cluster.device import describe_device

        return describe_device(own, self.device.url, seen or self.first, self.hardware, self.models)

    @contextlib.asynccontextmanager
    async def beside(self, agent: Agent, own: AgentDescription, stop: asyncio.Event) -> AsyncIterator[None]:
        """Look after the device as long as the block lasts."""
        from mlmodelscope.cluster.device import keep_looking

        looking = asyncio.create_task(
            keep_looking(agent, self.device, lambda seen: self.describe(own, seen), self.first, stop)
        )
        try:
            yield
        finally:
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)


def speak_for(url: str, hardware: Path | None, models: Sequence[str]) -> Speaker:
    from mlmodelscope.cluster.device import Device
    from mlmodelscope.manifest.catalog import find_manifest
    from mlmodelscope.manifest.schema import HardwareManifest

    device = Device(url)
    described = find_manifest(HardwareManifest, hardware) if hardware is not None else None
    return Speaker(device, device.look(), described, models)
