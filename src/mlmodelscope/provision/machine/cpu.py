"""The processors."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path

from pydantic import Field

from mlmodelscope.provision.machine.cpuinfo import CpuInfo, parse_cpuinfo
from mlmodelscope.provision.machine.frequency import Frequency, describe_frequency, read_smt
from mlmodelscope.provision.machine.read import Part, entries, read
from mlmodelscope.provision.machine.topology import Topology, describe_topology


class Cpu(Part):
    """The processors and how they are set."""

    model: str
    vendor: str | None = None
    family: str | None = None
    stepping: str | None = None
    microcode: str | None = None
    usable: int = Field(description="Processors that this process may use.")
    flags: tuple[str, ...] = Field(default=(), description="Instruction set extensions, as the kernel spells them.")
    topology: Topology = Topology()
    frequency: Frequency = Frequency()
    smt: bool | None = Field(default=None, description="Whether cores run more than one thread.")
    mitigations: dict[str, str] = Field(default={}, description="What the kernel does about each known weakness.")


def describe_cpu(root: Path) -> Cpu:
    info = parse_cpuinfo(read(root / "proc/cpuinfo") or "")
    return Cpu(
        model=info.model or cpu_name(root),
        vendor=info.vendor,
        family=info.family,
        stepping=info.stepping,
        microcode=info.microcode,
        usable=available_cores(),
        flags=tuple(sorted(info.flags | _power_flags(root, info))),
        topology=describe_topology(root, info),
        frequency=describe_frequency(root),
        smt=read_smt(root),
        mitigations={
            path.name: text
            for path in entries(root / "sys/devices/system/cpu/vulnerabilities")
            if (text := read(path)) is not None
        },
    )


def available_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cpu_name(root: Path) -> str:
    """The name that records know a processor by; it must stay what it is, or old records would not be found again."""
    text = read(root / "proc/cpuinfo") or ""
    match = re.search(r"^(model name|cpu model|cpu|Processor|Hardware)\s*:\s*(.+)$", text, re.MULTILINE)
    if match:
        return match[2].strip()
    # Arm's kernel gives numbers only; without them all Arm machines would look the same.
    numbers = [re.search(rf"^CPU {word}\s*:\s*(\S+)", text, re.MULTILINE) for word in ("implementer", "part")]
    if all(numbers):
        return "{} implementer {} part {}".format(platform.machine(), *(found[1] for found in numbers if found))
    if platform.system() == "Darwin":
        found = subprocess.run(
            ["sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, text=True, check=False
        )
        return found.stdout.strip() or platform.processor()
    return platform.processor() or platform.machine()


# Power lists no flags in /proc/cpuinfo; the kernel hands them to every process (asm/cputable.h).
_POWER = {
    16: {0x10000000: "altivec", 0x00000080: "vsx", 0x08000000: "fpu"},
    26: {0x80000000: "arch_2_07", 0x00800000: "arch_3_00", 0x00040000: "arch_3_1", 0x00020000: "mma"},
}


def _power_flags(root: Path, info: CpuInfo) -> set[str]:
    if info.vendor != "IBM":
        return set()
    try:
        raw = (root / "proc/self/auxv").read_bytes()
    except OSError:
        return set()
    pairs = [
        (int.from_bytes(raw[at : at + 8], "little"), int.from_bytes(raw[at + 8 : at + 16], "little"))
        for at in range(0, len(raw) - 15, 16)
    ]
    return {name for key, value in pairs for bit, name in _POWER.get(key, {}).items() if value & bit}
