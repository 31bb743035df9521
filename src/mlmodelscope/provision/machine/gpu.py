"""GPUs: NVIDIA's by its library or its tool, AMD's by the kernel."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from pydantic import Field

from mlmodelscope.provision.machine import nvml
from mlmodelscope.provision.machine.read import Part, link_name, numbered, read, read_number

_AMD = 0x1002


class Gpu(Part):
    """One GPU and how it is set."""

    name: str
    vendor: str
    memory_bytes: int | None = None
    driver: str | None = Field(default=None, description="Version of the driver.")
    cuda: str | None = Field(default=None, description="The newest CUDA that the driver serves.")
    capability: str | None = Field(default=None, description="Compute capability, such as 9.0.")
    cores: int | None = None
    graphics_clock_max_mhz: int | None = None
    memory_clock_max_mhz: int | None = None
    memory_bus_bits: int | None = None
    power_limit_w: float | None = Field(default=None, description="What it is limited to now.")
    power_limit_default_w: float | None = None
    ecc: bool | None = Field(default=None, description="Whether its memory corrects errors.")
    mig: bool | None = Field(default=None, description="Whether it is divided into instances.")
    persistence: bool | None = Field(default=None, description="Whether the driver stays loaded when nobody uses it.")
    pcie_generation: int | None = Field(default=None, description="The best that card and slot can do together.")
    pcie_width: int | None = None
    nvlinks: int | None = Field(default=None, description="Active NVLink links.")


def describe_gpus(root: Path) -> tuple[Gpu, ...]:
    return tuple([*_nvidia(), *_amd(root / "sys/class/drm")])


def _nvidia() -> list[Gpu]:
    with nvml.nvml(nvml.load_library) as library:
        if library is not None:
            return [_from_library(library, device) for device in library.devices()]
    return _from_tool()


def _from_library(library: nvml.Nvml, device: nvml.Device) -> Gpu:
    limit, default = (device.number(f"nvmlDeviceGetPowerManagement{word}") for word in ("Limit", "DefaultLimit"))
    persistence = device.number("nvmlDeviceGetPersistenceMode")
    return Gpu(
        name=device.name() or "NVIDIA GPU",
        vendor="nvidia",
        memory_bytes=device.memory_bytes(),
        driver=library.driver(),
        cuda=library.cuda(),
        capability=device.capability(),
        cores=device.number("nvmlDeviceGetNumGpuCores"),
        graphics_clock_max_mhz=device.clock_mhz("max", "graphics"),
        memory_clock_max_mhz=device.clock_mhz("max", "memory"),
        memory_bus_bits=device.number("nvmlDeviceGetMemoryBusWidth"),
        power_limit_w=limit / 1000 if limit else None,
        power_limit_default_w=default / 1000 if default else None,
        ecc=device.mode("nvmlDeviceGetEccMode"),
        mig=device.mode("nvmlDeviceGetMigMode"),
        persistence=bool(persistence) if persistence is not None else None,
        pcie_generation=device.number("nvmlDeviceGetMaxPcieLinkGeneration"),
        pcie_width=device.number("nvmlDeviceGetMaxPcieLinkWidth"),
        nvlinks=device.active_links(),
    )


def _from_tool() -> list[Gpu]:
    """Where the library is hidden but the tool is there, as under Windows' Linux."""
    rows = _ask_nvidia("name,memory.total,driver_version,compute_cap")
    rows = rows or _ask_nvidia("name,memory.total,driver_version")  # drivers of before 2021 know no compute_cap
    found = []
    links = _active_links() if rows else None
    for row in rows:
        name, memory, driver, capability = ([part.strip() for part in row.split(",")] + ["", "", ""])[:4]
        size = re.match(r"(\d+)\s*MiB", memory)
        found.append(
            Gpu(
                name=name,
                vendor="nvidia",
                memory_bytes=int(size[1]) << 20 if size else None,
                driver=driver or None,
                capability=capability or None,
                nvlinks=links,
            )
        )
    return found


def _active_links() -> int:
    tool = shutil.which("nvidia-smi")
    return len(re.findall(r"Link \d+: [\d.]+ GB/s", _run([tool, "nvlink", "--status"]) if tool else ""))


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


def _amd(folder: Path) -> list[Gpu]:
    found = []
    for card in numbered(folder, "card"):
        device = card / "device"
        if read_number(device / "vendor") != _AMD:
            continue
        name = read(device / "product_name") or f"GPU {read(device / 'device') or ''}".strip()
        found.append(
            Gpu(
                name=name if name.startswith("AMD") else f"AMD {name}",
                vendor="amd",
                memory_bytes=read_number(device / "mem_info_vram_total"),
                driver=read(folder.parent.parent / "module/amdgpu/version") or link_name(device / "driver"),
            )
        )
    return found
