"""How quiet a machine was between two samples; each text is what a kernel writes."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mlmodelscope.provision.machine import nvml
from mlmodelscope.provision.machine.noise import Noise, NoiseLimits, compare_samples, take_sample
from mlmodelscope.provision.machine.noise_sample import (
    NoiseSample,
    Process,
    Ticks,
    WorkerCounters,
    gpu_throttling,
    parse_load,
    parse_pressure,
    parse_process,
    parse_ticks,
    worker_counters,
)

from .fake_nvml import FakeNvml
from .trees import plant, two_sockets

STAT = """\
cpu  100 10 50 1000 40 0 10 20 0 0
cpu0 60 5 25 500 20 0 5 10 0 0
cpu1 40 5 25 500 20 0 5 10 0 0
intr 1 2 3
ctxt 12345
"""
STATUS = """\
Name:\tpython
Cpus_allowed:\t3
Cpus_allowed_list:\t0-1
voluntary_ctxt_switches:\t150
nonvoluntary_ctxt_switches:\t7
"""
LINE = "42 (a (strange) name) S 1 42 42 0 -1 4194560 500 0 3 0 70 30 0 0 20 0 4 0 8812 1000 200 184467 1 1 0"


def test_processors_time_is_split() -> None:
    assert parse_ticks(STAT) == {0: Ticks(95, 520, 10), 1: Ticks(75, 520, 10)}
    assert parse_ticks("") == {} and parse_ticks("cpu0 1 2\ncpux 1\n") == {0: Ticks(3, 0, 0)}


def test_pressure_and_load_are_read_where_they_are_there() -> None:
    assert parse_pressure("some avg10=0.00 avg60=0.00 avg300=0.00 total=123\nfull avg10=0 total=5") == 123
    assert parse_pressure("") is None and parse_load("0.52 0.58 0.59 1/467 1234") == 0.52 and parse_load("") is None


def test_a_process_may_have_a_strange_name() -> None:
    assert parse_process(LINE) == Process("a (strange) name", 1, 100, 8812)
    assert parse_process("") is None and parse_process("1 (x) S") is None


def test_a_workers_counters_are_summed_over_its_threads(tmp_path: Path) -> None:
    tree: dict[str, str | bytes] = {"proc/42/stat": LINE}
    for thread in (42, 43):
        tree |= {f"proc/42/task/{thread}/status": STATUS, f"proc/42/task/{thread}/schedstat": "1000 250 9\n"}
    found = worker_counters(plant(tmp_path, tree), 42)
    assert (found.involuntary, found.voluntary, found.ran_ns, found.waited_ns) == (14, 300, 2000, 500)
    assert (found.minor_faults, found.major_faults, found.cpus) == (500, 3, {0, 1})


def test_a_worker_that_is_gone_has_no_counters(tmp_path: Path) -> None:
    assert worker_counters(tmp_path, 42) == WorkerCounters()


def test_a_sample_reads_frequency_and_heat(tmp_path: Path) -> None:
    sample = take_sample(None, root=plant(tmp_path, two_sockets()))
    assert (sample.mhz, sample.throttled, sample.load) == (3300.0, 4, 0.1)


@pytest.mark.parametrize(
    ("bits", "words"), [(0x1, None), (0x40, "heat (hardware)"), (0x88, "hardware slowdown, a pow")]
)
def test_a_gpu_says_what_slows_it_down(monkeypatch: pytest.MonkeyPatch, bits: int, words: str | None) -> None:
    library = FakeNvml()
    library.throttled = bits
    monkeypatch.setattr(nvml, "load_library", lambda: library)
    assert (gpu_throttling() or "").startswith(words or "") and bool(gpu_throttling()) is (words is not None)


# Ten seconds on two processors, 100 ticks a second: the worker (7, started by 5) is busy on one of them.
BEFORE = NoiseSample(
    at_s=100.0,
    load=0.5,
    ticks={0: Ticks(1000, 1000, 0), 1: Ticks(1000, 1000, 0)},
    pressure={"cpu": 0, "io": 0, "memory": 0},
    mhz=3000.0,
    throttled=0,
    worker=WorkerCounters(5, 50, 1000, 0, 0, 0, frozenset({0, 1})),
    processes={5: Process("host", 1, 10, 1, 1000), 7: Process("worker", 5, 100, 2, 1000), 9: Process("x", 1, 5, 3, 0)},
    worker_pid=7,
    host_pid=5,
    user=1000,
)
QUIET = replace(
    BEFORE,
    at_s=110.0,
    ticks={0: Ticks(2000, 1000, 0), 1: Ticks(1005, 1995, 0)},
    pressure={"cpu": 50_000, "io": 0, "memory": 0},
    worker=WorkerCounters(20, 90, 1500, 1, 10_000_000_000, 50_000_000, frozenset({0, 1})),
    processes={**BEFORE.processes, 7: Process("worker", 5, 1100, 2, 1000), 9: Process("x", 1, 10, 3, 0)},
)


def test_a_quiet_machine_is_stable_and_every_number_is_there() -> None:
    noise = compare_samples(BEFORE, QUIET)
    assert (noise.verdict, noise.because, str(noise)) == ("stable", (), "stable")
    assert (noise.duration_s, noise.cpus, noise.ours_cpus, noise.others_cpus) == (10.0, 2, 1.0, 0.005)
    assert noise.idle == pytest.approx(0.4975) and noise.steal == 0 and noise.pressure["cpu"] == pytest.approx(0.005)
    assert (noise.involuntary_switches, noise.voluntary_switches) == (15, 40)
    assert (noise.minor_faults, noise.major_faults, noise.takers) == (500, 1, ())
    assert noise.waiting == pytest.approx(0.05 / 10.05)


def hog(sample: NoiseSample, user: int) -> NoiseSample:
    """A process that took all of the second processor, started after the first sample."""
    ticks = {0: sample.ticks[0], 1: Ticks(2000, 1000, 0)}
    return replace(sample, ticks=ticks, processes={**sample.processes, 11: Process("hog", 1, 995, 9, user)})


def test_a_hog_is_named_where_it_is_ours() -> None:
    noise = compare_samples(BEFORE, hog(QUIET, 1000))
    assert str(noise) == "unstable, because other processes took 1.00 of 2 processors (limit 0.2; hog 0.99)"


def test_a_hog_of_another_user_has_no_name() -> None:
    noise = compare_samples(BEFORE, hog(QUIET, 0))
    assert [taker.name for taker in noise.takers] == [None] and "a process of another user 0.99" in noise.because[0]
    assert "hog" not in noise.model_dump_json()


def test_what_the_worker_started_is_ours() -> None:
    child = {**QUIET.processes, 12: Process("child", 7, 995, 9, 1000)}
    busy = replace(QUIET, ticks={0: QUIET.ticks[0], 1: Ticks(2000, 1000, 0)}, processes=child)
    noise = compare_samples(BEFORE, busy)
    assert noise.verdict == "stable" and noise.ours_cpus == pytest.approx(1.995)


def test_what_else_the_host_started_is_not() -> None:
    sibling = {**QUIET.processes, 12: Process("sibling", 5, 995, 9, 1000)}
    busy = replace(QUIET, ticks={0: QUIET.ticks[0], 1: Ticks(2000, 1000, 0)}, processes=sibling)
    assert "sibling 0.99" in str(compare_samples(BEFORE, busy))


def test_processors_that_the_worker_may_not_use_do_not_count() -> None:
    away = replace(hog(QUIET, 0), worker=replace(QUIET.worker, cpus=frozenset({0})))
    noise = compare_samples(BEFORE, away)
    assert (noise.verdict, noise.cpus) == ("stable", 1)


def test_a_number_that_is_given_again_is_another_process() -> None:
    again = {**QUIET.processes, 9: Process("new", 1, 4, 99, 0)}
    assert compare_samples(BEFORE, replace(QUIET, processes=again)).verdict == "stable"


Change = Callable[[NoiseSample], NoiseSample]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda s: replace(s, ticks={0: Ticks(2000, 950, 50), 1: Ticks(1000, 1950, 50)}),
            "the hypervisor gave 5.0 % of the time to others (limit 2.0 %)",
        ),
        (
            lambda s: replace(s, worker=replace(s.worker, waited_ns=10_000_000_000)),
            "the worker waited 50.0 % of its time to run (limit 5.0 %)",
        ),
        (
            lambda s: replace(s, pressure={"cpu": 0, "io": 0, "memory": 2_000_000}),
            "memory was short 20.0 % of the time (limit 5.0 %)",
        ),
        (lambda s: replace(s, throttled=3), "heat slowed the processors down 3 times"),
        (lambda s: replace(s, gpu_throttled="heat (hardware)"), "the GPU was slowed down by heat (hardware)"),
        (lambda s: replace(s, mhz=2000.0), "the frequency fell from 3000 to 2000 MHz (limit 10.0 %)"),
        (
            lambda s: replace(s, worker=replace(s.worker, major_faults=200)),
            "the worker waited for the disk for 200 pages (limit 10 a second)",
        ),
    ],
)
def test_every_disturbance_is_a_reason_with_its_numbers(change: Change, reason: str) -> None:
    assert compare_samples(BEFORE, change(QUIET)).because == (reason,)


def test_limits_are_the_callers() -> None:
    noise = compare_samples(BEFORE, hog(QUIET, 0), NoiseLimits(others_cpus=1.5))
    assert noise.verdict == "stable" and noise.others_cpus == pytest.approx(1.0)


def test_nothing_to_read_is_nothing_to_complain_about() -> None:
    noise = compare_samples(NoiseSample(0.0), NoiseSample(1.0))
    assert (noise.verdict, noise.others_cpus, noise.waiting, noise.pressure) == ("stable", None, None, {})


def test_noise_is_kept_as_it_was() -> None:
    noise = compare_samples(BEFORE, hog(QUIET, 0))
    assert Noise.model_validate_json(noise.model_dump_json()) == noise


def test_this_machine_is_sampled() -> None:
    """A worker that computes for a moment, and two hogs beside it."""
    spin = "import time\nend = time.process_time() + 0.4\nwhile time.process_time() < end: pass\n"
    for_ever = "while True: pass"
    worker = subprocess.Popen([sys.executable, "-c", f"input()\n{spin}input()"], stdin=subprocess.PIPE)
    assert worker.stdin is not None
    hogs = [subprocess.Popen([sys.executable, "-c", for_ever]) for _ in range(2)]
    try:
        before = take_sample(worker.pid)
        worker.stdin.write(b"\n")
        worker.stdin.flush()
        while take_sample(worker.pid).processes[worker.pid].ticks < before.ticks_per_s * 0.3:
            pass
        noise = compare_samples(before, take_sample(worker.pid))
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
        worker.communicate(b"\n")
    assert noise.verdict == "unstable" and any("other processes took" in reason for reason in noise.because)
    assert noise.ours_cpus and noise.takers and noise.minor_faults is not None
