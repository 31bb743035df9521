"""How quiet the machine was: two samples around a timed region, never inside it, and what lies between them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from mlmodelscope.provision.machine.noise_sample import (
    NoiseSample,
    Process,
    Ticks,
    WorkerCounters,
    gpu_throttling,
    mean_mhz,
    parse_load,
    parse_pressure,
    parse_ticks,
    read_processes,
    throttle_count,
    worker_counters,
)
from mlmodelscope.provision.machine.read import Part, read

_RESOURCES = ("cpu", "io", "memory")
_SHOWN_FROM = 0.05
"""Other processes that took less of a processor are not worth a line."""
_SHOWN = 3
_SLACK_TICKS = 3
"""The kernel counts time in ticks, and both ends are rounded."""


@dataclass(frozen=True)
class NoiseLimits:
    """What is still quiet."""

    others_cpus: float = 0.2
    """Processors' worth of time that others take, beside us."""
    steal: float = 0.02
    """Share of the processors' time that the hypervisor gives to other machines."""
    waiting: float = 0.05
    """Share of its time that the worker is ready to run and may not."""
    memory_pressure: float = 0.05
    """Share of the time that somebody waits for memory."""
    frequency_drop: float = 0.1
    """By how much the processors' frequency may fall."""
    major_faults_per_s: float = 10.0
    """Pages that the worker waits for the disk for."""


class Taker(Part):
    """Another process that was busy. Only our own user's processes are named."""

    name: str | None
    cpus: float = Field(description="Processors' worth of time that it took.")


class Noise(Part):
    """What happened on the machine beside what was timed."""

    verdict: Literal["stable", "unstable"]
    because: tuple[str, ...] = Field(default=(), description="Why it was unstable, each reason with its numbers.")
    duration_s: float = Field(description="Seconds between the two samples.")
    cpus: int = Field(description="Processors that the worker may use; what follows is counted on them.")
    load_before: float | None = Field(default=None, description="Load average of one minute, before.")
    load_after: float | None = None
    idle: float | None = Field(default=None, description="Share of the processors' time that nobody used.")
    steal: float | None = Field(default=None, description="Share that the hypervisor gave to other machines.")
    ours_cpus: float | None = Field(default=None, description="Processors' worth of time that we took.")
    others_cpus: float | None = Field(default=None, description="Processors' worth of time that all others took.")
    takers: tuple[Taker, ...] = Field(default=(), description="The busiest others.")
    waiting: float | None = Field(default=None, description="Share of its time that the worker was ready and waited.")
    pressure: dict[str, float] = Field(
        default={}, description="Share of the time that somebody waited for cpu, io or memory."
    )
    frequency_before_mhz: float | None = None
    frequency_after_mhz: float | None = None
    throttled: int | None = Field(default=None, description="How often heat slowed the processors down.")
    gpu_throttled: str | None = Field(default=None, description="What slowed a GPU down, at the end.")
    involuntary_switches: int | None = Field(default=None, description="How often the worker was made to pause.")
    voluntary_switches: int | None = None
    minor_faults: int | None = Field(default=None, description="Pages that the worker got from memory.")
    major_faults: int | None = Field(default=None, description="Pages that the worker waited for the disk for.")

    def __str__(self) -> str:
        return self.verdict if not self.because else f"{self.verdict}, because {'; '.join(self.because)}"


def take_sample(
    worker: int | None, *, gpu: bool = False, root: Path = Path("/"), own: int | None = None
) -> NoiseSample:
    """The machine at this moment; `worker` is the process whose work is timed."""
    cpuinfo = read(root / "proc/cpuinfo") or ""
    return NoiseSample(
        at_s=time.monotonic(),
        load=parse_load(read(root / "proc/loadavg") or ""),
        ticks=parse_ticks(read(root / "proc/stat") or ""),
        pressure={name: parse_pressure(read(root / "proc/pressure" / name) or "") for name in _RESOURCES},
        mhz=mean_mhz(root, cpuinfo),
        throttled=throttle_count(root),
        gpu_throttled=gpu_throttling() if gpu else None,
        worker=worker_counters(root, worker) if worker is not None else WorkerCounters(),
        processes=read_processes(root),
        worker_pid=worker,
        host_pid=os.getpid() if own is None else own,
        user=os.getuid(),
        ticks_per_s=os.sysconf("SC_CLK_TCK"),
    )


