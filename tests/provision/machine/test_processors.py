"""Processors of every make: what the kernel says of them, and nothing that it does not say."""

import struct
from pathlib import Path

import pytest

from mlmodelscope.provision.machine.cpu import describe_cpu
from mlmodelscope.provision.machine.cpuinfo import parse_cpuinfo
from mlmodelscope.provision.machine.frequency import describe_frequency

from .trees import BIG_LITTLE, NEOVERSE, POWER9, cache, plant, two_sockets


def test_two_sockets_are_counted(tmp_path: Path) -> None:
    cpu = describe_cpu(plant(tmp_path, two_sockets()))
    topology = cpu.topology
    assert (topology.sockets, topology.cores, topology.threads, len(topology.nodes)) == (2, 2, 4, 2)
    assert (cpu.vendor, cpu.family, cpu.stepping, cpu.microcode) == ("GenuineIntel", "6", "7", "0x5003605")
    assert "avx512_vnni" in cpu.flags and cpu.smt is True
    assert cpu.mitigations == {"meltdown": "Not affected", "spectre_v1": "Mitigation: usercopy barriers"}


def test_nodes_have_processors_memory_and_distances(tmp_path: Path) -> None:
    first, second = describe_cpu(plant(tmp_path, two_sockets())).topology.nodes
    assert (first.cpus, second.cpus) == ("0,2", "1,3")
    assert first.memory_bytes == 32852416 * 1024 and second.distances == (21, 10)


def test_a_cache_is_counted_once_and_knows_who_shares_it(tmp_path: Path) -> None:
    caches = {each.name: each for each in describe_cpu(plant(tmp_path, two_sockets())).topology.caches}
    assert list(caches) == ["l1d", "l1i", "l2", "l3"]
    l3 = caches["l3"]
    assert (l3.size_bytes, l3.count, l3.shared_by, l3.line_bytes) == (39424 << 10, 2, 2, 64)


def test_cores_of_two_sizes_have_caches_of_two_sizes(tmp_path: Path) -> None:
    tree = {**cache(0, 0, 2, "Unified", "512K", "0-3"), **cache(4, 0, 2, "Unified", "1M", "4-5")}
    found = describe_cpu(plant(tmp_path, {"proc/cpuinfo": BIG_LITTLE, **tree}))
    assert [(each.size_bytes >> 10, each.shared_by) for each in found.topology.caches] == [(512, 4), (1024, 2)]
    assert found.model == "Cortex-A53 and Cortex-A72"


def test_a_processor_that_is_switched_off_does_not_count(tmp_path: Path) -> None:
    plant(tmp_path, {**two_sockets(), "sys/devices/system/cpu/online": "0-1\n"})
    topology = describe_cpu(tmp_path).topology
    assert (topology.threads, topology.cores) == (2, 2)


def test_frequencies_are_a_range_with_a_governor(tmp_path: Path) -> None:
    found = describe_frequency(plant(tmp_path, two_sockets()))
    assert (found.minimum_mhz, found.nominal_mhz, found.maximum_mhz) == (1000, 2700, 4000)
    assert (found.driver, found.governor, found.turbo) == ("intel_pstate", "powersave", True)
    assert found.governors == ("performance", "powersave")


def test_governors_that_differ_are_all_named(tmp_path: Path) -> None:
    plant(tmp_path, {**two_sockets(), "sys/devices/system/cpu/cpu3/cpufreq/scaling_governor": "performance\n"})
    assert describe_frequency(tmp_path).governor == "performance, powersave"


def test_arm_gives_numbers_and_they_have_names() -> None:
    info = parse_cpuinfo(NEOVERSE)
    assert (info.model, info.vendor, info.family, info.stepping) == ("Neoverse-N1", "ARM", "8", "1")
    assert {"asimd", "asimddp", "atomics"} <= info.flags and info.processors == 2


def test_an_arm_processor_without_a_known_number_has_no_name() -> None:
    assert parse_cpuinfo(NEOVERSE.replace("0xd0c", "0xfff")).model is None


def test_power_says_it_in_its_own_words() -> None:
    info = parse_cpuinfo(POWER9)
    assert (info.model, info.vendor) == ("POWER9, altivec supported", "IBM")
    assert info.platform == "PowerNV 8335-GTW" and info.mhz == (3783.0, 2300.0)
    assert info.stepping == "2.3 (pvr 004e 1203)" and info.processors == 2


def test_power_hands_its_flags_to_every_process(tmp_path: Path) -> None:
    auxv = struct.pack("<6Q", 16, 0x10000080, 26, 0x80800000, 0, 0)
    found = describe_cpu(plant(tmp_path, {"proc/cpuinfo": POWER9, "proc/self/auxv": auxv}))
    assert found.flags == ("altivec", "arch_2_07", "arch_3_00", "vsx")


def test_sockets_that_the_kernel_does_not_know_are_left_out(tmp_path: Path) -> None:
    tree = {"proc/cpuinfo": NEOVERSE, "sys/devices/system/cpu/cpu0/topology/physical_package_id": "-1\n"}
    topology = describe_cpu(plant(tmp_path, tree)).topology
    assert topology.sockets is None and topology.threads == 2


@pytest.mark.parametrize("text", ["", "\0\0\0", "processor\n:::\n: x\nCPU part : zz\nCPU implementer\t: \n", "flags:"])
def test_nonsense_is_a_processor_without_facts(tmp_path: Path, text: str) -> None:
    found = describe_cpu(plant(tmp_path, {"proc/cpuinfo": text, "sys/devices/system/cpu/online": "0-,x"}))
    assert found.model and found.topology.sockets is None
