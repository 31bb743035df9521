"""Main memory: how much, of which kind, and how its pages are handed out."""

from __future__ import annotations

import os
import re
from pathlib import Path

from pydantic import Field

from mlmodelscope.provision.machine.memory_module import MemoryModule, describe_modules
from mlmodelscope.provision.machine.read import Part, read


class Memory(Part):
    """Main memory and swap."""

    total_bytes: int | None = Field(default=None, description="What the kernel can use.")
    swap_bytes: int | None = None
    page_bytes: int | None = None
    huge_page_bytes: int | None = Field(default=None, description="Size of a huge page.")
    huge_pages: int | None = Field(default=None, description="Huge pages that are set aside.")
    transparent_huge_pages: str | None = Field(default=None, description="always, madvise or never.")
    channels: int | None = Field(default=None, description="Channels with a module, where the kernel counts them.")
    modules: tuple[MemoryModule, ...] = Field(default=(), description="The modules; seldom readable without root.")


def describe_memory(root: Path) -> Memory:
    text = read(root / "proc/meminfo") or ""
    transparent = re.search(r"\[(\w+)\]", read(root / "sys/kernel/mm/transparent_hugepage/enabled") or "")
    channels, modules = describe_modules(root)
    swap = _kilobytes(text, "SwapTotal")
    huge = _kilobytes(text, "Hugepagesize")
    count = re.search(r"^HugePages_Total:\s*(\d+)", text, re.MULTILINE)
    return Memory(
        total_bytes=memory_bytes(root),
        swap_bytes=swap,
        page_bytes=_system("SC_PAGE_SIZE"),
        huge_page_bytes=huge,
        huge_pages=int(count[1]) if count else None,
        transparent_huge_pages=transparent[1] if transparent else None,
        channels=channels,
        modules=modules,
    )


def memory_bytes(root: Path) -> int | None:
    found = _kilobytes(read(root / "proc/meminfo") or "", "MemTotal")
    if found is not None:
        return found
    page, pages = _system("SC_PAGE_SIZE"), _system("SC_PHYS_PAGES")
    return page * pages if page is not None and pages is not None else None


def _kilobytes(text: str, name: str) -> int | None:
    match = re.search(rf"^{name}:\s*(\d+) kB", text, re.MULTILINE)
    return int(match[1]) * 1024 if match else None


def _system(name: str) -> int | None:
    try:
        return os.sysconf(name)
    except (ValueError, OSError):
        return None
