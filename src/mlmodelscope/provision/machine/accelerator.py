"""Accelerators that are no GPUs, as far as the PCI bus shows them."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from mlmodelscope.provision.machine.read import Part, entries, link_name, read_number

_PROCESSING_ACCELERATOR = 0x12  # PCI's own class for them
_VENDORS = {
    0x1002: "AMD",
    0x10DE: "NVIDIA",
    0x10EE: "Xilinx",
    0x1172: "Altera",
    0x1AE0: "Google",
    0x1D0F: "Amazon",
    0x1DA3: "Habana",
    0x1E52: "Tenstorrent",
    0x1F1E: "Graphcore",
    0x17CB: "Qualcomm",
    0x8086: "Intel",
}


class Accelerator(Part):
    vendor: str = Field(description="Its name, or its number on the PCI bus.")
    device: str = Field(description="Its number on the PCI bus.")
    driver: str | None = None


def describe_accelerators(root: Path) -> tuple[Accelerator, ...]:
    found = []
    for path in entries(root / "sys/bus/pci/devices"):
        kind, vendor, device = (read_number(path / name) for name in ("class", "vendor", "device"))
        if kind is None or vendor is None or device is None or kind >> 16 != _PROCESSING_ACCELERATOR:
            continue
        found.append(
            Accelerator(
                vendor=_VENDORS.get(vendor, f"0x{vendor:04x}"),
                device=f"0x{device:04x}",
                driver=link_name(path / "driver"),
            )
        )
    return tuple(found)
