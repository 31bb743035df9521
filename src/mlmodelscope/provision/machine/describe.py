"""A machine, completely: everything that can be read without root, and a little more with it."""

from __future__ import annotations

import platform
from pathlib import Path

from pydantic import Field

from mlmodelscope.provision.machine.accelerator import Accelerator, describe_accelerators
from mlmodelscope.provision.machine.cpu import Cpu, describe_cpu
from mlmodelscope.provision.machine.disk import Disk, describe_disks
from mlmodelscope.provision.machine.gpu import Gpu, describe_gpus
from mlmodelscope.provision.machine.memory import Memory, describe_memory
from mlmodelscope.provision.machine.network import Link, describe_links
from mlmodelscope.provision.machine.read import Part
from mlmodelscope.provision.machine.surroundings import Surroundings, describe_surroundings


class Description(Part):
    """The hardware, how it is set, and what is around it. What could not be read is left out."""

    architecture: str = Field(description="Instruction set, such as x86_64 or aarch64.")
    cpu: Cpu
    memory: Memory
    disks: tuple[Disk, ...] = ()
    gpus: tuple[Gpu, ...] = ()
    accelerators: tuple[Accelerator, ...] = Field(default=(), description="Accelerators that are no GPUs.")
    links: tuple[Link, ...] = Field(default=(), description="Network cards and InfiniBand ports.")
    surroundings: Surroundings


def describe(root: Path = Path("/"), architecture: str | None = None) -> Description:
    return Description(
        architecture=architecture or platform.machine(),
        cpu=describe_cpu(root),
        memory=describe_memory(root),
        disks=describe_disks(root),
        gpus=describe_gpus(root),
        accelerators=describe_accelerators(root),
        links=describe_links(root),
        surroundings=describe_surroundings(root),
    )
