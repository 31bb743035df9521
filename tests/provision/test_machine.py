"""Machines as recorded trees of /proc and /sys, complete and not."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from mlmodelscope.provision.machine import Machine, describe_machine, identify_machine, nvml

XEON = {
    "proc/cpuinfo": "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
    "model name\t: Intel(R) Xeon(R) Platinum 8280 CPU @ 2.70GHz\n\nprocessor\t: 1\n",
    "proc/meminfo": "MemTotal:       65704832 kB\nMemFree:        1000 kB\n",
    "sys/devices/system/cpu/cpu0/cache/index0/level": "1\n",
    "sys/devices/system/cpu/cpu0/cache/index0/type": "Data\n",
    "sys/devices/system/cpu/cpu0/cache/index0/size": "32K\n",
    "sys/devices/system/cpu/cpu0/cache/index3/level": "3\n",
    "sys/devices/system/cpu/cpu0/cache/index3/type": "Unified\n",
    "sys/devices/system/cpu/cpu0/cache/index3/size": "39424K\n",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
    "sys/devices/system/cpu/intel_pstate/no_turbo": "1\n",
    "sys/devices/system/cpu/smt/active": "1\n",
}
NEOVERSE = "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"


@pytest.fixture(autouse=True)
def no_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither a cluster nor GPUs, whatever this machine has."""

    def no_library() -> None:
        raise OSError("no driver here")

    monkeypatch.setattr(nvml, "load_library", no_library)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


def describe(root: Path, tree: Mapping[str, str]) -> Machine:
    for name, text in tree.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return describe_machine(root)


def test_a_complete_tree_is_read(tmp_path: Path) -> None:
    machine = describe(tmp_path, XEON)
    assert machine.cpu == "Intel(R) Xeon(R) Platinum 8280 CPU @ 2.70GHz"
    assert machine.memory_bytes == 65704832 * 1024
    assert machine.caches == {"L1 data": "32K", "L3 unified": "39424K"}
    assert (machine.governor, machine.turbo, machine.smt) == ("performance", False, True)
    assert (machine.container, machine.gpus) == (None, ())


@pytest.mark.parametrize("missing", XEON)
def test_what_cannot_be_read_is_left_out(tmp_path: Path, missing: str) -> None:
    machine = describe(tmp_path, {name: text for name, text in XEON.items() if name != missing})
    assert machine.cores >= 1 and machine.cpu


def test_an_empty_tree_is_a_machine_too(tmp_path: Path) -> None:
    machine = describe(tmp_path, {})
    assert machine.cpu and machine.caches == {}
    assert (machine.governor, machine.turbo, machine.smt, machine.container) == (None, None, None, None)


def test_strange_bytes_do_no_harm(tmp_path: Path) -> None:
    describe(tmp_path, XEON)
    for name in XEON:
        (tmp_path / name).write_bytes(b"\xff\0\n")
    assert describe_machine(tmp_path).smt is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("processor\t: 0\ncpu\t\t: POWER9, altivec supported\n", "POWER9, altivec supported"),
        ("system type\t: x\ncpu model\t\t: Loongson-3A\n", "Loongson-3A"),
        (
            "processor\t: 0\nmodel name\t: ARMv7 Processor rev 3 (v7l)\nHardware\t: BCM2835\n",
            "ARMv7 Processor rev 3 (v7l)",
        ),
    ],
)
def test_processors_have_names_everywhere(tmp_path: Path, text: str, name: str) -> None:
    assert describe(tmp_path, {"proc/cpuinfo": text}).cpu == name


def test_arm_processors_are_told_apart_by_their_numbers(tmp_path: Path) -> None:
    assert describe(tmp_path, {"proc/cpuinfo": NEOVERSE}).cpu.endswith("implementer 0x41 part 0xd0c")


@pytest.mark.parametrize(
    ("tree", "turbo"),
    [
        ({"intel_pstate/no_turbo": "0"}, True),
        ({"intel_pstate/no_turbo": "1"}, False),
        ({"cpufreq/boost": "1"}, True),
        ({"cpufreq/boost": "0"}, False),
        ({}, None),
    ],
)
def test_turbo_has_two_spellings(tmp_path: Path, tree: dict[str, str], turbo: bool | None) -> None:
    assert describe(tmp_path, {f"sys/devices/system/cpu/{name}": text for name, text in tree.items()}).turbo is turbo


@pytest.mark.parametrize(("mark", "kind"), [(".dockerenv", "docker"), ("run/.containerenv", "podman")])
def test_a_container_is_seen(tmp_path: Path, mark: str, kind: str) -> None:
    assert describe(tmp_path, {mark: ""}).container == kind


def test_a_cluster_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    assert describe(tmp_path, {}).container == "kubernetes"


def tool(folder: Path, script: str) -> None:
    (folder / "bin").mkdir()
    (folder / "bin/nvidia-smi").write_text(f"#!/bin/sh\n{script}\n")
    os.chmod(folder / "bin/nvidia-smi", 0o755)


def test_gpus_are_listed_with_memory_and_driver(tmp_path: Path) -> None:
    tool(tmp_path, "echo 'NVIDIA H200, 143771 MiB, 570.86'; echo 'NVIDIA H200, 143771 MiB, 570.86'")
    assert describe(tmp_path, {}).gpus == ("NVIDIA H200, 143771 MiB, 570.86",) * 2


@pytest.mark.parametrize("script", ["echo 'No devices were found'; exit 6", "exit 9", "kill -9 $$"])
def test_a_driver_in_trouble_is_no_gpu(tmp_path: Path, script: str) -> None:
    tool(tmp_path, script)
    assert describe(tmp_path, {}).gpus == ()


def test_the_same_machine_has_the_same_digest_after_an_update(tmp_path: Path) -> None:
    machine = describe(tmp_path, XEON)
    memory = (machine.memory_bytes or 0) - 40_000_000  # a newer kernel takes a little more
    changes = {"hostname": "other", "system": "Linux 9.9", "memory_bytes": memory}
    assert machine.model_copy(update=changes).digest == machine.digest


@pytest.mark.parametrize(
    "change",
    [
        {"cpu": "other"},
        {"cores": 1000},
        {"turbo": True},
        {"governor": "powersave"},
        {"memory_bytes": 1 << 30},
        {"gpus": ("x",)},
    ],
)
def test_another_machine_has_another_digest(tmp_path: Path, change: dict[str, object]) -> None:
    machine = describe(tmp_path, XEON)
    assert machine.model_copy(update=change).digest != machine.digest


def test_a_record_of_before_has_no_details_and_the_same_digest(tmp_path: Path) -> None:
    machine = describe(tmp_path, XEON)
    old = machine.model_dump(mode="json", exclude={"details"})
    assert machine.details is not None and Machine.model_validate(old).digest == machine.digest


def test_a_machine_is_identified_without_its_details(tmp_path: Path) -> None:
    machine = describe(tmp_path, XEON)
    known = identify_machine(tmp_path)
    assert known == machine.model_copy(update={"details": None}) and known.digest == machine.digest


def test_load_frequency_and_free_memory_leave_the_digest(tmp_path: Path) -> None:
    moment = {"proc/loadavg": "9 9 9 1/1 1", "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq": "1"}
    before = describe(tmp_path, XEON).digest
    assert describe(tmp_path, {**moment, "proc/meminfo": "MemTotal: 65704832 kB\nMemFree: 7 kB\n"}).digest == before


def test_this_machine_is_described() -> None:
    assert describe_machine().digest == describe_machine().digest
