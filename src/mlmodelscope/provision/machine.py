"""What this machine is. Every fact is read from a root that tests can replace; what cannot be read is left out."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from mlmodelscope.plan.match import GpuFacts, MachineFacts


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

    @property
    def digest(self) -> str:
        """What makes it the same machine: not its host name, nor the kernel and the few megabytes that it takes."""
        facts = self.model_dump(mode="json", exclude={"hostname", "system", "memory_bytes"})
        if self.server is None:  # as it has always been
            del facts["server"]
        facts["memory_gib"] = round((self.memory_bytes or 0) / (1 << 30))
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def describe_machine(root: Path = Path("/")) -> Machine:
    cpu_root = root / "sys/devices/system/cpu"
    return Machine(
        hostname=socket.gethostname(),
        architecture=platform.machine(),
        system=f"{platform.system()} {platform.release()}",
        cpu=_cpu_name(root),
        cores=available_cores(),
        memory_bytes=_memory_bytes(root),
        caches=_caches(cpu_root / "cpu0/cache"),
        governor=_read(cpu_root / "cpu0/cpufreq/scaling_governor"),
        turbo=_turbo(cpu_root),
        smt={"0": False, "1": True}.get(_read(cpu_root / "smt/active") or ""),
        container=_container(root),
        gpus=_gpus(),
    )


def describe_facts(root: Path = Path("/")) -> MachineFacts:
    """The same machine as far as a hardware manifest may ask for it."""
    machine = describe_machine(root)
    flags = re.search(r"^(flags|Features)\s*:\s*(.+)$", _read(root / "proc/cpuinfo") or "", re.MULTILINE)
    return MachineFacts(
        architecture=machine.architecture,
        cpu=machine.cpu,
        cores=machine.cores,
        memory_bytes=machine.memory_bytes,
        flags=frozenset(flags[2].lower().split()) if flags else frozenset(),
        gpus=tuple(_gpu_facts()),
        interconnects=_interconnects(machine),
    )


def _gpu_facts() -> Iterator[GpuFacts]:
    for line in _ask_nvidia("name,memory.total,driver_version,compute_cap"):
        name, memory, driver, capability = (part.strip() for part in line.split(","))
        size = re.match(r"(\d+)\s*MiB", memory)
        yield GpuFacts(
            f"NVIDIA {name.removeprefix('NVIDIA ')}", int(size[1]) << 20 if size else None, driver, capability
        )


def _interconnects(machine: Machine) -> frozenset[str]:
    """What links processor and GPUs: NVLink where a GPU reports an active link, PCIe wherever there is a GPU."""
    if not machine.gpus:
        return frozenset()
    tool = shutil.which("nvidia-smi")
    links = _run([tool, "nvlink", "--status"]) if tool else ""
    return frozenset({"pcie", "nvlink"} if re.search(r"Link \d+: [\d.]+ GB/s", links) else {"pcie"})


def available_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _read(path: Path) -> str | None:
    try:
        return path.read_text(errors="replace").strip() or None
    except OSError:
        return None


def _cpu_name(root: Path) -> str:
    text = _read(root / "proc/cpuinfo") or ""
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


def _memory_bytes(root: Path) -> int | None:
    match = re.search(r"^MemTotal:\s*(\d+) kB", _read(root / "proc/meminfo") or "", re.MULTILINE)
    if match:
        return int(match[1]) * 1024
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None


def _caches(folder: Path) -> dict[str, str]:
    caches = {}
    for index in sorted(folder.glob("index*")):
        level, kind, size = (_read(index / name) for name in ("level", "type", "size"))
        if level and kind and size:
            caches[f"L{level} {kind.lower()}"] = size
    return caches


def _turbo(cpu_root: Path) -> bool | None:
    off = _read(cpu_root / "intel_pstate/no_turbo")
    if off is not None:
        return off == "0"
    boost = _read(cpu_root / "cpufreq/boost")
    return boost == "1" if boost is not None else None


def _container(root: Path) -> str | None:
    if (root / ".dockerenv").exists():
        return "docker"
    if (root / "run/.containerenv").exists():
        return "podman"
    return "kubernetes" if "KUBERNETES_SERVICE_HOST" in os.environ else None


def _gpus() -> tuple[str, ...]:
    return tuple(_ask_nvidia("name,memory.total,driver_version"))


def _ask_nvidia(fields: str) -> list[str]:
    tool = shutil.which("nvidia-smi")
    answer = _run([tool, f"--query-gpu={fields}", "--format=csv,noheader"]) if tool else ""
    return [line.strip() for line in answer.splitlines() if line.strip()]


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=20, check=True)
    except (subprocess.SubprocessError, OSError):
        return ""
    return done.stdout
