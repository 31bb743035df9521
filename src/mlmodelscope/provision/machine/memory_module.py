"""Memory modules: from the firmware's table, which root may read, or from the kernel's error counters."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import Field

from mlmodelscope.provision.machine.read import Part, numbered, read, read_number

_MEMORY_DEVICE = 17
_END = 127
# SMBIOS 3.6, table 77.
_TYPES = {
    0x18: "DDR3",
    0x1A: "DDR4",
    0x1B: "LPDDR",
    0x1C: "LPDDR2",
    0x1D: "LPDDR3",
    0x1E: "LPDDR4",
    0x20: "HBM",
    0x21: "HBM2",
    0x22: "DDR5",
    0x23: "LPDDR5",
    0x24: "HBM3",
}


class MemoryModule(Part):
    slot: str | None = None
    size_bytes: int
    kind: str | None = Field(default=None, description="DDR4, DDR5 and so on.")
    speed_mts: int | None = Field(default=None, description="Million transfers a second, as configured.")


def describe_modules(root: Path) -> tuple[int | None, tuple[MemoryModule, ...]]:
    """How many channels hold a module, where the kernel tells; and the modules."""
    try:
        table = (root / "sys/firmware/dmi/tables/DMI").read_bytes()
    except OSError:
        table = b""
    channels, counted = _counted_modules(root / "sys/devices/system/edac/mc")
    return channels, tuple(parse_modules(table)) or counted


def _counted_modules(folder: Path) -> tuple[int | None, tuple[MemoryModule, ...]]:
    channels: set[tuple[str, str]] = set()
    modules = []
    for controller in numbered(folder, "mc"):
        for start in ("dimm", "rank"):
            for each in numbered(controller, start):
                size = read_number(each / "size")
                if not size:
                    continue
                place = read(each / "dimm_location") or ""
                where = re.match(r"(.*?channel \d+)", place)
                channels.add((controller.name, where[1] if where else place))
                kind = read(each / "dimm_mem_type")
                modules.append(
                    MemoryModule(slot=read(each / "dimm_label") or place or None, size_bytes=size << 20, kind=kind)
                )
    return len(channels) or None, tuple(modules)


def parse_modules(table: bytes) -> list[MemoryModule]:
    """The memory devices of an SMBIOS table; one that is cut off or nonsense gives those before the damage."""
    found = []
    at = 0
    while at + 4 <= len(table):
        kind, length = table[at], table[at + 1]
        end = table.find(b"\0\0", at + length)
        if kind == _END or length < 4 or end < 0:
            break
        if kind == _MEMORY_DEVICE:
            module = _module(table[at : at + length], table[at + length : end].split(b"\0"))
            if module is not None:
                found.append(module)
        at = end + 2
    return found


def _module(fields: bytes, texts: list[bytes]) -> MemoryModule | None:
    size = _word(fields, 0x0C)
    if size in (None, 0, 0xFFFF):  # no module in this slot, or nobody knows
        return None
    assert size is not None
    size_bytes = (size & 0x7FFF) << (10 if size & 0x8000 else 20)
    if size == 0x7FFF:
        size_bytes = int.from_bytes(fields[0x1C:0x20], "little") << 20
    slot = fields[0x10] if len(fields) > 0x10 else 0
    return MemoryModule(
        slot=texts[slot - 1].decode(errors="replace").strip() or None if 0 < slot <= len(texts) else None,
        size_bytes=size_bytes,
        kind=_TYPES.get(fields[0x12]) if len(fields) > 0x12 else None,
        speed_mts=_word(fields, 0x20) or _word(fields, 0x15) or None,
    )


def _word(fields: bytes, at: int) -> int | None:
    return int.from_bytes(fields[at : at + 2], "little") if len(fields) >= at + 2 else None
