"""A described machine as a hardware manifest: it loads, and the machine meets it."""

from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.manifest.load import load_manifest, parse_manifest
from mlmodelscope.manifest.schema import HardwareManifest
from mlmodelscope.manifest.write import write_manifest
from mlmodelscope.plan.match import unmet
from mlmodelscope.provision.machine import Description, describe, nvml
from mlmodelscope.provision.machine.facts import facts_of
from mlmodelscope.provision.machine.manifest import hardware_manifest

from .fake_nvml import FakeNvml
from .trees import BIG_LITTLE, NEOVERSE, POWER9, plant, two_sockets


def round_trip(machine: Description) -> HardwareManifest:
    manifest = parse_manifest(write_manifest(hardware_manifest(machine), "hardware"))
    assert isinstance(manifest, HardwareManifest)
    return manifest


TREES: dict[str, tuple[str, dict[str, str | bytes]]] = {
    "xeon": ("x86_64", two_sockets()),
    "arm": ("aarch64", {"proc/cpuinfo": NEOVERSE}),
    "board": ("aarch64", {"proc/cpuinfo": BIG_LITTLE}),
    "power": ("ppc64le", {"proc/cpuinfo": POWER9}),
    "nothing": ("riscv64", {}),
}


@pytest.mark.parametrize("name", TREES)
def test_a_machine_meets_its_own_manifest(tmp_path: Path, name: str) -> None:
    architecture, tree = TREES[name]
    machine = describe(plant(tmp_path, tree), architecture)
    manifest = round_trip(machine)
    assert unmet(manifest, facts_of(machine)) == []
    assert manifest.cpu is not None and manifest.cpu.arch == architecture


def test_this_very_machine_meets_its_own_manifest() -> None:
    machine = describe()
    assert unmet(round_trip(machine), facts_of(machine)) == []


def test_so_does_one_with_gpus_disks_and_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvml, "load_library", lambda: FakeNvml(gpus=8))
    tree: dict[str, str | bytes] = {
        "sys/block/nvme0n1/size": "2000409264",
        "sys/class/net/eth0/type": "1",
        "sys/class/net/eth0/speed": "25000",
        "sys/class/net/eth0/device/x": "",
    }
    machine = describe(plant(tmp_path, tree))
    manifest = round_trip(machine)
    assert unmet(manifest, facts_of(machine)) == []
    assert manifest.gpu is not None and (manifest.gpu.arch, manifest.gpu.ngpu) == ("nvidia/sm90", "8")
    assert manifest.interconnect == "pcie nvlink" and manifest.network is not None


def test_a_smaller_machine_does_not(tmp_path: Path) -> None:
    manifest = round_trip(describe(plant(tmp_path / "large", two_sockets()), "x86_64"))
    small = facts_of(describe(plant(tmp_path / "small", {"proc/cpuinfo": NEOVERSE}), "aarch64"))
    reasons = [each.partition(":")[0] for each in unmet(manifest, small)]
    assert {"cpu.arch", "cpu.model", "cpu.flags", "cpu.vendor", "cpu.caches.l3", "kernel"} <= set(reasons)


def test_it_names_no_host_and_keeps_the_rest(tmp_path: Path) -> None:
    manifest = round_trip(describe(plant(tmp_path, two_sockets())))
    assert manifest.name.startswith("intel-xeon-platinum-8280")
    assert manifest.attributes["machine"]["cpu"]["frequency"]["governor"] == "powersave"


def reasons(wanted: dict[str, Any], machine: Description) -> list[str]:
    manifest = load_manifest({"kind": "hardware", "name": "h", "version": "1.0.0", **wanted})
    assert isinstance(manifest, HardwareManifest)
    return unmet(manifest, facts_of(machine))


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ({"cpu": {"sockets": 4}}, "cpu.sockets: at least 4 is asked for, there are 2"),
        ({"cpu": {"cores": "<=1"}}, "cpu.cores: <=1 is asked for, there are 2"),
        ({"cpu": {"numa_nodes": "==1"}}, "cpu.numa_nodes: ==1 is asked for, there are 2"),
        ({"cpu": {"vendor": "amd"}}, "cpu.vendor: amd is asked for, this is GenuineIntel"),
        ({"cpu": {"frequency_mhz": 4500}}, "cpu.frequency_mhz: at least 4500 is asked for, the highest is 4000 MHz"),
        ({"cpu": {"caches": {"l3": "64mb"}}}, "cpu.caches.l3: at least 64mb is asked for, it is 39424 KiB"),
        ({"cpu": {"caches": {"l4": "64mb"}}}, "cpu.caches.l4: at least 64mb is asked for, none is seen"),
        ({"cpu": {"flags": "avx2 amx_tile"}}, "cpu.flags: amx_tile asked for, not there"),
        ({"network": {"type": "infiniband"}}, "network.type: infiniband is asked for, there is none"),
        ({"disk": {"type": "ssd"}}, "disk.type: ssd is asked for, there is none"),
        ({"kernel": ">=6.1"}, "kernel: >=6.1 is asked for, this is 5.15.0-91-generic"),
        ({"virtual": True}, "virtual: a virtual machine is asked for, this is none"),
        ({"interconnect": "infiniband"}, "interconnect: infiniband is asked for, there is none that is known"),
    ],
)
def test_a_refusal_has_its_exact_reason(tmp_path: Path, wanted: dict[str, Any], reason: str) -> None:
    assert reasons(wanted, describe(plant(tmp_path, two_sockets()))) == [reason]


def test_links_and_disks_are_told_with_what_is_there(tmp_path: Path) -> None:
    tree: dict[str, str | bytes] = {
        "sys/block/sda/size": str(1 << 30),
        "sys/block/sda/queue/rotational": "1",
        "sys/block/nvme0n1/size": str(1 << 31),
        "sys/class/infiniband/mlx5_0/ports/1/rate": "100 Gb/sec (4X EDR)",
        "sys/class/net/eth0/type": "1",
        "sys/class/net/eth0/device/x": "",
    }
    machine = describe(plant(tmp_path, tree))
    wanted = {"network": {"type": "infiniband", "speed_mbps": 200000}, "disk": {"type": "ssd", "size": "2tb"}}
    assert reasons(wanted, machine) == [
        "network.speed_mbps: at least 200000 is asked for, the fastest has 100000",
        "disk.size: at least 2tb is asked for, the largest has 1024.0 GiB",
    ]
    assert reasons({"network": {"type": "InfiniBand", "speed_mbps": 100000}, "disk": {"type": "hdd"}}, machine) == []
    slow = {"network": {"type": "ethernet", "speed_mbps": 1000}}
    assert reasons(slow, machine) == ["network.speed_mbps: at least 1000 is asked for, no speed is known"]
    assert reasons({"interconnect": "infiniband"}, machine) == []


def test_links_between_gpus_and_their_cuda_are_constraints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvml, "load_library", lambda: FakeNvml())
    machine = describe(tmp_path)
    assert reasons({"gpu": {"nvlinks": 4, "cuda_version": ">=12.4"}}, machine) == []
    assert reasons({"gpu": {"nvlinks": 18, "cuda_version": ">=13"}}, machine) == [
        "gpu.cuda_version: >=13 is asked for, the driver serves 12.8",
        "gpu.nvlinks: at least 18 is asked for, NVIDIA H200 has 4",
    ]
