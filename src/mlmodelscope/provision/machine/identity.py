"""The machine as records know it: enough to say whether two evaluations ran on the same one."""

from __future__ import annotations

import hashlib
import json
import platform
import socket
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from mlmodelscope.provision.machine.cpu import available_cores, cpu_name
from mlmodelscope.provision.machine.describe import Description, describe
from mlmodelscope.provision.machine.frequency import CPU, read_smt, read_turbo
from mlmodelscope.provision.machine.gpu import Gpu, describe_gpus
from mlmodelscope.provision.machine.memory import memory_bytes
from mlmodelscope.provision.machine.read import numbered, read
from mlmodelscope.provision.machine.surroundings import container


class Machine(BaseModel):
    """The hardware and how it is set."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    hostname: str
    architecture: str = Field(description="Instruction set, such as x86_64 or aarch64.")
    system: str = Field(description="Operating system and kernel release.")
    cpu: str = Field(description="Model name of the processor.")
    cores: int = Field(description="Processors that this process may use.")
    memory_bytes: int | None = Field(description="Main memory.")
    caches: dict[str, str] = Field(description="Size of each cache level of the first processor.")
    governor: str | None = Field(description="Frequency governor of the first processor.")
    turbo: bool | None = Field(description="Whether the processor may exceed its nominal frequency.")
    smt: bool | None = Field(description="Whether cores run more than one thread.")
    container: str | None = Field(description="Kind of container around us, where one can be seen.")
    gpus: tuple[str, ...] = Field(description="Name, memory and driver of each GPU.")
    server: str | None = Field(default=None, description="Address of the server that answers in its place.")
    details: Description | None = Field(
        default=None, description="Everything that could be read; older records have none."
    )

    @property
    def digest(self) -> str:
        """What makes it the same machine: not its host name, nor the kernel and the few megabytes that it takes."""
        # The details are left out: they grow with what we learn to read, and the machine stays the same.
        facts = self.model_dump(mode="json", exclude={"hostname", "system", "memory_bytes", "details"})
        if self.server is None:  # as it has always been
            del facts["server"]
        facts["memory_gib"] = round((self.memory_bytes or 0) / (1 << 30))
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def describe_machine(root: Path = Path("/")) -> Machine:
    """The machine with everything that can be read of it."""
    details = describe(root)
    return _machine(root, details.gpus).model_copy(update={"details": details})


def identify_machine(root: Path = Path("/")) -> Machine:
    """The same machine without its details: enough to say which one it is."""
    return _machine(root, describe_gpus(root))


def _machine(root: Path, gpus: tuple[Gpu, ...]) -> Machine:
    return Machine(
        hostname=socket.gethostname(),
        architecture=platform.machine(),
        system=f"{platform.system()} {platform.release()}",
        cpu=cpu_name(root),
        cores=available_cores(),
        memory_bytes=memory_bytes(root),
        caches=_caches(root / CPU / "cpu0/cache"),
        governor=read(root / CPU / "cpu0/cpufreq/scaling_governor"),
        turbo=read_turbo(root),
        smt=read_smt(root),
        container=container(root),
        gpus=tuple(_line(gpu) for gpu in gpus if gpu.vendor == "nvidia"),
    )


def _line(gpu: Gpu) -> str:
    """As nvidia-smi writes it, and records have always had it."""
    memory = f"{gpu.memory_bytes >> 20} MiB" if gpu.memory_bytes is not None else "[N/A]"
    return f"{gpu.name}, {memory}, {gpu.driver}"


def _caches(folder: Path) -> dict[str, str]:
    caches = {}
    for index in numbered(folder, "index"):
        level, kind, size = (read(index / name) for name in ("level", "type", "size"))
        if level and kind and size:
            caches[f"L{level} {kind.lower()}"] = size
    return caches
