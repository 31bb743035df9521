"""What a control group allows us: processor time, memory, processors. The narrowest of all groups around us counts."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from mlmodelscope.provision.machine.read import Part, read, read_cpus, read_number, spell_cpus

_NO_LIMIT = 1 << 60  # version 1 writes a number near 2**63 where there is no limit


class Limits(Part):
    cpus: float | None = Field(default=None, description="Processors' worth of time that we may use.")
    memory_bytes: int | None = Field(default=None, description="Memory that we may use.")
    cpuset: str | None = Field(default=None, description="Processors that we may use, such as 0-3.")


def describe_limits(root: Path) -> Limits:
    times, sizes = [], []
    cpuset = None
    for controllers, path in _groups(root):
        top = root / "sys/fs/cgroup"
        if controllers:
            mounts = [top / ",".join(controllers), *(top / each for each in controllers)]
            mounts = [mount for mount in mounts if mount.is_dir()][:1]
        else:
            mounts = [top, top / "unified"]
        for mount in mounts:
            for folder in _upwards(mount, path):
                times.append(_time(folder))
                sizes.append(_size(folder))
                if cpuset is None:
                    cpuset = read_cpus(folder / "cpuset.cpus.effective") or read_cpus(folder / "cpuset.effective_cpus")
    return Limits(
        cpus=min((each for each in times if each is not None), default=None),
        memory_bytes=min((each for each in sizes if each is not None), default=None),
        cpuset=spell_cpus(cpuset) if cpuset else None,
    )


def _groups(root: Path) -> list[tuple[list[str], str]]:
    """(controllers, path) of each hierarchy; version 2 has one, without controllers."""
    found = []
    for line in (read(root / "proc/self/cgroup") or "").splitlines():
        parts = line.split(":", 2)
        if len(parts) == 3 and ".." not in parts[2].split("/"):
            found.append(([each for each in parts[1].split(",") if each and "=" not in each], parts[2].strip("/")))
    return found


def _upwards(mount: Path, path: str) -> list[Path]:
    """Our group and those around it. In a container the path may be the host's, and only the mount's top is ours."""
    names = path.split("/") if path else []
    folders = [mount.joinpath(*names[:length]) for length in range(len(names), -1, -1)]
    return [folder for folder in folders if folder.is_dir()]


def _time(folder: Path) -> float | None:
    words = (read(folder / "cpu.max") or "").split()
    if len(words) == 2 and words[0].isdecimal() and int(words[1] if words[1].isdecimal() else 0):
        return int(words[0]) / int(words[1])
    quota, period = read_number(folder / "cpu.cfs_quota_us"), read_number(folder / "cpu.cfs_period_us")
    return quota / period if quota and quota > 0 and period else None


def _size(folder: Path) -> int | None:
    size = read_number(folder / "memory.max") or read_number(folder / "memory.limit_in_bytes")
    return size if size is not None and 0 < size < _NO_LIMIT else None
