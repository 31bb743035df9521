"""Whether a machine will do, and if not, exactly why not."""

from typing import Any

import pytest

from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import HardwareManifest
from mlmodelscope.plan.match import GpuFacts, MachineFacts, unmet

GIB = 1 << 30
V100 = GpuFacts("NVIDIA Tesla V100-SXM2-16GB", 16160 << 20, "535.104.05", "7.0")
H200 = GpuFacts("NVIDIA H200", 143771 << 20, "570.86.15", "9.0")


def reasons(wanted: dict[str, Any], **facts: Any) -> list[str]:
    manifest = load_manifest({"kind": "hardware", "name": "h", "version": "1.0.0", **wanted})
    assert isinstance(manifest, HardwareManifest)
    machine: dict[str, Any] = {
        "architecture": "x86_64",
        "cpu": "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz",
        "cores": 8,
        "memory_bytes": int(31.3 * GIB),
        "flags": frozenset({"avx2", "sse4_2", "avx512f", "avx512_vnni"}),
        **facts,
    }
    return unmet(manifest, MachineFacts(**machine))


def test_a_manifest_that_asks_for_nothing_fits_every_machine() -> None:
    assert reasons({"cpu": {}}) == []


@pytest.mark.parametrize("word", ["x86-64", "x86_64", "amd64", "AMD64", "x64", "X86 64"])
def test_an_architecture_has_many_names(word: str) -> None:
    found = reasons({"cpu": {"arch": word}}, architecture="x86_64")
    assert found == ([] if " " not in word else [f"cpu.arch: {word} is asked for, this is x86_64"])
    assert reasons({"cpu": {"arch": word}}, architecture="aarch64") == [
        f"cpu.arch: {word} is asked for, this is aarch64"
    ]


@pytest.mark.parametrize(
    ("amount", "fits"),
    [
        ("8", True),
        (">=8", True),
        (">= 9", False),
        ("9", False),
        ("==8", True),
        ("=8", True),
        ("<8", False),
        ("<=8", True),
        (">7", True),
    ],
)
def test_the_number_of_processors_is_compared_exactly(amount: str, fits: bool) -> None:
    assert bool(reasons({"cpu": {"ncpu": amount}})) is not fits


@pytest.mark.parametrize(
    ("amount", "fits"),
    [
        ("32gb", True),  # sold as 32: firmware and kernel take their part
        (">=32 GiB", True),
        ("==32g", True),
        ("32768mb", True),
        (">32gb", False),
        ("<32gb", False),
        ("<=32gb", True),
        (">31gb", True),
        ("34gb", False),
        ("64gb", False),
        ("0.03tb", True),
    ],
)
def test_memory_is_what_the_machine_was_sold_with(amount: str, fits: bool) -> None:
    assert bool(reasons({"memory": amount})) is not fits


def test_what_is_not_known_satisfies_nothing() -> None:
    assert reasons({"memory": "1gb"}, memory_bytes=None) == [
        "memory: at least 1gb is asked for, there is an unknown amount"
    ]
    bare = (GpuFacts("NVIDIA Something"),)
    found = reasons({"gpu": {"arch": "nvidia/sm70", "memory": "1gb", "driver_version": ">=400"}}, gpus=bare)
    assert [each.partition(":")[0] for each in found] == ["gpu.arch", "gpu.memory", "gpu.driver_version"]


def test_model_and_flags_of_the_processor_are_found() -> None:
    assert reasons({"cpu": {"model": "xeon", "flags": ["AVX2", "SSE4.2", "AVX-512F", "avx512-vnni"]}}) == []
    assert reasons({"cpu": {"flags": "amx_tile"}}) == ["cpu.flags: amx_tile asked for, not there"]
    assert len(reasons({"cpu": {"model": "EPYC"}})) == 1


@pytest.mark.parametrize(
    "arch", ["nvidia/sm70", "nvidia/sm_70", "nvidia/7.0", "NVIDIA/compute_70", "nvidia", "sm70", "nvidia/v100"]
)
def test_a_gpu_is_known_by_vendor_capability_or_name(arch: str) -> None:
    assert reasons({"gpu": {"arch": arch}}, gpus=(V100,)) == []
    assert bool(reasons({"gpu": {"arch": arch}}, gpus=(H200,))) is (arch != "nvidia")


def test_capabilities_of_newer_gpus_are_read() -> None:
    blackwell = GpuFacts("NVIDIA B200", 180 * GIB, "580.1", "10.0")
    assert reasons({"gpu": {"arch": "nvidia/sm100"}}, gpus=(blackwell,)) == []
    assert reasons({"gpu": {"arch": "nvidia/sm_90a"}}, gpus=(H200,)) == []


def test_a_gpu_of_another_vendor_is_none_of_this_one() -> None:
    other = GpuFacts("AMD Instinct MI250", 64 * GIB, "6.0.5")
    assert reasons({"gpu": {"arch": "nvidia/sm70"}}, gpus=(other,)) == [
        "gpu.arch: nvidia/sm70 is asked for, this is AMD Instinct MI250"
    ]


@pytest.mark.parametrize(
    ("gpus", "wanted", "fits"),
    [
        ((), {}, False),
        ((), {"ngpu": "0"}, True),
        ((), {"ngpu": "==0"}, True),
        ((V100,), {"ngpu": "==0"}, False),
        ((V100, V100), {"ngpu": "2"}, True),
        ((V100, V100), {"ngpu": "3"}, False),
        ((V100, H200), {"ngpu": "2", "memory": "100gb"}, False),
        ((V100, H200), {"ngpu": "1", "memory": "100gb"}, True),
        ((V100, H200), {"memory": "100gb"}, True),
        ((V100, V100), {"ngpu": "==1"}, False),
    ],
)
def test_only_gpus_that_fit_are_counted(gpus: tuple[GpuFacts, ...], wanted: dict[str, Any], fits: bool) -> None:
    assert bool(reasons({"gpu": wanted}, gpus=gpus)) is not fits


def test_of_several_gpus_the_nearest_is_explained() -> None:
    found = reasons({"gpu": {"model": "H200", "memory": "160gb"}}, gpus=(V100, H200))
    assert found == ["gpu.memory: at least 160gb is asked for, NVIDIA H200 has 140.4 GiB"]


@pytest.mark.parametrize(
    ("constraint", "fits"), [(">=410", True), (">=535.104", True), (">=536", False), ("^535", True)]
)
def test_a_driver_has_a_version(constraint: str, fits: bool) -> None:
    assert bool(reasons({"gpu": {"driver_version": constraint}}, gpus=(V100,))) is not fits


@pytest.mark.parametrize(
    ("word", "fits"),
    [("nvlink", True), ("NVLink", True), ("pcie", True), ("PCI-e", True), ("pcie nvlink", True), ("infiniband", False)],
)
def test_an_interconnect_is_there_or_not(word: str, fits: bool) -> None:
    links = frozenset({"pcie", "nvlink"})
    assert bool(reasons({"interconnect": word}, interconnects=links)) is not fits
    assert reasons({"interconnect": word}) == [f"interconnect: {word} is asked for, there is none that is known"]


def test_every_reason_is_told_at_once() -> None:
    found = reasons({"cpu": {"arch": "ppc64le", "ncpu": 160}, "memory": "1tb", "gpu": {"arch": "nvidia/sm70"}})
    assert [each.partition(":")[0] for each in found] == ["cpu.arch", "cpu.ncpu", "memory", "gpu"]
