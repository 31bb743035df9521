"""A description as a hardware manifest: this machine satisfies it, and so does every machine that is at least it."""

from __future__ import annotations

import re
from typing import Any

from mlmodelscope.manifest.schema.hardware import Caches
from mlmodelscope.provision.machine.describe import Description
from mlmodelscope.provision.machine.gpu import Gpu

_MIB = 1 << 20


def hardware_manifest(machine: Description) -> dict[str, Any]:
    """What a loader takes; whatever constraints have no word for stands under `attributes`."""
    surroundings = machine.surroundings
    speeds = [link for link in machine.links if link.speed_mbps]
    fastest = max(speeds, key=lambda link: link.speed_mbps or 0, default=None)
    largest = max(machine.disks, key=lambda disk: disk.size_bytes, default=None)
    links = [
        word for word, there in (("pcie", machine.gpus), ("nvlink", any(g.nvlinks for g in machine.gpus))) if there
    ]
    release = re.match(r"\d+\.\d+", surroundings.kernel or "")
    rest = machine.model_dump(mode="json", exclude_none=True, exclude={"cpu": {"flags"}})
    written = {
        "name": _name(machine),
        "version": "1.0.0",
        "description": "Written by `mlmodelscope machine --yaml`: at least what that machine has.",
        "cpu": _cpu(machine),
        "gpu": _gpu(machine.gpus),
        "memory": f"{machine.memory.total_bytes // _MIB}mb" if machine.memory.total_bytes else None,
        "interconnect": " ".join(links),
        "network": {"type": fastest.kind, "speed_mbps": str(fastest.speed_mbps)} if fastest else None,
        "disk": {"type": largest.kind, "size": f"{largest.size_bytes // _MIB}mb"} if largest else None,
        "kernel": f">={release[0]}" if release else None,
        "virtual": surroundings.is_virtual,
        "attributes": {"machine": rest},
    }
    return {key: kept for key, value in written.items() if not _is_empty(kept := _without_empty(value))}


def _name(machine: Description) -> str:
    """From the processor's name, never the host's: a manifest is made to be passed on."""
    plain = re.sub(r"\((r|tm|c)\)|\bcpu\b|\bprocessor\b", " ", machine.cpu.model.lower())
    words = re.sub(r"[^a-z0-9.]+", "-", plain).strip("-.")
    return f"{words or machine.architecture}-{machine.cpu.usable}cpu"[-100:].strip("-.")


def _cpu(machine: Description) -> dict[str, Any]:
    topology, highest = machine.cpu.topology, machine.cpu.frequency.maximum_mhz
    sizes = {cache.name: f"{cache.size_bytes // 1024}kb" for cache in reversed(topology.caches)}
    return {
        "arch": machine.architecture,
        "model": machine.cpu.model,
        "ncpu": machine.cpu.usable,
        "flags": " ".join(machine.cpu.flags),
        "vendor": machine.cpu.vendor,
        "sockets": topology.sockets,
        "cores": topology.cores,
        "numa_nodes": len(topology.nodes) or None,
        "frequency_mhz": int(highest) if highest else None,
        "caches": {name: sizes[name] for name in Caches.model_fields if name in sizes},
    }


def _gpu(gpus: tuple[Gpu, ...]) -> dict[str, Any]:
    """What all GPUs that are like the first one have."""
    if not gpus:
        return {}
    first = gpus[0]
    alike = [gpu for gpu in gpus if (gpu.name, gpu.memory_bytes) == (first.name, first.memory_bytes)]
    level = f"/sm{first.capability.replace('.', '')}" if first.vendor == "nvidia" and first.capability else ""
    links = min(gpu.nvlinks or 0 for gpu in alike)
    return {
        "arch": f"{first.vendor}{level}",
        "model": first.name,
        "memory": f"{first.memory_bytes // _MIB}mb" if first.memory_bytes else None,
        "driver_version": f">={first.driver}" if first.driver and first.driver[0].isdecimal() else None,
        "ngpu": len(alike),
        "cuda_version": f">={first.cuda}" if first.cuda else None,
        "nvlinks": links or None,
    }


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: _without_empty(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if not _is_empty(item)}
    return [_without_empty(item) for item in value] if isinstance(value, (list, tuple)) else value


def _is_empty(value: Any) -> bool:
    return value is None or value in ("", {}, [], ())
