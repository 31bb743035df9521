"""Settings of the processors, in /sys: they hold for everybody on the machine."""

from __future__ import annotations

from pathlib import Path

from mlmodelscope.provision.machine.frequency import CPU
from mlmodelscope.provision.machine.read import numbered, read
from mlmodelscope.provision.setting.lever import Files, Refused

_VIRTUAL = "a virtual machine's frequency is its host's to set"


def governor(value: str, root: Path) -> Files:
    folders = [cpu / "cpufreq" for cpu in numbered(root / CPU, "cpu")]
    files = [folder / "scaling_governor" for folder in folders if (folder / "scaling_governor").exists()]
    if not files:
        raise Refused(f"there is no {root / CPU}/cpu0/cpufreq/scaling_governor", _VIRTUAL)
    offered = (read(files[0].with_name("scaling_available_governors")) or "").split()
    if offered and value not in offered:
        raise Refused(f"this kernel has no governor `{value}`; known: {', '.join(sorted(offered))}")
    return Files(dict.fromkeys(files, value))


def turbo(value: bool, root: Path) -> Files:
    off = root / CPU / "intel_pstate/no_turbo"
    if off.exists():
        return Files({off: "0" if value else "1"}, {"0": True, "1": False})
    boost = root / CPU / "cpufreq/boost"
    if boost.exists():
        return Files({boost: "1" if value else "0"}, {"1": True, "0": False})
    raise Refused(f"there is neither {off} nor {boost}", _VIRTUAL)


def smt(value: bool, root: Path) -> Files:
    control = root / CPU / "smt/control"
    seen = read(control)
    if seen is None:
        raise Refused(f"there is no {control}")
    if seen in ("notsupported", "notimplemented", "forceoff") and value:
        raise Refused(f"{control} says `{seen}`: no core runs more than one thread here")
    if seen in ("notsupported", "notimplemented", "forceoff"):
        return Files({control: seen}, {seen: False})  # off is what it is
    return Files({control: "on" if value else "off"}, {"on": True, "off": False})
