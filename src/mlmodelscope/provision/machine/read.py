"""Small files of /proc and /sys: read where they can be, and nothing where they cannot."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from mlmodelscope.manifest.schema.machine_settings import parse_cpus, spell_cpus

__all__ = [
    "Part",
    "entries",
    "link_name",
    "number",
    "numbered",
    "parse_cpus",
    "read",
    "read_cpus",
    "read_number",
    "read_size",
    "spell_cpus",
]

_UNITS = {"K": 10, "M": 20, "G": 30}


class Part(BaseModel):
    """A part of a description: frozen, typed, unknown fields refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def read(path: Path) -> str | None:
    """The text of a file, or nothing: it may be missing, forbidden, empty or a file that only errs when read."""
    try:
        return path.read_text(errors="replace").strip("\0 \t\r\n") or None
    except (OSError, ValueError):
        return None


def read_number(path: Path) -> int | None:
    return number(read(path))


def number(text: str | None) -> int | None:
    try:
        return int(text, 0) if text is not None else None
    except ValueError:
        return None


def read_size(path: Path) -> int | None:
    """Bytes of `32K` or `39424K`."""
    text = read(path) or ""
    digits, unit = (text[:-1], text[-1:].upper()) if text[-1:].upper() in _UNITS else (text, "")
    return int(digits) << _UNITS.get(unit, 0) if digits.isdecimal() else None


def read_cpus(path: Path) -> frozenset[int] | None:
    text = read(path)
    try:
        return parse_cpus(text) if text is not None else None
    except ValueError:
        return None


def numbered(folder: Path, start: str) -> list[Path]:
    """`cpu0`, `cpu1`, …, `cpu10` in this order, without `cpufreq` and the like."""
    try:
        found = [path for path in folder.iterdir() if path.name.startswith(start)]
    except OSError:
        return []
    return sorted(
        (path for path in found if path.name[len(start) :].isdecimal()), key=lambda path: int(path.name[len(start) :])
    )


def entries(folder: Path) -> list[Path]:
    """What a folder holds, by name; nothing where it cannot be listed."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def link_name(path: Path) -> str | None:
    """The last word of where a link leads: the name of a device's driver, for example."""
    try:
        return path.readlink().name or None
    except OSError:
        return None