def compare_samples(before: NoiseSample, after: NoiseSample, limits: NoiseLimits | None = None) -> Noise:
    """What lies between two samples, and whether it was quiet."""
    limits = limits or NoiseLimits()
    duration = max(after.at_s - before.at_s, 1e-9)
    cpus = after.worker.cpus & after.ticks.keys() if after.worker.cpus else after.ticks.keys()
    total = _sum(after.ticks, cpus) - _sum(before.ticks, cpus)
    # What the host's own program started beside the worker disturbs it like any stranger.
    ours = _family(after.processes, after.worker_pid) | _family(before.processes, before.worker_pid)
    if after.host_pid is not None:
        ours.add(after.host_pid)
    taken = _taken(before, after)
    own_ticks = sum(ticks for pid, ticks in taken.items() if pid in ours)
    other_ticks = max(0, total.busy - own_ticks)
    per_s = after.ticks_per_s * duration
    noise = Noise(
        verdict="stable",
        duration_s=duration,
        cpus=len(cpus),
        load_before=before.load,
        load_after=after.load,
        idle=total.idle / total.all if total.all else None,
        steal=total.steal / total.all if total.all else None,
        ours_cpus=own_ticks / per_s if taken else None,
        others_cpus=other_ticks / per_s if total.all and taken else None,
        takers=tuple(_takers(after, taken, ours, per_s)),
        waiting=_waiting(before.worker, after.worker),
        pressure=_pressure(before, after, duration),
        frequency_before_mhz=before.mhz,
        frequency_after_mhz=after.mhz,
        throttled=_difference(before.throttled, after.throttled),
        gpu_throttled=after.gpu_throttled,
        involuntary_switches=_difference(before.worker.involuntary, after.worker.involuntary),
        voluntary_switches=_difference(before.worker.voluntary, after.worker.voluntary),
        minor_faults=_difference(before.worker.minor_faults, after.worker.minor_faults),
        major_faults=_difference(before.worker.major_faults, after.worker.major_faults),
    )
    reasons = tuple(_reasons(noise, limits, after.ticks_per_s))
    return noise.model_copy(update={"because": reasons, "verdict": "unstable" if reasons else "stable"})


def _reasons(noise: Noise, limits: NoiseLimits, ticks_per_s: int) -> Iterator[str]:
    slack = _SLACK_TICKS / (ticks_per_s * noise.duration_s)
    if noise.others_cpus is not None and noise.others_cpus > limits.others_cpus + slack:
        # One that explains little is left out: what has ended meanwhile cannot be named.
        busiest = "".join(
            f"; {taker.name or 'a process of another user'} {taker.cpus:.2f}"
            for taker in noise.takers[:1]
            if taker.cpus > noise.others_cpus / 4
        )
        yield (
            f"other processes took {noise.others_cpus:.2f} of {noise.cpus} processors "
            f"(limit {limits.others_cpus:g}{busiest})"
        )
    if noise.steal is not None and noise.steal > limits.steal + slack / max(noise.cpus, 1):
        yield f"the hypervisor gave {_percent(noise.steal)} of the time to others (limit {_percent(limits.steal)})"
    if noise.waiting is not None and noise.waiting > limits.waiting:
        yield f"the worker waited {_percent(noise.waiting)} of its time to run (limit {_percent(limits.waiting)})"
    memory = noise.pressure.get("memory")
    if memory is not None and memory > limits.memory_pressure:
        yield f"memory was short {_percent(memory)} of the time (limit {_percent(limits.memory_pressure)})"
    if noise.throttled:
        yield f"heat slowed the processors down {noise.throttled} times"
    if noise.gpu_throttled:
        yield f"the GPU was slowed down by {noise.gpu_throttled}"
    start, end = noise.frequency_before_mhz, noise.frequency_after_mhz
    if start and end and end < start * (1 - limits.frequency_drop):
        yield f"the frequency fell from {start:.0f} to {end:.0f} MHz (limit {_percent(limits.frequency_drop)})"
    faults = noise.major_faults or 0
    if faults > max(limits.major_faults_per_s * noise.duration_s, limits.major_faults_per_s):
        yield f"the worker waited for the disk for {faults} pages (limit {limits.major_faults_per_s:g} a second)"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _sum(ticks: dict[int, Ticks], cpus: Set[int]) -> Ticks:
    found = [ticks[cpu] for cpu in cpus if cpu in ticks]
    return Ticks(sum(each.busy for each in found), sum(each.idle for each in found), sum(each.steal for each in found))


def _family(processes: dict[int, Process], root: int | None) -> set[int]:
    """A process and all that it started."""
    children: dict[int, list[int]] = {}
    for pid, process in processes.items():
        children.setdefault(process.parent, []).append(pid)
    found: set[int] = set()
    waiting = [] if root is None else [root]
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting += children.get(pid, [])
    return found


def _taken(before: NoiseSample, after: NoiseSample) -> dict[int, int]:
    """Ticks that each process took between the samples; one that is new took all of its own."""
    found = {}
    for pid, process in after.processes.items():
        known = before.processes.get(pid)
        same = known is not None and known.started == process.started  # a number may be given again
        found[pid] = process.ticks - (known.ticks if known is not None and same else 0)
    return found


def _takers(after: NoiseSample, taken: dict[int, int], ours: set[int], per_s: float) -> Iterator[Taker]:
    others = sorted(((ticks, pid) for pid, ticks in taken.items() if pid not in ours), reverse=True)
    for ticks, pid in others[:_SHOWN]:
        if ticks / per_s >= _SHOWN_FROM:
            process = after.processes[pid]
            yield Taker(name=process.name if process.user == after.user else None, cpus=ticks / per_s)


def _waiting(before: WorkerCounters, after: WorkerCounters) -> float | None:
    ran, waited = _difference(before.ran_ns, after.ran_ns), _difference(before.waited_ns, after.waited_ns)
    if ran is None or waited is None or ran + waited <= 0 or waited < 0:
        return None
    return waited / (ran + waited)


def _pressure(before: NoiseSample, after: NoiseSample, duration: float) -> dict[str, float]:
    found = {}
    for name in _RESOURCES:
        spent = _difference(before.pressure.get(name), after.pressure.get(name))
        if spent is not None:
            found[name] = spent / 1e6 / duration
    return found


def _difference(before: int | None, after: int | None) -> int | None:
    return after - before if before is not None and after is not None else None
