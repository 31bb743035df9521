"""What the kernel has counted so far: each parser takes the text of one file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from mlmodelscope.provision.machine import nvml
from mlmodelscope.provision.machine.cpuinfo import parse_cpuinfo
from mlmodelscope.provision.machine.frequency import CPU
from mlmodelscope.provision.machine.read import entries, numbered, parse_cpus, read, read_number

# Bits of nvmlClocksThrottleReasons that mean trouble; being idle or capped by its own setting is none.
_GPU_TROUBLE = {
    0x8: "hardware slowdown",
    0x20: "heat (software)",
    0x40: "heat (hardware)",
    0x80: "a power brake",
}


@dataclass(frozen=True)
class Ticks:
    """Time of one processor or of several, as /proc/stat counts it."""

    busy: int = 0
    idle: int = 0
    """Waiting for a disk counts as idle: the processor is free."""
    steal: int = 0

    @property
    def all(self) -> int:
        return self.busy + self.idle + self.steal

    def __sub__(self, other: Ticks) -> Ticks:
        return Ticks(self.busy - other.busy, self.idle - other.idle, self.steal - other.steal)


@dataclass(frozen=True)
class Process:
    name: str
    parent: int
    ticks: int
    started: int
    user: int = -1


@dataclass(frozen=True)
class WorkerCounters:
    """What the kernel has counted for the worker; nothing where it does not say."""

    involuntary: int | None = None
    voluntary: int | None = None
    minor_faults: int | None = None
    major_faults: int | None = None
    ran_ns: int | None = None
    waited_ns: int | None = None
    """Ready to run, on all of its threads, while something else did."""
    cpus: frozenset[int] = frozenset()


@dataclass(frozen=True)
class NoiseSample:
    """A machine's counters at one moment."""

    at_s: float
    load: float | None = None
    ticks: dict[int, Ticks] = field(default_factory=dict)
    pressure: dict[str, int | None] = field(default_factory=dict)
    """Microseconds, ever, that somebody waited."""
    mhz: float | None = None
    throttled: int | None = None
    gpu_throttled: str | None = None
    worker: WorkerCounters = WorkerCounters()
    processes: dict[int, Process] = field(default_factory=dict)
    worker_pid: int | None = None
    host_pid: int | None = None
    user: int = 0
    ticks_per_s: int = 100


def parse_load(text: str) -> float | None:
    """The load average of one minute."""
    try:
        return float(text.split()[0])
    except (IndexError, ValueError):
        return None


def parse_ticks(text: str) -> dict[int, Ticks]:
    """By processor, from /proc/stat."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if not words or not words[0].startswith("cpu") or not words[0][3:].isdecimal():
            continue
        numbers = [int(word) for word in words[1:] if word.isdecimal()] + [0] * 8
        user, nice, system, idle, iowait, irq, softirq, steal = numbers[:8]
        found[int(words[0][3:])] = Ticks(user + nice + system + irq + softirq, idle + iowait, steal)
    return found


def parse_pressure(text: str) -> int | None:
    """Microseconds that somebody waited, ever: `some … total=`."""
    for line in text.splitlines():
        if line.startswith("some"):
            total = line.rpartition("total=")[2]
            return int(total) if total.isdecimal() else None
    return None


def parse_process(text: str) -> Process | None:
    """One line of /proc/PID/stat; the name may hold spaces and brackets."""
    head, _, tail = text.rpartition(")")
    words = tail.split()
    try:
        return Process(
            name=head.partition("(")[2],
            parent=int(words[1]),
            ticks=int(words[11]) + int(words[12]),
            started=int(words[19]),
        )
    except (IndexError, ValueError):
        return None


def read_processes(root: Path) -> dict[int, Process]:
    """Every process that we may see."""
    found = {}
    for folder in entries(root / "proc"):
        if not folder.name.isdecimal():
            continue
        process = parse_process(read(folder / "stat") or "")
        if process is not None:
            try:
                user = folder.stat().st_uid
            except OSError:
                continue  # it has just ended
            found[int(folder.name)] = Process(process.name, process.parent, process.ticks, process.started, user)
    return found


def worker_counters(root: Path, pid: int) -> WorkerCounters:
    """Switches and waiting are counted thread by thread, faults for the process."""
    folder = root / "proc" / str(pid)
    tasks = [task for task in entries(folder / "task") if task.name.isdecimal()] or [folder]
    status = [parse_status(read(task / "status") or "") for task in tasks]
    runs = [run for task in tasks if (run := _run_times(read(task / "schedstat") or "")) is not None]
    words = (read(folder / "stat") or "").rpartition(")")[2].split()
    allowed = next((each["Cpus_allowed_list"] for each in status if "Cpus_allowed_list" in each), "")
    return WorkerCounters(
        involuntary=_total(status, "nonvoluntary_ctxt_switches"),
        voluntary=_total(status, "voluntary_ctxt_switches"),
        minor_faults=int(words[7]) if len(words) > 9 else None,
        major_faults=int(words[9]) if len(words) > 9 else None,
        ran_ns=sum(ran for ran, _ in runs) if runs else None,
        waited_ns=sum(waited for _, waited in runs) if runs else None,
        cpus=parse_cpus(allowed) if allowed else frozenset(),
    )


def parse_status(text: str) -> dict[str, str]:
    return {key: value.strip() for key, colon, value in (line.partition(":") for line in text.splitlines()) if colon}


def _total(status: list[dict[str, str]], name: str) -> int | None:
    found = [int(each[name]) for each in status if each.get(name, "").isdecimal()]
    return sum(found) if found else None


def _run_times(text: str) -> tuple[int, int] | None:
    words = text.split()
    return (int(words[0]), int(words[1])) if len(words) >= 2 and words[0].isdecimal() and words[1].isdecimal() else None


def mean_mhz(root: Path, cpuinfo: str) -> float | None:
    """The processors' frequency at this moment, on average."""
    files = [cpu / "cpufreq/scaling_cur_freq" for cpu in numbered(root / CPU, "cpu")]
    found = [kilohertz / 1000 for file in files if (kilohertz := read_number(file))] or parse_cpuinfo(cpuinfo).mhz
    return sum(found) / len(found) if found else None


def throttle_count(root: Path) -> int | None:
    """How often heat slowed the processors down, since they were started."""
    found = [
        count
        for cpu in numbered(root / CPU, "cpu")
        for name in ("core_throttle_count", "package_throttle_count")
        if (count := read_number(cpu / "thermal_throttle" / name)) is not None
    ]
    return sum(found) if found else None


def gpu_throttling() -> str | None:
    """What slows a GPU down at this moment."""
    with nvml.nvml(nvml.load_library) as library:
        devices = library.devices() if library is not None else []
        bits = [device.throttle_reasons() or 0 for device in devices]
    return ", ".join(name for bit, name in _GPU_TROUBLE.items() if any(each & bit for each in bits)) or None
