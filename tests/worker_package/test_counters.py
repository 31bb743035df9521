"""Counters of the processor and the kernel: numbers where they can be had, reasons where they cannot."""

import errno
import mmap
import os
import struct
import sys
import threading
from pathlib import Path

import pytest

from mlmodelscope_worker import counters
from mlmodelscope_worker.counters import EVENTS, Counters, Refused, reason_of
from mlmodelscope_worker.scenario.watched import count, repeat, told

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone has perf_event_open")

KERNEL_OWN = {"page_faults", "context_switches", "task_clock_ns"}


class Machine:
    """A kernel that gives every counter out as a file with three numbers, or refuses."""

    def __init__(self, place: Path, refuses: int = 0, unless: int = 0, content: tuple[int, ...] = (10, 4, 4)) -> None:
        self.refuses, self.unless, self.asked = refuses, unless, []
        self.file = place / "counter"
        self.file.write_bytes(struct.pack("QQQ", *content))

    def __call__(self, kind: int, config: int, flags: int, thread: int) -> int:
        self.asked.append((kind, config, flags, thread))
        if self.refuses and not flags & self.unless:
            refused = Refused(reason_of(self.refuses, 2))
            refused.is_forbidden = self.refuses == errno.EACCES  # type: ignore[attr-defined]
            raise refused
        return os.open(self.file, os.O_RDONLY)

    def threads(self, name: str) -> set[int]:
        """Of which threads this counter was asked for. Those that other tests have left may end at any time."""
        (wanted,) = ((kind, config) for each, kind, config in EVENTS if each == name)
        return {thread for kind, config, _, thread in self.asked if (kind, config) == wanted}

    def is_open(self) -> bool:
        return str(self.file) in map(_target, os.listdir("/proc/self/fd"))


def _target(descriptor: str) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return ""  # closed since


def test_every_thread_has_every_counter(tmp_path: Path) -> None:
    machine, done = Machine(tmp_path), threading.Event()
    second = threading.Thread(target=done.wait)
    second.start()
    with Counters(open_event=machine) as opened:
        done.set()
        for name, _, _ in EVENTS:
            assert {threading.get_native_id(), second.native_id} <= machine.threads(name)
        assert opened.read() == {name: 10 * len(machine.threads(name)) for name, _, _ in EVENTS}
        assert not opened.unavailable
    assert {flags for _, _, flags, _ in machine.asked} == {0b11}  # not counting yet, and what threads start, too


def test_counters_that_took_turns_are_scaled_and_one_that_never_counted_is_left_out(tmp_path: Path) -> None:
    machine = Machine(tmp_path, content=(10, 8, 4))
    with Counters(open_event=machine) as opened:
        assert opened.read()["cycles"] == 20 * len(machine.threads("cycles"))
    with Counters(open_event=Machine(tmp_path, content=(0, 8, 0))) as opened:
        assert opened.read() == {}


def test_what_a_virtual_machine_lacks_has_its_reason_and_the_kernel_counts_the_rest(tmp_path: Path) -> None:
    with Counters(open_event=Machine(tmp_path, refuses=errno.ENOENT)) as opened:
        opened.start()
        opened.stop()
        assert set(opened.read()) == KERNEL_OWN
        assert (
            "virtual machine" in opened.unavailable["cycles"]
            and set(opened.unavailable) == {name for name, _, _ in EVENTS} - KERNEL_OWN
        )
        (line,) = told(opened)
        assert line.startswith("branch misses, cache misses") and "unavailable" in line


def test_where_the_kernel_may_not_be_counted_the_user_part_is_and_says_so(tmp_path: Path) -> None:
    machine = Machine(tmp_path, refuses=errno.EACCES, unless=1 << 5)
    with Counters(open_event=machine) as opened:
        assert {"cycles", "instructions"} <= opened.user_only
        assert not opened.user_only & KERNEL_OWN and set(opened.read()) >= KERNEL_OWN  # which the kernel counts anyway
        assert "perf_event_paranoid" in opened.unavailable["cpu_migrations"]
        assert any(line.endswith("may not be counted here") for line in told(opened))


@pytest.mark.parametrize(
    ("problem", "paranoid", "says"),
    [
        (errno.EACCES, 4, "kernel.perf_event_paranoid is 4; `sudo sysctl kernel.perf_event_paranoid=1`"),
        (errno.EPERM, 1, "--cap-add PERFMON"),
        (errno.ENOENT, 2, "does not offer it"),
        (errno.ENOSYS, None, "no performance counters"),
        (errno.EMFILE, 2, "too many open files"),
        (errno.EIO, 2, os.strerror(errno.EIO)),
    ],
)
def test_a_refusal_is_told_with_what_would_help(problem: int, paranoid: int, says: str) -> None:
    assert says in reason_of(problem, paranoid)


def test_this_machine_counts_what_it_can() -> None:
    """The real kernel: memory that is touched for the first time makes faults, and work takes processor time."""
    notes: list[str] = []

    def run(size: int) -> None:
        with mmap.mmap(-1, size) as fresh:
            for page in range(0, size, mmap.PAGESIZE):
                fresh[page] = 1

    found, without = count(run, 2000 * mmap.PAGESIZE, 3, notes)
    assert len(found) == len(without) == 3
    for start, end, counted in found:
        assert start < end and set(counted) >= KERNEL_OWN | {"resident_bytes"}
        assert counted["task_clock_ns"] > 0 and all(value >= 0 for value in counted.values())
        assert "peak_bytes" not in counted or counted["peak_bytes"] >= counted["resident_bytes"]
    assert found[0][2]["page_faults"] > 10  # a kernel with large pages needs few


def test_a_counter_is_either_counted_or_explained() -> None:
    with Counters() as opened:
        assert set(opened.read()) | set(opened.unavailable) == {name for name, _, _ in EVENTS}


def test_runs_for_a_sampler_go_on_until_the_time_is_up() -> None:
    assert len(repeat(lambda tensors: tensors, [], 3, 0)) == 3
    assert len(repeat(lambda tensors: tensors, [], 3, 10**7)) > 3


def test_no_file_is_left_open(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    with Counters(open_event=machine):
        assert machine.is_open()
    assert not machine.is_open()


def test_a_peak_that_cannot_be_forgotten_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mlmodelscope_worker.scenario.watched.forget_peak", lambda: False)
    ((_, _, counted),), _ = count(lambda tensors: None, None, 1, [])
    assert "peak_bytes" not in counted and counters.memory_bytes()[0]
