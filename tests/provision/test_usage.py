"""Memory and power, read from trees that look like a machine's, and from this one."""

import os
from pathlib import Path

import pytest

from mlmodelscope.provision.machine.energy import Meter, why_no_meter
from mlmodelscope.provision.usage import Reading, Sample, Sampler, held, memory_of, power_between


def test_a_gauge_shows_the_same_until_it_is_read_again() -> None:
    readings = [Reading("a", "bytes", 0, 1), Reading("b", "W", 1, 9), Reading("a", "bytes", 5, 2)]
    assert list(held(readings)) == [Sample("a", "bytes", 0, 5, 1)]


def test_power_is_what_the_meters_went_on_by() -> None:
    second = 10**9
    meters = [
        (0, {"p0": Meter(10.0, 100.0), "p1": Meter(99.0, 100.0)}),
        (second // 2, {"p0": Meter(15.0, 100.0), "p1": Meter(1.0, 100.0)}),
    ]
    assert list(power_between(meters)) == [Sample("power", "W", 0, second // 2, 14.0)]
    assert list(power_between(meters[:1])) == []


def test_a_process_says_what_it_has_in_memory() -> None:
    assert memory_of("Name:\tx\nVmHWM:\t  9 kB\nVmRSS:\t  5 kB\n") == 5120
    assert memory_of("") is None and memory_of("VmRSS:\n") is None


def test_a_worker_is_sampled_while_the_block_lasts() -> None:
    with Sampler(os.getpid(), every_s=0.001) as sampler:
        bytes(1 << 20)
    samples = [each for each in sampler.samples if each.name == "memory"]
    assert samples and all(each.value > 1 << 20 and each.start_ns <= each.end_ns for each in samples)


def test_meters_of_a_machine_become_power(tmp_path: Path) -> None:
    zone = tmp_path / "sys/class/powercap/intel-rapl:0"
    zone.mkdir(parents=True)
    (zone / "name").write_text("package-0")
    moments = iter([0, 10**9, 2 * 10**9])
    sampler = Sampler(None, root=tmp_path, clock=lambda: next(moments))
    for microjoules in (1_000_000, 4_000_000, 5_000_000):
        (zone / "energy_uj").write_text(str(microjoules))
        sampler.take()
    assert [each.value for each in sampler.samples] == [3.0, 1.0]


@pytest.mark.parametrize("has", [(), ("intel-rapl:0",)])
def test_why_there_is_no_power_is_said(tmp_path: Path, has: tuple[str, ...]) -> None:
    for name in has:
        (tmp_path / "sys/class/powercap" / name).mkdir(parents=True)
    said = why_no_meter(tmp_path)
    assert said is not None and ("chmod o+r" in said) == bool(has)
