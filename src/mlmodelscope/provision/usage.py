"""Memory and power while a model runs, read now and then by a thread of the host: the worker does nothing for it.

Times are those of CLOCK_MONOTONIC, which the worker's clock reads, too.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from mlmodelscope.provision.machine import nvml
from mlmodelscope.provision.machine.energy import Meter, read_meters, spent, why_no_meter
from mlmodelscope.provision.machine.read import read

EVERY_S = 0.005


@dataclass(frozen=True)
class Reading:
    """What a gauge showed at one moment."""

    name: str
    unit: str
    at_ns: int
    value: float


@dataclass(frozen=True)
class Sample:
    """What a gauge showed from one moment to the next one that it was read at."""

    name: str
    unit: str
    start_ns: int
    end_ns: int
    value: float


class Sampler:
    """Reads while its `with` block lasts; `samples` and `notes` are there afterwards."""

    def __init__(
        self,
        pid: int | None,
        *,
        gpu: bool = False,
        every_s: float = EVERY_S,
        root: Path = Path("/"),
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._pid = pid
        self._gpu = gpu
        self._every_s = every_s
        self._root = root
        self._clock = clock
        self._readings: list[Reading] = []
        self._meters: list[tuple[int, dict[str, Meter]]] = []
        self._devices: list[nvml.Device] = []
        self._closing = ExitStack()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)
        self.notes: list[str] = []

    def __enter__(self) -> Self:
        reason = why_no_meter(self._root)
        if reason is not None:
            self.notes.append(f"power: {reason}")
        if self._gpu:
            library = self._closing.enter_context(nvml.nvml(nvml.load_library))
            self._devices = library.devices() if library is not None else []
            if not self._devices:
                self.notes.append("gpu power, gpu memory: NVIDIA's management library does not answer")
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        self._closing.close()

    def _run(self) -> None:
        self.take()
        while not self._over.wait(self._every_s):
            self.take()
        self.take()  # the end of what was sampled last

    def take(self) -> None:
        """Read everything once."""
        now = self._clock()
        if self._pid is not None:
            resident = memory_of(read(self._root / "proc" / str(self._pid) / "status") or "")
            if resident is not None:
                self._readings.append(Reading("memory", "bytes", now, resident))
        for number, device in enumerate(self._devices):
            end = "" if len(self._devices) == 1 else f" {number}"
            memory, power = device.memory_used_bytes(), device.power_w()
            if memory is not None:
                self._readings.append(Reading(f"gpu memory{end}", "bytes", now, memory))
            if power is not None:
                self._readings.append(Reading(f"gpu power{end}", "W", now, power))
        meters = read_meters(self._root)
        if meters:
            self._meters.append((now, meters))

    @property
    def samples(self) -> list[Sample]:
        return [*held(self._readings), *power_between(self._meters)]


def memory_of(status: str) -> int | None:
    """What /proc/PID/status says a process has in memory, in bytes."""
    for line in status.splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if name == "VmRSS" and words and words[0].isdecimal():
            return int(words[0]) * 1024
    return None


def held(readings: list[Reading]) -> Iterator[Sample]:
    """A gauge shows the same until it is read again; the last reading ends what the one before it began."""
    last: dict[str, Reading] = {}
    for reading in readings:
        before = last.get(reading.name)
        if before is not None:
            yield Sample(before.name, before.unit, before.at_ns, reading.at_ns, before.value)
        last[reading.name] = reading


def power_between(meters: list[tuple[int, dict[str, Meter]]]) -> Iterator[Sample]:
    """Watts, from how far the processors' meters went between two readings, all packages together."""
    for (start, before), (end, after) in zip(meters, meters[1:], strict=False):
        joules = spent(before, after)
        if joules and end > start:
            yield Sample("power", "W", start, end, sum(joules.values()) / ((end - start) / 1e9))
