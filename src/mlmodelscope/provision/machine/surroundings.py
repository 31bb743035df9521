"""What is around us: the kernel, a virtual machine, a container and its limits, the board and its firmware."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

from pydantic import Field

from mlmodelscope.provision.machine.cpuinfo import parse_cpuinfo
from mlmodelscope.provision.machine.limits import Limits, describe_limits
from mlmodelscope.provision.machine.read import Part, read

# What firmware calls a machine → who runs it.
_FIRMWARE = {
    "amazon ec2": "KVM (Amazon EC2)",
    "google": "KVM (Google Compute Engine)",
    "qemu": "QEMU",
    "kvm": "KVM",
    "openstack": "KVM (OpenStack)",
    "vmware": "VMware",
    "virtualbox": "VirtualBox",
    "innotek": "VirtualBox",
    "xen": "Xen",
    "bhyve": "bhyve",
    "parallels": "Parallels",
    "apple virtualization": "Apple Virtualization",
    "virtual machine": "Hyper-V",
}
_CLOCKS = {"kvm-clock": "KVM", "hyperv": "Hyper-V", "xen": "Xen"}
_BARE = ("metal",)


class Firmware(Part):
    """The board and what starts it. Serial numbers and identifiers are never read."""

    vendor: str | None = None
    product: str | None = None
    board: str | None = None
    bios: str | None = Field(default=None, description="Vendor, version and date of the BIOS.")


class Surroundings(Part):
    kernel: str | None = None
    system: str | None = Field(default=None, description="The operating system's own name.")
    libc: str | None = None
    clock_source: str | None = Field(default=None, description="What the kernel measures time with.")
    is_virtual: bool | None = Field(
        default=None, description="Whether this is a virtual machine, where it can be told."
    )
    hypervisor: str | None = None
    container: str | None = None
    limits: Limits = Limits()
    firmware: Firmware = Firmware()


def describe_surroundings(root: Path) -> Surroundings:
    firmware = _firmware(root)
    is_virtual, hypervisor = _hypervisor(root, firmware)
    return Surroundings(
        kernel=read(root / "proc/sys/kernel/osrelease"),
        system=_system(root),
        libc=" ".join(platform.libc_ver()).strip() or None,
        clock_source=read(root / "sys/devices/system/clocksource/clocksource0/current_clocksource"),
        is_virtual=is_virtual,
        hypervisor=hypervisor,
        container=container(root) or _other_container(root),
        limits=describe_limits(root),
        firmware=firmware,
    )


def container(root: Path) -> str | None:
    """The kinds that records have always known; another word here would make every machine a new one."""
    if (root / ".dockerenv").exists():
        return "docker"
    if (root / "run/.containerenv").exists():
        return "podman"
    return "kubernetes" if "KUBERNETES_SERVICE_HOST" in os.environ else None


def _other_container(root: Path) -> str | None:
    if (root / ".singularity.d").exists():
        return "apptainer"
    return read(root / "run/systemd/container")


def _system(root: Path) -> str | None:
    text = read(root / "etc/os-release") or read(root / "usr/lib/os-release") or ""
    match = re.search(r"^PRETTY_NAME=[\"']?(.+?)[\"']?$", text, re.MULTILINE)
    return match[1] if match else None


def _firmware(root: Path) -> Firmware:
    folder = root / "sys/class/dmi/id"
    bios = [read(folder / name) for name in ("bios_vendor", "bios_version", "bios_date")]
    board = [read(folder / name) for name in ("board_vendor", "board_name")]
    return Firmware(
        vendor=read(folder / "sys_vendor"),
        product=read(folder / "product_name") or read(root / "proc/device-tree/model"),
        board=" ".join(word for word in board if word) or None,
        bios=" ".join(word for word in bios if word) or None,
    )


def _hypervisor(root: Path, firmware: Firmware) -> tuple[bool | None, str | None]:
    """(whether there is one, its name), each as far as anything says so."""
    named = f"{firmware.vendor or ''} {firmware.product or ''}".lower()
    if not any(word in named for word in _BARE):
        for word, name in _FIRMWARE.items():
            if word in named:
                return True, name
    kind = read(root / "sys/hypervisor/type")
    if kind is not None:
        return True, {"xen": "Xen"}.get(kind, kind)
    info = parse_cpuinfo(read(root / "proc/cpuinfo") or "")
    if "emulated by qemu" in (info.platform or ""):
        return True, "QEMU"
    tree = read(root / "proc/device-tree/hypervisor/compatible")
    if tree is not None:
        return True, {"linux,kvm": "KVM", "xen,xen": "Xen"}.get(tree.split("\0")[0], tree.split("\0")[0])
    if "hypervisor" in info.flags:
        clocks = read(root / "sys/devices/system/clocksource/clocksource0/available_clocksource") or ""
        return True, next((name for word, name in _CLOCKS.items() if word in clocks), None)
    # On x86 the processor itself says when it is a virtual one; elsewhere nothing was seen, which proves nothing.
    return (False, None) if info.vendor in ("GenuineIntel", "AuthenticAMD") else (None, None)
