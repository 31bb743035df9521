"""A device on which nothing of ours runs: it is asked by the Open Inference Protocol, and an agent speaks for it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mlmodelscope.cluster.agent import Agent
from mlmodelscope.cluster.description import AgentDescription
from mlmodelscope.errors import UsageError
from mlmodelscope.manifest.schema import HardwareManifest
from mlmodelscope.manifest.schema.hardware import parse_amount
from mlmodelscope.plan.match import normal_architecture
from mlmodelscope.provision.machine import Description
from mlmodelscope.provision.machine.cpu import Cpu
from mlmodelscope.provision.machine.gpu import Gpu
from mlmodelscope.provision.machine.memory import Memory
from mlmodelscope.provision.machine.network import Link
from mlmodelscope.provision.machine.surroundings import Surroundings
from mlmodelscope_worker.predictor import ModelError
from mlmodelscope_worker.predictor.remote_address import Address, headers_for, printable

_LOG = logging.getLogger("mlmodelscope.agent")
_PATIENCE_S = 5.0
_MOST_MODELS = 1000


@dataclass(frozen=True)
class Seen:
    """What an endpoint says of itself; `away` is why it says nothing."""

    name: str = ""
    version: str = ""
    models: tuple[str, ...] = ()
    away: str | None = None


class Device:
    """An endpoint of the protocol, by its address."""

    def __init__(self, url: str) -> None:
        try:
            self._address = Address(url)
            self._headers = headers_for(self._address, "", None)
        except ModelError as error:
            raise UsageError(str(error)) from None
        self.url = url

    def look(self) -> Seen:
        """Whether it is there, and which models it has."""
        asked = self._ask()
        try:
            if not asked.is_live():
                return Seen(away=f"{self._address.name} does not answer")
            said = asked.server()
            found = asked.index() or ()
        except ModelError as error:
            return Seen(away=printable(error))
        finally:
            asked.close()
        names = dict.fromkeys(printable(each["name"]) for each in found if isinstance(each.get("name"), str))
        return Seen(
            printable(said.get("name") or ""), printable(said.get("version") or ""), tuple(names)[:_MOST_MODELS]
        )

    def _ask(self) -> Any:
        if self._address.scheme in ("grpc", "grpcs"):
            from mlmodelscope_worker.predictor.remote_grpc import Grpc

            return Grpc(self._address, "", None, _PATIENCE_S, self._headers)
        from mlmodelscope_worker.predictor.remote_rest import Rest

        return Rest(self._address, "", None, "json", _PATIENCE_S, self._headers)


def describe_device(
    own: AgentDescription, url: str, seen: Seen, hardware: HardwareManifest | None, models: Sequence[str] = ()
) -> AgentDescription:
    """What an agent publishes that speaks for a device: the device's machine and models, and nothing of its own."""
    called = f"{seen.name} {seen.version}".strip() or own.cpu
    machine = machine_of(hardware) if hardware else _unknown(called)
    return own.model_copy(
        update={
            "machine": machine,
            "cpu": machine.cpu.model,
            "offers": tuple(offer for offer in own.offers if offer.framework == "remote"),
            "models": tuple(models) or seen.models,
            "remote": url,
            "away": seen.away,
        }
    )


def machine_of(hardware: HardwareManifest) -> Description:
    """The machine that a hardware manifest describes, where it is read as what is there and not as what is wanted."""
    whole = hardware.attributes.get("machine")
    if isinstance(whole, dict):  # written by `mlmodelscope machine --yaml`
        found = Description.model_validate(whole)
        flags = hardware.cpu.flags if hardware.cpu else ()
        return found.model_copy(update={"cpu": found.cpu.model_copy(update={"flags": tuple(flags)})})
    cpu, gpu = hardware.cpu, hardware.gpu
    unknown = _unknown(hardware.name)
    return unknown.model_copy(
        update={
            "architecture": normal_architecture(cpu.arch) if cpu and cpu.arch else unknown.architecture,
            "cpu": Cpu(
                model=(cpu and cpu.model) or hardware.name,
                vendor=cpu.vendor if cpu else None,
                usable=_amount(cpu.ncpu) or 1 if cpu else 1,
                flags=tuple(cpu.flags) if cpu else (),
            ),
            "memory": Memory(total_bytes=_amount(hardware.memory)),
            "gpus": _gpus(hardware) if gpu else (),
            "links": _links(hardware),
        }
    )


def _gpus(hardware: HardwareManifest) -> tuple[Gpu, ...]:
    gpu = hardware.gpu
    assert gpu is not None
    vendor = (gpu.arch or "unknown").partition("/")[0]
    one = Gpu(name=gpu.model or hardware.name, vendor=vendor, memory_bytes=_amount(gpu.memory))
    return (one,) * min(_amount(gpu.ngpu) or 1, 64)


def _links(hardware: HardwareManifest) -> tuple[Link, ...]:
    network = hardware.network
    if network is None or network.type is None:
        return ()
    return (Link(name=network.type, kind=network.type, speed_mbps=_amount(network.speed_mbps)),)


def _amount(text: str | None) -> int | None:
    return int(parse_amount(text)[1]) if text is not None else None


def _unknown(name: str) -> Description:
    """A machine of which nobody said anything but its name."""
    return Description(
        architecture="unknown", cpu=Cpu(model=name, usable=1), memory=Memory(), surroundings=Surroundings()
    )


async def keep_looking(
    agent: Agent, device: Device, describe: Callable[[Seen], AgentDescription], last: Seen, stop: asyncio.Event
) -> None:
    """Publish anew whenever the device goes away, comes back, or has other models; seen as often as the agent beats."""
    while not stop.is_set():
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), agent.beat_s)
        seen = await asyncio.to_thread(device.look)
        if seen == last or stop.is_set():
            continue
        if bool(seen.away) != bool(last.away):
            _LOG.warning("%s", seen.away or f"{device.url} is back")
        last = seen
        await agent.publish(describe(seen), stop)
