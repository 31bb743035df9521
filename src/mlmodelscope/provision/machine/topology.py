"""How processors belong together: sockets, cores, threads, NUMA nodes and the caches they share."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from pydantic import Field

from mlmodelscope.provision.machine.cpuinfo import CpuInfo
from mlmodelscope.provision.machine.read import (
    Part,
    numbered,
    read,
    read_cpus,
    read_number,
    read_size,
    spell_cpus,
)


class Node(Part):
    """One NUMA node."""

    number: int
    cpus: str = Field(description="Its processors, such as 0-15.")
    memory_bytes: int | None = Field(default=None, description="Its memory.")
    distances: tuple[int, ...] = Field(default=(), description="To each node; 10 is local.")


class Cache(Part):
    """One kind of cache."""

    level: int
    kind: str = Field(description="data, instruction or unified.")
    size_bytes: int = Field(description="Size of one.")
    count: int = Field(description="How many there are.")
    shared_by: int = Field(description="Processors that share one.")
    line_bytes: int | None = None

    @property
    def name(self) -> str:
        """`l1d`, `l2`, as constraints call it."""
        return f"l{self.level}{'' if self.kind == 'unified' else self.kind[:1]}"


class Topology(Part):
    """What can be seen of the processors' arrangement."""

    sockets: int | None = None
    cores: int | None = Field(default=None, description="Physical cores that are online.")
    threads: int | None = Field(default=None, description="Processors that are online, each thread of a core counted.")
    nodes: tuple[Node, ...] = ()
    caches: tuple[Cache, ...] = ()


def describe_topology(root: Path, info: CpuInfo) -> Topology:
    folder = root / "sys/devices/system/cpu"
    online = read_cpus(folder / "online")
    cpus = [cpu for cpu in numbered(folder, "cpu") if online is None or int(cpu.name[3:]) in online]
    packages = {read_number(cpu / "topology/physical_package_id") for cpu in cpus} - {None, -1}
    cores = {read(cpu / "topology/core_cpus_list") or read(cpu / "topology/thread_siblings_list") for cpu in cpus}
    return Topology(
        sockets=len(packages) or info.packages or None,
        cores=len(cores - {None}) or info.cores or None,
        threads=(len(online) if online else 0) or info.processors or None,
        nodes=tuple(_nodes(root / "sys/devices/system/node")),
        caches=_caches(cpus),
    )


def _nodes(folder: Path) -> list[Node]:
    found = []
    for node in numbered(folder, "node"):
        cpus = read_cpus(node / "cpulist")
        words = (read(node / "meminfo") or "").split()
        memory = words[words.index("MemTotal:") + 1] if "MemTotal:" in words else ""
        distances = (read(node / "distance") or "").split()
        found.append(
            Node(
                number=int(node.name[4:]),
                cpus=spell_cpus(cpus or frozenset()),
                memory_bytes=int(memory) * 1024 if memory.isdecimal() else None,
                distances=tuple(int(each) for each in distances if each.isdecimal()),
            )
        )
    return found


def _caches(cpus: list[Path]) -> tuple[Cache, ...]:
    """Each kind once; a machine with large and small cores has more kinds than levels."""
    seen: set[tuple[int, str, str]] = set()
    kinds: Counter[tuple[int, str, int, int, int | None]] = Counter()
    for cpu in cpus:
        for index in numbered(cpu / "cache", "index"):
            level, kind, size = read_number(index / "level"), read(index / "type"), read_size(index / "size")
            if level is None or kind is None or size is None:
                continue
            sharers = read_cpus(index / "shared_cpu_list") or frozenset({int(cpu.name[3:])})
            key = (level, kind, spell_cpus(sharers))
            if key in seen:
                continue
            seen.add(key)
            kinds[level, kind.lower(), size, len(sharers), read_number(index / "coherency_line_size")] += 1
    return tuple(
        Cache(level=level, kind=kind, size_bytes=size, count=count, shared_by=shared, line_bytes=line)
        for (level, kind, size, shared, line), count in sorted(kinds.items(), key=lambda item: (item[0][:3], item[1]))
    )
