"""Disks: what they are and how large, never what is on them."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import Field

from mlmodelscope.provision.machine.read import Part, entries, read, read_number

_NO_DISK = re.compile(r"(loop|ram|zram|dm-|md|sr|fd|nbd)\d*")
_VIRTUAL = re.compile(r"(vd|xvd)[a-z]+")


class Disk(Part):
    name: str
    kind: str = Field(description="nvme, ssd, hdd, or virtual for a disk that a virtual machine was given.")
    size_bytes: int
    model: str | None = None


def describe_disks(root: Path) -> tuple[Disk, ...]:
    found = []
    for path in entries(root / "sys/block"):
        sectors = read_number(path / "size")
        if _NO_DISK.match(path.name) or not sectors:
            continue
        kind = _kind(path)
        if kind is not None:
            # The kernel counts in 512 bytes whatever the disk's own sectors are.
            found.append(Disk(name=path.name, kind=kind, size_bytes=sectors * 512, model=read(path / "device/model")))
    return tuple(found)


def _kind(path: Path) -> str | None:
    if path.name.startswith("nvme"):
        return "nvme"
    if _VIRTUAL.fullmatch(path.name):
        return "virtual"
    return {"0": "ssd", "1": "hdd"}.get(read(path / "queue/rotational") or "")
