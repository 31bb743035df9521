"""The same machine as far as a hardware manifest may ask for it."""

from __future__ import annotations

from pathlib import Path

from mlmodelscope.plan.match import DiskFacts, GpuFacts, LinkFacts, MachineFacts
from mlmodelscope.provision.machine.cpu import cpu_name
from mlmodelscope.provision.machine.describe import Description, describe
from mlmodelscope.provision.machine.gpu import Gpu


def describe_facts(root: Path = Path("/")) -> MachineFacts:
    return facts_of(describe(root), cpu_name(root))


def facts_of(machine: Description, other_name: str = "") -> MachineFacts:
    """`other_name` is what records call the processor, where that is not its name in the description."""
    topology = machine.cpu.topology
    names = dict.fromkeys(name for name in (machine.cpu.model, other_name) if name)
    return MachineFacts(
        architecture=machine.architecture,
        cpu=", ".join(names),
        cores=machine.cpu.usable,
        memory_bytes=machine.memory.total_bytes,
        flags=frozenset(machine.cpu.flags),
        gpus=tuple(_gpu(gpu) for gpu in machine.gpus),
        interconnects=_interconnects(machine),
        vendor=machine.cpu.vendor,
        sockets=topology.sockets,
        physical_cores=topology.cores,
        numa_nodes=len(topology.nodes) or None,
        frequency_mhz=machine.cpu.frequency.maximum_mhz,
        caches={cache.name: cache.size_bytes for cache in reversed(topology.caches)},
        links=tuple(LinkFacts(link.kind, link.speed_mbps) for link in machine.links),
        disks=tuple(DiskFacts(disk.kind, disk.size_bytes) for disk in machine.disks),
        kernel=machine.surroundings.kernel,
        is_virtual=machine.surroundings.is_virtual,
    )


def _gpu(gpu: Gpu) -> GpuFacts:
    name = gpu.name if gpu.vendor != "nvidia" else f"NVIDIA {gpu.name.removeprefix('NVIDIA ')}"
    return GpuFacts(name, gpu.memory_bytes, gpu.driver, gpu.capability, gpu.cuda, gpu.nvlinks)


def _interconnects(machine: Description) -> frozenset[str]:
    """What links processor and GPUs, and this machine to others."""
    found = {"pcie"} if machine.gpus else set()
    if any(gpu.nvlinks for gpu in machine.gpus):
        found.add("nvlink")
    return frozenset(found | {link.kind for link in machine.links})
