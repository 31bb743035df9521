"""Energy meters of the machine, read before and after a run: RAPL for processors, NVML for GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mlmodelscope.provision.machine import nvml
from mlmodelscope.provision.machine.read import entries, read, read_number

_POWERCAP = Path("sys/class/powercap")


@dataclass(frozen=True)
class Meter:
    """How far a meter stood, and at which number it starts again from 0."""

    joules: float
    wraps_at: float | None = None


def read_meters(root: Path = Path("/"), *, gpu: bool = False) -> dict[str, Meter]:
    """Every meter that may be read, by name; on most machines RAPL is for root only, and in most guests absent."""
    found = {}
    for zone in entries(root / _POWERCAP):
        # `intel-rapl:0` is a package, `intel-rapl:0:1` a part of it, which would be counted twice.
        if zone.name.count(":") != 1:
            continue
        joules = read_number(zone / "energy_uj")
        if joules is not None:
            most = read_number(zone / "max_energy_range_uj")
            name = read(zone / "name") or zone.name
            found[f"{name} ({zone.name})"] = Meter(joules / 1e6, most / 1e6 if most else None)
    return found | _gpus() if gpu else found


def why_no_meter(root: Path = Path("/")) -> str | None:
    """Why the processors' meters cannot be read; nothing where one can."""
    zones = [zone for zone in entries(root / _POWERCAP) if zone.name.count(":") == 1]
    if any(read_number(zone / "energy_uj") is not None for zone in zones):
        return None
    if zones:
        opens = "`sudo chmod o+r /sys/class/powercap/*/energy_uj` opens them"
        return f"the processors' meters (RAPL) are for root only; {opens}"
    return "this machine shows no meters (RAPL), as most virtual machines"


def _gpus() -> dict[str, Meter]:
    found = {}
    with nvml.nvml(nvml.load_library) as library:
        for number, device in enumerate(library.devices() if library is not None else []):
            millijoules = device.energy_mj()
            if millijoules is not None:
                found[f"GPU {number}"] = Meter(millijoules / 1000)
    return found


def spent(before: dict[str, Meter], after: dict[str, Meter]) -> dict[str, float]:
    """Joules between two readings; a meter that began anew meanwhile is taken to have done so once."""
    found = {}
    for name, end in after.items():
        start = before.get(name)
        if start is None:
            continue
        joules = end.joules - start.joules
        if joules < 0:
            if end.wraps_at is None:
                continue
            joules += end.wraps_at
        found[name] = joules
    return found
