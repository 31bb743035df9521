"""`/proc/cpuinfo` as x86, Arm and Power write it: three formats that share little but the colon."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mlmodelscope.provision.machine.read import number

# Arm's kernel gives numbers; these are the processors that people rent and own, as Arm and the vendors name them.
_VENDORS = {
    0x41: "ARM",
    0x42: "Broadcom",
    0x43: "Cavium",
    0x46: "Fujitsu",
    0x48: "HiSilicon",
    0x4E: "NVIDIA",
    0x50: "APM",
    0x51: "Qualcomm",
    0x61: "Apple",
    0x6D: "Microsoft",
    0xC0: "Ampere",
}
_PARTS = {
    (0x41, 0xD03): "Cortex-A53",
    (0x41, 0xD04): "Cortex-A35",
    (0x41, 0xD05): "Cortex-A55",
    (0x41, 0xD07): "Cortex-A57",
    (0x41, 0xD08): "Cortex-A72",
    (0x41, 0xD09): "Cortex-A73",
    (0x41, 0xD0A): "Cortex-A75",
    (0x41, 0xD0B): "Cortex-A76",
    (0x41, 0xD0C): "Neoverse-N1",
    (0x41, 0xD0D): "Cortex-A77",
    (0x41, 0xD40): "Neoverse-V1",
    (0x41, 0xD41): "Cortex-A78",
    (0x41, 0xD42): "Cortex-A78AE",
    (0x41, 0xD44): "Cortex-X1",
    (0x41, 0xD46): "Cortex-A510",
    (0x41, 0xD47): "Cortex-A710",
    (0x41, 0xD48): "Cortex-X2",
    (0x41, 0xD49): "Neoverse-N2",
    (0x41, 0xD4A): "Neoverse-E1",
    (0x41, 0xD4D): "Cortex-A715",
    (0x41, 0xD4E): "Cortex-X3",
    (0x41, 0xD4F): "Neoverse-V2",
    (0x43, 0x0AF): "ThunderX2",
    (0x46, 0x001): "A64FX",
    (0x48, 0xD01): "TaiShan-v110",
    (0x4E, 0x004): "Carmel",
    (0xC0, 0xAC3): "Ampere-1",
    (0xC0, 0xAC4): "Ampere-1a",
}


@dataclass(frozen=True)
class CpuInfo:
    """What the kernel says of its processors; a missing word is nothing."""

    model: str | None = None
    vendor: str | None = None
    family: str | None = None
    stepping: str | None = None
    microcode: str | None = None
    flags: frozenset[str] = frozenset()
    platform: str | None = None
    """Power: what the machine is, for example `PowerNV 8335-GTW`."""
    mhz: tuple[float, ...] = ()
    """The frequency of each processor at this moment, where it is told."""
    processors: int = 0
    packages: int = 0
    """Sockets, where each processor says in which it sits."""
    cores: int = 0
    """Cores, where each processor says to which it belongs."""
    all: dict[str, str] = field(default_factory=dict)
    """Every key of the first processor and of what stands below the last."""


def parse_cpuinfo(text: str) -> CpuInfo:
    """Whatever architecture wrote it."""
    rows = [(key.strip(), value.strip()) for key, colon, value in (line.partition(":") for line in text.splitlines())]
    first: dict[str, str] = {}
    for key, value in rows:
        if key and value:
            first.setdefault(key, value)
    names = {
        (number(implementer), number(part))
        for implementer, part in zip(_values(rows, "CPU implementer"), _values(rows, "CPU part"), strict=False)
    }
    arm = [_PARTS[name] for name in sorted(names, key=str) if name in _PARTS]
    implementer = number(first.get("CPU implementer"))
    packages = _values(rows, "physical id")
    return CpuInfo(
        model=_model(first) or (" and ".join(arm) or None),
        vendor=first.get("vendor_id") or _VENDORS.get(implementer or 0) or _power_vendor(first),
        family=first.get("cpu family") or first.get("CPU architecture"),
        stepping=first.get("stepping") or first.get("CPU revision") or first.get("revision"),
        microcode=first.get("microcode"),
        flags=_flags(first),
        platform=first.get("machine") or first.get("Hardware"),
        mhz=tuple(_megahertz(rows)),
        processors=len([value for value in _values(rows, "processor") if value.isdecimal()]),
        packages=len(set(packages)),
        cores=len(set(zip(packages, _values(rows, "core id"), strict=False))),
        all=first,
    )


def _values(rows: list[tuple[str, str]], wanted: str) -> list[str]:
    return [value for key, value in rows if key == wanted]


def _model(first: dict[str, str]) -> str | None:
    for key in ("model name", "cpu model", "cpu", "Processor"):
        if key in first:
            return first[key]
    return None


def _power_vendor(first: dict[str, str]) -> str | None:
    return "IBM" if first.get("cpu", "").upper().startswith("POWER") else None


def _flags(first: dict[str, str]) -> frozenset[str]:
    words = (first.get("flags") or first.get("Features") or "").lower().split()
    if "altivec supported" in first.get("cpu", ""):  # Power writes no list
        words.append("altivec")
    return frozenset(words)


def _megahertz(rows: list[tuple[str, str]]) -> list[float]:
    found = []
    for key, value in rows:
        match = re.fullmatch(r"(\d+(?:\.\d+)?)(?:MHz)?", value) if key in ("cpu MHz", "clock") else None
        if match:
            found.append(float(match[1]))
    return found
