"""How fast processors may run: the range, who chooses, and whether they may exceed their nominal frequency."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from mlmodelscope.provision.machine.read import Part, numbered, read, read_number

CPU = Path("sys/devices/system/cpu")


class Frequency(Part):
    """The frequencies of the processors and who governs them."""

    minimum_mhz: float | None = Field(default=None, description="The lowest that the processor can be set to.")
    nominal_mhz: float | None = Field(default=None, description="What it can keep for ever.")
    maximum_mhz: float | None = Field(default=None, description="The highest, with turbo where there is one.")
    driver: str | None = Field(default=None, description="The kernel's driver that sets them.")
    governor: str | None = Field(default=None, description="Who chooses; several where processors differ.")
    governors: tuple[str, ...] = Field(default=(), description="The governors that this kernel offers.")
    preference: str | None = Field(default=None, description="What the processor is told to prefer, if it chooses.")
    turbo: bool | None = Field(default=None, description="Whether it may exceed its nominal frequency.")


def describe_frequency(root: Path) -> Frequency:
    folders = [cpu / "cpufreq" for cpu in numbered(root / CPU, "cpu")]
    folders = [folder for folder in folders if folder.is_dir()]
    governors = sorted({text for folder in folders if (text := read(folder / "scaling_governor"))})
    preferences = sorted({text for folder in folders if (text := read(folder / "energy_performance_preference"))})
    offered = {word for folder in folders for word in (read(folder / "scaling_available_governors") or "").split()}
    return Frequency(
        minimum_mhz=min(_megahertz(folders, "cpuinfo_min_freq"), default=None),
        nominal_mhz=max(_megahertz(folders, "base_frequency"), default=None),
        maximum_mhz=max(_megahertz(folders, "cpuinfo_max_freq"), default=None),
        driver=read(folders[0] / "scaling_driver") if folders else None,
        governor=", ".join(governors) or None,
        governors=tuple(sorted(offered)),
        preference=", ".join(preferences) or None,
        turbo=read_turbo(root),
    )


def _megahertz(folders: list[Path], name: str) -> list[float]:
    return [kilohertz / 1000 for folder in folders if (kilohertz := read_number(folder / name))]


def read_turbo(root: Path) -> bool | None:
    """Intel's driver says whether it is off, the others whether it is on."""
    off = read(root / CPU / "intel_pstate/no_turbo")
    if off is not None:
        return off == "0"
    boost = read(root / CPU / "cpufreq/boost")
    return boost == "1" if boost is not None else None


def read_smt(root: Path) -> bool | None:
    return {"0": False, "1": True}.get(read(root / CPU / "smt/active") or "")
